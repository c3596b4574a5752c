"""What every learner promises, as one check that you can run on your own learner."""

import functools
import math
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np

from driftwise._docs import documented
from driftwise._validate import Array, checked, instance, whole
from driftwise.errors import HorizonError, InputError, OrderError, ParameterError
from driftwise.learners import Learner
from driftwise.losses import LinearLoss, LossStream
from driftwise.play import play
from driftwise.testing import promises
from driftwise.testing.promises import RAISES, promise, same

FEASIBLE = 1e-9
"""Largest distance of a decision from its domain, as in `Domain.contains`."""

DEFAULT_ROUNDS = 40
"""Rounds of the stream that is made when none is given."""

LONGEST_HORIZON = 100_000
"""Longest horizon that is played to its end."""

EXTREME_ROUNDS = 24
"""Rounds played with huge and tiny gradients."""

Make = Callable[[], Learner]


@documented(raises=RAISES)
@checked
def check_learner(learner: Learner | Callable[[], Learner], losses: LossStream | None = None, seed: int = 0) -> None:
    """Check that a learner keeps the promises of this package, and raise with the first one it breaks.

    Run it on every learner you write. It plays the stream a few dozen times, so a short one (twenty to a hundred
    rounds) is best.

    Parameters
    ----------
    learner : Learner or callable
        A learner that has not played yet; it is cloned, and not modified itself. Or a function without arguments that
        makes such a learner, the same one every time, so that `clone` is not relied on before it is checked.
    losses : LossStream, optional
        Losses on the learner's domain, at least 4 rounds and within its horizon; random linear ones when left out.
    seed : int, default 0
        Chooses the rounds at which things go wrong on purpose.

    {raises}

    Notes
    -----
    What is checked, in this order:

    - *order*: `observe` before `act`, or twice in a row, is an `OrderError` that changes nothing;
    - *decisions*: of shape (dim,), float64, read-only, in the domain to 1e-9, the same until `observe`, and not changed
      afterwards; weights are at least 0 and sum to 1 to 1e-12; `round` counts the rounds observed;
    - *same again*: two learners from `make` decide alike, bit for bit, and the global random state is not touched;
    - *play*: `play` gives the decisions, losses and moves of the two verbs called by hand, bit for bit;
    - *copies*: `clone`, `copy.deepcopy` and `pickle` (where the learner can be pickled at all) go on bit for bit like
      the original, before and after `act`, and are independent of it;
    - *bad input*: NaN, infinity, numbers beyond 1e100, wrong shapes, complex numbers and strings are an `InputError`,
      at any round, after which the learner is unchanged bit for bit; built with ``on_bad_input="skip"`` it counts them,
      and the round ends without feedback;
    - *missing feedback*: `skip` and ``observe(None)`` count the round, change nothing that is known (all decisions to
      come are the same), and are an `OrderError` before `act`; feedback for a round that is over, and which had its
      own or is out of the window, is an `OrderError` too; and within the window of a learner built with `late`, it is
      taken once;
    - *good input*: an array, a list, float32, a strided or a read-only array, ``losses[t]`` and the stream itself all
      teach the same, and none is modified or kept (a learner that needs a loss may refuse arrays with `InputError`);
    - *extremes*: gradients of size 1e90 and 1e-90 leave decisions feasible and weights a distribution;
    - *horizon*: one round more than the horizon is a `HorizonError` that changes nothing (horizons up to 100 000).

    Examples
    --------
    >>> import driftwise as dw
    >>> from driftwise.testing import check_learner
    >>> losses = dw.streams.drifting_regression(rounds=20, dim=3, seed=0)
    >>> check_learner(lambda: dw.Scream(dw.Ball(3), switching_cost=1.0, gradient_bound=2.0, horizon=20), losses)
    >>> check_learner(dw.Hedge(4, loss_bound=1.0))
    """
    make = learner.clone if isinstance(learner, Learner) else learner
    made = make() if callable(make) else make
    learner = instance("check_learner", "learner, or what it makes,", made, Learner, "OGD(Ball(2), step=0.1)")
    rng = np.random.default_rng(whole("check_learner", "seed", seed, low=0))
    most = math.inf if learner.horizon is None else learner.horizon
    if losses is None:
        losses = LinearLoss(rng.uniform(-1.0, 1.0, (int(min(DEFAULT_ROUNDS, most)), learner.domain.dim)))
    instance("check_learner", "losses", losses, LossStream, "SquaredLoss(features, targets)")
    if losses.dim != learner.domain.dim or not 4 <= len(losses) <= most:
        raise ParameterError(
            f"check_learner: losses must have dim {learner.domain.dim} and from 4 to {most} rounds for {learner!r}, "
            f"got {losses!r}."
        )
    before = promises.global_random_state()
    decisions = _check_order(make(), losses)
    _check_same_again(make, losses, decisions)
    _check_play(make, losses, decisions)
    _check_copies(make, losses, decisions, rng)
    _check_bad_input(make, losses, decisions, rng)
    _check_missing(make, losses, decisions, rng)
    _check_good_input(make, losses, rng)
    _check_extremes(make, rng)
    _check_horizon(make, losses)
    promises.check_random_state(learner, before)


