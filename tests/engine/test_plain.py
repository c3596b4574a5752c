"""The whole engine, compiled and as plain Python with every index checked, gives the same bits; on any processor."""

import functools
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import driftwise as dw
from driftwise._compile import INTERPRETED
from driftwise._validate import Array
from driftwise.learners import Ensemble, Meta, Pool, Surrogate
from tests.cases import DOMAINS, SCHEDULES, maker, squared

ROUNDS = 20

PRICES: dict[str, float | dw.MoveCost] = {
    "number": 0.3,
    "l1": dw.MoveCost(up=0.4, down=0.1),
    "l2": dw.MoveCost(up=0.1, down=0.5, norm="l2"),
}


def _patient(domain: dw.Domain, price: str, schedule: str) -> Ensemble:
    pool, surrogate = Pool(0.5, growth=1.0, patience=(0.5, 0.0, 1.0)), Surrogate(PRICES[price])
    return Ensemble(domain, pool=pool, meta=Meta(1.0), surrogate=surrogate, horizon_free=schedule)


def _mirror(base: dw.mirror.MirrorMap, domain: dw.Domain, schedule: str) -> Ensemble:
    pool = Pool(0.3, growth=1.0)
    return Ensemble(domain, pool=pool, meta=Meta(2.0), surrogate=Surrogate(1.0), base=base, horizon_free=schedule)


def _learners() -> dict[str, Callable[[], Ensemble]]:
    """Return what makes a learner of every kind; a name with "hints" or "played" says how to play it."""
    entropy, pnorm = dw.mirror.NegativeEntropy(), dw.mirror.PNorm(1.5)
    found: dict[str, Callable[[], Ensemble]] = {}
    for where, domain in DOMAINS.items():
        for schedule in SCHEDULES:
            found[f"Scream, {where}, {schedule}"] = maker("Scream appendix", domain, ROUNDS, schedule)
        for price in PRICES:
            tuned = functools.partial(dw.SelfTunedScream, domain, switching_cost=PRICES[price])
            found[f"self-tuned, {where}, {price}"] = tuned
            found[f"self-tuned, {where}, {price}, hints"] = tuned
            adaptive = functools.partial(dw.StronglyAdaptive, domain, switching_cost=PRICES[price], gradient_bound=1.0)
            found[f"strongly adaptive, {where}, {price}"] = adaptive
        found[f"own gradients, {where}"] = maker("Ader original", domain, ROUNDS)
        found[f"own gradients, {where}, played"] = maker("Ader original", domain, ROUNDS, "time-varying")
        found[f"epochs, {where}"] = maker("LazyScream appendix", domain, ROUNDS)
        found[f"Scream, {where}, played"] = maker("Scream appendix", domain, ROUNDS, "time-varying")
        found[f"self-tuned, {where}, played"] = functools.partial(dw.SelfTunedScream, domain, switching_cost=0.3)
    for schedule in ("time-varying", "doubling"):
        for price in PRICES:
            found[f"patient, {price}, {schedule}, hints"] = functools.partial(_patient, dw.Ball(7), price, schedule)
        found[f"entropy, {schedule}"] = functools.partial(_mirror, entropy, dw.Simplex(5, scale=3.0), schedule)
        for where in ("box", "simplex"):
            found[f"p-norm, {where}, {schedule}"] = functools.partial(_mirror, pnorm, DOMAINS[where], schedule)
    found["Hedge"] = functools.partial(dw.Hedge, 5, loss_bound=1.0)
    found["ball of 41"] = functools.partial(dw.SelfTunedScream, dw.Ball(41), switching_cost=0.3)
    found["free moves"] = functools.partial(dw.SelfTunedScream, dw.Ball(3), switching_cost=0.0)
    return found


