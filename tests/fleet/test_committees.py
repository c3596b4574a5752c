"""Members that are committees are equal to separate ones, with sleepers, prices and rounds without feedback."""

from typing import Any

import numpy as np
import pytest

import driftwise as dw
from driftwise.errors import InputError, OrderError

SETTINGS: list[dict[str, Any]] = [
    {"switching_cost": 0.5},
    {"switching_cost": dw.MoveCost(up=1.0, down=2.0), "prior": [1.0, 2.0, 3.0]},
    {"mode": "follow"},
    {"switching_cost": 0.3, "movers": True},
]


@pytest.mark.parametrize("shape", [(), (2,)])
@pytest.mark.parametrize("settings", SETTINGS)
def test_rounds(shape: tuple[int, ...], settings: dict[str, Any]) -> None:
    rng, base = np.random.default_rng(0), dw.Committee(3, **settings)
    fleet, alone = dw.Fleet(base, 4), [base.clone() for _ in range(4)]
    for t in range(24):
        proposals: Any = rng.normal(size=(4, 3, *shape))
        if t == 9:
            proposals = [[None, *rows[1:]] if i == 1 else list(rows) for i, rows in enumerate(proposals)]
        decided = fleet.act(proposals)
        assert decided.tobytes() == fleet.act(proposals).tobytes() == fleet.decisions().tobytes()
        assert (
            decided.tobytes() == np.array([one.act(rows) for one, rows in zip(alone, proposals, strict=True)]).tobytes()
        )
        assert [fleet.member(i).to_bytes() for i in range(4)] == [one.to_bytes() for one in alone]
        if t % 8 == 3:
            fleet = dw.from_bytes(fleet.to_bytes())
        stream = dw.TrackingLoss(rng.normal(size=(4, max(len(shape) * 2, 1))))
        losses: Any = stream if "movers" in settings or t % 3 == 0 else rng.normal(size=(4, 3))
        if t % 5 == 4:
            fleet.skip([2])
            fleet.observe([losses[i] for i in (0, 1, 3)], ids=[0, 1, 3])
        else:
            fleet.observe(losses)
        for i, one in enumerate(alone):
            one.skip() if t % 5 == 4 and i == 2 else one.observe(losses[i])
        assert [fleet.member(i).to_bytes() for i in range(4)] == [one.to_bytes() for one in alone]
    assert ("objects" in repr(fleet)) == ("mode" in settings or "movers" in settings)


def test_refusals_change_nothing() -> None:
    fleet = dw.Fleet(dw.Committee(2, switching_cost=1.0), 3)
    for wrong in (None, [[1.0, 2.0]] * 2, [[1.0, np.nan]] * 3, [[1.0, 2.0, 3.0]] * 3, np.zeros((3, 3))):
        with pytest.raises(InputError):
            fleet.act(wrong)
    assert not fleet.rounds.any()
    with pytest.raises(OrderError, match="have not acted"):
        fleet.observe(np.zeros((3, 2)))
    with pytest.raises(OrderError, match="committees decide by proposals"):
        fleet.step([0], [[1.0, 2.0]])
    fleet.act(np.ones((3, 2)))
    before = fleet.to_bytes()
    with pytest.raises(InputError, match="members 1 "):
        fleet.observe([[1.0, 1.0], [np.nan, 0.0], [0.0, 0.0]])
    with pytest.raises(OrderError, match="other proposals"):
        fleet.act(np.zeros((3, 2)))
    assert fleet.to_bytes() == before
