"""The kink of the absolute loss."""

import driftwise as dw


def test_kink_of_the_absolute_loss_has_slope_zero() -> None:
    assert dw.AbsoluteLoss([[1.0, 1.0]], [2.0]).gradient(0, [1.0, 1.0]).tolist() == [0.0, 0.0]