def _after_rounds(name: str, learner: Ensemble) -> Array:
    """Return all that a learner knows after some rounds."""
    losses, rng = squared(learner.domain.dim, ROUNDS), np.random.default_rng(4)
    if "played" in name:
        trace = dw.play(learner, losses)
        return np.concatenate([learner._state, trace.decisions.ravel(), trace.losses])
    for t in range(ROUNDS):
        guess = 0.3 * rng.standard_normal(learner.domain.dim)
        learner.act(hint=guess if "hints" in name and t % 2 else None)
        # Gradients of many sizes, so that every branch is taken.
        scale = 10.0 ** rng.choice([-3.0, 0.0, 0.0, 0.0, 2.0])
        learner.observe(losses[t] if "own" in name else scale * losses.gradient(t, learner.act()))
    return learner._state.copy()


def _committee(mode: str, price: str) -> Array:
    rng, committee = np.random.default_rng(5), dw.Committee(6, PRICES[price], mode=mode)
    for _ in range(ROUNDS):
        rows = rng.normal(size=(6, 3)) + np.arange(6.0)[:, None]
        committee.act([row if rng.random() < 0.8 or i == 0 else None for i, row in enumerate(rows)])
        committee.observe(rng.standard_t(1.5, 6))
    return np.concatenate([committee._vector, committee.weights])


def write_states(path: str, of: str = "") -> None:
    """Play every learner that has some word in its name, and write what it knows; other processes do this, too."""
    states = {name: _after_rounds(name, make()) for name, make in _learners().items() if of in name}
    states |= {f"committee, {mode}, {price}": _committee(mode, price) for mode in ("mix", "follow") for price in PRICES}
    np.savez(path, allow_pickle=False, plain=np.array(INTERPRETED), **states)


@functools.cache
def _compiled(folder: Path) -> dict[str, Array]:
    write_states(str(folder / "compiled.npz"))
    return read(folder / "compiled.npz")


def read(path: Path) -> dict[str, Array]:
    """Return the states that were written to a file."""
    with np.load(path) as states:
        return dict(states)


def elsewhere(folder: Path, setting: dict[str, str], of: str = "", by: str = __name__) -> dict[str, Array]:
    """Return what a process of its own, with settings of its own and nothing compiled yet, comes to know.

    `by` is the module whose `write_states` it calls.
    """
    paths = os.pathsep.join(path for path in sys.path if path)
    environment = {**os.environ, "PYTHONPATH": paths, "NUMBA_CACHE_DIR": str(folder / "cache"), **setting}
    code = f"from {by} import write_states; write_states({str(folder / 'found.npz')!r}, {of!r})"
    subprocess.run([sys.executable, "-c", code], env=environment, check=True)
    return read(folder / "found.npz")


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Array]:
    """Return the states as this process, compiled for this machine, has them."""
    return _compiled(tmp_path_factory.mktemp("compiled"))


def _check_same(found: dict[str, Array], expected: dict[str, Array], plain: bool, of: str = "") -> None:
    assert bool(found.pop("plain")) is plain
    names = {name for name in set(expected) - {"plain"} if of in name or "committee" in name}
    assert set(found) == names
    assert len(names) > (20 if of else 60)
    other = sorted(name for name in names if found[name].tobytes() != expected[name].tobytes())
    assert not other, f"other bits in {other}"


def test_every_learner_has_learnt_something(compiled: dict[str, Array]) -> None:
    for name, make in _learners().items():
        assert np.all(np.isfinite(compiled[name]) | (compiled[name] == -np.inf)), name
        assert not np.array_equal(compiled[name], make()._state), name


def test_plain_python_with_every_index_checked_gives_the_same_bits(compiled: dict[str, Array], tmp_path: Path) -> None:
    _check_same(elsewhere(tmp_path, {"NUMBA_DISABLE_JIT": "1"}), compiled, plain=True)


@pytest.mark.parametrize("of", ["ball", pytest.param("", marks=pytest.mark.full)])
def test_code_for_a_generic_processor_gives_the_same_bits(compiled: dict[str, Array], tmp_path: Path, of: str) -> None:
    generic = {"NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": ""}
    _check_same(elsewhere(tmp_path, generic, of), compiled, plain=False, of=of)
