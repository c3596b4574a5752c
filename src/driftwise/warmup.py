"""Compile beforehand what will be needed, so that no first decision has to wait for it.

A family is a few tiny calls of the public interface; what they compile is kept on disk (see ``driftwise._compile``), so
that later processes only read it. ``driftwise warmup`` is the command for it, and the documentation's page on
compilation says when it pays: in the image of a container, before a plant is switched on.
"""

import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple, cast

import numpy as np

import driftwise as dw
from driftwise import _compile
from driftwise._validate import Array
from driftwise.engine import run
from driftwise.errors import unknown_name
from driftwise.estimators import EACH, SCORE, Estimator, Seen
from driftwise.losses.base import compile_links
from driftwise.pairs.kinds import WIDEST

__all__ = ["FAMILIES", "Warmed", "chosen_families", "machine_code_folder", "warm_up"]

_TRACKED = np.array([[0.1, 0.2], [0.3, 0.4], [0.2, 0.3]])
_SLOPE = np.array([0.1, 0.2])
_PRICE = dw.MoveCost(up=2.0, down=1.0)
_SIMPLE = (dw.Ball(2), dw.Box([0.0, 0.0], [1.0, 1.0]))


def _rounds(learner: dw.Learner) -> None:
    """Take one round by hand and a few in one go."""
    losses = dw.TrackingLoss(np.resize(_TRACKED, (3, learner.domain.dim)))
    learner.act()
    learner.observe(np.resize(_SLOPE, learner.domain.dim))
    dw.play(learner, losses)


def _learners() -> None:
    """Play the paper's learners, and the ones it compares with, over a ball or a box."""
    for domain in _SIMPLE:
        domain.project(np.ones(2))
        _rounds(dw.Scream(domain, switching_cost=1.0, gradient_bound=2.0))
    original, losses = dw.Ader(dw.Ball(2), gradient_bound=2.0, variant="original"), dw.TrackingLoss(_TRACKED)
    original.act()
    original.observe(losses[0])
    dw.play(original, losses)


def _self_tuned() -> None:
    """Play SelfTunedScream over a ball or a box."""
    for domain in _SIMPLE:
        _rounds(dw.SelfTunedScream(domain, switching_cost=1.0))


def _strongly_adaptive() -> None:
    """Play StronglyAdaptive over a ball or a box."""
    for domain in _SIMPLE:
        _rounds(dw.StronglyAdaptive(domain, switching_cost=1.0, gradient_bound=2.0))


class _Sloped(Estimator):
    """An estimator that is not compiled, as one of a user's own; it asks for the slope of the loss."""

    name, forms = "sloped", (SCORE, EACH)

    def begin(self, point: Array, domain: "dw.Domain") -> None:
        self._point = point

    def learn(self, seen: Seen) -> None:
        seen.gradient(self._point)

    def propose(self) -> Array:
        return self._point


def _self_tuned_learner() -> None:
    """Play SelfTunedLearner over a ball or a box: every kind of loss, many coordinates, proposals and hints."""
    wide = np.ones((2, WIDEST + 1))
    for losses in (
        dw.SquaredLoss(_TRACKED, np.ones(3)),
        dw.TrackingLoss(_TRACKED),
        dw.CapacityLoss(_TRACKED[:, :1], shortage=2.0),
        dw.LinearLoss(_TRACKED),
        dw.SquaredLoss(wide, np.ones(2)),
        dw.LinearLoss(wide),
    ):
        for domain in (dw.Ball(losses.dim), dw.Box(np.zeros(losses.dim), np.ones(losses.dim))):
            learner, point = dw.SelfTunedLearner(domain, switching_cost=1.0), np.full(losses.dim, 0.1)
            dw.play(learner, losses)
            learner.act(hint=point, proposal={"joins late": point})
            learner.observe(losses[0])
            learner.act()
            learner.observe(point)
    own = dw.SelfTunedLearner(dw.Ball(2), switching_cost=1.0, estimators=[_Sloped()])
    own.act()
    own.observe(dw.TrackingLoss(_TRACKED)[0])


