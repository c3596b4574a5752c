"""The logistic loss at extreme scores, and labels that are none."""

import numpy as np
import pytest

import driftwise as dw
from driftwise.errors import InputError


@pytest.mark.parametrize("score", [-1e4, -40.0, 0.0, 40.0, 1e4])
@pytest.mark.parametrize("label", [-1.0, 1.0])
def test_logistic_loss_at_extreme_scores(score: float, label: float) -> None:
    losses = dw.LogisticLoss([[1.0]], [label])
    margin = label * score
    assert losses.unary_value(0, [score]) == pytest.approx(np.logaddexp(0.0, -margin), rel=1e-14)
    expected = -label * np.exp(-np.logaddexp(0.0, margin))
    assert losses.gradient(0, [score])[0] == pytest.approx(expected, rel=1e-13, abs=1e-300)


def test_labels_must_be_signs() -> None:
    with pytest.raises(InputError, match=r"got 0 in round 1; labels 0 and 1 become 2\*y - 1"):
        dw.LogisticLoss([[1.0], [1.0]], [1.0, 0.0])
