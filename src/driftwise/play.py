"""The protocol of a run: act, suffer the loss, observe, round after round."""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike

from driftwise._frames.given import check_rows
from driftwise._pieces import in_pieces
from driftwise._round_inputs import by_member, by_name, read_hints
from driftwise._round_prices import read_prices, varies
from driftwise._validate import Array, checked, describe, instance
from driftwise.engine.run import Books, run_custom, run_own, run_stream
from driftwise.errors import ArgumentError, HorizonError, InputError, ParameterError
from driftwise.learners import Committee, Ensemble, Learner, SelfTunedLearner
from driftwise.learners.rounded import Rounded
from driftwise.learners.self_tuned.proposals import read_table
from driftwise.losses import CustomLoss, LossStream
from driftwise.losses.base import DataLoss, window
from driftwise.movecost import MoveCost
from driftwise.pairs.run import run_pairs
from driftwise.trace import Trace

Proposals = Sequence[Any] | ArrayLike | Mapping[str, ArrayLike]


class Many(ABC):
    """What plays many streams at once: a fleet."""

    @abstractmethod
    def _play(self, losses: Any, switching_cost: float | MoveCost, record: bool) -> Any:
        """Play a stream with each member, and return their record."""


@overload
def play(
    learner: Learner | Committee,
    losses: LossStream,
    switching_cost: float | MoveCost | ArrayLike | Sequence[float | MoveCost] = 0.0,
    *,
    record_weights: bool = False,
    proposals: Proposals | None = None,
    hints: ArrayLike | None = None,
) -> Trace: ...


@overload
def play(
    learner: Many, losses: Sequence[LossStream], switching_cost: float | MoveCost = 0.0, *, record: bool = False
) -> Any: ...


