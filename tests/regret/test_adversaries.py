"""Hard streams: what they promise of their values, blocks, comparators and path."""

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import driftwise as dw
from driftwise._validate import Array
from driftwise.errors import ArgumentError, ParameterError
from driftwise.experiments.studies.theory.jumping import JUMPER, costs
from driftwise.regret import path_length
from driftwise.regret.adversaries import Adversary, expert_blocks, moving_blocks, random_signs
from tests.cases import check_refused

SIGNS: dict[str, Any] = {"rounds": 300, "dim": 3, "gradient_bound": 2.5, "radius": 0.7}
EXPERTS: dict[str, Any] = {"rounds": 307, "experts": 5, "loss_bound": 1.5, "switching_cost": 10.0}
BLOCKS: dict[str, Any] = {
    "rounds": 307,
    "path_length": 6.5,
    "experts": 4,
    "gradient_bound": 3.0,
    "diameter": 1.2,
    "switching_cost": 8.0,
}

MAKERS: dict[str, Callable[..., Adversary]] = {
    "random_signs": lambda seed: random_signs(**SIGNS, seed=seed),
    "expert_blocks": lambda seed: expert_blocks(**EXPERTS, seed=seed),
    "moving_blocks": lambda seed: moving_blocks(**BLOCKS, seed=seed),
}


def _vectors(losses: dw.LossStream) -> Array:
    """Return c_t of linear losses, by asking for gradients."""
    return np.array([losses.gradient(t, np.zeros(losses.dim)) for t in range(len(losses))])


def _pieces(rounds: int, segments: int) -> list[range]:
    """Return segments whose lengths differ by one at most, longer ones first."""
    short, longer = divmod(rounds, segments)
    stops = np.cumsum([short + (k < longer) for k in range(segments)])
    return [range(stop - short - (k < longer), stop) for k, stop in enumerate(stops)]


def _check_held(signs: Array, block: int) -> None:
    """Check that rows change at the ends of blocks only, and do change there now and then."""
    changed = np.any(np.diff(signs, axis=0) != 0.0, axis=1)
    ends = np.arange(1, len(signs)) % block == 0
    assert not np.any(changed & ~ends)
    assert np.mean(changed[ends]) > 0.5


@pytest.mark.parametrize("dim", [1, 3])
def test_random_signs_are_signs_of_the_stated_size(dim: int) -> None:
    losses = random_signs(**{**SIGNS, "dim": dim}, seed=1)
    vectors = _vectors(losses)
    np.testing.assert_allclose(np.abs(vectors), 2.5 / math.sqrt(dim), rtol=1e-14)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 2.5, rtol=1e-14)
    assert np.all(np.abs(np.mean(np.sign(vectors), axis=0)) < 0.2)
    assert isinstance(losses.domain, dw.Ball)
    assert (losses.domain.dim, losses.domain.radius) == (dim, 0.7)
    assert (losses.switching_cost, losses.block) == (0.0, 1)
    assert losses.scale == pytest.approx(2.5 * 0.7 * math.sqrt(300), rel=1e-14)


def test_against_random_signs_the_comparator_is_the_best_of_the_ball() -> None:
    losses = random_signs(**{**SIGNS, "dim": 2}, seed=1)
    angles = np.linspace(0.0, 2.0 * math.pi, 5000)
    rim = 0.7 * np.column_stack([np.cos(angles), np.sin(angles)])
    totals = rim @ _vectors(losses).sum(axis=0)
    found = float(np.sum(_vectors(losses) * losses.comparators))
    assert found <= totals.min() + 1e-9
    assert found == pytest.approx(totals.min(), rel=1e-5)
    assert path_length(losses.comparators) == 0.0


@pytest.mark.parametrize("seed", range(8))
def test_signs_that_cancel_leave_every_decision_equal(seed: int) -> None:
    losses = random_signs(rounds=2, seed=seed)
    assert losses.domain.contains(losses.comparators)
    assert float(np.sum(_vectors(losses) * losses.comparators)) == -abs(_vectors(losses).sum())


