"""Identification: growth of the error with rounds, and how well the error is estimated."""

import numpy as np
import pytest

from driftwise.experiments.studies.control import identification
from driftwise.experiments.studies.control.identification import CORRELATED, INDEPENDENT, STUDY
from tests.experiments.claims import BOTH_SIZES, check_claims


@BOTH_SIZES
def test_errors_fall_and_are_estimated_as_claimed(quick: bool) -> None:
    finding = check_claims(STUDY, quick, count=9, keep=lambda task: task[-1] < 20)
    assert [row[:2] for row in finding.tables[0].rows] == [
        [kind, method] for kind in INDEPENDENT + CORRELATED for method in ("iv", "whitened", "moments", "ols")
    ]
    below = {(row[0], row[1]): float(row[-1].rstrip("%")) for row in finding.tables[0].rows}
    assert all(below[kind, method] >= 99.0 for kind, method in below if method != "ols")


def test_exploration_is_a_run_of_the_plant() -> None:
    A, B, K = identification.draw_system(3)
    states, inputs, probes = identification.explore(A, B, K, 300, "sinusoid", 3)
    assert set(np.unique(probes)) == {-1.0, 1.0}
    np.testing.assert_allclose(inputs, probes - states[:-1] @ K.T)
    w = states[1:] - states[:-1] @ A.T - inputs @ B.T
    slope = np.polyfit(w[1:-1, 0], w[2:, 0] + w[:-2, 0], 1)[0]  # of a sinusoid: 2 cos(2 pi / period)
    np.testing.assert_allclose(w[2:] + w[:-2], slope * w[1:-1], atol=1e-9)


@pytest.mark.parametrize("kind", INDEPENDENT + CORRELATED)
def test_disturbances_are_as_large_as_a_probe(kind: str) -> None:
    w = identification.draw_disturbances(kind, 20_000, 3, np.random.default_rng(0))
    assert np.mean(np.sum(w**2, axis=1)) == pytest.approx(1.0, rel=0.1)
    near = float(np.mean(w[1:] * w[:-1]) / np.mean(w**2))
    assert near == pytest.approx({"autoregressive": 0.9, "constant": 1.0}.get(kind, near), abs=0.02)
    assert (abs(near) < 0.02) == (kind in INDEPENDENT)


def test_some_systems_are_unstable_and_all_gains_stabilise() -> None:
    radii = []
    for seed in range(60):
        A, B, K = identification.draw_system(seed)
        assert np.abs(np.linalg.eigvals(A - B @ K)).max() < 1.0
        radii.append(np.abs(np.linalg.eigvals(A)).max())
    assert 0.1 < np.mean(np.array(radii) > 1.0) < 0.5


def test_the_wrong_growth_and_calibration_are_said_not_to_hold() -> None:
    tasks = [(kind, T, 0) for kind in INDEPENDENT + CORRELATED for T in (100, 400)]
    results = [
        {
            "iv error": 1.0,
            "iv estimate": 0.1,
            "whitened error": 2.0,
            "whitened estimate": 0.1,
            "moments error": 1.0 / T,
            "moments estimate": 0.1,
            "ols error": 1.0 / T,
            "ols estimate": 1.0,
        }
        for _, T, _ in tasks
    ]
    finding = STUDY.conclude(tasks, results)
    assert [claim.holds for claim in finding.claims] == [False, False, False, False, False, False, True, False, False]
