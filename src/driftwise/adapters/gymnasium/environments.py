"""Plants with their disturbance and cost as environments: the loop of `driftwise.control.simulate`, a round a step."""

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from driftwise._docs import documented
from driftwise._extras import optional
from driftwise._validate import Array, Checked, array, instance, loose, number, whole
from driftwise.adapters.gymnasium.scaling import Scaling
from driftwise.control.costs import Cost, CostSequence, QuadraticCost, as_costs
from driftwise.control.plants import InvertedPendulum, LinearSystem, System, TimeVaryingSystem, double_integrator
from driftwise.control.plants.actuator import each
from driftwise.control.plants.disturbances.base import Disturbance, as_disturbances
from driftwise.control.plants.disturbances.patterns import SinusoidDisturbance
from driftwise.control.plants.kernels import changes_in, one_actuation, one_move, plant_vector
from driftwise.errors import InputError, OrderError, ParameterError

gym = optional("driftwise.adapters.gymnasium", "gymnasium", "gymnasium")

HORIZON = 200
"""Rounds of an episode."""

FAR = 1e6
"""Size of a state at which an episode ends."""

Costs = Cost | CostSequence | Sequence[Cost]

OPTIONS = """
disturbance : Disturbance or array of shape (horizon, states), optional
    What is added to the state after each step; drawn anew in every episode. A sinusoid of period 40 when left out.
cost : Cost, CostSequence or list of Cost, optional
    What a step costs, one for all or one a step; the reward is its negative.
horizon : int, optional
    Steps of an episode, after which it is truncated; those of an array of disturbances, or 200.
input_limit : float or array of shape (inputs,), optional
    Largest size of an input where the plant has no limit of its own; 1 when left out.
start : array of shape (states,), optional
    Where an episode starts; the origin when left out.
spread : float or array of shape (states,), default 0.0
    Every episode starts at random within so much of `start`.
state_limit : float, default 1e6
    An episode in which a state gets larger than this is terminated.
unit_actions : bool, default True
    Actions are shares of the input's limits, from -1 to 1, as learning agents want them. False: actions are inputs, in
    units of the plant, and without a limit if neither the plant nor `input_limit` has one.
"""

INFO = """
The options of ``reset`` may have ``"state"``, where this episode starts. After a step ``info`` has ``"cost"``,
``"input"`` as the plant's actuator let it through, ``"disturbance"`` and ``"state"``, the true next state; after a
reset ``"state"`` only. The same seed gives the same episode, and that of ``control.simulate(..., seed=seed)``: bit for
bit if actions are inputs, and but for rounding if they are shares of a limit.
"""


