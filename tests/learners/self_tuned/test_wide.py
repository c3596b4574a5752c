"""Many coordinates: full matrices up to 64, diagonals above, and a thousand are no trouble."""

import numpy as np
import pytest

import driftwise as dw
from driftwise.pairs import layout
from tests.cases import by_hand, self_tuned, squared, stream

KINDS = {"squared": "score", "logistic": "score", "tracking": "each", "capacity": "each", "linear": "gradient"}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dim", [63, 64, 65, 66])
def test_matrices_are_full_up_to_64_coordinates(kind: str, dim: int) -> None:
    learner = self_tuned(dw.Ball(dim))
    by_hand(learner, stream(kind, dim, 3))
    assert learner._plan is not None
    parts = learner._plan.views(learner._vector)
    full = dim <= 64 and KINDS[kind] != "each"
    assert bool(learner._vector[layout.FULL]) == full
    assert parts["moments"].size == (dim * dim if full else dim)
    found = {name.split(",")[0] for name in learner.members}
    assert ("change points" in found or "change points within 0.5" in found) == full
    if KINDS[kind] == "each":
        assert ("season naive" in found) == (dim <= 64)
    assert dw.Ball(dim).contains(learner.act())


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("price", ["number", "each"])
def test_a_thousand_coordinates(kind: str, price: str) -> None:
    dim, rounds = 1000, 12
    domain, losses = dw.Box([-1.0] * dim, [1.0] * dim), stream(kind, dim, rounds)
    learner = self_tuned(domain, price)
    trace = dw.play(learner, losses)
    np.testing.assert_array_equal(trace.decisions, by_hand(self_tuned(domain, price), losses))
    assert all(domain.contains(w) for w in trace.decisions)
    assert trace.moves.sum() > 0.0
    assert learner._vector.size < 400 * dim


def test_the_pool_grows_linearly_above_64_coordinates() -> None:
    sizes = []
    for dim in (500, 1000, 2000):
        learner = self_tuned(dw.Ball(dim))
        by_hand(learner, stream("squared", dim, 2))
        sizes.append(learner._vector.size)
    assert sizes[2] - sizes[1] == 2 * (sizes[1] - sizes[0])


@pytest.mark.parametrize("dim", [64, 65])
def test_diagonals_do_nearly_as_well_where_features_do_not_go_together(dim: int) -> None:
    """On both sides of the switch the regression is learnt: it costs less than standing still, and than Scream."""
    losses = squared(dim, 900)
    learnt = dw.play(dw.SelfTunedLearner(dw.Ball(dim), switching_cost=0.1), losses, 0.1).total
    scream = dw.play(dw.SelfTunedScream(dw.Ball(dim), switching_cost=0.1), losses, 0.1).total
    still = sum(losses.unary_value(t, np.zeros(dim)) for t in range(900))
    assert learnt < 0.9 * still
    assert learnt < 1.05 * scream