def _check_decision(learner: Learner, w: Array, when: str) -> None:
    """Check one decision and the weights behind it."""
    promises.check_vector(learner, w, learner.domain.dim, when, ("decide on", "a decision", "decided on"))
    domain = learner.domain
    if not domain.contains(w, FEASIBLE):
        distance = float(np.linalg.norm(w - domain.project(w)))
        where = f"its decision {w} is {distance:g} away, {FEASIBLE:g} is allowed"
        promise(False, learner, f"left its domain {domain!r} {when}: {where}")


def _check_order(learner: Learner, losses: LossStream) -> Array:
    """Play by hand, checking everything that one run can show, and return the decisions."""
    given: list[Array] = []
    kept: list[Array] = []
    for t in range(len(losses)):
        when = f"in round {t}"
        promise(learner.round == t, learner, f"counts {learner.round} rounds after {t} were observed")
        again = "when observe was called " + ("twice in a row" if t else "before act")
        promises.check_error(OrderError, learner, functools.partial(learner.observe, losses[t]), again, to_the_bit=True)
        w = promises.acted(learner, learner.act, when)
        _check_decision(learner, w, when)
        promise(same(w, learner.act()), learner, f"gave two different decisions {when}, though observe was not called")
        given.append(w)
        kept.append(w.copy())
        learner.observe(losses[t])
    promise(learner.round == len(losses), learner, f"counts {learner.round} rounds after {len(losses)} were observed")
    promises.check_unchanged(learner, given, kept, "decision")
    return np.array(kept)


def _rest(learner: Learner, losses: LossStream) -> Array:
    """Play by hand from where the learner is to the end of the stream."""
    decisions = []
    for t in range(learner.round, len(losses)):
        decisions.append(learner.act().copy())
        learner.observe(losses[t])
    return np.array(decisions)


def _advanced(make: Make, losses: LossStream, rounds: int) -> Learner:
    """Return a learner that has played some rounds and has acted in the next one."""
    learner = make()
    for t in range(rounds):
        learner.act()
        learner.observe(losses[t])
    learner.act()
    return learner


def _check_same_again(make: Make, losses: LossStream, decisions: Array) -> None:
    learner = make()
    promise(learner.round == 0, learner, f"is not new when make() returns it: it is in round {learner.round}")
    promises.check_alike(
        learner, decisions, _rest(learner, losses), "does not decide alike when the same run is repeated"
    )


