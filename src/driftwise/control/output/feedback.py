"""Self-tuned control where only y = C x is measured: learning on the innovations of an observer.

Fed with the estimate of a predictor, the disturbance that a controller recovers is x^_{t+1} - A x^_t - B u_t = L e_t,
L times the innovation: what is learnt is a disturbance-response policy (a Youla parametrisation around K and the
observer), and everything that `SelfTunedController` does applies.
"""

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from driftwise._compile import LARGEST
from driftwise._saving import expect
from driftwise._validate import Array, array, instance, loose, whole
from driftwise.control.controllers.base import Controller, read_reference
from driftwise.control.controllers.guard import Event, Guard, Health, settle_time
from driftwise.control.costs import Cost, CustomCost, QuadraticCost
from driftwise.control.frozen import FrozenPolicy, Margins
from driftwise.control.output.observer import Observed, observed
from driftwise.control.plants import LinearSystem, as_matrix
from driftwise.control.policies.disturbance_action import stable_loop
from driftwise.control.policies.engine import report
from driftwise.control.policies.guard import FIRST, GLITCH, KICK, MISSING, OUT_OF_RANGE
from driftwise.control.policies.layout import RAW, USUAL, WATCHED
from driftwise.control.policies.model import model_of, weights_of
from driftwise.control.policies.scales import loop_memory
from driftwise.control.self_tuned import SelfTunedController
from driftwise.control.self_tuned.pool import Given
from driftwise.control.stability import lqr, spectral_radius
from driftwise.errors import InputError, ParameterError

DETUNED = 12
"""Times that inputs are made four times as expensive, at most, to find a gain that stands a delay."""


class _OnEstimates(SelfTunedController):
    """The controller behind an observer, with plain LQG as one more member if the observer is offset-free."""

    def __init__(self, observed: Observed, gain: Array, own: Array, plant: LinearSystem, **settings: Any) -> None:
        self._observed, self._gain, self._catches_up = observed, gain, False
        super().__init__(plant, K=own, **settings)

    def _own_members(self, states: int, inputs: int) -> Given:
        seen, K = self._observed, self._gain
        if seen.extra == 0 or K.shape[1] != len(seen.plain):
            return super()._own_members(states, inputs)
        n = len(seen.plain)
        A, B, C, plain = seen.A[:n, :n], seen.B[:n], seen.C[:, :n], seen.plain
        # Its own copy [x, d] beside the estimate of an observer without d, which sees C [x, d] + e there.
        big_A = np.block([[seen.A, -seen.B @ K], [plain @ seen.C, A - B @ K - plain @ C]])
        big_B = np.vstack([np.eye(states), plain @ np.linalg.pinv(seen.L)])
        return Given(("LQG",), big_A, big_B, np.hstack([np.zeros((inputs, states)), -K])[None])

    def _is_late(self) -> bool:
        return super()._is_late() or self._catches_up

    def _say_lost(self, x: Array) -> None:
        if not np.isnan(x).any():  # otherwise it was written down in the round before, when the output was lost
            super()._say_lost(x)


