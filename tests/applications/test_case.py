"""What capacity, forecasts and energy have in common."""

import numpy as np
import pytest

from tests.applications.cases import MAKERS, ROUNDS, case


@pytest.mark.parametrize("application", MAKERS)
def test_every_rule_stays_in_the_domain(application: str) -> None:
    played = case(application)
    everyone = [
        *played.rules.values(),
        *played.members.values(),
        *(r for g in played.tuned.values() for r in g.values()),
    ]
    for decisions in everyone:
        assert decisions.shape == (ROUNDS, played.domain.dim)
        assert all(played.domain.contains(row) for row in decisions[::20])
    assert played.domain.contains(played.start)
    for name, rows in played.forecasts.items():
        known = ~np.isnan(rows[:, 0])
        assert not known[0]
        assert np.array_equal(rows[known], played.rules[name][known])
    assert 12 <= len(played.members) <= 20
    assert any("default" in label for label in played.rules)


def test_the_title_has_application_and_series() -> None:
    assert case("energy").title == "Energy: Synthetic prices"