def _check_play(make: Make, losses: LossStream, decisions: Array) -> None:
    learner, rounds = make(), len(losses)
    trace = play(learner, losses)
    promises.check_alike(learner, decisions, trace.decisions, "decides otherwise in play than by hand")
    values, moves = np.empty(rounds), np.zeros(rounds)
    for t in range(rounds):
        window = decisions[np.maximum(np.arange(t - losses.memory, t + 1), 0)]
        values[t] = losses.value(t, window)
        # Squares are added one by one, in the order of play: a norm may add them in another.
        moves[t] = math.sqrt(sum((decisions[t] - decisions[max(t - 1, 0)]) ** 2))
    for name, by_hand, found in (("losses", values, trace.losses), ("moves", moves, trace.moves)):
        gap = float(np.abs(by_hand - found).max())
        promise(same(by_hand, found), learner, f"has other {name} in play than by hand, by up to {gap:g}")
    promise(learner.round == rounds, learner, f"counts {learner.round} rounds after play of {rounds}")


def _check_copies(make: Make, losses: LossStream, decisions: Array, rng: np.random.Generator) -> None:
    for name, way in promises.copies(make()).items():
        for mid_round in (False, True):
            start = int(rng.integers(1, len(losses)))
            learner = _advanced(make, losses, start if mid_round else start - 1)
            if not mid_round:
                learner.observe(losses[start - 1])
            when = f"taken by {name} in round {start} {'after' if mid_round else 'before'} act"
            twin, astray = way(learner), way(learner)
            promise(twin.round == start, learner, f"has a copy {when} that counts {twin.round} rounds")
            _check_decision(twin, twin.act(), f"as a copy {when}")
            for t in range(start, len(losses)):
                astray.act()
                astray.observe(losses[len(losses) - 1 - t])
            promises.check_alike(learner, decisions[start:], _rest(learner, losses), f"is changed by its copy {when}")
            promises.check_alike(
                learner, decisions[start:], _rest(twin, losses), f"goes on otherwise than its copy {when}"
            )


def _check_bad_input(make: Make, losses: LossStream, decisions: Array, rng: np.random.Generator) -> None:
    good = np.full(losses.dim, 0.5)
    bad_inputs: list[tuple[str, Any]] = [
        *promises.bad_rows(good),
        ("1e200", np.full(losses.dim, 1e200)),
        ("NaN in a list", [math.nan] * losses.dim),
        ("a matrix", good[None]),
        ("strings", ["a"] * losses.dim),
    ]
    for name, bad in bad_inputs:
        start = int(rng.integers(len(losses)))
        when = f"when it observed {name} in round {start}"
        learner = _advanced(make, losses, start)
        given: Any
        for given in (_returns(bad),) if bad is None else (bad, _returns(bad)):  # None itself is no feedback
            if learner.on_bad_input == "skip":
                _check_passed_over(learner.clone(), given, when)
                continue
            promises.check_error(InputError, learner, functools.partial(learner.observe, given), when, to_the_bit=True)
        found = _rest(learner, losses)
        promises.check_alike(learner, decisions[start:], found, f"did not recover from what it refused {when}")


def _check_passed_over(learner: Learner, bad: Any, when: str) -> None:
    """Check that bad input ends the round without feedback, and is counted."""
    before, w = (learner.round, learner.skipped, learner.refused), learner.act().copy()
    learner.observe(bad)
    after = (learner.round - 1, learner.skipped - 1, learner.refused - 1)
    promise(after == before, learner, f"did not count a round, a skipped one and a refusal {when}")
    if learner.horizon is None or learner.round < learner.horizon:
        promise(same(learner.act(), w), learner, f"went from {w} to another decision {when}, though it was to skip")


