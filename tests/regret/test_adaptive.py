"""Adaptive regret, against brute force over all intervals."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import driftwise as dw
from driftwise.errors import InputError, ParameterError
from driftwise.losses.base import DataLoss
from driftwise.optimum import bundle, windows
from driftwise.regret import AdaptiveRegret, adaptive, adaptive_regret, best_piecewise
from tests.cases import a_third, check_refused, custom
from tests.optimum.problems import DIM, DOMAINS, QUADRATIC, built_in, held

ROUNDS = 40


def run(losses: dw.LossStream, domain: dw.Domain) -> dw.Trace:
    return dw.play(dw.OGD(domain, step=0.3), losses)


def brute_force(trace: dw.Trace, losses: DataLoss, domain: dw.Domain, length: int) -> list[float]:
    """Return the regret of every interval of one length to its own best fixed decision."""
    suffered = [held(losses, w)[t] for t, w in enumerate(trace.decisions)]
    regrets = []
    for start in range(len(losses) - length + 1):
        interval = slice(start, start + length)
        if losses.quadratic:
            breaks = [0, start, start + length] if start + length < len(losses) else [0, start]
            best = best_piecewise(losses, domain, breaks if start else breaks[1:])[start]
        else:
            best = bundle.minimise("brute_force", losses, domain, range(start, start + length))
        regrets.append(float(sum(suffered[interval]) - held(losses, best)[interval].sum()))
    return regrets


@pytest.mark.parametrize("name", ["ball", "box", "simplex"])
@pytest.mark.parametrize("kind", [*QUADRATIC, "filtered"])
def test_every_length_has_its_worst_interval(kind: str, name: str) -> None:
    losses, domain = built_in(kind, ROUNDS), DOMAINS[name]
    trace = run(losses, domain)
    found = adaptive_regret(trace)
    assert found.lengths.tolist() == [1, 2, 4, 8, 16, 32]
    unary = losses
    if kind == "filtered":  # judged by its unary form, which is a squared loss
        unary = dw.SquaredLoss(losses.data.taps.sum() * losses.data.features, losses.data.targets)
    for length, regret, start in zip(found.lengths, found.regrets, found.starts, strict=True):
        regrets = brute_force(trace, unary, domain, int(length))
        assert regret == pytest.approx(max(regrets), abs=1e-7)
        assert regrets[start] == pytest.approx(max(regrets), abs=1e-7)


@pytest.mark.parametrize("name", ["ball", "box"])
def test_custom_losses_have_their_worst_intervals_too(name: str) -> None:
    losses, domain = custom(DIM, 12), DOMAINS[name]
    trace = run(losses, domain)
    found = adaptive_regret(trace)
    same = dw.TrackingLoss([-losses.gradient(t, np.zeros(DIM)) for t in range(12)])
    expected = adaptive_regret(trace, same)
    np.testing.assert_allclose(found.regrets, expected.regrets, atol=1e-6)
    assert np.isnan(found.gaps).all()


@pytest.mark.parametrize("chunk", [1, 3, 1000])
def test_the_early_stop_does_not_change_the_result(chunk: int, monkeypatch: pytest.MonkeyPatch) -> None:
    losses = built_in("squared", ROUNDS)
    trace = run(losses, dw.Ball(DIM))
    expected = adaptive_regret(trace)
    monkeypatch.setattr(adaptive, "CHUNK", chunk)
    found = adaptive_regret(trace)
    np.testing.assert_allclose(found.regrets, expected.regrets, rtol=1e-9)
    np.testing.assert_array_equal(found.starts, expected.starts)


@pytest.mark.parametrize(("rounds", "longest"), [(1, 1), (2, 2), (3, 2), (31, 16), (32, 32)])
def test_lengths_double_up_to_the_whole_run(rounds: int, longest: int) -> None:
    found = adaptive_regret(run(built_in("tracking", rounds), dw.Ball(DIM)))
    assert found.lengths.tolist() == [2**k for k in range(longest.bit_length())]
    assert found.regrets.shape == found.starts.shape == found.lengths.shape


def test_a_run_may_be_judged_by_other_losses_and_in_another_domain() -> None:
    other, small = built_in("tracking", ROUNDS), dw.Ball(DIM, radius=0.1)
    trace = run(built_in("squared", ROUNDS), dw.Ball(DIM))
    found = adaptive_regret(trace, other, small)
    for length, regret in zip(found.lengths, found.regrets, strict=True):
        assert regret == pytest.approx(max(brute_force(trace, other, small, int(length))), abs=1e-7)


def every_interval(trace: dw.Trace, losses: DataLoss, domain: dw.Domain) -> AdaptiveRegret:
    """Check the worst interval of every length against all of them, and return what was found."""
    found = adaptive_regret(trace, losses, domain)
    for length, regret, start, gap in zip(found.lengths, found.regrets, found.starts, found.gaps, strict=True):
        regrets = brute_force(trace, losses, domain, int(length))
        close = 1e-6 * (1.0 + abs(max(regrets)))
        assert regret == pytest.approx(max(regrets), abs=2.0 * close)
        assert regrets[start] == pytest.approx(max(regrets), abs=2.0 * close)
        assert 0.0 <= gap <= close
        assert max(regrets) <= regret + gap + 1e-9
    return found


@a_third(kind=["absolute", "quantile", "huber", "logistic", "capacity"], name=["ball", "box", "simplex", "product"])
def test_every_length_has_its_worst_interval_for_other_losses_too(kind: str, name: str) -> None:
    losses, domain = built_in(kind, 9), DOMAINS[name]
    found = every_interval(run(losses, domain), losses, domain)
    assert found.lengths.tolist() == [1, 2, 4, 8]
    np.testing.assert_array_equal(found.upper_bounds, found.regrets + found.gaps)


@pytest.mark.parametrize("kind", ["absolute", "huber", "logistic"])
def test_no_decision_in_spectral_balls_does_better_than_the_bound(kind: str) -> None:
    losses, domain = built_in(kind, ROUNDS), DOMAINS["spectral"]
    trace = run(losses, domain)
    found = adaptive_regret(trace)
    suffered = losses.unary_losses(trace.decisions)
    assert found.gaps.max() <= 1e-6
    rng = np.random.default_rng(0)
    for v in domain.project(rng.standard_normal((300, DIM))):
        ahead = suffered - held(losses, v)
        for length, most in zip(found.lengths, found.upper_bounds, strict=True):
            assert np.convolve(ahead, np.ones(int(length)), "valid").max() <= most + 1e-9


def test_the_best_fixed_decision_of_absolute_losses_is_a_median() -> None:
    y = np.random.default_rng(3).uniform(-1.0, 1.0, 101)
    losses = dw.AbsoluteLoss(np.ones(101), y)
    trace = run(losses, dw.Ball(1))
    found = adaptive_regret(trace)
    suffered = np.abs(trace.decisions[:, 0] - y)
    for length, regret in zip(found.lengths, found.regrets, strict=True):
        intervals = [slice(start, start + length) for start in range(101 - length + 1)]
        regrets = [suffered[part].sum() - np.abs(y[part] - np.median(y[part])).sum() for part in intervals]
        assert regret == pytest.approx(max(regrets), rel=1e-9)
    assert found.gaps.max() < 1e-10


@pytest.mark.parametrize("kind", ["absolute", "huber", "capacity"])
def test_only_some_intervals_are_solved(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    solved, best = [], windows.Windows.best

    def counted(self: windows.Windows, rounds: range) -> Any:
        solved.append(rounds)
        return best(self, rounds)

    monkeypatch.setattr(windows.Windows, "best", counted)
    losses = built_in(kind, 300, 2)
    adaptive_regret(run(losses, dw.Box([-1.0] * 2, [1.0] * 2)))
    intervals = sum(300 - 2**k + 1 for k in range(9))
    assert len(solved) == len(set(solved)) < 0.3 * intervals


def test_a_search_that_cannot_be_certain_says_by_how_much(monkeypatch: pytest.MonkeyPatch) -> None:
    losses = built_in("absolute", 20)
    trace = run(losses, dw.Ball(DIM))
    true = adaptive_regret(trace)
    best = windows.Windows.best

    def sloppy(self: windows.Windows, rounds: range) -> Any:
        point, _ = best(self, rounds)
        return 0.9 * point, self.tangents(0.9 * point)

    monkeypatch.setattr(windows.Windows, "best", sloppy)
    found = adaptive_regret(trace)
    assert found.gaps.max() > 1e-3
    assert np.all(found.regrets <= true.regrets + 1e-9)
    assert np.all(found.upper_bounds >= true.regrets - 1e-9)


def test_gaps_of_quadratic_losses_are_rounding() -> None:
    for kind in QUADRATIC:
        found = adaptive_regret(run(built_in(kind, ROUNDS), DOMAINS["box"]))
        assert np.all(found.gaps >= 0.0)
        assert found.gaps.max() <= 1e-7


def test_it_is_shown_as_a_table() -> None:
    losses = dw.TrackingLoss([1.0, 1.0, -1.0, -1.0])
    lines = str(adaptive_regret(run(losses, dw.Ball(1)))).splitlines()
    assert lines[0].split() == ["length", "regret", "regret", "/", "sqrt(length)", "worst", "interval"]
    assert [line.split()[0] for line in lines[1:]] == ["1", "2", "4"]
    assert lines[3].endswith("0 to 3")


TRACE = run(built_in("squared", 10), dw.Ball(DIM))
UNTYPED: Any = adaptive_regret


@pytest.mark.parametrize(
    ("call", "kind", "words"),
    [
        (lambda: UNTYPED("me"), ParameterError, ("trace", "got 'me'")),
        (lambda: UNTYPED(TRACE, built_in("squared", 9)), InputError, ("10 rounds", "rounds=9")),
        (lambda: UNTYPED(TRACE, domain=dw.Ball(3)), InputError, ("dim 4", "Ball(3")),
    ],
)
def test_wrong_calls_are_refused_by_name(
    call: Callable[[], object], kind: type[Exception], words: tuple[str, ...]
) -> None:
    check_refused(call, "adaptive_regret", *words, kind=kind)
