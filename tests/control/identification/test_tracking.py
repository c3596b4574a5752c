"""Models are judged by rounds they have not seen."""

import numpy as np
import pytest

from driftwise._validate import Array
from driftwise.control.identification.instrumental import autoregression, whitened
from driftwise.control.identification.past import Past
from driftwise.control.identification.tracking import BLOCK, FIRST, FORGETTING, HELD, PASSES, TAPS, WINDOW, Tracker
from tests.control.identification.cases import A, B, K

STRONG = 16.0


def run(rounds: int, change: float = 0.0, *, kind: str = "white", seed: int = 0) -> tuple[Array, Array]:
    """Play -K x and a little noise on a plant whose A is off by some share from round 0 on."""
    rng = np.random.default_rng([seed, 3])
    w = 0.3 * rng.normal(size=(rounds, 3))
    if kind == "waves":
        now = np.arange(rounds)[:, None]
        w = 0.1 * w + np.sin(0.2 * now + np.arange(3)) + 0.6 * np.sin(0.55 * now) + 0.5
    x, u = np.zeros((rounds + 1, 3)), np.zeros((rounds, 2))
    for t in range(rounds):
        u[t] = -K @ x[t] + 0.1 * rng.normal(size=2)
        x[t + 1] = (1.0 + change) * A @ x[t] + B @ u[t] + w[t]
    return x, u


def watched(x: Array, u: Array) -> Tracker:
    tracker = Tracker(A, B)
    for stop in range(3 * BLOCK, len(u) + 1, BLOCK):
        start = max(stop - WINDOW, 0)
        tracker.look(Past(x[start : stop + 1], u[start:stop], u[start:stop], []))
    return tracker


@pytest.mark.parametrize("kind", ["white", "waves"])
@pytest.mark.parametrize("seed", range(4))
def test_there_is_no_evidence_against_a_model_that_is_right(kind: str, seed: int) -> None:
    tracker = watched(*run(1000, kind=kind, seed=seed))
    assert tracker.fitted is not None
    assert tracker.evidence(tracker.fitted, tracker.current) < 0.5 * STRONG
    assert tracker.evidence(tracker.nominal, tracker.current) == 0.0


@pytest.mark.parametrize("kind", ["white", "waves"])
def test_a_model_that_is_wrong_is_found_out(kind: str) -> None:
    tracker = watched(*run(1000, -0.5, kind=kind))
    assert tracker.fitted is not None
    assert tracker.evidence(tracker.fitted, tracker.current) > STRONG
    assert np.linalg.norm(tracker.fitted.matrix[:, :3] - 0.5 * A) < 0.5 * np.linalg.norm(0.5 * A)


def test_before_the_first_fit_there_is_nothing_to_say() -> None:
    tracker = watched(*run(FIRST - BLOCK))
    assert tracker.fitted is None
    assert tracker.evidence(tracker.nominal, tracker.current) == 0.0


def test_the_fit_is_weighted_least_squares_on_filtered_data() -> None:
    x, u = run(FIRST, -0.3)
    tracker = Tracker(A, B)
    tracker.look(Past(x, u, u, []))
    features, left = np.hstack([x[:-1], u]), x[1:] - x[:-1] @ A.T - u @ B.T
    taps = autoregression(left - left.mean(axis=0), TAPS)
    for _ in range(PASSES):
        phi = whitened(features - features.mean(axis=0), taps)
        rest = whitened(left - left.mean(axis=0), taps)
        weight = np.diag(FORGETTING ** np.arange(len(phi))[::-1])
        gram = phi.T @ weight @ phi
        change = np.linalg.solve(gram + HELD * np.diag(np.diag(gram)), phi.T @ weight @ rest).T
        after = left - features @ change.T
        taps = autoregression(after - after.mean(axis=0), TAPS)
    assert tracker.fitted is not None
    np.testing.assert_allclose(tracker.fitted.matrix, np.hstack([A, B]) + change, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(tracker.fitted.taps, taps, rtol=1e-6, atol=1e-9)


def test_plants_that_are_drawn_are_as_far_off_as_the_fit() -> None:
    off, drawn = [], []
    for seed in range(12):
        tracker = watched(*run(600, -0.2, seed=seed))
        assert tracker.fitted is not None
        off.append(np.linalg.norm(tracker.fitted.matrix - np.hstack([0.8 * A, B])))
        both = np.concatenate(tracker.draw(50, np.random.default_rng(seed)), axis=2)
        drawn.append(np.mean(np.linalg.norm(both - tracker.fitted.matrix, axis=(1, 2))))
    assert 0.5 < np.median(drawn) / np.median(off) < 2.0


def test_a_model_that_is_adopted_is_the_one_in_use_until_it_is_left() -> None:
    x, u = run(700, -0.5)
    tracker = watched(x, u)
    assert tracker.fitted is not None
    tracker.adopt()
    assert tracker.evidence(tracker.fitted, tracker.current) == 0.0
    assert tracker.evidence(tracker.nominal, tracker.current) < -STRONG
    np.testing.assert_array_equal(tracker.current.matrix, tracker.fitted.matrix)
    tracker.go_back()
    assert tracker.fitted is None
    np.testing.assert_array_equal(tracker.current.matrix, np.hstack([A, B]))


def test_units_do_not_matter_to_the_evidence() -> None:
    x, u = run(700, -0.3)
    tracker = watched(x, u)
    units = np.array([1e-3, 1.0, 1e4])
    other = Tracker(A * units[:, None] / units, B * units[:, None])
    for stop in range(3 * BLOCK, len(u) + 1, BLOCK):
        start = max(stop - WINDOW, 0)
        other.look(Past(x[start : stop + 1] * units, u[start:stop], u[start:stop], []))
    assert tracker.fitted is not None
    assert other.fitted is not None
    ours, theirs = (each.evidence(each.fitted, each.current) for each in (tracker, other))  # type: ignore[arg-type]
    assert theirs == pytest.approx(ours, rel=1e-6)
