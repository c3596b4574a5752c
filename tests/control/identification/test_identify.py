"""What `identify` returns."""

import dataclasses

import numpy as np
import pytest

import driftwise as dw
from driftwise.control.identification import identify
from tests.control.identification.cases import ALL, K, miss, play


class TestResult:
    def test_it_is_a_frozen_record_with_a_system(self) -> None:
        x, u, probes = play()
        found = identify(x, u, probes, K, order=2)
        assert (found.method, found.order, found.rounds) == ("iv", 2, 400)
        assert isinstance(found.system, dw.control.LinearSystem)
        np.testing.assert_array_equal(found.system.A, found.A)
        np.testing.assert_array_equal(found.system.B, found.B)
        with pytest.raises(dataclasses.FrozenInstanceError):
            found.error = 0.0  # type: ignore[misc]
        with pytest.raises(ValueError, match="read-only"):
            found.A[0, 0] = 1.0

    def test_the_order_is_the_number_of_states_unless_given(self) -> None:
        assert identify(*play(), K).order == 3

    def test_summary_says_how_and_how_well(self) -> None:
        text = identify(*play(), K, method="moments").summary()
        assert text.startswith("Identified by moments from 400 rounds: 3 states, 2 inputs, order 3\n")
        assert text.count("error about") == 2

    @ALL
    def test_a_scalar_plant(self, method: str) -> None:
        plant = np.array([[1.1]]), np.array([[0.5]]), np.array([[0.8]])
        found = identify(*play(2000, plant=plant), plant[2], method=method)
        assert miss(found, *plant[:2]) < 0.1
        assert "1 state, 1 input" in found.summary()

    @ALL
    def test_data_are_left_alone_and_may_be_lists(self, method: str) -> None:
        run = play()
        before = [part.copy() for part in run]
        found = identify(*run, K, method=method)
        for part, copy in zip(run, before, strict=True):
            np.testing.assert_array_equal(part, copy)
        x, u, probes = (part.tolist() for part in run)
        again = identify(x, u, probes, K.tolist(), method=method)
        np.testing.assert_array_equal(found.A, again.A)
