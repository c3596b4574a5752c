"""What the controllers of the paper have in common: a learner over policies, with constants at one of three scales."""

import math
from abc import abstractmethod
from functools import cached_property
from typing import Any, Unpack

import numpy as np
from numpy.typing import ArrayLike

from driftwise._compile import LARGEST
from driftwise._docs import section
from driftwise._protocol import BadInput
from driftwise._validate import Array, array, choice, number, seeded, whole
from driftwise.control.bounds.problem import (
    Problem,
    imitating_radii,
    radii_by_memory,
    read_memory,
    response_of,
    truncation_share,
)
from driftwise.control.bounds.truncation import truncation
from driftwise.control.controllers.disturbance_action import DisturbanceActionController
from driftwise.control.controllers.guard import Guard
from driftwise.control.plants import System
from driftwise.control.policies import scales
from driftwise.control.policies.disturbance_action import nominal_loop, stable_loop
from driftwise.control.policies.layout import BEGAN, FARTHEST, HIGHEST, OVERRULED, STEEPEST
from driftwise.control.policies.scales import WIDTH, Constants
from driftwise.control.stability import certify
from driftwise.domains import SpectralBalls
from driftwise.errors import ParameterError
from driftwise.learners import Ensemble
from driftwise.learners.parts import SMALLEST

ROUNDING = 1e-9
"""Relative excess over a bound that is taken to be rounding."""


