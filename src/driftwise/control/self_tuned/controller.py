"""A controller without knobs: members that forecast or learn, each in a copy of the plant, mixed by their costs."""

import math
from typing import Any, Unpack

import numpy as np
from numpy.typing import ArrayLike

from driftwise._protocol import BadInput
from driftwise._validate import Array, instance, whole
from driftwise.control.controllers.guard import Guard
from driftwise.control.costs import Cost
from driftwise.control.frozen import FrozenPolicy, margin_share
from driftwise.control.plants import PLANT_HINT, System, as_matrix
from driftwise.control.policies.disturbance_action import DisturbanceAction, nominal_loop, stable_loop
from driftwise.control.policies.engine import report
from driftwise.control.policies.guard import LIMITED
from driftwise.control.policies.layout import AFRESH, ALLOWED, NEW, ROUND, SHARE
from driftwise.control.policies.model import Actuator, weights_of
from driftwise.control.policies.scales import WIDTH, gain_size, loop_memory
from driftwise.control.self_tuned.answers import answers
from driftwise.control.self_tuned.bank import bearable, candidates
from driftwise.control.self_tuned.demands import CHECKS, around, read_floor, shortfalls
from driftwise.control.self_tuned.holding import PooledLoop
from driftwise.control.self_tuned.pool import CHECK, DIM, FIRST, HEARD, LARGEST_POLICY, SILENT, STILL
from driftwise.control.stability import lqr
from driftwise.domains import SpectralBalls
from driftwise.errors import ParameterError


