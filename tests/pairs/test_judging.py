"""What a round says: clipped once for all, and refused before anything changes."""

import numpy as np
import pytest

import driftwise as dw
from driftwise._validate import Array
from driftwise.pairs import layout
from driftwise.pairs.judging import EARLY, LATE, OK, REFUSED
from driftwise.pairs.run import observe_gradient, observe_loss
from tests.cases import by_hand, self_tuned, stream
from tests.pairs.accounts import parts_of

BOX = dw.Box([-1.0], [1.0])


def _levels(rounds: int, last: float) -> Array:
    """Return levels of size 0.1, and one that is different."""
    rows = 0.1 * np.random.default_rng(0).choice([-1.0, 1.0], (rounds, 1))
    rows[-1] = last
    return rows


@pytest.mark.parametrize(("rounds", "times"), [(10, EARLY), (60, LATE)])
def test_a_level_that_is_far_out_is_clipped_to_some_times_the_usual_size(rounds: int, times: float) -> None:
    learner = dw.SelfTunedLearner(BOX, switching_cost=1e6)  # it stays at 0, so residuals are the levels
    by_hand(learner, dw.TrackingLoss(_levels(rounds, 1.0)))
    assert parts_of(learner)["targets"][0] == pytest.approx(0.1 * times)
    assert learner._vector[layout.CLIPS] == 1.0
    assert learner._vector[layout.BEYOND] == pytest.approx(0.5 - 0.5 * (0.1 * times) ** 2)


def test_a_true_jump_is_let_through_after_one_round() -> None:
    learner = dw.SelfTunedLearner(BOX, switching_cost=1e6)
    rows = np.concatenate([_levels(60, 1.0), np.ones((3, 1))])
    by_hand(learner, dw.TrackingLoss(rows))
    assert learner._vector[layout.CLIPS] == 1.0
    assert parts_of(learner)["targets"][0] == 1.0


@pytest.mark.parametrize("target", [3.0, 1e6])
def test_the_first_round_is_believed_as_far_as_decisions_reach(target: float) -> None:
    learner, reach = dw.SelfTunedLearner(BOX, switching_cost=0.1), BOX.diameter / 2.0
    by_hand(learner, dw.TrackingLoss([[target]]))
    first = parts_of(learner)["last"][0]
    assert learner._vector[layout.CLIPS] == (abs(target - first) > reach)
    assert parts_of(learner)["targets"][0] == min(target, first + reach)


@pytest.mark.parametrize("size", [1e4, -1e6])
@pytest.mark.parametrize("price", [0.3, 5.0])
def test_a_first_target_that_cannot_be_true_is_forgotten(size: float, price: float) -> None:
    rng = np.random.default_rng(5)
    true = 20.0 + np.cumsum(rng.normal(0.0, 0.3, 1000)) + rng.normal(0.0, 1.0, 1000)
    wrong = np.concatenate([[size], true[1:]])

    def cost(targets: Array) -> float:
        learner = dw.SelfTunedLearner(dw.Box([0.0], [40.0]), switching_cost=price)
        trace = dw.play(learner, dw.TrackingLoss(targets[:, None]), price)
        return trace.total - float(trace.losses[0])

    assert cost(wrong) <= 2.0 * cost(true)


@pytest.mark.parametrize("kind", ["squared", "logistic"])
def test_features_that_are_far_out_are_shrunk(kind: str) -> None:
    rng = np.random.default_rng(1)
    x, y = rng.choice([-1.0, 1.0], (40, 3)), rng.normal(size=40)
    x[-1] *= 1e4
    learner = self_tuned(dw.Ball(3))
    by_hand(learner, dw.SquaredLoss(x, y) if kind == "squared" else dw.LogisticLoss(x, np.sign(y)))
    v, parts = learner._vector, parts_of(learner)
    shrunk = parts["x"][:3] / v[layout.ROOT]
    np.testing.assert_allclose(np.abs(shrunk), np.abs(shrunk[0]), rtol=1e-9)
    assert abs(shrunk[0]) <= LATE * (1.0 + 1e-9)
    assert v[layout.CLIPS] >= 1.0


def test_gradients_are_clipped_in_length() -> None:
    learner = self_tuned(dw.Ball(2))
    for gradient in [*np.tile([0.6, 0.8], (40, 1)), np.array([0.0, 1e6])]:
        learner.act()
        learner.observe(gradient)
    assert learner._vector[layout.CLIPS] == 1.0
    assert np.linalg.norm(parts_of(learner)["targets"]) <= LATE * (1.0 + 1e-9)
    assert parts_of(learner)["targets"][0] == 0.0


def test_running_moments_are_those_of_the_features() -> None:
    rng, learner = np.random.default_rng(3), self_tuned(dw.Ball(3))
    x, y = rng.uniform(0.5, 1.0, (30, 3)), rng.uniform(-0.5, 0.5, 30)
    by_hand(learner, dw.SquaredLoss(x, y))
    parts = parts_of(learner)
    assert learner._vector[layout.CLIPS] == 0.0
    np.testing.assert_allclose(parts["moments"].reshape(3, 3), x.T @ x / 30, rtol=1e-9)
    np.testing.assert_allclose(parts["scales"], np.mean(x * x, axis=0), rtol=1e-9)


@pytest.mark.parametrize(
    ("shift", "constant"), [(np.zeros(3), False), (np.array([0.0, 0.0, 1.0]), True)], ids=["none", "one"]
)
def test_an_intercept_has_no_room_beside_a_constant_feature(shift: Array, constant: bool) -> None:
    rng = np.random.default_rng(2)
    x = np.where(shift > 0.0, shift, rng.normal(size=(10, 3)))
    learner = self_tuned(dw.Ball(3))
    by_hand(learner, dw.SquaredLoss(x, rng.normal(size=10)))
    assert learner._vector[layout.NUISANCE] == (0.0 if constant else 1.0)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, 1.1e100, -1e200])
@pytest.mark.parametrize("kind", ["squared", "tracking", "linear"])
@pytest.mark.parametrize("at", [0, 2])
def test_the_kernel_itself_refuses_bad_numbers_and_changes_nothing(kind: str, bad: float, at: int) -> None:
    learner, losses = self_tuned(dw.Ball(3)), stream(kind, 3, 6)
    by_hand(learner, losses)
    learner.act()
    assert learner._plan is not None
    before = learner._plan.kept(learner._vector).tobytes(), learner._cell.tobytes()
    row = np.full(3, 0.5)
    row[at] = bad
    for sound in (False, True):
        given = np.full(3, 0.5) if sound else row
        if kind == "linear":
            status = observe_gradient(learner._vector, learner._cell, given)
        else:
            terms = losses._parts[0]  # type: ignore[attr-defined]
            status = observe_loss(learner._vector, learner._cell, terms, given, np.array([0.5]), 0)
        unchanged = (learner._plan.kept(learner._vector).tobytes(), learner._cell.tobytes()) == before
        assert status == (OK if sound else REFUSED)
        assert unchanged == (not sound)