@pytest.mark.parametrize(("lambda_", "C", "block"), [(10.0, 1.5, 7), (0.1, 1.0, 1), (307.0, 1.0, 307), (3.0, 0.5, 6)])
def test_expert_blocks_hold_for_the_price_over_the_loss(lambda_: float, C: float, block: int) -> None:
    losses = expert_blocks(rounds=307, experts=5, loss_bound=C, switching_cost=lambda_, seed=1)
    vectors = _vectors(losses)
    assert losses.block == block
    assert set(np.unique(vectors)) == {-C, C}
    if block < 307:
        _check_held(vectors, block)
    assert losses.scale == pytest.approx(math.sqrt(lambda_ * C * 307), rel=1e-14)
    assert isinstance(losses.domain, dw.Simplex)
    assert (losses.domain.dim, losses.domain.scale, losses.switching_cost) == (5, 1.0, lambda_)


@pytest.mark.parametrize("seed", range(5))
def test_the_best_expert_is_the_best_in_hindsight(seed: int) -> None:
    losses = expert_blocks(**EXPERTS, seed=seed)
    totals = [sum(losses.unary_value(t, corner) for t in range(307)) for corner in np.eye(5)]
    found = sum(losses.unary_value(t, losses.comparators[t]) for t in range(307))
    assert found == pytest.approx(min(totals), rel=1e-12)
    assert path_length(losses.comparators) == 0.0


@pytest.mark.parametrize(
    ("tau", "D", "segments"), [(6.5, 1.2, 7), (6.0, 1.2, 6), (1.1, 1.2, 1), (0.0, 1.2, 1), (1.3, 1.2, 2), (3.0, 5.0, 1)]
)
def test_moving_blocks_begin_anew_on_every_segment(tau: float, D: float, segments: int) -> None:
    losses = moving_blocks(**{**BLOCKS, "path_length": tau, "diameter": D}, seed=1)
    vectors, scale = _vectors(losses), min(1.0, D / math.sqrt(2.0))
    assert losses.block == round(8.0 / 3.0) == 3
    np.testing.assert_allclose(np.abs(vectors), 3.0 / math.sqrt(4.0), rtol=1e-14)
    assert losses.gradient_bound(losses.domain) == pytest.approx(3.0, rel=1e-12)
    assert isinstance(losses.domain, dw.Simplex)
    assert losses.domain.scale == pytest.approx(scale, rel=1e-14)
    assert losses.domain.diameter <= D * (1.0 + 1e-12)
    assert losses.domain.contains(losses.comparators)
    for piece in _pieces(307, segments):
        part = vectors[piece.start : piece.stop]
        _check_held(part, 3)
        held = losses.comparators[piece.start : piece.stop]
        assert np.all(held == held[0])
        assert float(np.sum(part * held)) == pytest.approx(scale * part.sum(axis=0).min(), rel=1e-12)
    assert losses.scale == pytest.approx(math.sqrt(8.0 * max(tau, D) * 307), rel=1e-14)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("tau", [0.0, 0.5, 1.0, 4.2, 60.0])
@pytest.mark.parametrize("D", [0.3, 1.0, 3.0])
def test_the_comparators_path_is_as_long_as_the_theorem_allows(D: float, tau: float, seed: int) -> None:
    losses = moving_blocks(rounds=200, path_length=tau, diameter=D, switching_cost=1.0, seed=seed)
    found = path_length(losses.comparators)
    assert found <= math.ceil(tau) * D * (1.0 + 1e-12)
    if tau == 60.0:
        assert found > 0.0


@pytest.mark.parametrize("name", MAKERS)
def test_the_seed_decides(name: str) -> None:
    make = MAKERS[name]
    one, same, other = (_vectors(make(seed=seed)) for seed in (3, 3, 4))
    np.testing.assert_array_equal(one, same)
    assert not np.array_equal(one, other)
    rng = np.random.default_rng(3)
    np.testing.assert_array_equal(_vectors(make(seed=rng)), one)
    assert not np.array_equal(_vectors(make(seed=rng)), one)


