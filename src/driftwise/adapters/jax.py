"""JAX: losses and costs of which only the value is written, as ``losses.from_jax`` and ``costs.from_jax``.

>>> import jax.numpy as jnp
>>> from driftwise.adapters.jax import costs, losses
>>> losses.from_jax(lambda w: jnp.sum(w**2)).gradient([1.0, 2.0])
array([2., 4.])
>>> costs.from_jax(lambda x, u: x @ x + u @ u).value([1.0], [2.0])
5.0
"""

from driftwise import losses
from driftwise.control import costs

__all__ = ["costs", "losses"]
