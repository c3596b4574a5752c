"""Demand with a season, and the forecast of it."""

import numpy as np
import pytest

from driftwise.experiments.studies.decisions.data.demand import EVERY, HEADROOM, provision
from driftwise.experiments.studies.decisions.data.recordings import RECORDINGS, load


@pytest.mark.usefixtures("stand_ins")
@pytest.mark.parametrize("name", EVERY)
def test_the_forecast_is_the_demand_of_a_season_ago(name: str) -> None:
    spec = EVERY[name]
    assert spec.column in RECORDINGS[spec.recording].columns
    p = provision(spec, 400)
    assert len(p.losses) == len(p.demand) == len(p.forecast) == 400
    np.testing.assert_allclose(p.forecast[spec.season :, 0], HEADROOM * p.demand[: -spec.season])
    first = load(spec.recording)[spec.column][: spec.season]
    np.testing.assert_allclose(np.corrcoef(p.forecast[: spec.season, 0], first)[0, 1], 1.0)
    assert p.domain.contains(p.forecast)
    assert p.demand.max() < p.domain.high[0]


def test_real_demand_is_read() -> None:
    p = provision(EVERY["water flow"])
    assert len(p.demand) == 1268 - 24
    assert p.demand.mean() == pytest.approx(1.0, rel=0.05)