@pytest.mark.parametrize("name", MAKERS)
def test_global_random_state_is_left_alone(name: str) -> None:
    before = np.random.get_state(legacy=False)  # noqa: NPY002
    MAKERS[name](seed=0)
    after = np.random.get_state(legacy=False)  # noqa: NPY002
    np.testing.assert_equal(after, before)


@pytest.mark.parametrize("name", MAKERS)
def test_comparators_cannot_be_changed(name: str) -> None:
    losses = MAKERS[name](seed=0)
    assert losses.comparators.shape == (len(losses), losses.dim)
    with pytest.raises(ValueError, match="read-only"):
        losses.comparators[0] = 0.0


@pytest.mark.parametrize("name", MAKERS)
def test_an_adversary_is_hard_for_a_learner_made_for_it(name: str) -> None:
    """Regret over the scale stays away from 0, averaged over seeds."""
    ratios = []
    for seed in range(6):
        losses = MAKERS[name](seed=seed)
        learner = dw.Scream(
            losses.domain,
            switching_cost=losses.switching_cost,
            gradient_bound=losses.gradient_bound(losses.domain),
            horizon=len(losses),
        )
        trace = dw.play(learner, losses, losses.switching_cost)
        ratios.append(dw.regret.dynamic_regret(trace, losses, losses.comparators) / losses.scale)
    assert np.mean(ratios) > 0.3


@pytest.mark.parametrize("size", [0.3, 1.0, 4.0])
@pytest.mark.parametrize("lambda_", [0.1, 0.74, 1.5, 2.5, 7.0, 50.0])
def test_no_move_pays_for_itself_within_its_block(lambda_: float, size: float) -> None:
    """A move gains its length times the gradient in each round after the first, which brought the news."""
    for losses in (
        expert_blocks(200, loss_bound=size, switching_cost=lambda_),
        moving_blocks(200, 0.0, 3, gradient_bound=size, switching_cost=lambda_),
    ):
        assert (losses.block - 1) * size <= lambda_
        assert losses.block >= 2.0 / 3.0 * lambda_ / size


@pytest.mark.parametrize(
    "changed",
    [{}, {"experts": 2}, {"switching_cost": 4.49}, {"gradient_bound": 0.8}, {"diameter": 5.0}, {"path_length": 100.0}],
)
def test_the_comparators_gain_what_the_docstring_promises(changed: dict[str, float]) -> None:
    setting: dict[str, Any] = {**BLOCKS, **changed}
    N, G, D, tau = (setting[name] for name in ("experts", "gradient_bound", "diameter", "path_length"))
    gains = [-np.sum(_vectors(losses) * losses.comparators) for losses in _seeds(moving_blocks, 60, **setting)]
    least = min(1.0, D / math.sqrt(2.0)) * math.sqrt(G / N) / 3.0
    assert np.mean(gains) >= least * math.sqrt(setting["switching_cost"] * tau * setting["rounds"])


@pytest.mark.parametrize("changed", [{}, {"experts": 2}, {"switching_cost": 2.2}, {"loss_bound": 9.0}])
def test_the_best_expert_gains_what_the_docstring_promises(changed: dict[str, float]) -> None:
    made = _seeds(expert_blocks, 60, **{**EXPERTS, **changed})
    gains = [-np.sum(_vectors(losses) * losses.comparators) for losses in made]
    assert np.mean(gains) >= made[0].scale / 3.0


def _seeds(make: Callable[..., Adversary], count: int, **setting: Any) -> list[Adversary]:
    return [make(**setting, seed=seed) for seed in range(count)]


JUMPED = [20_000, 80_000, 320_000]


@pytest.mark.parametrize("rounds", JUMPED)
def test_jumping_to_the_good_corner_does_not_escape(rounds: int) -> None:
    made = _seeds(moving_blocks, 5, rounds=rounds, path_length=0.5, switching_cost=20.0)
    regrets = [costs(losses, 20.0)[JUMPER][1] for losses in made]
    assert min(regrets) >= 0.0
    assert 0.2 <= np.mean(regrets) / math.sqrt(20.0 * 0.5 * rounds) <= 0.7