@checked
def play(
    learner: Learner | Committee | Many,
    losses: LossStream | Sequence[LossStream],
    switching_cost: Any = 0.0,
    *,
    record_weights: bool = False,
    proposals: Proposals | None = None,
    hints: ArrayLike | None = None,
    record: bool = False,
) -> Any:
    """Play every round of a loss stream with a learner, or with a committee and its proposals.

    Built-in learners on built-in losses (and on custom losses that could be compiled) run in compiled code from the
    first round to the last; anything else runs through the two verbs. Both give the same numbers, bit for bit. The
    learner continues from its current state, and is left as it was if it fails. Every call is a run of its own: the
    move into its first decision is not counted, and memory begins with that decision.

    Parameters
    ----------
    learner : Learner, Committee or Fleet
        Anything with `act` and `observe`; a committee needs `proposals` too, and a `SelfTunedLearner` may have some.
    losses : LossStream
        The losses f_0, ..., f_{T-1}; for a fleet a sequence of streams, one for each member.
    switching_cost : float or MoveCost, or array of shape (T,) or sequence of T of these, default 0.0
        lambda, the price of moving by one unit of Euclidean distance, or prices up and down, per coordinate; for
        accounting only: the learner does not see it. With one price for each round, that of the move into its decision,
        a learner whose rounds make use of prices is told each by ``act(switching_cost=...)``; such a run goes through
        the two verbs, as no compiled loop changes its price.
    record_weights : bool, default False
        Keep the weights of the base-learners, or of the committee's members, in every round.
    proposals : sequence of length T, array of shape (T, n, d), or array of shape (T, d) or dict of these, optional
        For a committee: what each of its n members proposes, round by round, as `Committee.act` takes it; None for a
        member that sleeps. Proposals are vectors of the losses' dimension; for d = 1 they may be numbers. For a
        `SelfTunedLearner`: forecasts or rules of yours, one row a round, one or several by name; a row of NaN is a
        missing one. For d = 1 they may be a pandas or polars frame: a column for each member, who sleeps where it is
        empty; of a `SelfTunedLearner`, a column for each name.
    hints : array of shape (T, d), optional
        Guesses of the gradients to come, one a round, as `Learner.act` takes them; in a round whose row is NaN there
        is none. For d = 1 they may be numbers, and in any case a pandas or polars series or frame. Such a run goes
        through the two verbs.
    record : bool, default False
        For a fleet: keep all decisions, and not only totals; of a single learner they are always kept.

    Returns
    -------
    Trace, or FleetTrace for a fleet
        Decisions, losses, moves, totals.

    Examples
    --------
    >>> import driftwise as dw
    >>> losses = dw.TrackingLoss([[1.0], [1.0], [1.0], [-1.0]])
    >>> trace = dw.play(dw.OGD(dw.Ball(1), step=0.5), losses, switching_cost=1.0)
    >>> trace.decisions.ravel()
    array([0.   , 0.5  , 0.75 , 0.875])
    >>> trace.total_loss, trace.total_switching
    (2.4140625, 0.875)
    >>> dw.play(dw.OGD(dw.Ball(1), step=0.5), losses, dw.MoveCost(up=3.0, down=1.0)).total_switching
    2.625

    A committee of one member that is always right and one that stays at 0:

    >>> trace = dw.play(dw.Committee(2), losses, proposals=[[1.0, 0.0], [1.0, 0.0], [1.0, 0.0], [-1.0, 0.0]])
    >>> trace.decisions.ravel().round(3)
    array([ 0.5  ,  0.8  ,  0.915, -0.967])

    Guesses of the gradients, good ones but for their size, and none in the first round:

    >>> losses = dw.TrackingLoss([1.0, 1.0, 1.0, -1.0, -1.0, -1.0] * 2)
    >>> hints = [None] + [-1.0, -1.0, 1.0, 1.0, 1.0, -1.0] + [-1.0, -1.0, 1.0, 1.0, 1.0]
    >>> for given in (None, hints):
    ...     print(round(dw.play(dw.OGD(dw.Ball(1), step=0.5), losses, hints=given).total_loss, 2))
    7.09
    5.35
    """
    instance("play", "record_weights", record_weights, bool, "True")
    instance("play", "record", record, bool, "True")
    if isinstance(learner, Many):
        if record_weights or proposals is not None or hints is not None:
            raise ParameterError(
                "play: record_weights, proposals and hints go with a single learner, and not with a fleet; play its "
                "members one by one, as play(fleet.member(id), ...), or give the fleet's own act what it takes."
            )
        return learner._play(losses, switching_cost, record)
    losses = instance("play", "losses", losses, LossStream, "SquaredLoss(features, targets)")
    rounds = len(losses)
    named: dict[str, Array] = {}
    if isinstance(learner, Committee):
        proposals = by_member("play", proposals, losses.index)
    elif proposals is not None and isinstance(learner, Learner) and _takes_proposals(learner):
        proposals = by_name("play", proposals, losses.index, learner.domain.dim)
        named = read_table("play", learner.domain, proposals, rounds)
    turns = _turns(learner, losses, proposals, named)
    guesses = None
    if hints is not None:
        if not isinstance(learner, Learner):
            raise ParameterError(f"play: hints= goes with a learner; {type(learner).__name__} takes proposals=.")
        guesses = read_hints("play", hints, rounds, losses.dim, losses.index)
    check_rows("play", "losses", losses.index, "switching_cost", switching_cost)
    cost = read_prices("play", switching_cost, rounds, losses.dim)
    told = varies(cost) and getattr(learner, "_takes_prices", False)
    if learner.horizon is not None and learner.round + rounds > learner.horizon:
        raise HorizonError(
            f"play: {rounds} rounds after {learner.round} already played are more than the horizon of "
            f"{learner.horizon}; build the learner with horizon={learner.round + rounds} or horizon=None."
        )
    before: Any = learner.clone()
    decisions, values, moves = np.empty((rounds, losses.dim)), np.empty(rounds), np.empty(rounds)
    try:
        by_verbs = told or guesses is not None
        if not by_verbs and isinstance(learner, SelfTunedLearner) and learner.runs_compiled(losses, named):
            assert isinstance(losses, DataLoss)
            weights = _by_pool(learner, losses, named, decisions, values, moves, record_weights)
        elif not by_verbs and isinstance(learner, Ensemble) and _in_one_go(learner, losses, record_weights):
            weights = _by_kernel(learner, losses, decisions, values, moves, record_weights)
        else:
            prices: Any = cost if told else None
            weights = _by_hand(learner, turns, guesses, prices, losses, decisions, values, moves, record_weights)
        return Trace(decisions, values, moves, cost, weights, before, losses, proposals, guesses)
    except BaseException:  # Ctrl-C too, which may come while the learner takes over what the run has come to
        learner.restore(before)
        raise


def _takes_proposals(learner: Any) -> bool:
    """Tell whether proposals go with a learner: a self-tuned one, or one that rounds its decisions."""
    return isinstance(learner, SelfTunedLearner) or (isinstance(learner, Rounded) and learner.takes_proposals)


def _turns(
    learner: Any, losses: LossStream, proposals: Any, named: dict[str, Array]
) -> Callable[[int], tuple[Any, ...]]:
    """Check that a learner, or a committee with proposals, fits the losses; return what `act` is given in a round."""
    if isinstance(learner, Committee):
        if proposals is None:
            raise ArgumentError("play: a committee needs proposals=, what each member proposes in every round.")
        try:
            count = len(proposals)
        except TypeError:
            count = -1
        if count != len(losses):
            got = describe(proposals) if count < 0 else f"{count} rows"
            raise InputError(f"play: proposals must be one row for each of the {len(losses)} rounds, got {got}.")
        return lambda t: (proposals[t],)
    instance("play", "learner", learner, Learner, "Scream(...)")
    if proposals is not None and not _takes_proposals(learner):
        raise ParameterError(
            f"play: proposals= goes with a Committee or a SelfTunedLearner; {type(learner).__name__} decides by itself."
        )
    if losses.dim != learner.domain.dim:
        raise InputError(f"play: the losses have dim {losses.dim}, the learner decides in {learner.domain!r}.")
    if named:
        return lambda t: (None, {name: None if np.isnan(rows[t, 0]) else rows[t] for name, rows in named.items()})
    return lambda t: ()