class SelfTunedController(PooledLoop):
    """Needs nothing but the plant: no horizon, no bound on disturbances or costs, no step size.

    The controller to begin with, around the gain that you have. Every member of a pool is followed in a copy of the
    plant's model, under the disturbances that were recovered, and judged by what it would have cost there. What is
    added to u = -K x is the mixture of what the members would add:

    - *zero*, which is u = -K x, with half of the weight at first: where the past tells nothing, little is lost;
    - members that forecast the disturbances and answer to the forecast as linear-quadratic control with preview does:
      *hold* (they stay as they are, at once or smoothed: a disturbance observer) and autoregressions of orders 2, 8 and
      32 fitted by least squares, which follow drifts, steps, seasons and sums of waves;
    - learners over disturbance-action policies, by gradient descent and AdaGrad, which follow any convex cost; they are
      left out where a policy has more than 400 entries.

    A bank of models watches whether the plant answers later, more weakly or more slowly than the model says, by how
    well each predicts; when the evidence is strong, the controller goes by that model and `log` says so. A guard falls
    back on u = -K x when something is wrong (`Guard`). Decisions are the same whatever the unit of costs and whatever
    constant is added to them; units of states and inputs make little difference, by the learners over policies only.

    Parameters
    ----------
    system : System
        The plant; the controller uses its nominal (A, B), and its delay and lag.
    K : array of shape (du, dx), optional
        Gain that stabilises the plant, such as your own; `lqr` with the weights of `cost`, or unit weights, when left
        out. What is learnt comes on top of the gain.
    memory : int, optional
        H, the number of past disturbances that learnt policies answer to. When left out, as many as it takes the closed
        loop to bring a disturbance down to a tenth, from 10 to 200.
    cost : Cost, optional
        What states and inputs cost, if it is known beforehand. When left out, forecasts are answered by the weights of
        the first cost that is observed, if that is a `QuadraticCost` or `SoftLimits`, and by unit weights otherwise.
    radii : float or array of shape (H,), optional
        Largest spectral norms of M[1], ..., M[H]; four times the size of a good gain when left out.
    input_bound : float or array of shape (du,) or (du, 2), optional
        Largest size of each input, or rows [low, high].
    rate_limit : float or array of shape (du,), optional
        Most that an input may change from one round to the next.
    guard : bool or Guard, default True
        Fall back on u = -K x when states, samples or what is learnt look wrong. Without one, a state that is not a
        number is refused by an `InputError`.
    bank : bool, default True
        Look for delays, gains and lags that are not in the model.
    start : DisturbanceAction or FrozenPolicy, optional
        A policy around the same gain to begin with, such as ``controller.freeze()`` of yesterday.
    min_delay_margin : int, optional
        Samples of extra delay that the loop must stand. Margins of the policy in use are looked at every 25 rounds, and
        as little of it is used as is needed to keep them.
    min_gain_margin, min_phase_margin : float, optional
        Factor that the plant's gain may grow by, and phase in degrees, likewise.
    on_bad_input : {"raise", "skip"}, default "raise"
        What to do about input that is refused; see `Controller`.

    Attributes
    ----------
    members : tuple of str
        Names of the members, in the order of `weights`.
    domain : SpectralBalls
        Where learnt policies live.
    health : Health
        Whether what is learnt is in use, and which model of the actuator.
    log : tuple of Event
        What the guard did and why, and what was found of the actuator.

    Notes
    -----
    Nothing is proved. What was measured, beside LQR, LQI, a disturbance observer and autoregressive preview on plants
    that it was not designed on, is printed by ``driftwise reproduce control``.

    The members are mixed by AdaHedge, whose rate comes from what mixing has cost so far. What is mixed is what they add
    to u = -K x, as functions of the disturbances that all of them see: mixing inputs of plants that have come apart
    would be open-loop, and an unstable plant runs away under it.

    Forecasts are answered by the cost that the members were made for. Where costs change from round to round, learners
    over policies are what adapts.

    References
    ----------
    .. [1] de Rooij, van Erven, Grunwald, Koolen, "Follow the leader if you can, hedge if you must", JMLR 15, 2014.
    .. [2] Agarwal, Bullins, Hazan, Kakade, Singh, "Online control with adversarial disturbances", ICML 2019.

    Examples
    --------
    >>> import driftwise as dw
    >>> plant = dw.control.double_integrator()
    >>> cost, waves = dw.control.QuadraticCost(1.0, 1.0), dw.control.SinusoidDisturbance(0.3, period=40.0, seed=1)
    >>> controller = dw.control.SelfTunedController(plant)
    >>> trace = dw.control.simulate(plant, controller, cost, waves, rounds=2000)
    >>> lqr = dw.control.simulate(plant, dw.control.LinearController(plant), cost, waves, rounds=2000)
    >>> round(trace.total / lqr.total, 2)
    0.48
    >>> print(controller.health)
    learning: 100% of what is learnt is in use
    """

    def __init__(
        self,
        system: System,
        K: ArrayLike | None = None,
        memory: int | None = None,
        *,
        cost: Cost | None = None,
        radii: ArrayLike | None = None,
        input_bound: ArrayLike | None = None,
        rate_limit: ArrayLike | None = None,
        guard: bool | Guard = True,
        bank: bool = True,
        start: "DisturbanceAction | FrozenPolicy | None" = None,
        min_delay_margin: int | None = None,
        min_gain_margin: float | None = None,
        min_phase_margin: float | None = None,
        **rounds: Unpack[BadInput],
    ) -> None:
        owner = type(self).__name__
        instance(owner, "bank", bank, bool, "True")
        if cost is not None:
            instance(owner, "cost", cost, Cost, "QuadraticCost(1.0, 1.0)")
            cost.probe(*instance(owner, "system", system, System, PLANT_HINT).B.shape)
        weights = None if K is not None else weights_of(cost, *self._sizes(owner, system))
        if weights is not None:
            K = lqr(nominal_loop(system), _padded(weights[0], nominal_loop(system).state_dim), weights[1])
        gain, closed = stable_loop(owner, system, K)
        H = loop_memory(closed) if memory is None else whole(owner, "memory", memory)
        size = gain_size(nominal_loop(system), gain)
        n, du = system.state_dim, system.input_dim
        self.domain = SpectralBalls((H, du, n), WIDTH * size if radii is None else radii)
        self._given = self._own_members(n, du)
        lag = (0.0,) * du if system.lag is None else tuple(system.lag.tolist())
        known = candidates(system.delay, lag) if bank else (Actuator(system.delay, 1.0, lag),)
        self._actuators = bearable(system.A, system.B, gain, known)
        self._make_pool(system, gain, size, weights_of(cost, n, du) or (np.eye(n), np.eye(du)))
        limits: dict[str, Any] = {"input_bound": input_bound, "rate_limit": rate_limit, "guard": guard}
        super().__init__(system, gain, H, **limits, **rounds)
        self._floor = read_floor(owner, min_delay_margin, min_gain_margin, min_phase_margin)
        self._checks = self._pool[CHECK] = CHECKS if self._floor else 0
        if self._floor:
            self._need_margins()
        self._start: Array | None = None
        self._begin_at(start)
        # The first cost that is seen may be another than the members were made for: they are made anew for it.
        self._cell[AFRESH] = NEW if cost is None else 0.0
        if cost is not None:
            self._look(weights_of(cost, n, du))
            self.attend(cost)

    @staticmethod
    def _sizes(owner: str, system: System) -> tuple[int, int]:
        instance(owner, "system", system, System, PLANT_HINT)
        return system.state_dim, system.input_dim

    def _need_margins(self) -> None:
        """Refuse a floor that u = -K x itself does not keep; look after the policies from now on."""
        still = FrozenPolicy(**self._frozen(0.0)).margins()
        short = shortfalls(still, self._floor)
        if short:
            raise ParameterError(
                f"{type(self).__name__}: u = -K x itself does not stand {short}; it has {still}. Give a gain K with "
                "more margin, or ask for less."
            )

    def _keep_margins(self) -> None:
        """Allow as much of what is learnt as leaves the margins that were asked for."""
        whole, before = FrozenPolicy(**self._frozen(1.0)), float(self._cell[ALLOWED])
        self._cell[ALLOWED] = margin_share(whole, **self._floor)  # type: ignore[arg-type]
        if abs(self._cell[ALLOWED] - before) > NOTICED:
            report(self._cell, LIMITED, float(self._cell[ALLOWED]))
        self._cell[SHARE] = min(self._cell[SHARE], self._cell[ALLOWED])

    def _begin_at(self, start: "DisturbanceAction | FrozenPolicy | None") -> None:
        """Let the learners over policies begin at a policy, with half of the weight."""
        if start is None:
            return
        owner, n, H = type(self).__name__, self.state_dim, self.memory
        if not isinstance(start, FrozenPolicy):
            instance(owner, "start", start, DisturbanceAction, "controller.freeze() or DisturbanceAction(K, M)")
        if not self._pool[DIM]:
            raise ParameterError(
                f"{owner}: a start is for policies of at most {LARGEST_POLICY} entries, and H du dx is "
                f"{self.domain.dim}; give a smaller memory."
            )
        K = as_matrix(owner, "start.K", start.K[:, :n], (self.input_dim, n))
        if not np.allclose(K, self.K[:, :n], rtol=1e-6, atol=1e-9):
            raise ParameterError(f"{owner}: start was learnt around another gain; give K=start.K[:, :{n}].")
        M = np.zeros((H, self.input_dim, n))
        M[: len(start.M)] = start.M[:H, :, :n]
        self._start = M
        self._put_start()

    def _put_start(self) -> None:
        """Put the learners over policies where they are to begin."""
        if self._start is None:
            return
        parts, model = self._pool_parts, self._best
        parts["policies"][:] = self.domain.project(around(model, self._start)).ravel()
        first, share = int(self._pool[FIRST]), float(np.exp(parts["prior"][1]))
        learners = len(parts["policies"])
        parts["prior"][0], parts["prior"][first : first + learners] = math.log(share), math.log(STILL / learners)
        parts["weights"][:] = np.exp(parts["prior"])

    def attend(self, cost: Cost) -> None:
        """Do what compiled rounds have left to be done, and look at the margins when that is due."""
        super().attend(cost)
        if self._floor and int(self._cell[ROUND]) % CHECKS == 0:
            self._keep_margins()

    def _miss(self, x: Array, applied: Array) -> None:
        super()._miss(x, applied)
        if self._floor and int(self._cell[ROUND]) % CHECKS == 0:
            self._keep_margins()

    @property
    def policy(self) -> DisturbanceAction:
        """The policy in use, as far as it answers to the last H disturbances; `freeze` has all of it."""
        M = np.zeros((self.memory, *self.K.shape))
        M[:, :, : self.state_dim] = self._answers(self.memory)[0]
        return DisturbanceAction(self.K, M)

    def _answers(self, memory: int) -> tuple[Array, Array]:
        """Return what all members together answer to so many past disturbances, and the constant that comes with it."""
        heard = self._pool[HEARD]
        ready = [heard >= row[SILENT] for row in self._pool_parts["table"]]
        return answers(self._best, self._given, self.weights, self._pool_parts, ready.__getitem__, memory)

    def _decision(self) -> Array:
        return self.policy.M.ravel()

    def _frozen(self, share: float) -> dict[str, Any]:
        M, offset = self._answers(max(self.memory, FROZEN))
        sizes = np.abs(M).max(axis=(1, 2))
        last = int(np.flatnonzero(sizes > 1e-6 * sizes.max(initial=0.0)).max(initial=0)) + 1
        model, lead = self._best, self._parts["lead"]
        pair = {"A": model.A, "B": model.B, "K": model.own, "states": self.state_dim}
        return {**pair, "M": share * M[:last], "rest": lead.copy(), "offset": share * offset, **self._fences()}

    @property
    def guarantee(self) -> str:
        """What is promised about this controller's regret."""
        return "No bound on the regret is proved: the controller tunes itself, and was measured only."


NOTICED = 0.1
"""Changes of what margins allow that are logged."""

FROZEN = 100
"""Disturbances that a frozen policy answers to, at least where members remember that many."""


def _padded(Q: Array, size: int) -> Array:
    """Return weights of the states, with none for what comes after them."""
    out = np.zeros((size, size))
    out[: len(Q), : len(Q)] = Q
    return out