class LearningController(DisturbanceActionController):
    """A disturbance-action controller with a learner of the paper, built from a plant and little else.

    Not used by itself: `GradientController`, `AderController`, `ScreamController` and `LazyScreamController` are, and
    all take these arguments.

    Parameters
    ----------
    system : System
        The plant; the controller uses its nominal (A, B).
    horizon : int, optional
        Number of rounds T; None for any number.
    K : array of shape (du, dx), optional
        Gain that stabilises the plant; `lqr` with unit weights when left out. If your cost is x'Qx + u'Ru with other
        weights, give ``K=lqr(system, Q, R)``: what is learnt comes on top of the gain.
    memory : int or "log", optional
        H, the number of past disturbances that the policy answers to. When left out, as many as it takes the closed
        loop to bring a disturbance down to a tenth, from 10 to 200; fewer than that, and the controller does not see
        what its policies do. "log" takes as many as the theorem asks for, of the order of log T, with a horizon T:
        the least for which the truncation error of all T rounds is no more than a constant (`bounds.log_memory`).
    scale : {"measured", "certified", "theory"}, default "measured"
        Where the learner's constants come from. "theory": the paper's formulas. "certified": the same quantities
        computed from the impulse response of the plant, smaller by orders of magnitude. "measured": gradients are
        divided by the root mean square of those so far; nothing needs to be known, and nothing is proved.
    alpha : float, default 10.0
        Price of moving the policy by one unit, in gradients; for "measured" and for a given gradient bound.
    disturbance_bound : float, default 1.0
        W, the largest norm of a disturbance; for "certified" and "theory", whose guarantee rests on it.
    cost_gradient : float, default 2.0
        G_c: the cost's gradients are at most this times the larger of the norms of state and input; 2 for x'x + u'u.
        For "certified" and "theory".
    gradient_bound : float, optional
        G, for constants of your own instead of a scale: the largest norm of a gradient; moving is priced at alpha G.
    radii : float or array of shape (H,), optional
        Largest spectral norms of M[1], ..., M[H]; wider ones also make longer steps. When left out, four times the
        size of a good gain at the measured scale, 2 kappa^3 (1 - gamma)^(i-1) at the others.
    start : array of shape (H, du, dx), or "random", optional
        First policy; M = 0, which is u = -K x, when left out. "random" draws one by `seed`.
    seed : int or numpy.random.Generator, default 0
        For a random start.
    input_bound : float or array of shape (du,) or (du, 2), optional
        Largest size of each input, or rows [low, high].
    rate_limit : float or array of shape (du,), optional
        Most that an input may change from one round to the next.
    guard : bool or Guard, default False
        Fall back on u = -K x when states, samples or what is learnt look wrong, instead of raising; see `Guard`.
    on_bad_input : {"raise", "skip"}, default "raise"
        What to do about input that is refused; see `Controller`.

    Attributes
    ----------
    constants : Constants
        The scale in use, diameter, gradient bound and switching cost.
    scale : str
        The scale in use; "given" for a gradient bound of your own.

    Examples
    --------
    What each costs on a predictable wave, relative to u = -K x:

    >>> import driftwise as dw
    >>> plant, cost = dw.control.double_integrator(), dw.control.QuadraticCost(1.0, 1.0)
    >>> waves = dw.control.SinusoidDisturbance(0.3, period=40.0, seed=1)
    >>> lqr = dw.control.simulate(plant, dw.control.LinearController(plant), cost, waves, rounds=2000).total
    >>> for name in ("Gradient", "Ader", "Scream", "LazyScream"):
    ...     controller = getattr(dw.control, f"{name}Controller")(plant, horizon=2000)
    ...     print(name, round(dw.control.simulate(plant, controller, cost, waves).total / lqr, 3))
    Gradient 0.487
    Ader 0.608
    Scream 0.504
    LazyScream 0.494
    """

    _theorem: str | None = None
    """What is proved of the learner over policies, if anything."""

    def __init__(
        self,
        system: System,
        horizon: int | None = None,
        K: ArrayLike | None = None,
        memory: int | str | None = None,
        scale: str = "measured",
        *,
        alpha: float = scales.ALPHA,
        disturbance_bound: float = 1.0,
        cost_gradient: float = 2.0,
        gradient_bound: float | None = None,
        radii: ArrayLike | None = None,
        start: ArrayLike | str | None = None,
        seed: int | np.random.Generator = 0,
        input_bound: ArrayLike | None = None,
        rate_limit: ArrayLike | None = None,
        guard: bool | Guard = False,
        **rounds: Unpack[BadInput],
    ) -> None:
        owner = type(self).__name__
        choice(owner, "scale", scale, scales.SCALES)
        T = None if horizon is None else whole(owner, "horizon", horizon)
        rng = seeded(owner, seed)
        gain, closed = stable_loop(owner, system, K)
        loop = nominal_loop(system)
        W = number(owner, "disturbance_bound", disturbance_bound, low=0.0, exclusive=True)
        G_c = number(owner, "cost_gradient", cost_gradient, low=0.0, exclusive=True)
        price = number(owner, "alpha", alpha, low=0.0)
        size = scales.gain_size(loop, gain)
        usual = (lambda H: np.full(H, WIDTH * size)) if scale == "measured" else imitating_radii(loop, gain)
        widths = radii_by_memory(owner, radii, usual)
        H = scales.loop_memory(closed)
        if memory is not None:
            H = read_memory(owner, memory, T, lambda: response_of(scale, loop, gain), widths)
        domain = SpectralBalls((H, loop.input_dim, loop.state_dim), widths(H))
        size = max(size, float(domain.radii.max()) / WIDTH)
        if gradient_bound is not None:
            G = number(owner, "gradient_bound", gradient_bound, low=SMALLEST)
            constants = scales.given_constants(domain, G, price)
        elif scale == "measured":
            constants = scales.measured_constants(size, price)
        elif scale == "certified":
            constants = scales.certified_constants(domain, closed, loop.B, gain, W, G_c)
        else:
            constants = scales.theory_constants(domain, loop.B, W, G_c, certify(loop, gain))
        if not SMALLEST <= constants.gradient_bound <= LARGEST:
            raise ParameterError(
                f"{owner}: a bound of {constants.gradient_bound:g} on gradients is out of range; choose units in which "
                "disturbance_bound and cost_gradient are nearer to 1."
            )
        self.constants: Constants = constants
        self.scale = constants.scale
        self.disturbance_bound, self.cost_gradient = W, G_c
        first = _first(owner, domain, start, rng)
        learner = Ensemble(domain, **self._ensemble(constants), horizon=T, start=first)
        normalised = constants.scale == "measured"
        options: dict[str, Any] = {"input_bound": input_bound, "rate_limit": rate_limit, "guard": guard}
        super().__init__(system, learner, K=gain, normalised=normalised, **options, **rounds)

    def _configuration(self) -> dict[str, Any]:
        """Return what builds it again: a random start as it was drawn."""
        known = dict(super()._configuration())
        if "seed" in known:
            known["seed"] = 0
        if isinstance(known.get("start"), str) and isinstance(self.learner.domain, SpectralBalls):
            known["start"] = self.learner._configuration()["start"].reshape(self.learner.domain.shape)
        return known

    @abstractmethod
    def _ensemble(self, constants: Constants) -> dict[str, Any]:
        """Return the parts of the learner over policies, as `Ensemble` takes them."""

    def objection(self, *, anywhere: bool = False) -> str | None:
        """Return why no bound on the regret holds for this controller and what it has seen; None if one does.

        Parameters
        ----------
        anywhere : bool, default False
            Whether it does not matter that the plant started elsewhere than at the origin.
        """
        began, farthest, steepest, off = (float(self._cell[slot]) for slot in (BEGAN, FARTHEST, STEEPEST, OVERRULED))
        highest = math.sqrt(float(self._cell[HIGHEST]))
        if self.constants.condition is None:
            return "No bound on the regret is proved: constants are measured on the way."
        if self._theorem is None:
            return f"No bound on the policy regret of {type(self).__name__} is proved."
        if self.horizon is None:
            return "No bound on the regret is proved without a horizon."
        if np.isfinite(self.input_bound).any() or self.rate_limit is not None:
            return "No bound on the regret is proved where inputs are clipped."
        if self.guard is not None:
            return "No bound on the regret is proved where a guard may overrule what is learnt."
        if self.skipped:
            return f"None any more: the cost of {self.skipped} rounds is not known, and nothing was learnt in them."
        if not self.system.prompt:
            return "No bound on the regret is proved for a plant with a delay or a lag."
        if not self.system.linear:
            return (
                "No bound on the regret is proved for a plant that is not linear, that changes, or that clips inputs."
            )
        if off > 0.0:
            return (
                f"None any more: an input that was applied differs by {off:.4g} from what the policy asked for, and "
                "the theorem is for inputs that reach the plant as they are."
            )
        if began > 0.0 and not anywhere:
            return f"None any more: the plant began in a state of norm {began:.4g}, and the theorem is for x_0 = 0."
        if self.scale == "given" and highest > self.constants.gradient_bound * (1.0 + ROUNDING):
            return (
                f"None any more: a gradient of norm {highest:.4g} was seen, and the constants are made for gradients "
                f"of at most {self.constants.gradient_bound:g}."
            )
        if self.scale != "given" and farthest > self.disturbance_bound * (1.0 + ROUNDING):
            return (
                f"None any more: a disturbance of norm {farthest:.4g} was seen, and the constants are made for "
                f"disturbances of at most {self.disturbance_bound:g}."
            )
        if self.scale != "given" and steepest > self.cost_gradient * (1.0 + ROUNDING):
            if not np.isfinite(steepest):
                return (
                    "None any more: a cost had a gradient at the origin, and the theorem is for costs that are least "
                    "there, such as x'x + u'u."
                )
            return (
                f"None any more: a cost's gradient was {steepest:.4g} times as large as state and input, and the "
                f"constants are made for a cost_gradient of at most {self.cost_gradient:g}."
            )
        return None

    @cached_property
    def problem(self) -> Problem:
        """What the bounds on this controller's regret are computed from (`control.bounds`)."""
        assert isinstance(self.learner.domain, SpectralBalls)
        scale, loop = "theory" if self.scale == "theory" else "certified", nominal_loop(self.system)
        sizes = self.disturbance_bound, self.cost_gradient
        return Problem(
            type(self).__name__,
            loop,
            self.K,
            self.learner.domain,
            response_of(scale, loop, self.K),
            self.constants,
            *sizes,
        )

    @property
    def guarantee(self) -> str:
        """What is promised about this controller's regret, and under which conditions, and whether one was broken."""
        return self.objection() or (
            f"{self._theorem} on the linear system itself, for these T = {self.horizon} rounds, if x_0 = 0 and "
            f"{self.constants.condition}{self.truncation_clause()}"
        )

    def truncation_clause(self) -> str:
        """Say what the truncation of the memory to H leaves of a theorem in which H grows like log T."""
        T, problem = self.horizon or 0, self.problem
        if truncation_share(T, problem.response, self.memory, problem.total) <= 1.0:
            costs = "" if self.scale == "given" else f" at most {truncation(problem, T):.3g} in all these rounds,"
            return f". H = {self.memory} is enough for them: its truncation costs{costs} a constant."
        left = float(np.linalg.norm(np.linalg.matrix_power(self._parts["closed"], self.memory + 1), 2))
        return (
            f", and H grows like log T, as with memory='log'. With H = {self.memory} as it is, an error of "
            f"truncation in proportion to |A_K^(H+1)| = {left:.2g} is left in every round, which is linear in T."
        )


PARAMETERS = section(LearningController, "Parameters")
"""The parameters that all named controllers share."""


def _first(owner: str, domain: SpectralBalls, start: ArrayLike | str | None, rng: np.random.Generator) -> Array:
    """Return the first policy, flat."""
    if start is None:
        return np.zeros(domain.dim)
    if isinstance(start, str):
        choice(owner, "start, unless it is an array,", start, ("random",))
        policy = rng.standard_normal(domain.shape)
        sizes = rng.uniform(0.0, 1.0, len(policy)) * domain.radii / np.linalg.norm(policy, 2, axis=(1, 2))
        policy *= sizes[:, None, None]
    else:
        policy = array(owner, "start", start, domain.shape)
        if not domain.contains(policy):
            raise ParameterError(
                f"{owner}: start must lie within the radii {np.array2string(domain.radii, precision=3)}, got matrices "
                f"of norms {np.array2string(np.linalg.norm(policy, 2, axis=(1, 2)), precision=3)}; give larger radii=."
            )
    return policy.ravel()