class OutputFeedback(Controller):
    """Control by outputs: an observer, the gain you have, and what `SelfTunedController` learns on top.

    For plants of which only y = C x is measured. Start from your own gain and observer: u = -K x^ is what it falls back
    on.

    Parameters
    ----------
    system : LinearSystem
        The plant, with `C`. A delay, a lag or limits of its actuator are known to the controller.
    K : array of shape (du, dx), optional
        Gain that stabilises the plant; `lqr` with the weights of `cost` when left out, or with unit weights.
    observer : array of shape (dx, dy), optional
        L of your observer in predictor form, x^_{t+1} = A x^_t + B u_t + L (y_t - C x^_t). A Kalman predictor is
        designed from the covariances when left out.
    process_noise, measurement_noise : float or array, optional
        Covariances of what disturbs the states, (dx, dx), and the outputs, (dy, dy); a number is that multiple of the
        identity. Units of 1 when left out.
    offset_free : bool, default False
        Estimate disturbances that stay, too, and let the gain answer to them: as an observer for constant disturbances
        does, before anything is learnt. They enter where `process_noise` is largest if that is given, in as many
        directions as there are outputs, and through the inputs otherwise. If they do not enter there, it does harm;
        what is learnt leaves no offset without it.
    cost : Cost, optional
        What states and inputs cost, if it is known beforehand; when left out, the first one that is observed counts.
    input_bound, rate_limit, guard, bank, on_bad_input
        As in `SelfTunedController`.

    Attributes
    ----------
    estimate : array of shape (dx,)
        x^, the estimate of the state.
    inner : SelfTunedController
        The controller that runs on the estimates [x^, d^].

    Notes
    -----
    The costs that are observed are of the state, and are taken at its estimate. The input for y_t is decided by what
    was known before y_t, as in any observer in predictor form, so that a whole sample is left for computing. Nothing
    is proved.

    With a guard, an output that is lost is logged in its round, and what is learnt fades in the next. An output with an
    innovation of over 10^4 times the energy of all before is taken for a mistake of the sensor, and for lost; the next
    one is believed, whatever it is. After two or more were lost, nothing is learnt from innovations that are far larger
    than usual until the observer has had time to catch up.

    References
    ----------
    .. [1] Simchowitz, Singh, Hazan, "Improper learning for non-stochastic control", COLT 2020.

    Examples
    --------
    >>> import numpy as np
    >>> import driftwise as dw
    >>> plant = dw.control.LinearSystem([[1.0, 1.0], [0.0, 1.0]], [[0.5], [1.0]], C=[[1.0, 0.0]])
    >>> controller = dw.control.OutputFeedback(plant, measurement_noise=0.01)
    >>> lqg = controller.freeze()  # before anything is learnt
    >>> push, cost = dw.control.SinusoidDisturbance(0.3, period=40.0, seed=1), dw.control.QuadraticCost(1.0, 1.0)
    >>> trace = dw.control.simulate(plant, controller, cost, push, rounds=1000)
    >>> x, total = np.zeros(2), 0.0
    >>> for w in trace.disturbances:
    ...     u = lqg.act(plant.output(x))
    ...     total += cost.value(x, u)
    ...     x = plant.A @ x + plant.B @ u + w
    >>> trace.total < 0.2 * total
    True
    """

    _act = "act(y)"
    state_names = ()

    def __init__(
        self,
        system: LinearSystem,
        K: ArrayLike | None = None,
        *,
        observer: ArrayLike | None = None,
        process_noise: ArrayLike | None = None,
        measurement_noise: ArrayLike | None = None,
        offset_free: bool = False,
        cost: Cost | None = None,
        input_bound: ArrayLike | None = None,
        rate_limit: ArrayLike | None = None,
        guard: bool | Guard = True,
        bank: bool = False,
        on_bad_input: str = "raise",
    ) -> None:
        owner = type(self).__name__
        instance(owner, "system", system, LinearSystem, "LinearSystem(A, B, C)")
        if system.C is None:
            raise ParameterError(
                f"{owner}: the plant has no C; give LinearSystem(A, B, C), or use SelfTunedController."
            )
        if system.D is not None and system.D.any():
            raise ParameterError(f"{owner}: outputs that depend on the input of the same round (D) are not supported.")
        instance(owner, "offset_free", offset_free, bool, "True")
        n, du, dy = system.state_dim, system.input_dim, len(system.C)
        if observer is not None and (process_noise is not None or measurement_noise is not None):
            raise ParameterError(f"{owner}: give an observer gain or noise covariances, and not both.")
        super().__init__(n, du, None, input_bound, on_bad_input=on_bad_input)
        self.system, self.output_dim = system, dy
        gain = None if observer is None else as_matrix(owner, "observer", observer, (n, dy))
        noises = (
            _covariance(owner, "process_noise", process_noise, n),
            _covariance(owner, "measurement_noise", measurement_noise, dy),
        )
        seen = observed(owner, system.A, system.B, system.C, gain, (noises[0], noises[1]), offset_free)
        if cost is not None:
            instance(owner, "cost", cost, Cost, "QuadraticCost(1.0, 1.0)")
            cost.probe(n, du)
        bare = LinearSystem(system.A, system.B)
        weights = weights_of(cost, n, du)
        if K is None:
            K = _gain(system, *(weights or (np.eye(n), np.eye(du))))
        K_x, closed = stable_loop(owner, bare, K)
        plant = LinearSystem(seen.A, seen.B, delay=system.delay, lag=system.lag)
        self._observed, self.K = seen, K_x
        settings: dict[str, Any] = {
            "rate_limit": rate_limit,
            "guard": _bounding_states(guard, n, seen.extra),
            "bank": bank,
            "cost": self._padded(cost),
            "input_bound": input_bound,
            "on_bad_input": on_bad_input,
        }
        self.inner = _OnEstimates(
            seen,
            K_x,
            self._with_disturbances(K_x, weights),
            plant,
            memory=loop_memory(closed),
            **settings,
        )
        self._estimate, self._innovation = np.zeros(n + seen.extra), np.zeros(dy)
        # After two outputs in a row were lost, the observer has to catch up: wild innovations teach nothing meanwhile.
        self._behind, self._settling = 0, settle_time(seen.A - seen.L @ seen.C)
        self._known, self._pushed = True, [np.zeros(du) for _ in range(system.delay + 1)]
        self._lagged = np.zeros(du)
        self._x = np.zeros(dy)
        self._last: tuple[Any, Any] = (None, None)

    def _with_disturbances(self, K: Array, weights: tuple[Array, Array] | None) -> Array:
        """Return the gain for [x^, d^]: a disturbance that stays is answered as the preview of one would be."""
        seen, (n, du) = self._observed, (self.state_dim, self.input_dim)
        if seen.extra == 0:
            return K
        model = model_of(seen.A[:n, :n], seen.B[:n], K, *(weights or (np.eye(n), np.eye(du))))
        if model is None:
            return np.hstack([K, np.zeros((du, seen.extra))])
        # With another gain than the best one, the plant comes to rest at the same place.
        push = seen.A[:n, n:]
        answer = model.whole @ model.scale @ push
        closed = model.A - model.B @ model.K
        rest = np.linalg.solve(np.eye(n) - closed, push - model.B @ answer)
        return np.hstack([K, answer + (model.K - K) @ rest])

    def _padded(self, cost: Cost | None) -> Cost | None:
        """Return a cost of [x, d] from one of x."""
        extra, n = self._observed.extra, self.state_dim
        if cost is None or extra == 0:
            return cost
        if isinstance(cost, QuadraticCost) and cost.compiled:
            return _pad_quadratic(cost, n, extra)
        slope = np.zeros(extra)
        return CustomCost(
            lambda z, u: cost.value(z[:n], u),
            lambda z, u: (np.concatenate([cost.gradient(z[:n], u)[0], slope]), cost.gradient(z[:n], u)[1]),
            if_not_convex=cost.if_not_convex,
        )

    @property
    def _may_miss(self) -> bool:
        return self.inner.guard is not None or super()._may_miss

    def _saved(self) -> dict[str, Any]:
        """Return the state: that of the controller on the estimates, and of the observer."""
        observer = {name: getattr(self, f"_{name}") for name in ("estimate", "innovation", "behind", "known", "lagged")}
        return {**super()._saved(), **observer, "pushed": np.array(self._pushed), "inner": self.inner._saved()}

    def _resume(self, saved: dict[str, Any]) -> None:
        """Continue from a state that was saved."""
        owner, pushed, inner = type(self).__name__, saved.pop("pushed"), saved.pop("inner")
        for name in ("estimate", "innovation", "lagged"):
            self.__dict__[f"_{name}"] = array(owner, name, saved.pop(name), getattr(self, f"_{name}").shape)
        self._behind = whole(owner, "behind", saved.pop("behind"), low=0, high=self._settling)
        self._known = instance(owner, "known", saved.pop("known"), bool, "True")
        self._pushed = list(array(owner, "pushed", pushed, (len(self._pushed), self.input_dim)))
        super()._resume(saved)
        self.inner._resume(inner)
        together = (self.inner._acted is None) == (self._acted is None) and self.inner.round == self.round
        expect(owner, "a state", {"rounds": together})

    @property
    def estimate(self) -> Array:
        """x^, the estimate of the state for this round, or for the next."""
        return self._estimate[: self.state_dim].copy()

    @property
    def weights(self) -> Array:
        """Weights of the members, in the order of `members`."""
        return self.inner.weights

    @property
    def members(self) -> tuple[str, ...]:
        """Names of the members."""
        return self.inner.members

    @property
    def health(self) -> Health:
        """How the controller is."""
        return self.inner.health

    @property
    def log(self) -> tuple[Event, ...]:
        """The last events, oldest first."""
        return self.inner.log

    @property
    def guarantee(self) -> str:
        """What is promised about this controller's regret."""
        return self.inner.guarantee

    def freeze(self) -> FrozenPolicy:
        """Return the policy in use, with its observer, as one that no longer learns."""
        seen = self._observed
        made = self.inner._frozen(float(self.inner.health.share))
        if made["A"].shape != seen.A.shape:
            raise ParameterError(
                "OutputFeedback.freeze: a plant with a delay or a lag cannot be frozen behind an observer."
            )
        return FrozenPolicy(**made, C=seen.C, L=seen.L)

    def margins(self) -> Margins:
        """Return how far gain, phase and delay of the plant may be off before the policy in use makes it unstable."""
        return self.freeze().margins()

    def to_control(self, dt: float | bool | None = None) -> Any:
        """Return the policy in use, frozen, as a system of python-control from outputs to inputs.

        Parameters
        ----------
        dt : float or True, optional
            Time between two rounds; that of the plant when left out, if it has one.
        """
        return self.freeze().to_control(self.system.dt if dt is None else dt)

    def warm_up(self) -> None:
        """Compile what the two verbs need, before the loop starts; the controller stays as it is."""
        self.inner.warm_up()

    def act(self, y: ArrayLike | None, *, reference: ArrayLike | None = None) -> Array:
        """Return the input of this round, for the output y: read-only, finite, within the input bound.

        Parameters
        ----------
        y : array of shape (dy,)
            The output of the plant now. A guarded controller takes None for a sample that is missing.
        reference : array of shape (dx,) or (rounds, dx), optional
            Where the state is to be in this round, and in those to come if that is known; see
            ``SelfTunedController.act``.
        """
        rows = None if reference is None or self._acted is not None else read_reference(self, reference)
        if rows is None:
            return super().act(y)  # type: ignore[arg-type]
        aimed = self.inner._aims()
        try:
            self.inner._refer(np.hstack([rows, np.zeros((len(rows), self._observed.extra))]))
            return super().act(y)  # type: ignore[arg-type]
        except BaseException:
            self.inner._aim_again(aimed)
            raise

    def _read_state(self, x: ArrayLike | None) -> Array:
        name = f"{type(self).__name__}.act"
        if self.inner.guard is None:
            return array(name, "y", x, (self.output_dim,), copy=True)  # type: ignore[arg-type]
        if x is None:
            return np.full(self.output_dim, math.nan)
        given = loose(name, "y", x)
        if given.shape == (self.output_dim,) and given.dtype.kind in "fiu":
            return np.array(given, dtype=float)
        return array(name, "y", x, (self.output_dim,), copy=True)

    def _decide_blind(self, seen: Array) -> Array:
        return self._go_on(np.full(self.output_dim, math.nan), seen, False)

    def _decide(self, x: Array) -> Array:
        error = x - self._observed.C @ self._estimate
        good = bool((np.abs(error) <= LARGEST).all() and (np.abs(self._observed.L @ error) <= LARGEST).all())
        if not good and self.inner.guard is None:
            raise InputError(
                f"OutputFeedback.act: the output {np.array2string(x, threshold=6)} is too far from the one that was "
                "expected; the controller is unchanged."
            )
        return self._go_on(x, error, good)

    def _go_on(self, x: Array, error: Array, good: bool) -> Array:
        """Let the controller inside decide on the estimate; remember the innovation if the output is good."""
        catches_up = self._behind > 0 and self._energy(self._innovation) > KICK * self.inner._cell[USUAL]
        self.inner.__dict__["_catches_up"] = catches_up
        u = self.inner.act(self._estimate if self._known else None)
        good = good and not (self._known and self._doubts(error))
        if not good:
            report(self.inner._cell, MISSING if np.isnan(x).any() else OUT_OF_RANGE, 0.0)
        behind = self._behind - 1 if good or self._known else self._settling
        known = {"_innovation": error if good else np.zeros(self.output_dim), "_known": good}
        self.__dict__.update(known, _behind=max(behind, 0))
        return u

    def _energy(self, innovation: Array) -> float:
        """Return the energy of an innovation, as the guard measures that of a disturbance."""
        push = self._observed.L @ innovation
        seen = self.inner._parts["sight"][:, : push.size] @ push
        return float(seen @ seen)

    def _doubts(self, error: Array) -> bool:
        """Tell whether an innovation has far more energy than all before.

        A mistake of a sensor, which an observer would take long to forget; or a jump, which the next output confirms.
        """
        cell = self.inner._cell
        return bool(cell[WATCHED] > FIRST and self._energy(error) > GLITCH * max(cell[USUAL], cell[RAW]))

    def _learn(self, x: Array, applied: Array, cost: Cost) -> None:
        if cost is not self._last[0]:
            self.__dict__["_last"] = cost, self._padded(cost)
        self.inner.observe(self._last[1], applied=applied)
        self._move_on(applied)

    def _miss(self, x: Array, applied: Array) -> None:
        self.inner.skip(applied=applied)
        self._move_on(applied)

    def _move_on(self, applied: Array) -> None:
        """Foresee the next state."""
        seen, system = self._observed, self.system
        self._pushed.insert(0, np.array(applied))
        lag = 0.0 if system.lag is None else system.lag
        del self._pushed[system.delay + 1 :]
        lagged = lag * self._lagged + (1.0 - lag) * self._pushed[system.delay]
        following = seen.A @ self._estimate + seen.B @ lagged + seen.L @ self._innovation
        if not (np.abs(following) <= LARGEST).all():
            following = np.clip(np.nan_to_num(following), -LARGEST, LARGEST)
        self.__dict__.update(_estimate=following, _lagged=lagged)


