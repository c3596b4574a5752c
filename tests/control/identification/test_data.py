"""What identification refuses."""

from typing import Any

import numpy as np
import pytest

from driftwise.control.identification import identify
from driftwise.errors import ArgumentError, InputError, ParameterError, StabilityError
from tests.cases import check_refused
from tests.control.identification.cases import ALL, PROBED, A, B, K, play, signs


class TestRefused:
    @ALL
    def test_too_few_rounds(self, method: str) -> None:
        x, u, probes = play(10)
        check_refused(lambda: identify(x, u, probes, K, method=method), "too few", "at least", kind=InputError)

    @ALL
    def test_the_number_of_rounds_it_asks_for_is_enough(self, method: str) -> None:
        with pytest.raises(InputError, match="at least") as caught:
            identify(*play(10, noise=0.0), K, method=method)
        needed = int(str(caught.value).split("at least ")[1].split()[0])
        assert identify(*play(needed, noise=0.01), K, method=method).rounds == needed
        with pytest.raises(InputError, match="too few"):
            identify(*play(needed - 1, noise=0.01), K, method=method)

    @PROBED
    def test_an_order_that_is_too_small(self, method: str) -> None:
        run = play()
        check_refused(lambda: identify(*run, K, 1, method=method), "order", "at least 2", kind=InputError)

    @pytest.mark.parametrize("order", [0, -1, 1.5, True, "2"])
    def test_an_order_that_is_none(self, order: Any) -> None:
        check_refused(lambda: identify(*play(), K, order), "order", kind=ParameterError)

    @PROBED
    def test_a_state_out_of_reach_of_the_inputs(self, method: str) -> None:
        plant = A * [[1.0, 1.0, 1.0], [1.0, 1.0, 1.0], [0.0, 0.0, 1.0]], B * [[1.0], [1.0], [0.0]], K
        refused = 0
        for seed in range(20):
            try:
                identify(*play(plant=plant, seed=seed), K, method=method)
            except InputError as error:
                refused += "noise" in str(error) and "controllable" in str(error)
        assert refused >= 17

    @PROBED
    def test_a_state_that_never_moves(self, method: str) -> None:
        x, u, probes = play(noise=0.0)
        still = np.hstack([x, np.zeros((len(x), 1))])
        gain = np.hstack([K, np.zeros((2, 1))])
        check_refused(lambda: identify(still, u, probes, gain, method=method), "controllable", kind=InputError)
        check_refused(lambda: identify(still, u, probes, gain, method="ols"), "move together", kind=InputError)

    def test_probes_that_were_not_applied(self) -> None:
        x, u, _ = play()
        check_refused(lambda: identify(x, u, signs(400, 2, seed=77), K), "noise", "applied", kind=InputError)
        other = signs(400, 2, seed=77)
        check_refused(lambda: identify(x, u, other, K, method="moments"), "something else", kind=InputError)

    @ALL
    def test_a_gain_that_does_not_stabilise(self, method: str) -> None:
        plant = 1.2 * np.eye(2), np.eye(2), 0.15 * np.eye(2)
        run = play(300, plant=plant)
        check_refused(lambda: identify(*run, plant[2], method=method), "stabilise", "last tenth", kind=StabilityError)

    def test_growth_is_told_per_round(self) -> None:
        plant = np.array([[1.3]]), np.array([[1.0]]), np.array([[0.2]])
        check_refused(lambda: identify(*play(200, plant=plant), plant[2]), "1.1 a round", kind=StabilityError)

    def test_slow_states_are_not_called_growing(self) -> None:
        plant = np.array([[0.999]]), np.array([[1.0]]), np.zeros((1, 1))
        run = play(500, plant=plant, disturbances=np.ones((500, 1)))
        assert identify(*run, plant[2], method="ols").rounds == 500

    @ALL
    @pytest.mark.parametrize("bad", [np.nan, np.inf, 1e101])
    @pytest.mark.parametrize("which", range(4))
    def test_numbers_that_are_not_finite(self, method: str, bad: float, which: int) -> None:
        x, u, probes, gain = parts = [part.copy() for part in (*play(), K)]
        parts[which][1, 0] = bad
        name = ("states", "inputs", "probes", "K")[which]
        check_refused(lambda: identify(x, u, probes, gain, method=method), name, "finite", kind=InputError)

    def test_shapes_that_do_not_fit(self) -> None:
        x, u, probes = play()
        check_refused(lambda: identify(x[:-1], u, probes, K), "one row more", "401", kind=InputError)
        check_refused(lambda: identify(x[:-2], u, probes, K), "states", "401", kind=InputError)
        check_refused(lambda: identify(x, u, probes[:, :1], K), "probes", kind=InputError)
        check_refused(lambda: identify(x, u, probes[:-1], K), "probes", kind=InputError)
        check_refused(lambda: identify(x, u, probes, K.T), "K", "(2, 3)", kind=InputError)
        check_refused(lambda: identify(x, u[:, 0], probes, K), "inputs", kind=InputError)
        check_refused(lambda: identify(x[:0], u[:0], probes[:0], K), "inputs", kind=InputError)

    def test_a_gain_of_the_other_sign(self) -> None:
        x, u, probes = play()
        check_refused(lambda: identify(x, u, probes, -K), "give -K", kind=InputError)

    @PROBED
    @pytest.mark.parametrize("level", [0.0, 1.0])
    def test_constant_probes(self, method: str, level: float) -> None:
        probes = signs(400, 2)
        probes[:, 1] = level
        check_refused(lambda: identify(*play(probes=probes), K, method=method), "input 1", "constant", kind=InputError)

    @PROBED
    def test_probes_with_a_mean(self, method: str) -> None:
        run = play(probes=0.5 + 0.5 * signs(400, 2))
        check_refused(lambda: identify(*run, K, method=method), "mean", kind=InputError)

    def test_probes_that_repeat(self) -> None:
        probes = np.tile([[1.0, 1.0], [-1.0, 1.0], [1.0, -1.0], [-1.0, -1.0]], (100, 1))
        check_refused(lambda: identify(*play(probes=probes), K), "depend on one another", kind=InputError)
        run = play(probes=probes)
        check_refused(lambda: identify(*run, K, method="moments"), "correlation", "iv", kind=InputError)

    def test_inputs_probed_by_the_same_signs(self) -> None:
        probes = np.repeat(signs(400, 1), 2, axis=1)
        check_refused(lambda: identify(*play(probes=probes), K), "depend on one another", kind=InputError)
        run = play(probes=probes)
        check_refused(lambda: identify(*run, K, method="moments"), "different inputs", kind=InputError)

    def test_least_squares_without_probes(self) -> None:
        x, u, probes = play(probes=np.zeros((400, 2)))
        check_refused(lambda: identify(x, u, probes, K, method="ols"), "move together", kind=InputError)

    def test_numbers_out_of_proportion(self) -> None:
        x, u, probes = play()
        run = x * 1e99, u * 1e-300, probes * 1e-300
        check_refused(lambda: identify(*run, 1e99 * K), "units", kind=InputError)

    def test_words_that_are_not_known(self) -> None:
        run = play()
        check_refused(lambda: identify(*run, K, method="lasso"), "method", "'iv'", kind=ParameterError)
        check_refused(lambda: identify(*run, K, ordre=2), "order", kind=ArgumentError)  # type: ignore[call-arg]
        check_refused(lambda: identify(*run), "K", kind=ArgumentError)  # type: ignore[call-arg]

    @ALL
    def test_whatever_is_given_the_error_is_a_typed_one(self, method: str) -> None:
        rng = np.random.default_rng(4)
        for _ in range(60):
            states, inputs, rounds = rng.integers(1, 4), rng.integers(1, 3), rng.integers(1, 200)
            parts = []
            for shape in ((rounds + 1, states), (rounds, inputs), (rounds, inputs), (inputs, states)):
                part = rng.choice([0.0, 1.0, rng.normal() * 10.0 ** rng.integers(-90, 90)]) * rng.normal(size=shape)
                parts.append(part if rng.random() < 0.8 else np.sign(part))
            x, u, probes, gain = parts
            try:
                found = identify(x, u, probes, gain, method=method)
            except (InputError, StabilityError):
                continue
            assert np.isfinite([found.error, found.error_A, found.error_B, found.error_loop]).all()
            assert np.isfinite(found.A).all()
