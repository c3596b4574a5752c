"""A run of a controller next to its theorem: measured regret, bound, and which assumptions were checked on the run."""

import functools
from typing import Any

import numpy as np

from driftwise._validate import Array, array, checked, describe, instance, loose
from driftwise.control.bounds.known import learning
from driftwise.control.bounds.problem import LOG, long_enough, truncation_share
from driftwise.control.bounds.truncation import truncation
from driftwise.control.controllers import (
    GradientController,
    LazyScreamController,
    LearningController,
    ScreamController,
)
from driftwise.control.hindsight import BestPolicies, BestPolicy
from driftwise.control.policies.disturbance_action import DisturbanceAction
from driftwise.control.policies.layout import STEEPEST
from driftwise.control.regret import dynamic_policy_regret, path_length
from driftwise.control.simulate import simulate
from driftwise.control.trace import ControlTrace
from driftwise.domains import SpectralBalls
from driftwise.errors import DriftwiseError, InputError
from driftwise.regret import Assumption, Certificate

THEOREMS: dict[type[LearningController], tuple[str, str]] = {
    ScreamController: ("scream", "Theorem 7"),
    LazyScreamController: ("lazy_scream", "Theorem 7 with Theorem 4 in place of Theorem 2"),
    GradientController: ("ogd", "Theorem 7 with Theorem 1 in place of Theorem 2"),
}

ROUNDING = 1e-9
"""Relative excess over a bound that is taken to be rounding."""


@checked
def certificate(trace: ControlTrace, comparators: Any) -> Certificate:
    """Compare the dynamic policy regret of a run with its theorem's bound, and report what was checked.

    The bound is that of `control.bounds`, with the constants that the controller was built with, the rounds that were
    played and the path length of the comparators. It holds for whatever memory H the controller has; what part of it is
    the truncation error, which only an H of the order of log T keeps from growing with T, is said under "memory".

    Parameters
    ----------
    trace : ControlTrace
        A run of `ScreamController`, `LazyScreamController` or `GradientController`, at the scale "certified" or
        "theory", on a `LinearSystem` whose inputs are not limited.
    comparators : BestPolicy, BestPolicies, DisturbanceAction, or array of shape (T, H, du, dx) or (H, du, dx)
        Policies around the controller's own gain: one a round, or one that is held.

    Raises
    ------
    InputError
        If no theorem is known for the controller, as at the scale "measured", or if regret is not defined: on plants
        that are not linear, that change, or whose inputs are limited.

    Examples
    --------
    >>> import driftwise as dw
    >>> plant, cost = dw.control.double_integrator(), dw.control.QuadraticCost(1.0, 1.0)
    >>> waves = dw.control.SinusoidDisturbance(0.3, period=40.0, seed=1)
    >>> options = dict(scale="certified", memory="log", radii=0.5, disturbance_bound=0.5)
    >>> controller = dw.control.ScreamController(plant, horizon=2000, **options)
    >>> trace = dw.control.simulate(plant, controller, cost, waves)
    >>> best = dw.control.best_policy(plant, cost, trace.disturbances, domain=controller.learner.domain)
    >>> print(dw.control.certificate(trace, best))
    ScreamController: dynamic policy regret, path length of the comparators 0
      measured 23.8856 <= bound 375080   ratio 0.01%
      Theorem 7; the theorem applies
        convexity       holds        costs are convex
        cost gradients  holds        at most 2 times state and input, the bound 2
        disturbances    holds        the largest in the run is 0.416108, the bound 0.5
        plant           holds        linear, and the one that the controller was made for
        first state     holds        the origin
        inputs          holds        without limits, guard or delay
        comparators     holds        the largest is 1 of its radius
        horizon         holds        2000 rounds planned, 2000 played
        memory          holds        H = 11, truncation is 98.7 of the bound
        start           holds        a new controller
    """
    run = Run(trace, comparators)
    kind, theorem = THEOREMS[type(run.controller)]
    return Certificate(
        type(run.controller).__name__,
        theorem,
        "dynamic policy regret",
        dynamic_policy_regret(trace, run.policies, K=run.controller.K),
        run.truncation + run.learning(kind),
        run.path_length,
        tuple(run.assumptions()),
    )