def _in_one_go(learner: Ensemble, losses: LossStream, record: bool) -> bool:
    """Tell whether this learner can play these losses in the compiled loop."""
    return learner.runs_compiled(with_weights=record) and (
        isinstance(losses, DataLoss)
        or (isinstance(losses, CustomLoss) and losses.compiled and not learner.program.own_gradients)
    )


def _by_kernel(
    learner: Ensemble, losses: LossStream, decisions: Array, values: Array, moves: Array, record: bool
) -> Array | None:
    rounds = len(losses)
    cell = learner.cell.copy()
    weights = np.zeros((rounds if record else 0, learner.program.steps.size))
    books = Books(decisions, values, moves, weights)
    if isinstance(losses, DataLoss):
        run: Callable[..., int] = run_own if learner.program.own_gradients else run_stream
        given: tuple[Any, ...] = losses._parts
    else:
        assert isinstance(losses, CustomLoss)
        assert losses.kernels is not None
        run, given = run_custom, (*losses.kernels, losses.memory)

    def play(first: int, stop: int) -> int:
        played = run(cell, *given, books, (first, stop))
        if played < stop:
            if isinstance(losses, CustomLoss):  # evaluate again for its own error: the loop only says in which round
                losses.value(played, window(decisions, played, losses.memory))
                losses.gradient(played, decisions[played])
            raise _bad_numbers(losses, played, values[played])
        return played

    in_pieces(play, rounds)
    learner.adopt(cell)
    return weights[:, : learner.weights.size] if record else None


def _by_pool(
    learner: SelfTunedLearner,
    losses: DataLoss,
    proposals: dict[str, Array],
    decisions: Array,
    values: Array,
    moves: Array,
    record: bool,
) -> Array | None:
    rounds = len(losses)
    trial = learner.clone()
    pool, cell, table = trial.ready(losses, proposals)
    weights = np.zeros((rounds if record else 0, int(trial.lanes.max()) + 1))
    books = Books(decisions, values, moves, weights)

    def play(first: int, stop: int) -> int:
        played = run_pairs(pool, cell, *losses._parts, table, books, (first, stop))
        if played < stop:
            raise _bad_numbers(losses, played, values[played])
        return played

    in_pieces(play, rounds)
    trial.ran(rounds)
    if record and learner.round == 0:  # before the first round there is only the start
        weights[0], weights[0, 0] = 0.0, 1.0
    shown = trial.lanes
    learner.restore(trial)
    return weights[:, shown] if record else None


def _by_hand(
    learner: Any,
    turns: Callable[[int], tuple[Any, ...]],
    hints: Array | None,
    prices: Sequence[float | MoveCost] | None,
    losses: LossStream,
    decisions: Array,
    values: Array,
    moves: Array,
    record: bool,
) -> Array | None:
    weights: list[Array] = []
    told: dict[str, Any] = {}
    for t in range(len(losses)):
        if prices is not None:
            told["switching_cost"] = prices[t]
        given = turns(t)
        if hints is not None and not np.isnan(hints[t, 0]):
            given = (hints[t], *given[1:])
        try:
            w = np.atleast_1d(learner.act(*given, **told))
        except (InputError, ParameterError) as error:
            kind = InputError if isinstance(error, InputError) else ParameterError
            raise kind(f"play, round {t}: {error}") from error
        if w.shape != decisions[t].shape:
            raise InputError(f"play: the losses have dim {losses.dim}, the decision in round {t} has shape {w.shape}.")
        decisions[t] = w
        moves[t] = _distance(decisions[t], decisions[t - 1]) if t else 0.0
        if record:
            weights.append(learner.weights)
        values[t] = losses.value(t, window(decisions, t, losses.memory))
        if not math.isfinite(values[t]):
            raise _bad_numbers(losses, t, values[t])
        learner.observe(losses[t])
    if not record:
        return None
    table = np.zeros((len(weights), max(row.size for row in [*weights, learner.weights])))
    for t, row in enumerate(weights):
        table[t, : row.size] = row
    return table


def _distance(a: Array, b: Array) -> float:
    """Euclidean distance, summed in the order of the compiled loop."""
    total = 0.0
    for x, y in zip(a.tolist(), b.tolist(), strict=True):
        total += (x - y) * (x - y)  # not **, which rounds differently in Python and in compiled code
    return math.sqrt(total)


def _bad_numbers(losses: LossStream, t: int, value: float) -> InputError:
    what = "its gradient is not finite, or beyond 1e+100" if math.isfinite(value) else f"the loss is {value}"
    return InputError(f"play: in round {t} of {losses!r} {what}; the learner is unchanged.")