def _bounding_states(guard: bool | Guard, states: int, extra: int) -> bool | Guard:
    """Return a guard whose bound is for the states, and not for disturbances that are estimated beside them."""
    if extra == 0 or not isinstance(guard, Guard) or guard.state_bound is None:
        return guard
    bound = guard.state_bound
    if bound.ndim:
        array("OutputFeedback", "guard.state_bound", bound, (states,))
    both = np.concatenate([np.broadcast_to(bound, states), np.full(extra, LARGEST)])
    return Guard(both, guard.deadline, guard.clock)


def _gain(system: LinearSystem, Q: Array, R: Array) -> Array:
    """Return the gain of `lqr`, with inputs made more expensive until the loop stands the plant's delay and lag."""
    bare, (A, B) = LinearSystem(system.A, system.B), system.augmented
    K = lqr(bare, Q, R)
    for k in range(1, DETUNED):
        if spectral_radius(A - B @ np.hstack([K, np.zeros((len(K), len(A) - bare.state_dim))])) < 1.0:
            break
        K = lqr(bare, Q, 4.0**k * R)
    return K


def _covariance(owner: str, name: str, value: ArrayLike | None, size: int) -> Array:
    """Return a covariance: the identity when left out, a number's multiple of it, a diagonal or a matrix."""
    if value is None:
        return np.eye(size)
    given = loose(owner, name, value)
    if given.ndim == 0:
        found = float(array(owner, name, given, ())) * np.eye(size)
    elif given.ndim == 1:
        found = np.diag(array(owner, name, given, (size,)))
    else:
        found = array(owner, name, given, (size, size))
    found = 0.5 * (found + found.T)
    if not np.linalg.eigvalsh(found)[0] >= 0.0 or not np.trace(found) > 0.0:
        raise InputError(f"{owner}: {name} must be a covariance, with no negative eigenvalue, and not 0.")
    return found


def _pad_quadratic(cost: QuadraticCost, n: int, extra: int) -> QuadraticCost:
    """Return a quadratic cost of [x, d] that does not mind d."""
    Q = np.zeros((n + extra, n + extra))
    Q[:n, :n] = cost.Q if len(cost.Q) == n else cost.Q[0, 0] * np.eye(n)
    target = None if cost.target is None else np.concatenate([np.broadcast_to(cost.target, n), np.zeros(extra)])
    R = cost.R if len(cost.R) > 1 or cost.input_dim == 1 else float(cost.R[0, 0])
    return QuadraticCost(Q, R, target=target, input_target=cost.input_target, if_not_convex=cost.if_not_convex)