class Run:
    """All that a theorem of control needs to know about a run."""

    def __init__(self, trace: ControlTrace, comparators: Any) -> None:
        instance("certificate", "trace", trace, ControlTrace, "simulate(system, controller, costs, disturbances)")
        controller = trace.controller
        if type(controller) not in THEOREMS:  # a subclass may do anything, so no theorem is known for it
            raise InputError(
                f"certificate: no theorem is known here for {controller!r}; run a ScreamController, a "
                "LazyScreamController or a GradientController with scale='certified' and memory='log'."
            )
        assert isinstance(controller, LearningController)
        assert isinstance(controller.learner.domain, SpectralBalls)
        if controller.scale not in ("certified", "theory"):
            raise InputError(
                f"certificate: at the scale {controller.scale!r} no constants of {controller!r} are proved, so there "
                "is no bound to compare with; build it with scale='certified', disturbance_bound= and cost_gradient=."
            )
        self.trace, self.controller, self.T = trace, controller, len(trace.costs)
        self.domain = controller.learner.domain
        self.policies = self._read(comparators)
        self.planned = max(controller.horizon or 0, self.T)
        self.truncation = truncation(controller.problem, self.T)

    def _read(self, comparators: Any) -> Array:
        """Return the comparators, one a round."""
        given = comparators
        if isinstance(comparators, BestPolicy | BestPolicies | DisturbanceAction):
            given = comparators.M if isinstance(comparators, DisturbanceAction) else comparators.decisions
            if comparators.K.shape != self.controller.K.shape or not np.allclose(comparators.K, self.controller.K):
                raise InputError(
                    "certificate: the comparators are policies around another gain than the controller's, and the "
                    "theorem is for its own; give best_policy K=trace.controller.K."
                )
        shape = self.controller.K.shape
        rows = loose("certificate", "comparators", given, "policies, one a round or one that is held")
        if rows.dtype.kind not in "fiu" or rows.ndim not in (3, 4):
            raise InputError(
                "certificate: comparators must be a result of best_policy or best_policies, a DisturbanceAction, or "
                f"policies of shape ({self.T}, H, {shape[0]}, {shape[1]}) or (H, {shape[0]}, {shape[1]}), got "
                f"{describe(comparators)}."
            )
        if rows.ndim == 3:
            rows = np.broadcast_to(rows, (self.T, *rows.shape))
        return array("certificate", "comparators", rows, (self.T, "H", *shape))

    @functools.cached_property
    def path_length(self) -> float:
        """P, of the comparators."""
        return path_length(self.policies)

    def learning(self, kind: str) -> float:
        """Return the part of the bound that is not the truncation error."""
        P = min(self.path_length, self.domain.diameter * (self.T - 1))
        return learning(kind, self.controller.problem, self.T, P, self.planned)

    @functools.cached_property
    def again(self) -> tuple[float, float]:
        """How far inputs are off when the run is played again, and how steep costs were at the learner's own points."""
        trace, twin = self.trace, self.controller.clone()
        data = trace.cost_sequence, trace.disturbances
        try:
            inputs = simulate(trace.system, twin, *data, start=trace.states[0]).inputs
        except DriftwiseError:  # it had played before, and its horizon is over
            return np.inf, 0.0
        return float(np.abs(inputs - trace.inputs).max()), float(twin._cell[STEEPEST])

    def assumptions(self) -> list[Assumption]:
        """Return the assumptions of the theorem, with what was found."""
        played = self.controller.round
        began = float(np.linalg.norm(self.trace.states[0]))
        return [
            self._convexity(),
            self._slopes(),
            self._disturbances(),
            self._plant(),
            Assumption("first state", began == 0.0, "the origin" if began == 0.0 else f"of norm {began:.6g}, not 0"),
            self._inputs(),
            self._comparators(),
            self._horizon(),
            self._memory(),
            Assumption(
                "start", not played, f"{played} rounds had been played before" if played else "a new controller"
            ),
        ]

    def _convexity(self) -> Assumption:
        costs = self.trace.cost_sequence
        if costs.model is None:
            return Assumption("convexity", None, "custom costs, or of several kinds; they were tried at a few points")
        return Assumption("convexity", costs.convex, f"costs are {'' if costs.convex else 'not '}convex")

    def _slopes(self) -> Assumption:
        costs, most = self.trace.cost_sequence, self.controller.cost_gradient
        if costs.gradient_constant is not None:
            text = f"at most {costs.gradient_constant:.6g} times state and input, the bound {most:.6g}"
            return Assumption("cost gradients", costs.gradient_constant <= most * (1.0 + ROUNDING), text)
        seen = max(self.again[1], self._steepest())
        if seen > most * (1.0 + ROUNDING):
            text = f"up to {seen:.6g} times the larger of state and input, the bound {most:.6g}"
            return Assumption("cost gradients", False, text)
        text = f"up to {seen:.6g} times the larger of state and input where the run was, the bound {most:.6g}"
        return Assumption("cost gradients", None, text)

    def _steepest(self) -> float:
        """Return the largest gradient of a cost where the run was, in units of the larger of state and input."""
        largest = 0.0
        for cost, x, u in zip(self.trace.cost_sequence, self.trace.states, self.trace.inputs, strict=True):
            slope = max(float(np.linalg.norm(part)) for part in cost.gradient(x, u))
            size = max(float(np.linalg.norm(x)), float(np.linalg.norm(u)))
            if slope > 0.0:
                largest = max(largest, slope / size if size > 0.0 else np.inf)
        return largest

    def _disturbances(self) -> Assumption:
        seen, most = float(np.linalg.norm(self.trace.disturbances, axis=1).max()), self.controller.disturbance_bound
        text = f"the largest in the run is {seen:.6g}, the bound {most:.6g}"
        return Assumption("disturbances", seen <= most * (1.0 + ROUNDING), text)

    def _plant(self) -> Assumption:
        mine, true = self.controller.system, self.trace.system
        if not (mine.linear and np.array_equal(mine.A, true.A) and np.array_equal(mine.B, true.B)):
            return Assumption("plant", False, "it is not the one that the controller was made for")
        off = self.again[0]
        if off > ROUNDING * max(float(np.abs(self.trace.inputs).max()), 1e-300):
            text = (
                f"played again, inputs differ by {off:.3g}: the controller was shown other states, or told a reference"
            )
            return Assumption("plant", False, text)
        return Assumption("plant", True, "linear, and the one that the controller was made for")

    def _inputs(self) -> Assumption:
        controller, u = self.controller, self.trace.inputs
        if controller.guard is not None:
            return Assumption("inputs", False, "a guard may have overruled what was learnt")
        limited = np.isfinite(controller.input_bound).any() or controller.rate_limit is not None
        low, high = controller._bounds
        reached = bool(((u <= low) | (u >= high)).any())
        if controller.rate_limit is not None:
            steps = np.abs(np.diff(u, axis=0, prepend=0.0))
            reached = reached or bool((steps >= controller.rate_limit * (1.0 - ROUNDING)).any())
        if reached:
            return Assumption("inputs", False, "they were clipped by a bound or a rate limit of the controller")
        return Assumption("inputs", True, "never at their limits" if limited else "without limits, guard or delay")

    def _comparators(self) -> Assumption:
        H, lags = self.domain.radii.size, self.policies.shape[1]
        beyond = bool(self.policies[:, H:].any())
        norms = np.linalg.norm(self.policies[:, :H], 2, axis=(2, 3))
        excess = float((norms / self.domain.radii[: min(H, lags)]).max())
        if beyond:
            return Assumption(
                "comparators", False, f"they answer to {lags} disturbances, the controller's policies to {H}"
            )
        text = f"the largest is {excess:.6g} of its radius"
        return Assumption("comparators", excess <= 1.0 + ROUNDING, text)

    def _horizon(self) -> Assumption:
        planned = self.controller.horizon
        if planned is None:
            return Assumption("horizon", False, "none was given; the bound shown is for one that is known")
        return Assumption("horizon", True, f"{planned} rounds planned, {self.T} played")

    def _memory(self) -> Assumption:
        controller, problem = self.controller, self.controller.problem
        text = f"H = {controller.memory}, truncation is {self.truncation:.3g} of the bound"
        if truncation_share(self.planned, problem.response, controller.memory, problem.total) > 1.0:
            least = long_enough("certificate", self.planned, problem.response, self._radii)
            text += f", and linear in T; about H = {least}, as memory={LOG!r} has it, would make it a constant"
        return Assumption("memory", True, text)

    def _radii(self, memory: int) -> Array:
        """Return radii for another memory: those beyond the controller's are as the last one."""
        radii = self.domain.radii
        return np.concatenate([radii, np.full(max(memory - radii.size, 0), radii[-1])])[:memory]