@pytest.mark.parametrize("rounds", JUMPED)
def test_jumping_wins_where_blocks_are_made_for_l1_movement(rounds: int) -> None:
    """Blocks of lambda over the size of a loss, sqrt(2) too long: every jump gains, and regret is linear below 0."""
    longer = moving_blocks(rounds, 0.5, switching_cost=20.0 * math.sqrt(2.0), seed=0)
    found = costs(longer, 20.0)[JUMPER][1] / math.sqrt(20.0 * 0.5 * rounds)
    assert found < {20_000: -1.5, 80_000: -4.0, 320_000: -9.0}[rounds]


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (
            lambda: expert_blocks(100, loss_bound=0.5, switching_cost=50.1),
            ("expert_blocks: switching_cost", "at most 50", "times 100", "got 50.1", "never moving", "lower bound"),
        ),
        (
            lambda: moving_blocks(100, 10.0, 4, gradient_bound=2.0, switching_cost=20.1),
            ("moving_blocks: switching_cost", "at most 20", "unit of path_length", "got 20.1", "take more rounds"),
        ),
        (
            lambda: moving_blocks(100, 4.0, diameter=5.0, switching_cost=25.1),
            ("moving_blocks: switching_cost", "at most 25", "got 25.1", "lower bound does not hold"),
        ),
        (
            lambda: moving_blocks(100, 100.5, switching_cost=0.1),
            ("path_length", "rounds = 100", "is a segment", "100.5"),
        ),
    ],
)
def test_beyond_the_valid_range_the_error_says_why(call: Callable[[], object], words: tuple[str, ...]) -> None:
    check_refused(call, *words, kind=ParameterError)


def test_the_ends_of_the_valid_range_are_accepted() -> None:
    assert expert_blocks(100, loss_bound=0.5, switching_cost=50.0).block == 100
    assert moving_blocks(100, 10.0, 4, gradient_bound=2.0, switching_cost=20.0).block == 10
    assert moving_blocks(100, 4.0, diameter=5.0, switching_cost=25.0).block == 25
    assert moving_blocks(100, 100.0, switching_cost=0.1).block == 1


@pytest.mark.parametrize(
    ("name", "setting", "values"),
    [
        ("random_signs", "rounds", (0, -1, 2.5)),
        ("random_signs", "dim", (0, None)),
        ("random_signs", "gradient_bound", (0.0, -1.0, math.nan)),
        ("random_signs", "radius", (0.0, -1.0, math.inf)),
        ("random_signs", "seed", (-1, None, 0.5, "0")),
        ("expert_blocks", "rounds", (0, -1)),
        ("expert_blocks", "experts", (0, 1)),
        ("expert_blocks", "loss_bound", (0.0, -1.0)),
        ("expert_blocks", "switching_cost", (0.0, -1.0, math.nan)),
        ("moving_blocks", "path_length", (-1.0, math.nan, math.inf)),
        ("moving_blocks", "experts", (1,)),
        ("moving_blocks", "gradient_bound", (0.0, -1.0)),
        ("moving_blocks", "diameter", (0.0, -1.0, math.nan)),
        ("moving_blocks", "switching_cost", (0.0, -1.0)),
    ],
)
def test_impossible_values_are_refused_by_name(name: str, setting: str, values: tuple[Any, ...]) -> None:
    make: Any = {"random_signs": random_signs, "expert_blocks": expert_blocks, "moving_blocks": moving_blocks}[name]
    usual = {"random_signs": SIGNS, "expert_blocks": EXPERTS, "moving_blocks": BLOCKS}[name]
    for value in values:
        wrong = functools.partial(make, **{**usual, setting: value})
        check_refused(wrong, f"{name}: {setting}", kind=ParameterError)


def test_unknown_and_missing_arguments_are_shown_the_signature() -> None:
    untyped: Any = expert_blocks
    check_refused(lambda: untyped(10), "switching_cost", kind=ArgumentError)
    check_refused(lambda: untyped(**EXPERTS, sede=1), "Did you mean seed?", kind=ArgumentError)
