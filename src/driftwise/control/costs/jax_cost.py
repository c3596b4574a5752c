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
    both = _Slopes(f"costs.from_jax({name})", cost)
    made = CustomCost(both.value, both.gradient, if_not_convex=if_not_convex)
    made.__dict__["_name"] = both.owner  # for messages
    return made


class _AtState:
    """A cost as a function of the state and the input in one vector."""

    def __init__(self, cost: Callable[[Any, Any], Any], states: int) -> None:
        self.cost, self.states = cost, states

    def __call__(self, given: Any, z: Any) -> Any:
        return self.cost(z[: self.states], z[self.states :])


class _Slopes:
    """The value of a cost and its gradients, as `CustomCost` takes them; a class, so that a cost can be pickled."""

    def __init__(self, owner: str, cost: Callable[[Any, Any], Any]) -> None:
        self.owner, self.cost = owner, cost
        self.known: dict[int, Differentiable] = {}

    def value(self, x: Array, u: Array) -> float:
        return self.inner(x).value(0, np.concatenate([x, u]), key=0)

    def gradient(self, x: Array, u: Array) -> tuple[Array, Array]:
        both = self.inner(x).gradient(0, np.concatenate([x, u]), key=0)
        return both[: x.size], both[x.size :]

    def inner(self, x: Array) -> Differentiable:
        """Return the function for states of this size, each of which is compiled once."""
        if x.size not in self.known:
            self.known[x.size] = Differentiable(self.owner, _AtState(self.cost, x.size))
        return self.known[x.size]
