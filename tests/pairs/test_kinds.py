"""What is known of losses before the first of them."""

import pytest

import driftwise as dw
from driftwise.pairs.kinds import WIDEST, Kind, kind_of
from driftwise.pairs.layout import EACH, GRADIENT, SCORE
from tests.cases import STREAMS, stream

KINDS = {
    "squared": Kind(SCORE, 3, 1.0, True),
    "filtered": Kind(SCORE, 3, 1.0, True),
    "absolute": Kind(SCORE, 3, 0.0, True),
    "quantile": Kind(SCORE, 3, 0.0, True),
    "huber": Kind(SCORE, 3, 0.0, True),
    "logistic": Kind(SCORE, 3, 0.0, False),
    "tracking": Kind(EACH, 3, 1.0, True),
    "capacity": Kind(EACH, 3, 0.0, True),
}


@pytest.mark.parametrize("name", [name for name in STREAMS if name in KINDS or name in ("linear", "plain custom")])
def test_every_stream_is_of_a_kind(name: str) -> None:
    assert kind_of(stream(name, 3, 4)) == KINDS.get(name, Kind(GRADIENT, 3))


def test_matrices_are_full_where_coordinates_go_together_and_are_few() -> None:
    assert Kind(SCORE, WIDEST).full
    assert Kind(GRADIENT, WIDEST).full
    assert not Kind(SCORE, WIDEST + 1).full
    assert not Kind(GRADIENT, WIDEST + 1).full
    assert Kind(EACH, 1).full
    assert not Kind(EACH, 2).full


def test_only_losses_whose_best_level_is_no_mean_have_offsets() -> None:
    assert kind_of(dw.CapacityLoss([1.0], shortage=2.0)).offsets
    assert not kind_of(dw.TrackingLoss([[1.0]])).offsets
    assert not kind_of(dw.AbsoluteLoss([[1.0]], [1.0])).offsets


def test_a_kind_has_a_name_in_words() -> None:
    assert len({Kind(form, 2).name for form in (SCORE, EACH, GRADIENT)}) == 3
