"""A whole pool, compiled and as plain Python with every index checked, gives the same bits; on any processor."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import driftwise as dw
from driftwise._compile import INTERPRETED
from driftwise._validate import Array
from tests.cases import DOMAINS, by_hand, proposing, self_tuned, squared, stream
from tests.engine.test_plain import elsewhere, read

ROUNDS = 18
"""Enough for hypotheses of change points to branch."""

Play = Callable[[], tuple[dw.SelfTunedLearner, Array]]


def _played(learner: dw.SelfTunedLearner, losses: dw.LossStream) -> tuple[dw.SelfTunedLearner, Array]:
    return learner, dw.play(learner, losses).decisions


def _given(learner: dw.SelfTunedLearner, losses: dw.LossStream) -> tuple[dw.SelfTunedLearner, Array]:
    """Play by hand, with two proposals of which one joins late and both are missing now and then, and with hints."""
    rng, dim = np.random.default_rng(2), losses.dim
    table = {name: rng.uniform(-1.0, 1.0, (len(losses), dim)) for name in ("early", "late")}
    table["late"][:9] = np.nan
    table["early"][5:7] = np.nan

    def act(t: int) -> dict[str, object]:
        return {**proposing(table)(t), "hint": 0.1 * np.ones(dim) if t % 2 else None}

    return learner, by_hand(learner, losses, act)


def _mixed(learner: dw.SelfTunedLearner) -> tuple[dw.SelfTunedLearner, Array]:
    """Observe losses, then gradients of many sizes, in a pool that is made for losses."""
    losses, rng, decisions = squared(3, ROUNDS), np.random.default_rng(4), []
    for t in range(ROUNDS):
        decisions.append(learner.act())
        scale = 10.0 ** rng.choice([-3.0, 0.0, 0.0, 2.0])
        learner.observe(scale * losses.gradient(t, learner.act()) if t % 3 == 2 else losses[t])
    return learner, np.array(decisions)


def _season(rounds: int = 34) -> dw.TrackingLoss:
    """Return targets with a season, which is found."""
    waves = 0.5 + 0.4 * np.sin(2.0 * np.pi * np.arange(rounds) / 5.0)
    return dw.TrackingLoss(waves[:, None] + 0.02 * np.random.default_rng(0).normal(size=(rounds, 1)))


def _outliers(dim: int) -> dw.SquaredLoss:
    """Return losses of which some are clipped."""
    data = squared(dim, ROUNDS).data
    x, y = data.features.copy(), data.targets.copy()
    x[8] *= 1e5
    y[15] = 1e7
    return dw.SquaredLoss(x, y)


BOX = dw.Box([0.0], [1.0])
PLAYS: dict[str, Play] = {
    "score": lambda: _played(self_tuned(dw.Ball(3), "number"), squared(3, ROUNDS)),
    "score, simplex, kink": lambda: _played(self_tuned(DOMAINS["simplex"], "l2"), stream("absolute", 4, ROUNDS)),
    "score, product, logistic": lambda: _played(self_tuned(DOMAINS["product"], "l1"), stream("logistic", 4, ROUNDS)),
    "score, spectral, clipped": lambda: _played(self_tuned(DOMAINS["spectral"], "free"), _outliers(4)),
    "score, 65 coordinates": lambda: _played(self_tuned(dw.Ball(65), "number"), squared(65, 3)),
    "score, proposals and hints": lambda: _given(self_tuned(DOMAINS["box"], "each"), stream("huber", 3, ROUNDS)),
    "score, then gradients": lambda: _mixed(self_tuned(dw.Ball(3), "l1")),
    "each, one": lambda: _played(self_tuned(BOX, "l1"), stream("capacity", 1, ROUNDS)),
    "each, three": lambda: _played(self_tuned(DOMAINS["box"], "each"), stream("capacity", 3, ROUNDS)),
    "each, ball, l2": lambda: _played(self_tuned(dw.Ball(3), "l2"), stream("tracking", 3, ROUNDS)),
    "each, season found": lambda: _played(self_tuned(BOX, "number"), _season()),
    "each, season given": lambda: _played(self_tuned(BOX, "number", period=5), _season(12)),
    "each, proposals and hints": lambda: _given(self_tuned(BOX, "l2"), stream("tracking", 1, ROUNDS)),
    "gradient": lambda: _played(self_tuned(dw.Ball(3), "number"), stream("linear", 3, ROUNDS)),
    "gradient, simplex": lambda: _played(self_tuned(DOMAINS["simplex"], "l1"), stream("linear", 4, ROUNDS)),
    "gradient, 65 coordinates": lambda: _played(self_tuned(dw.Ball(65), "number"), stream("linear", 65, 3)),
    "gradient, proposals and hints": lambda: _given(self_tuned(dw.Ball(3), "free"), stream("plain custom", 3, ROUNDS)),
}


def _state(play: Play) -> Array:
    """Return all that a learner knows after its rounds, and what it decided in them."""
    learner, decisions = play()
    kind, kept = learner.__getstate__()["_known"]
    assert kind.dim == decisions.shape[1]
    cell = learner._cell if learner._scream is None else learner._scream._state
    return np.concatenate([kept, cell, decisions.ravel(), learner.weights])


def write_states(path: str, of: str = "") -> None:
    """Play all that have some word in their name, and write what they know; other processes do this, too."""
    states = {name: _state(play) for name, play in PLAYS.items() if of in name}
    np.savez(path, allow_pickle=False, plain=np.array(INTERPRETED), **states)


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Array]:
    """Return the states as this process, compiled for this machine, has them."""
    path = tmp_path_factory.mktemp("compiled") / "compiled.npz"
    write_states(str(path))
    return read(path)


def _check_same(found: dict[str, Array], expected: dict[str, Array], plain: bool) -> None:
    assert bool(found.pop("plain")) is plain
    assert set(found) == set(PLAYS)
    other = sorted(name for name in found if found[name].tobytes() != expected[name].tobytes())
    assert not other, f"other bits in {other}"


def test_every_pool_has_learnt_something(compiled: dict[str, Array]) -> None:
    for name, play in PLAYS.items():
        learner, decisions = play()
        assert np.ptp(decisions, axis=0).max() > 0.0, name
        assert np.ptp(learner.weights) > 0.0, name
        assert len(compiled[name]) > 500


def test_plain_python_with_every_index_checked_gives_the_same_bits(compiled: dict[str, Array], tmp_path: Path) -> None:
    _check_same(elsewhere(tmp_path, {"NUMBA_DISABLE_JIT": "1"}, by=__name__), compiled, plain=True)


@pytest.mark.full
def test_code_for_a_generic_processor_gives_the_same_bits(compiled: dict[str, Array], tmp_path: Path) -> None:
    generic = {"NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": "", "DRIFTWISE_CACHE_DIR": str(tmp_path / "cache")}
    _check_same(elsewhere(tmp_path, generic, by=__name__), compiled, plain=False)