def _domains() -> None:
    """Play on simplices, spectral balls and products, and with mirror maps other than the Euclidean one."""
    simplex, pair = dw.Simplex(2), dw.Product(dw.Ball(1), dw.Box([0.0], [1.0]))
    for domain in (simplex, pair, dw.SpectralBalls((1, 2, 2), radii=1.0)):
        domain.project(np.ones(domain.dim))
        _rounds(dw.OGD(domain, step=0.1))
        _rounds(dw.SelfTunedScream(domain, switching_cost=1.0))
    _rounds(dw.MirrorDescent(dw.Box([0.0, 0.0], [1.0, 1.0]), mirror=dw.mirror.PNorm(1.5), step=0.1))
    pool, meta = dw.learners.Pool(0.1, growth=1.0), dw.learners.Meta(0.5)
    _rounds(dw.Ensemble(simplex, pool=pool, meta=meta, base=dw.mirror.NegativeEntropy()))
    _rounds(dw.Hedge(2, rate=0.1, share=0.1))


def _prices() -> None:
    """Play with prices of moves up and down and of single coordinates: MoveCost."""
    for domain in _SIMPLE:
        _rounds(dw.Scream(domain, switching_cost=_PRICE, gradient_bound=2.0))
        _rounds(dw.SelfTunedScream(domain, switching_cost=_PRICE))


def _hints() -> None:
    """Give guesses of the gradient to come: act(hint=)."""
    for domain in _SIMPLE:
        for learner in (
            dw.Scream(domain, switching_cost=1.0, gradient_bound=2.0),
            dw.SelfTunedScream(domain, switching_cost=1.0),
        ):
            for _ in range(2):
                learner.act(hint=_SLOPE)
                learner.observe(_SLOPE)


def _committee() -> None:
    """Ask committees of policies or forecasts."""
    for committee in (
        dw.Committee(2, switching_cost=1.0),
        dw.Committee(2, switching_cost=_PRICE),
        dw.Committee(2, switching_cost=1.0, mode="follow"),
    ):
        for _ in range(2):
            committee.act([0.1, None])
            committee.observe(dw.TrackingLoss([0.3])[0])
            committee.act([0.1, 0.2])
            committee.observe(np.array([0.5, 0.4]))
        _ = committee.weights
    moving = dw.Committee(2, switching_cost=1.0, movers=True)
    for _ in range(2):
        moving.act([0.1, 0.2])
        moving.observe(dw.TrackingLoss([0.3])[0])


def _fleet() -> None:
    """Let fleets of learners, of self-tuned learners and of committees act, observe and play."""
    losses = dw.TrackingLoss(_TRACKED)
    for learner in (
        dw.SelfTunedScream(dw.Ball(2), switching_cost=1.0),
        dw.SelfTunedLearner(dw.Ball(2), switching_cost=1.0),
    ):
        fleet = dw.Fleet(learner, 3)
        for _ in range(2):
            fleet.act()
            fleet.observe(losses)
        dw.play(fleet, [losses] * 3)
    committees = dw.Fleet(dw.Committee(2, switching_cost=1.0), 3)
    committees.act(_TRACKED)
    committees.observe(_TRACKED)


def _losses() -> None:
    """Ask built-in losses by hand, and compile what runs on users' own losses share."""
    for losses in (dw.SquaredLoss(_TRACKED, np.ones(3)), dw.TrackingLoss(_TRACKED)):
        losses.value(0, _SLOPE)
        losses.unary_value(0, _SLOPE)
        losses.gradient(0, _SLOPE)
        losses.gradient_bound(dw.Ball(2))
    compile_links()
    # A run on a user's own functions is compiled for them alone, but what it calls in every round is kept.
    learner = dw.OGD(dw.Ball(2), step=0.1)
    _rounds(learner)
    run.note(learner.cell, 0, np.zeros((1, 2)), np.zeros(1), np.zeros((0, 1)))


class _Still(dw.Learner):
    """A learner that is not compiled, as one of a user's own."""

    def _decide(self) -> Array:
        return np.zeros(self.domain.dim)

    def _learn(self, gradient: Array) -> None:
        pass


def _steps(controller: "dw.control.Controller") -> None:
    """Take a step by hand and a few in `simulate`."""
    plant, built_in = dw.control.double_integrator(), dw.control.QuadraticCost(1.0, 1.0)
    own = dw.control.CustomCost(built_in.value, built_in.gradient)
    for cost in (built_in, own):
        u = controller.act(np.ones(2))
        controller.observe(cost, applied=u + 0.1)
        dw.control.simulate(plant, controller, cost, dw.control.ConstantDisturbance(0.1), rounds=3, record_weights=True)


def _control() -> None:
    """Run controllers with the paper's learners, with one of a user's own, or without."""
    plant, policies = dw.control.double_integrator(), dw.SpectralBalls((2, 1, 2), radii=1.0)
    for controller in (
        dw.control.LinearController(plant),
        dw.control.ScreamController(plant),
        dw.control.DisturbanceActionController(plant, _Still(policies)),
    ):
        _steps(controller)


