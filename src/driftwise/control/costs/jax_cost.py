"""A cost of which a user writes only the value, with `jax.numpy`; gradients follow."""

from collections.abc import Callable
from typing import Any

import numpy as np

from driftwise._validate import Array, checked, describe
from driftwise.control.costs.custom import CustomCost
from driftwise.errors import ParameterError
from driftwise.losses.autodiff import Differentiable


@checked
def from_jax(cost: Callable[[Any, Any], Any], *, if_not_convex: str = "refuse") -> CustomCost:
    """Return a cost of a function of the state and the input that is written with `jax.numpy`.

    Numbers are in double precision, whatever the setting of your own JAX. The function must be pure.

    Parameters
    ----------
    cost : callable
        ``cost(x, u) -> scalar``, convex.
    if_not_convex : {"refuse", "warn"}, default "refuse"
        As in `CustomCost`: points are tried before the cost is used on a plant.

    Returns
    -------
    CustomCost
        A cost for controllers, `simulate` and hindsight; it runs a round at a time.

    Warns
    -----
    DifferencesWarning
        If JAX is not installed or cannot differentiate the function, as when it calls NumPy. Gradients are central
        differences then.

    Examples
    --------
    >>> import jax.numpy as jnp
    >>> from driftwise.control import costs
    >>> cost = costs.from_jax(lambda x, u: jnp.sum(jnp.cosh(x)) + u @ u)
    >>> g_x, g_u = cost.gradient([0.0, 1.0], [2.0])
    >>> g_x.round(4), g_u
    (array([0.    , 1.1752]), array([4.]))
    """
    if not callable(cost):
        raise ParameterError(f"costs.from_jax: cost must be a function of (x, u), got {describe(cost)}.")
    name = getattr(cost, "__name__", type(cost).__name__)
    known: dict[int, Differentiable] = {}

    def inner(x: Array) -> Differentiable:
        states = x.size
        if states not in known:
            known[states] = Differentiable(f"costs.from_jax({name})", lambda _, z: cost(z[:states], z[states:]))
        return known[states]

    def value(x: Array, u: Array) -> float:
        return inner(x).value(0, np.concatenate([x, u]), key=0)

    def gradient(x: Array, u: Array) -> tuple[Array, Array]:
        both = inner(x).gradient(0, np.concatenate([x, u]), key=0)
        return both[: x.size], both[x.size :]

    value.__name__ = name
    return CustomCost(value, gradient, if_not_convex=if_not_convex)