def _check_missing(make: Make, losses: LossStream, decisions: Array, rng: np.random.Generator) -> None:
    horizon = make().horizon
    most = math.inf if horizon is None else horizon
    ways: dict[str, Callable[[Learner], None]] = {
        "skip()": lambda one: one.skip(),
        "observe(None)": lambda one: one.observe(None),
    }
    for way, skips in ways.items():
        start = int(rng.integers(len(losses) - 1))
        learner, when = _advanced(make, losses, start), f"after {way} in round {start}"
        counted = (learner.round + 1, learner.skipped + 1)
        skips(learner)
        promise((learner.round, learner.skipped) == counted, learner, f"has not counted the round {when}")
        raised = f"when {way} was called twice in a row"
        promises.check_error(OrderError, learner, functools.partial(skips, learner), raised, to_the_bit=True)
        _check_window(learner.clone(), losses, start)
        found = []
        for t in range(start, len(losses)):
            if learner.round < most:
                found.append(learner.act().copy())
                learner.observe(losses[t])
        # Only the next decision must be the same: what a learner does later may depend on the number of the round.
        alike = not found or same(found[0], decisions[start])
        promise(alike, learner, "does not go on from {} as if nothing had been {}", decisions[start], when)


def _check_window(learner: Learner, losses: LossStream, skipped: int) -> None:
    """Check who takes feedback for a round that was skipped, and that nobody takes it twice."""
    late = functools.partial(learner.observe, losses[skipped], round=skipped)
    if learner.late:
        before = learner.skipped
        late()
        promise(learner.skipped == before - 1, learner, f"still counts round {skipped} as skipped after its feedback")
    when = f"when it was given feedback for round {skipped} {'twice' if learner.late else 'too late'}"
    promises.check_error(OrderError, learner, late, when, to_the_bit=True)
    early = functools.partial(learner.observe, losses[skipped], round=learner.round + 1)
    promises.check_error(OrderError, learner, early, "when it was given feedback for a round to come", to_the_bit=True)


def _returns(gradient: Any) -> SimpleNamespace:
    """Return a user-defined loss with this gradient."""
    return SimpleNamespace(value=lambda w: 0.0, gradient=lambda w: gradient)


def _check_good_input(make: Make, losses: LossStream, rng: np.random.Generator) -> None:
    start = int(rng.integers(len(losses) - 1))
    learner = _advanced(make, losses, start)
    gradient = losses.gradient(start, learner.act())
    shapes = promises.forms(gradient)
    shapes["a loss"] = _returns(shapes["an array"].copy())
    streams: dict[str, Any] = {"losses[t]": losses[start], "the stream": losses}
    for group in (shapes, streams):
        expected: tuple[str, Array] | None = None
        for name, form in group.items():
            pupil = learner.clone()
            pupil.act()
            try:
                pupil.observe(form)
            except InputError:
                if group is streams or name == "a loss":
                    raise
                continue
            if isinstance(form, np.ndarray | list):
                what = f"modified the gradient it observed as {name} in round {start}"
                promises.check_untouched(learner, form, gradient, what)
            found = _rest(pupil, losses)
            if expected is None:
                expected = name, found
            promises.check_alike(learner, expected[1], found, f"learns from {name} otherwise than from {expected[0]}")


def _check_extremes(make: Make, rng: np.random.Generator) -> None:
    for sizes in promises.EXTREMES:
        learner = make()
        rounds = EXTREME_ROUNDS if learner.horizon is None else min(EXTREME_ROUNDS, learner.horizon)
        signs = rng.choice([-1.0, 0.0, 1.0], (rounds, learner.domain.dim))
        extreme = LinearLoss(signs * np.resize(sizes, rounds)[:, None])
        for t in range(rounds):
            when = f"after {t} gradients of size {' and '.join(map(str, sizes))}"
            _check_decision(learner, promises.acted(learner, learner.act, when), when)
            learner.observe(extreme[t])


def _check_horizon(make: Make, losses: LossStream) -> None:
    learner = make()
    if learner.horizon is None or learner.horizon > LONGEST_HORIZON:
        return
    while learner.round < learner.horizon:
        learner.act()
        learner.observe(losses[learner.round % len(losses)])
    when = f"in round {learner.round}, beyond its horizon"
    promises.check_error(HorizonError, learner, learner.act, when, to_the_bit=True)
    promises.check_error(HorizonError, learner, lambda: play(learner, losses), when, to_the_bit=True)
