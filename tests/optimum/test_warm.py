"""Warming up compiles every kernel of the package, so that nothing is left for the first use."""

import pytest

from driftwise._compile import INTERPRETED
from tests.optimum.problems import left_cold


@pytest.mark.skipif(INTERPRETED, reason="nothing is compiled")
def test_no_kernel_is_left_cold() -> None:
    assert left_cold("driftwise.optimum", "warm()") == "none"


@pytest.mark.skipif(INTERPRETED, reason="nothing is compiled")
def test_without_warming_up_all_of_them_are() -> None:
    assert "descend" in left_cold("driftwise.optimum", "pass")
