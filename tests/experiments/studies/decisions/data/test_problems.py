"""Problems made of recordings."""

import numpy as np
import pytest

import driftwise as dw
from driftwise.experiments.studies.decisions.data.problems import (
    GENEROUS,
    Level,
    Past,
    Regression,
    design,
    problem,
    recordings,
    widened,
)
from driftwise.experiments.studies.decisions.data.recordings import load

FLOW = "Water flow [l/s]"


def test_features_are_the_past_the_seasons_the_trend_and_one() -> None:
    spec = Regression("water", FLOW, (Past(FLOW, 1), Past(FLOW, 24)), ((24.0, 2),), trend=True)
    x, y = design(spec, 200)
    assert x.shape == (200, 2 + 4 + 1 + 1)
    np.testing.assert_allclose(x[:, :-1].mean(axis=0), 0.0, atol=1e-12)
    np.testing.assert_allclose(x[:, :-1].std(axis=0), 1.0)
    assert (x[:, -1] == 1.0).all()
    flow = load("water")[FLOW]
    np.testing.assert_allclose(np.corrcoef(y, flow[24:224])[0, 1], 1.0)
    np.testing.assert_allclose(np.corrcoef(x[:, 0], flow[23:223])[0, 1], 1.0)
    np.testing.assert_allclose(np.corrcoef(x[:, 1], flow[:200])[0, 1], 1.0)
    assert np.all(np.diff(x[:, -2]) > 0.0)


@pytest.mark.usefixtures("stand_ins")
def test_another_recording_can_be_part_of_the_past() -> None:
    spec = Regression("gas", "value", (Past("value", 2, "oil"),), log=True)
    x, y = design(spec, 50)
    np.testing.assert_allclose(np.corrcoef(x[:, 0], load("oil")["value"][:50])[0, 1], 1.0)
    np.testing.assert_allclose(np.corrcoef(y, np.log(load("gas")["value"][2:52]))[0, 1], 1.0)
    assert recordings(spec) == ["gas", "oil"]
    assert recordings(Level("gas", "value")) == ["gas"]


@pytest.mark.parametrize("spec", [Regression("water", FLOW, (Past(FLOW, 1),)), Level("water", FLOW, log=True)])
def test_the_domain_is_generous_and_can_be_wider(spec: Regression | Level) -> None:
    p = problem(spec, 300)
    assert len(p.losses) == len(p.features) == len(p.targets) == 300
    best = dw.regret.best_fixed(p.losses, p.domain)
    assert np.linalg.norm(best) <= 1.001 * p.radius / GENEROUS
    wide = widened(p, 10.0)
    assert wide.domain.diameter == pytest.approx(10.0 * p.domain.diameter)
    assert wide.losses is p.losses


def test_both_kinds_are_squared_losses_of_the_features() -> None:
    for spec in (Regression("water", FLOW, (Past(FLOW, 1),)), Level("water", FLOW)):
        p = problem(spec, 50)
        w = np.full(p.features.shape[1], 0.3)
        assert p.losses.unary_value(7, w) == pytest.approx(0.5 * (p.features[7] @ w - p.targets[7]) ** 2)
