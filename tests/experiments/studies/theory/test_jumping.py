"""Players that jump on the instance of Theorem 5."""

import itertools
import math

import numpy as np
import pytest

import driftwise as dw
from driftwise.experiments.studies.theory import jumping
from driftwise.experiments.studies.theory.jumping import JUMPER, PLAYERS, STUDY
from driftwise.regret import adversaries
from tests.experiments.claims import BOTH_SIZES, check_claims


@BOTH_SIZES
def test_players_that_jump_do_not_escape(quick: bool) -> None:
    finding = check_claims(STUDY, quick, count=6, keep=lambda task: task[2] <= 20_000 or task[-1] < 1)
    for right in finding.tables[0].rows:
        stays, jumps, steps = map(float, right[3:6])
        assert stays <= min(jumps, steps)  # so those two do jump
    assert all(float(row[6]) > 0.2 for row in finding.tables[0].rows)


def test_the_jumper_jumps_once_it_has_seen_that_a_block_pays_for_it() -> None:
    signs = np.array([[1.0, -1.0], [-1.0, 1.0], [-1.0, 1.0], [1.0, -1.0]])
    worth = 5.0 * math.sqrt(2.0)  # sqrt(2) for a unit of distance in each of 5 rounds to come
    for name, pays in itertools.product(PLAYERS, (False, True)):
        held = PLAYERS[name].decisions(signs, 6, worth * (0.999 if pays else 1.0), 1.0)
        stands = name == JUMPER and not pays
        expected = [0.5] * 5 if stands else [0.5, 0.0, 1.0, 1.0, 0.0]
        np.testing.assert_allclose(held, np.stack([expected, 1.0 - np.array(expected)], axis=1), atol=1e-15)


def test_a_player_goes_nowhere_if_all_is_the_same() -> None:
    vectors = 0.1 * np.array([[1.0] * 3, [-1.0] * 3, [-1.0, 1.0, 1.0], [-1.0] * 3, [1.0] * 3])
    for player in PLAYERS.values():
        held = player.decisions(vectors, 9, 0.1, 0.3)
        np.testing.assert_allclose(held[:, 0], [0.1, 0.1, 0.1, 0.3, 0.3, 0.3], atol=1e-15)


def test_stepping_aside_is_the_shortest_way_to_the_least_loss() -> None:
    at, vector = np.array([0.4, 0.1, 0.2, 0.3]), np.array([1.0, -1.0, 1.0, -1.0])
    np.testing.assert_allclose(jumping.aside(at, vector), [0.0, 0.4, 0.0, 0.6])
    rng = np.random.default_rng(0)
    nearest = np.linalg.norm(jumping.aside(at, vector) - at)
    for share in rng.random(100):
        assert np.linalg.norm(np.array([0.0, share, 0.0, 1.0 - share]) - at) >= nearest - 1e-12
    np.testing.assert_allclose(jumping.to_corner(at, vector), [0.0, 1.0, 0.0, 0.0])


def test_what_is_yet_to_come_changes_nothing() -> None:
    rng = np.random.default_rng(3)
    vectors = rng.choice([-1.0, 1.0], (30, 4))
    for player, t in itertools.product(PLAYERS.values(), (1, 8, 19)):
        other = np.vstack([vectors[:t], rng.choice([-1.0, 1.0], (30 - t, 4))])
        found, again = (player.decisions(each, 6, 4.0, 1.0) for each in (other, vectors))
        np.testing.assert_array_equal(found[: t + 1], again[: t + 1])


@pytest.mark.parametrize("stretched", [9.0, 31.0])
def test_regret_is_that_of_the_decisions_round_by_round(stretched: float) -> None:
    losses = adversaries.moving_blocks(500, 5.0, 3, switching_cost=stretched, seed=2)
    vectors, begun = losses.data.features, []
    for part in np.array_split(np.arange(500), 5):
        begun += part[:: losses.block].tolist()
    for name, player in PLAYERS.items():
        held = player.decisions(vectors[begun], losses.block, 9.0, losses.comparators[0].sum())
        decisions = np.repeat(held, np.diff([0, *(np.array(begun) + 1), 500]), axis=0)
        assert losses.domain.contains(decisions)
        moved = np.sum(dw.MoveCost(9.0, norm="l2")(np.diff(decisions, axis=0)))
        cost, beyond = jumping.costs(losses, 9.0)[name]
        assert cost == pytest.approx(np.sum(vectors * decisions) + moved)
        assert beyond == pytest.approx(cost - np.sum(vectors * losses.comparators))
        assert (moved == 0.0) == (name == JUMPER and stretched == 9.0)


