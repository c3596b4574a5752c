"""What a plant is, found out by probing an environment: the data for `driftwise.control.identify`."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from driftwise._docs import documented
from driftwise._validate import Array, array, checked, seeded, whole
from driftwise.adapters.gymnasium.loop import PARAMETERS, Loop, StateOf
from driftwise.control.identification import Identified
from driftwise.control.identification import identify as identify_from
from driftwise.control.plants.actuator import each
from driftwise.errors import InputError, ParameterError

OWNER = "identify"

SHARE = 0.25
"""Size of the probes, as a share of half the range of an input."""


@documented(mapping=PARAMETERS)
@checked
def identify(
    env: Any,
    *,
    K: ArrayLike | None = None,
    rounds: int = 2000,
    probe: ArrayLike | None = None,
    seed: int = 0,
    options: dict[str, Any] | None = None,
    state: StateOf | None = None,
    scale: ArrayLike | None = None,
    rest: ArrayLike | None = None,
    order: int | None = None,
    method: str = "iv",
) -> Identified:
    """Estimate A and B of an environment by playing u = -K x and random signs on it.

    Where an episode ends the environment is reset, and goes on; what happens from the end of one to the start of the
    next is left out. An environment that is not linear is estimated as it is near where K keeps it: a larger probe
    averages over more of the nonlinearity, a smaller one drowns in the disturbance.

    Parameters
    ----------
    env : gymnasium.Env
        An environment with a Box of actions; it is reset first, and not closed.
    K : array of shape (inputs, states), optional
        A gain with which u = -K x stabilises it, however roughly; zeros, for a plant that is stable by itself.
    rounds : int, default 2000
        Steps, over as many episodes as that takes.
    probe : float or array of shape (inputs,), optional
        Size of the random signs; an eighth of an input's range when left out.
    seed : int, default 0
        For the signs, and for the first reset.
    options : dict, optional
        For every ``env.reset(options=...)``.
    {mapping}
    order : int, optional
        As in `driftwise.control.identify`.
    method : {"iv", "ols"}, default "iv"
        As in `driftwise.control.identify`; "whitened" and "moments" only where everything fits into one episode.

    Returns
    -------
    Identified
        A, B, estimates of their errors, and ``system``, the plant to build a controller for.

    Examples
    --------
    >>> import gymnasium
    >>> import driftwise as dw
    >>> from driftwise.adapters.gymnasium import identify, run
    >>> env = gymnasium.make("driftwise/LinearSystem-v0", A=[[0.9, 0.2], [0.0, 0.8]], B=[[0.0], [0.5]])
    >>> found = identify(env)
    >>> found.A.round(2)
    array([[0.9 , 0.21],
           [0.01, 0.81]])
    >>> lqr, ours = dw.control.LinearController(found.system), dw.control.SelfTunedController(found.system)
    >>> run(env, ours, seed=1).total < run(env, lqr, seed=1).total
    True
    """
    loop, count, rng = Loop(OWNER, env, state, scale, rest), whole(OWNER, "rounds", rounds), seeded(OWNER, seed)
    sizes = _sizes(loop, probe)
    x = loop.reset(seed, options)
    gain = np.zeros((sizes.size, x.size)) if K is None else array(OWNER, "K", K, (sizes.size, x.size))
    states, inputs, probes, starts = [x], [], [], []
    for t in range(count):
        sign = sizes * rng.choice([-1.0, 1.0], sizes.size)
        step = loop.step(sign - gain @ states[-1])
        states.append(step.state)
        inputs.append(step.applied)
        probes.append(sign)
        if (step.terminated or step.truncated) and t + 1 < count:
            # A round that was not played stands between the last state of an episode and the first of the next.
            states.append(loop.reset(None, options))
            inputs.append(np.zeros(sizes.size))
            probes.append(np.zeros(sizes.size))
            starts.append(len(inputs))
    return identify_from(
        np.array(states), np.array(inputs), np.array(probes), gain, order, method=method, starts=starts or None
    )


def _sizes(loop: Loop, probe: ArrayLike | None) -> Array:
    """Return the sizes of the probes."""
    low, high = np.sort(loop.scaling.limits, axis=0)
    half = 0.5 * (high - low)
    if probe is None and not np.isfinite(half).all():
        raise ParameterError(
            f"{OWNER}: the inputs of this environment have no limits; give probe=, the size of the random signs."
        )
    sizes = each(OWNER, "probe", SHARE * half if probe is None else probe, half.size)
    if not (sizes > 0.0).all() or not (sizes <= half).all():
        raise InputError(
            f"{OWNER}: probe must be above 0 and within the range of the inputs, {half.tolist()} to each side, got "
            f"{sizes.tolist()}."
        )
    return sizes