def _self_tuned_control() -> None:
    """Run SelfTunedController."""
    controller = dw.control.SelfTunedController(dw.control.double_integrator())
    _steps(controller)
    cost = dw.control.QuadraticCost(1.0, 1.0)
    controller.act(None)  # a sample that is missing
    controller.observe(cost)
    controller.act(np.ones(2))
    controller.observe(cost)
    controller.try_model(1, cost)
    controller.freeze().act(np.ones(2))


def _regret() -> None:
    """Measure regret, and find the cheapest decisions in hindsight."""
    from driftwise.optimum import warm

    warm.warm()


def _hindsight_control() -> None:
    """Find the best policies of a plant in hindsight."""
    from driftwise.control.hindsight import warm

    warm.warm()


FAMILIES: dict[str, Callable[[], None]] = {
    "learners": _learners,
    "self-tuned": _self_tuned,
    "strongly-adaptive": _strongly_adaptive,
    "self-tuned-learner": _self_tuned_learner,
    "domains": _domains,
    "prices": _prices,
    "hints": _hints,
    "committee": _committee,
    "fleet": _fleet,
    "losses": _losses,
    "control": _control,
    "self-tuned-control": _self_tuned_control,
    "regret": _regret,
    "hindsight-control": _hindsight_control,
}
"""What can be compiled by name; the docstring of each says what it is for."""


class Warmed(NamedTuple):
    """A family that has been compiled.

    Made by `warm_up`.

    Attributes
    ----------
    family : str
        Name of the family, as in `FAMILIES`.
    compiled : int
        Number of kernels that were compiled, and not just read from disk.
    cpu_seconds : float
        CPU seconds that compiling or reading took.

    Examples
    --------
    >>> from driftwise.warmup import warm_up
    >>> first, again = warm_up(["losses"])[0], warm_up(["losses"])[0]
    >>> again.family, again.compiled
    ('losses', 0)
    """

    family: str
    compiled: int
    cpu_seconds: float


def machine_code_folder() -> Path | None:
    """Return the folder below which machine code is kept; None where it cannot be, or nothing is compiled at all.

    Returns
    -------
    Path or None
        The folder; what is in it may be deleted, and is then compiled again when it is needed.

    Examples
    --------
    >>> from driftwise.warmup import machine_code_folder
    >>> folder = machine_code_folder()
    >>> folder is None or folder.is_dir()
    True
    """
    kept = None if _compile.INTERPRETED else cast(Any, run.observe)._cache.cache_path
    if kept is None:
        return None
    # Without a folder of their own the files lie beside those of Python, in every package.
    folder = Path(kept)
    return folder.parents[1] if folder.name == "__pycache__" else folder.parent


def chosen_families(names: Iterable[str] | None) -> list[str]:
    """Return the families of these names, each once; all of them for None.

    Parameters
    ----------
    names : iterable of str, or None
        Keys of `FAMILIES`; None for all of them.

    Examples
    --------
    >>> from driftwise.warmup import chosen_families
    >>> chosen_families(["losses", "control", "losses"])
    ['losses', 'control']
    """
    chosen = list(dict.fromkeys(FAMILIES if names is None else names))
    for name in chosen:
        if name not in FAMILIES:
            raise unknown_name("warmup", "family", name, FAMILIES)
    return chosen


def warm_up(
    families: Iterable[str] | None = None, *, progress: Callable[[str], None] = lambda family: None
) -> list[Warmed]:
    """Compile families of kernels, or read them from disk if they are there.

    Use it in a process that is to answer fast from its first round on, and the command ``driftwise warmup`` where the
    processes to come are others than this one.

    Parameters
    ----------
    families : iterable of str, optional
        Some of `FAMILIES`; all of them when left out.
    progress : callable, optional
        Called with the name of each family before it is compiled.

    Returns
    -------
    list of Warmed
        How many kernels each of them had to compile, and the CPU seconds that took.

    Examples
    --------
    >>> from driftwise.warmup import warm_up
    >>> [warmed.family for warmed in warm_up(["losses"])]
    ['losses']
    """
    done = []
    for name in chosen_families(families):
        progress(name)
        before, began = len(_compile.compilations()), time.process_time()
        FAMILIES[name]()
        done.append(Warmed(name, len(_compile.compilations()) - before, time.process_time() - began))
    return done