class PlantEnv(gym.Env, metaclass=Checked):  # type: ignore[misc, name-defined]
    """A plant as an environment; see its children."""

    metadata: ClassVar[dict[str, Any]] = {"render_modes": []}

    def __init__(
        self,
        plant: System,
        disturbance: "Disturbance | ArrayLike",
        cost: Costs,
        horizon: int | None,
        input_limit: ArrayLike | None,
        start: ArrayLike | None,
        spread: ArrayLike,
        state_limit: float,
        unit_actions: bool,
    ) -> None:
        owner, n, m = type(self).__name__, plant.state_dim, plant.input_dim
        self.plant, self.disturbance = plant, disturbance
        if horizon is None:
            rows: Any = disturbance
            drawn = isinstance(rows, Disturbance)
            horizon = HORIZON if drawn else np.atleast_1d(loose(owner, "disturbance", rows)).shape[0]
        self.horizon = whole(owner, "horizon", horizon)
        as_disturbances(owner, disturbance, self.horizon, n, np.random.default_rng(0))
        self.costs = as_costs(owner, cost, self.horizon, n, m)
        self.state_limit = number(owner, "state_limit", state_limit, low=0.0, exclusive=True)
        self._start = np.zeros(n) if start is None else array(owner, "start", start, (n,), copy=True)
        self._spread = np.abs(each(owner, "spread", spread, n))
        self._limit_actions(owner, input_limit, instance(owner, "unit_actions", unit_actions, bool, "True"))
        C = getattr(plant, "C", None)
        self._C = np.eye(n) if C is None else np.asarray(C)
        if C is not None and plant.D.any():  # type: ignore[attr-defined]
            raise ParameterError(f"{owner}: an observation is made before the action, so D must be 0.")
        self._far = np.abs(self._C) @ self._furthest()
        self.observation_space = gym.spaces.Box(-self._far, self._far, dtype=np.float64)
        self._round: int | None = None

    def _furthest(self) -> Array:
        """Return the size up to which states are shown."""
        return np.full(self.plant.state_dim, self.state_limit)

    def _limit_actions(self, owner: str, input_limit: ArrayLike | None, unit: bool) -> None:
        low, high = self.plant._limits
        if input_limit is not None or unit:
            size = each(owner, "input_limit", 1.0 if input_limit is None else input_limit, low.size)
            low, high = np.where(np.isinf(low), -size, low), np.where(np.isinf(high), size, high)
        if not (low < high).all():
            raise ParameterError(f"{owner}: input_limit must leave every input a range, got {input_limit!r:.60}.")
        ends = np.ones(low.size)
        space = gym.spaces.Box(-ends, ends, dtype=np.float64) if unit else gym.spaces.Box(low, high, dtype=np.float64)
        self.action_space = space
        middle, half = (0.5 * (low + high), 0.5 * (high - low)) if unit else (np.zeros(low.size), ends)
        self.scaling = Scaling(space, -middle / half, half)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Array, dict[str, Any]]:
        """Begin an episode, and return the first observation and what is known besides.

        Parameters
        ----------
        seed : int, optional
            Where disturbances and starts are drawn from, from now on.
        options : dict, optional
            May have "state", where the episode starts.
        """
        owner, given = f"{type(self).__name__}.reset", dict(options or {})
        x = given.pop("state", None)
        if given:
            raise ParameterError(f"{owner}: the only option is 'state', got {', '.join(map(repr, given))}.")
        asked = None if x is None else array(owner, "state", x, self._start.shape, copy=True)
        super().reset(seed=seed)
        rng = self.np_random
        self._rows, self._push = as_disturbances(owner, self.disturbance, self.horizon, self._start.size, rng)
        self._data = self.plant.data(self.horizon, rng)
        self._vector = plant_vector(self._data)
        drawn = self._start + self._spread * rng.uniform(-1.0, 1.0, self._start.size)
        self._x, self._round = drawn if asked is None else asked, 0
        return self._seen(), {"state": self._x.copy()}

    def step(self, action: ArrayLike) -> tuple[Array, float, bool, bool, dict[str, Any]]:
        """Apply an action, and return observation, reward, terminated, truncated and what is known besides.

        Parameters
        ----------
        action : array of shape (inputs,)
            Clipped to the action space.
        """
        owner, t = f"{type(self).__name__}.step", self._round
        if t is None:
            raise OrderError(f"{owner}: no episode has begun, or the last one is over; call reset() first.")
        u = self.scaling.input_of(self.scaling.clip(array(owner, "action", action, self.action_space.shape)))
        one_actuation(self._vector, u)
        cost, w, following = self.costs[t].value(self._x, u), self._rows[t], np.empty_like(self._x)
        applied = u.copy()
        one_move(self._vector, *changes_in(self._data, t), self._push, self._x, u, w, following)
        self._x = following
        terminated = not bool((np.abs(following) <= self.state_limit).all())
        truncated = t + 1 == self.horizon and not terminated
        self._round = None if terminated or truncated else t + 1
        info = {"cost": cost, "input": applied, "disturbance": w.copy(), "state": following.copy()}
        return self._seen(), -cost, terminated, truncated, info

    def _seen(self) -> Array:
        return np.clip(self._C @ self._x, -self._far, self._far)


@documented(options=OPTIONS, info=INFO)
class LinearSystemEnv(PlantEnv):
    """The environment ``driftwise/LinearSystem-v0``: x' = A x + B u + w, and a reward of minus the cost.

    =============== ===================================================================================
    Action          Box of shape (inputs,), from -1 to 1, in units of the limits of the inputs
    Observation     Box of shape (states,): x, or C x if the plant has a C; float64
    Reward          minus cost(x, u), of the state before the step and the input as it was applied
    Terminated      a state is larger than `state_limit`
    Truncated       after `horizon` steps
    =============== ===================================================================================

    {info}

    Parameters
    ----------
    A : array of shape (states, states), optional
        Transition matrix; with B in place of `plant`. A double integrator when nothing is given.
    B : array of shape (states, inputs), optional
        Input matrix.
    plant : LinearSystem or TimeVaryingSystem, optional
        The plant, which may have limits, rate limits, a delay or a lag.
    {options}

    Examples
    --------
    >>> import gymnasium
    >>> import driftwise.adapters.gymnasium
    >>> env = gymnasium.make("driftwise/LinearSystem-v0", A=[[0.9]], B=[[0.5]], disturbance=[0.25, -0.5], input_limit=2)
    >>> env.reset(seed=0, options={"state": [2.0]})[0]
    array([2.])
    >>> seen, reward, terminated, truncated, info = env.step([-1.0])
    >>> seen, reward, info["input"], truncated
    (array([1.05]), -8.0, array([-2.]), False)
    """

    def __init__(
        self,
        A: ArrayLike | None = None,
        B: ArrayLike | None = None,
        *,
        plant: System | None = None,
        disturbance: "Disturbance | ArrayLike | None" = None,
        cost: "Costs | None" = None,
        horizon: int | None = None,
        input_limit: ArrayLike | None = None,
        start: ArrayLike | None = None,
        spread: ArrayLike = 0.0,
        state_limit: float = FAR,
        unit_actions: bool = True,
    ) -> None:
        owner = "LinearSystemEnv"
        if (A is None) != (B is None) or (A is not None and plant is not None):
            raise ParameterError(f"{owner}: give A and B, or plant=, or neither for a double integrator.")
        if A is not None and B is not None:
            plant = LinearSystem(A, B)
        given = double_integrator() if plant is None else plant
        if not isinstance(given, LinearSystem | TimeVaryingSystem):
            instance(owner, "plant", given, LinearSystem, "LinearSystem(A, B)")
        waves = SinusoidDisturbance(0.1, period=40.0) if disturbance is None else disturbance
        price = QuadraticCost(1.0, 1.0) if cost is None else cost
        super().__init__(given, waves, price, horizon, input_limit, start, spread, state_limit, unit_actions)


