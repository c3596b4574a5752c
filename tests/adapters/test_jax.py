"""The adapter is a place to find both: the same functions as in their own rooms."""

import jax.numpy as jnp

import driftwise as dw
from driftwise.adapters import jax as adapter
from driftwise.control import costs


def test_it_has_both() -> None:
    assert adapter.__all__ == ["costs", "losses"]
    assert adapter.losses.from_jax is dw.losses.from_jax
    assert adapter.costs.from_jax is costs.from_jax
    assert adapter.losses.from_jax(lambda w: jnp.sum(w**2)).gradient([1.0, 2.0]).tolist() == [2.0, 4.0]
