"""One run of Figure 2: a controller, or one that was chosen in hindsight, in one environment."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from driftwise import control
from driftwise._validate import Array
from driftwise.domains import SpectralBalls
from driftwise.experiments.findings.curves import cumulative
from driftwise.experiments.studies.figure2.environments import STAGES, Environment, environment
from driftwise.learners import Learner

LEARNERS: dict[str, type[control.LearningController]] = {
    "OGD": control.GradientController,
    "Ader": control.AderController,
    "Scream": control.ScreamController,
}

LQR, LINEAR, FIXED, STAGED = "LQR", "Best linear gain", "Best fixed DAC", "Best DAC per stage"
REFERENCES = (LQR, LINEAR, FIXED, STAGED)
"""The gain that all are built around, and what would have been best in hindsight."""

RADIUS = 3.0
"""Radius of the policies to tune on, and the norm of a random first policy."""


class Staged(Learner):
    """Plays one given decision in each stage; `stages` are the first rounds of the stages."""

    def __init__(self, domain: SpectralBalls, decisions: Array, stages: ArrayLike) -> None:
        super().__init__(domain)
        self.decisions: list[Array] = list(decisions)
        self.stages = np.asarray(stages)

    def _decide(self) -> Array:
        return self.decisions[int(np.searchsorted(self.stages, self.round, side="right")) - 1]

    def _learn(self, gradient: Array) -> None:
        pass


def run(
    name: str, correlated: bool, controller: str, random_start: bool, factor: float | None, rounds: int, seed: int
) -> dict[str, Any]:
    """Run one controller; `factor` is that of the measured gradient bound, None for constants measured on the way."""
    world = environment(name, correlated, rounds, seed)
    if controller in LEARNERS:
        trace = _simulate(world, _learner(world, LEARNERS[controller], random_start, factor, seed), seed)
    else:
        trace = _reference(world, controller, seed)
    return {"total": trace.total, "cost": cumulative(trace.costs)}


def _simulate(world: Environment, controller: control.Controller, seed: int) -> control.ControlTrace:
    return control.simulate(world.plant, controller, world.costs, world.disturbances, seed=seed)


def _learner(
    world: Environment, make: type[control.LearningController], random_start: bool, factor: float | None, seed: int
) -> control.Controller:
    rounds = len(world.costs)
    if factor is None:
        return make(world.plant, horizon=rounds, memory=world.memory)
    start = np.zeros((world.memory, world.plant.input_dim, world.plant.state_dim))
    if random_start:
        start = np.random.default_rng([seed, 2]).standard_normal(start.shape)
        start *= RADIUS / np.linalg.norm(start)
    bound = factor * _gradient_size(world, seed)
    return make(world.plant, horizon=rounds, memory=world.memory, gradient_bound=bound, radii=RADIUS, start=start)


def _gradient_size(world: Environment, seed: int) -> float:
    """Return the size below which 95 % of the gradients at M = 0 are."""
    seen = _reference(world, LQR, seed).effective_disturbances
    losses = control.TruncatedLosses(world.plant, world.costs, seen, world.memory)
    rounds = range(0, len(losses), max(len(losses) // 100, 1))
    return float(np.quantile([np.linalg.norm(losses.gradient(t, np.zeros(losses.dim))) for t in rounds], 0.95))


def _reference(world: Environment, name: str, seed: int) -> control.ControlTrace:
    """Return the run of LQR, or of the best gain or policy in hindsight.

    The best policy is computed on the nominal linear system, where the problem is convex (except for the gain), with
    the disturbances that a run on the plant itself saw: the noise, and all that the nominal pair does not explain,
    which depends on the controller. So it is computed a second time with the disturbances that the first policy saw.
    Of all that were tried, the one that is cheapest on the plant counts.
    """
    if name == LQR:
        return _simulate(world, control.LinearController(world.plant), seed)
    nominal, H = control.LinearSystem(world.plant.A, world.plant.B), world.memory
    tried = [_reference(world, LQR if name == FIXED else FIXED, seed)]
    seen = tried[0].effective_disturbances
    if name == LINEAR:
        gain = control.best_linear(nominal, world.costs, seen).K
        tried = [_reference(world, LQR, seed), _simulate(world, control.LinearController(world.plant, gain), seed)]
    elif name == FIXED:
        for _ in range(2):
            best = control.best_policy(nominal, world.costs, seen, memory=H)
            tried.append(_simulate(world, control.PolicyController(world.plant, best.policy), seed))
            seen = tried[-1].effective_disturbances
    else:
        staged = control.best_policy(nominal, world.costs, seen, memory=H, segments=STAGES)
        largest = 1.0 + float(np.linalg.norm(staged.policies, axis=(-2, -1)).max())
        domain = SpectralBalls(staged.policies.shape[1:], largest)
        learner = Staged(domain, staged.policies.reshape(len(staged.policies), -1), staged.segments)
        controller = control.DisturbanceActionController(world.plant, learner, K=staged.K)
        tried.append(_simulate(world, controller, seed))
    return min(tried, key=lambda trace: trace.total)