@documented(options=OPTIONS, info=INFO)
class InvertedPendulumEnv(PlantEnv):
    """The environment ``driftwise/InvertedPendulum-v0``: `driftwise.control.InvertedPendulum`, nonlinear, as it is.

    =============== ===================================================================================
    Action          Box of shape (1,), from -1 to 1: the share of the motor's largest torque
    Observation     Box of shape (2,): the angle, 0 upright and within [-pi, pi], and the angular
                    velocity in rad/s; float64
    Reward          minus cost(x, u), of the state before the step and the torque in N m
    Terminated      the angular velocity is larger than `state_limit`; falling over ends nothing
    Truncated       after `horizon` steps of 0.05 s
    =============== ===================================================================================

    {info}

    ``Pendulum-v1`` of Gymnasium has the same rod and motor. It differs in the integration (there the new velocity moves
    the angle), in its observation (cosine and sine), and in that it has no disturbance and starts anywhere.

    Parameters
    ----------
    plant : InvertedPendulum, optional
        The pendulum; with its defaults, a torque of at most 2 N m, when left out.
    {options}

    Examples
    --------
    >>> import gymnasium
    >>> import driftwise as dw
    >>> from driftwise.adapters.gymnasium import run
    >>> env = gymnasium.make("driftwise/InvertedPendulum-v0")
    >>> lqr = dw.control.LinearController(dw.control.InvertedPendulum())
    >>> run(env, lqr, seed=0)
    EnvTrace(LinearController, rounds=200, total=2.07682)
    """

    def __init__(
        self,
        plant: InvertedPendulum | None = None,
        *,
        disturbance: "Disturbance | ArrayLike | None" = None,
        cost: "Costs | None" = None,
        horizon: int | None = None,
        input_limit: ArrayLike | None = None,
        start: ArrayLike | None = None,
        spread: ArrayLike = 0.0,
        state_limit: float = FAR,
        unit_actions: bool = True,
    ) -> None:
        given = InvertedPendulum() if plant is None else plant
        instance("InvertedPendulumEnv", "plant", given, InvertedPendulum, "InvertedPendulum(torque_limit=2.0)")
        waves = SinusoidDisturbance(0.02, period=40.0) if disturbance is None else disturbance
        price = QuadraticCost([1.0, 0.1], 0.001) if cost is None else cost
        super().__init__(given, waves, price, horizon, input_limit, start, spread, state_limit, unit_actions)

    def _furthest(self) -> Array:
        return np.array([np.pi, self.state_limit])


def own(env: Any) -> PlantEnv | None:
    """Return driftwise's own environment inside an environment, if it is one."""
    inside = env.unwrapped
    return inside if isinstance(inside, PlantEnv) else None


def check_env(owner: str, env: Any) -> None:
    """Raise unless this is a single environment whose actions are vectors of numbers."""
    if not isinstance(env, gym.Env):
        many = "; run those of a vector one by one" if isinstance(env, gym.vector.VectorEnv) else ""
        raise InputError(
            f"{owner}: env must be a gymnasium.Env, such as gymnasium.make('Pendulum-v1'){many}, got {env!r:.60}."
        )
    if not isinstance(env.action_space, gym.spaces.Box) or env.action_space.dtype.kind != "f":
        raise InputError(
            f"{owner}: inputs are numbers on a scale, and the action space of this environment is {env.action_space}; "
            "take one whose actions are a Box of floats, or a wrapper that makes them one."
        )


def check_observations(owner: str, env: Any) -> None:
    """Raise unless observations are vectors of numbers."""
    if not isinstance(env.observation_space, gym.spaces.Box):
        raise InputError(
            f"{owner}: the observation space of this environment is {env.observation_space!r:.80}, and not a Box; give "
            "state=, a function that makes the state of an observation."
        )
