"""One episode of an environment under a controller: act, step, observe."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from driftwise._compile import LARGEST
from driftwise._docs import documented
from driftwise._validate import Array, checked, instance, whole
from driftwise.adapters.gymnasium.loop import PARAMETERS, Loop, StateOf
from driftwise.adapters.gymnasium.trace import EnvTrace
from driftwise.control.controllers import Controller
from driftwise.control.costs import Cost, CostSequence, QuadraticCost, as_costs
from driftwise.errors import HorizonError, InputError, ParameterError

OWNER = "run"


@documented(mapping=PARAMETERS)
@checked
def run(
    env: Any,
    controller: Controller,
    *,
    horizon: int | None = None,
    seed: int | None = None,
    options: dict[str, Any] | None = None,
    state: StateOf | None = None,
    cost: "Cost | CostSequence | Sequence[Cost] | None" = None,
    scale: ArrayLike | None = None,
    rest: ArrayLike | None = None,
) -> EnvTrace:
    """Let a controller run one episode of an environment.

    The input is clipped to the action space, and the controller is told the one that was applied. The episode is over
    when the environment says so, or after `horizon` rounds. If anything goes wrong the controller is left as it was.

    For another episode take a fresh controller, or a ``clone()`` of this one that was made before: to a controller that
    goes on, the jump to a new start is a disturbance.

    Parameters
    ----------
    env : gymnasium.Env
        An environment with a Box of actions; it is reset first, and not closed.
    controller : Controller
        Any of driftwise's controllers, or one of your own.
    horizon : int, optional
        Largest number of rounds; needed if neither environment nor controller has one.
    seed : int, optional
        For ``env.reset(seed=...)``.
    options : dict, optional
        For ``env.reset(options=...)``.
    {mapping}
    cost : Cost, CostSequence or list of Cost, optional
        What the controller is to make small. Left out, it is that of the environment if it is one of driftwise's, and
        ``QuadraticCost(1.0, 1.0)`` otherwise: the reward is a number, and does not say what another input had cost.

    Returns
    -------
    EnvTrace

    Raises
    ------
    InputError
        If actions are not a Box of floats, or if the numbers of states or inputs are not those of the controller.
    ParameterError
        If `cost` is left out where the environment is one of driftwise's in other units, by a wrapper or by `state`.

    Examples
    --------
    The pendulum of Gymnasium, started near upright, where it is kept by the model linearised there:

    >>> import gymnasium
    >>> import numpy as np
    >>> import driftwise as dw
    >>> from driftwise.adapters.gymnasium import run
    >>> upright = dw.control.LinearSystem([[1.0375, 0.05], [0.75, 1.0]], [[0.0075], [0.15]])
    >>> cost = dw.control.QuadraticCost([1.0, 0.1], 0.001)
    >>> controller = dw.control.SelfTunedController(upright, cost=cost, input_bound=2.0)
    >>> trace = run(
    ...     gymnasium.make("Pendulum-v1"),
    ...     controller,
    ...     seed=0,
    ...     options={"x_init": 0.2, "y_init": 0.2},
    ...     state=lambda seen: [np.arctan2(seen[1], seen[0]), seen[2]],
    ...     cost=cost,
    ... )
    >>> len(trace.costs), trace.truncated, bool(abs(trace.states[-1]).max() < 0.01)
    (200, True, True)
    >>> bool(np.allclose(trace.costs, -trace.rewards, atol=1e-4))
    True
    """
    instance(OWNER, "controller", controller, Controller, "SelfTunedController(LinearSystem(A, B))")
    loop = Loop(OWNER, env, state, scale, rest)
    if controller.input_dim != loop.input_dim:
        raise InputError(
            f"{OWNER}: the environment takes {loop.input_dim} inputs, and {controller!r} gives {controller.input_dim}."
        )
    T = _rounds(controller, loop, horizon)
    blind = hasattr(controller, "output_dim")  # it sees outputs, and costs are of states
    costs = _costs(cost, loop, controller, T)
    controller.expect_act()
    x = loop.reset(seed, options)
    width = controller._x.size
    if x.size != width:
        raise InputError(
            f"{OWNER}: {controller!r} wants {width} numbers of each observation, and there are {x.size}; give state=, "
            "a function that makes the state of an observation."
        )
    before, rows = controller.clone(), _Rows()
    terminated = truncated = False
    try:
        for t in range(T):
            step = loop.step(controller.act(x))
            paid = -step.reward if blind else costs[t].value(x, step.applied)
            if not abs(paid) <= LARGEST:
                raise InputError(f"{OWNER}: in round {t} the cost is no longer a number of at most 1e+100.")
            controller.observe(costs[t], applied=step.applied)
            rows.append((x, step.applied, paid, step.reward))
            x, terminated, truncated = step.state, step.terminated, step.truncated
            if terminated or truncated:
                break
    except BaseException:
        controller.restore(before)
        raise
    states, inputs, values, rewards = (np.array(column, dtype=np.float64) for column in zip(*rows, strict=True))
    return EnvTrace(states, inputs, values, rewards, x, terminated, truncated, before)


class _Rows(list[tuple[Array, Array, float, float]]):
    """State, input, cost and reward of every round."""


def _rounds(controller: Controller, loop: Loop, horizon: int | None) -> int:
    """Return the largest number of rounds."""
    left = None if controller.horizon is None else controller.horizon - controller.round
    if horizon is None:
        known = [rounds for rounds in (left, loop.length) if rounds is not None]
        if not known:
            raise ParameterError(
                f"{OWNER}: neither the environment nor the controller says how long an episode is; give horizon=, the "
                "largest number of rounds."
            )
        return min(known)
    asked = whole(OWNER, "horizon", horizon)
    if left is not None and left < asked:
        raise HorizonError(
            f"{OWNER}: {asked} rounds are more than the {left} that the horizon of {controller!r} has left."
        )
    return asked


def _costs(cost: Any, loop: Loop, controller: Controller, T: int) -> CostSequence:
    """Return the costs of the rounds, checked."""
    own = loop.costs if cost is None else None
    if own is not None:
        return own
    n = getattr(getattr(controller, "system", None), "state_dim", controller.state_dim)
    return as_costs(OWNER, QuadraticCost(1.0, 1.0) if cost is None else cost, T, n, controller.input_dim)
