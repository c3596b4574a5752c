from collections.abc import Callable

import pytest

from driftwise import control
from driftwise.control.frozen import FrozenPolicy, margin_share
from driftwise.errors import ArgumentError, ParameterError
from tests.cases import check_refused
from tests.control.frozen.cases import KINDS, drawn

FLOORS: dict[str, dict[str, float]] = {
    "delay": {"min_delay": 1},
    "gain": {"min_gain_up": 2.2, "max_gain_down": 0.6},
    "phase": {"min_phase": 50.0},
    "all": {"min_delay": 1, "min_gain_up": 1.3, "min_phase": 30.0},
}


def keeps(policy: FrozenPolicy, floor: dict[str, float]) -> bool:
    least = policy.margins().least()
    return (
        least.delay >= floor.get("min_delay", 0)
        and least.gain_up >= floor.get("min_gain_up", 1.0) * (1.0 - 1e-9)
        and least.gain_down <= floor.get("max_gain_down", 1.0) * (1.0 + 1e-9)
        and least.phase >= floor.get("min_phase", 0.0) * (1.0 - 1e-9)
    )


@pytest.mark.parametrize("floor", FLOORS)
def test_the_share_keeps_the_floor_and_a_little_more_does_not(floor: str) -> None:
    between, wanted = 0, FLOORS[floor]
    for seed in range(10):
        policy = drawn(seed, KINDS[seed % 4])
        share = margin_share(policy, **wanted)  # type: ignore[arg-type]
        assert 0.0 <= share <= 1.0
        if share > 0.0:
            assert keeps(policy.scaled(share), wanted)
        if share < 1.0:
            assert not keeps(policy.scaled(share + 2.0**-12), wanted)
            assert not keeps(policy, wanted)
        between += 0.0 < share < 1.0
    assert between >= 2


def test_without_a_floor_everything_may_be_used() -> None:
    assert margin_share(drawn(3)) == 1.0


def test_a_gain_that_misses_the_floor_leaves_nothing() -> None:
    plant = control.double_integrator()
    policy = FrozenPolicy(plant.A, plant.B, control.lqr(plant), [[[-0.2, -0.5]]])
    assert policy.scaled(0.0).margins().delay == 0
    assert margin_share(policy, min_delay=3) == 0.0
    assert margin_share(FrozenPolicy([[1.5]], [[1.0]], [[0.1]]), min_delay=1) == 0.0


def test_margins_of_each_input_count() -> None:
    """One input alone may be more delicate than both together."""
    policy = next(one for one in map(drawn, range(40)) if (found := one.margins()).least().gain_up < found.gain_up)
    least, together = policy.margins().least().gain_up, policy.margins().gain_up
    wanted = 0.5 * (least + min(together, 2.0 * least))
    assert margin_share(policy, min_gain_up=0.999 * least) == 1.0
    assert margin_share(policy, min_gain_up=wanted) < 1.0


@pytest.mark.parametrize(
    ("call", "words", "kind"),
    [
        (lambda: margin_share("policy"), ("policy", "freeze"), ParameterError),  # type: ignore[arg-type]
        (lambda: margin_share(drawn(1), min_delay=101), ("min_delay", "at most 100"), ParameterError),
        (lambda: margin_share(drawn(1), min_delay=0.5), ("min_delay",), ParameterError),  # type: ignore[arg-type]
        (lambda: margin_share(drawn(1), min_gain_up=0.5), ("min_gain_up", "at least 1"), ParameterError),
        (lambda: margin_share(drawn(1), max_gain_down=1.5), ("max_gain_down", "from 0 to 1"), ParameterError),
        (lambda: margin_share(drawn(1), min_phase=180.0), ("min_phase", "below 180"), ParameterError),
        (lambda: margin_share(drawn(1), delay=1), ("unexpected", "Did you mean min_delay?"), ArgumentError),  # type: ignore[call-arg]
    ],
)
def test_bad_input_is_refused(call: Callable[[], object], words: tuple[str, ...], kind: type[Exception]) -> None:
    check_refused(call, *words, kind=kind)