@pytest.mark.parametrize(("rounds", "block", "experts"), [(6, 2, 3), (7, 2, 2), (3, 5, 2), (11, 4, 4)])
def test_the_expected_gain_is_that_over_all_coins(rounds: int, block: int, experts: int) -> None:
    count = -(-rounds // block)
    lengths = np.diff([*range(0, rounds, block), rounds])
    totals = np.array(list(itertools.product([-1.0, 1.0], repeat=count))) @ lengths
    each = np.array(list(itertools.product(totals, repeat=experts)))
    assert jumping.expected_gain(rounds, block, experts) == pytest.approx(each.max(axis=1).mean(), abs=1e-12)


def test_one_who_stands_still_has_what_it_expects() -> None:
    found = [jumping.jumping_regret(10, 8.0, 1000, 5.0, False, seed) for seed in range(40)]
    mean, spread = np.mean([each[JUMPER] for each in found]), np.std([each[JUMPER] for each in found])
    assert mean == pytest.approx(found[0]["standing still"], abs=3.0 * float(spread) / math.sqrt(40))


def results(
    right: float = 0.3, wrong: float = -2.0, power: float = 0.0
) -> tuple[list[tuple[object, ...]], list[dict[str, float]]]:
    """Return tasks, and what they would give if all players had these regrets and gains a round of T^power."""
    tasks: list[tuple[object, ...]] = [
        (N, 0.5, T, 20.0, longer, 0) for longer in (False, True) for N in (2, 10) for T in (100, 400)
    ]
    found = []
    for _, _, T, _, longer, _ in tasks:
        each = dict.fromkeys(PLAYERS, wrong if longer else right)
        found.append({**each, **{f"{name}: gained": float(T) ** power for name in PLAYERS}, "standing still": 0.3})  # type: ignore[arg-type]
    return tasks, found


def holds(tasks: list[tuple[object, ...]], found: list[dict[str, float]]) -> list[bool | None]:
    return [claim.holds for claim in STUDY.conclude(tasks, found).claims]


@pytest.mark.parametrize("name", PLAYERS)
def test_a_player_that_escapes_is_said(name: str) -> None:
    tasks, found = results()
    assert holds(tasks, found) == [True] * 4
    found[3][name] = 0.14  # N = 10, T = 400
    assert holds(tasks, found) == [True, False, True, True]
    assert f"least 0.140: {name.lower()}, tau = 0.5, T = 400" in STUDY.conclude(tasks, found).claims[1].measured


@pytest.mark.parametrize("name", PLAYERS)
def test_long_blocks_that_do_no_harm_are_said(name: str) -> None:
    tasks, found = results()
    found[5][name] = 0.01  # N = 2, T = 400, longer
    assert holds(tasks, found) == [True, True, False, True]
    assert holds(*results(power=-0.5)) == [True, True, False, False]  # a gain like sqrt(T)
    assert holds(*results(right=-0.1)) == [False, False, True, True]


def test_the_study_fails_if_blocks_are_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    """As they once were: lambda sqrt(N) / G rounds."""

    def longer(rounds: int, tau: float, experts: int, *, switching_cost: float, seed: int) -> adversaries.Adversary:
        return adversaries.moving_blocks(rounds, tau, experts, switching_cost=switching_cost * experts**0.5, seed=seed)

    monkeypatch.setattr(jumping, "moving_blocks", longer)
    found = [jumping.jumping_regret(N, 0.5, 20_000, 20.0, False, seed) for N in (2, 10) for seed in range(3)]
    assert max(each[JUMPER] for each in found) < jumping.LEAST
