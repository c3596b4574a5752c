"""The bounds of control on random plants: for runs of the controllers, for truncation, and for imitating a gain."""

import math
from typing import Any

import numpy as np

from driftwise import control
from driftwise._validate import Array
from driftwise.control import bounds
from driftwise.experiments.findings.finding import Claim, Finding, Panel, Series, Table
from driftwise.experiments.studies.study import Arguments, Study

KINDS: dict[str, type[control.LearningController]] = {
    "Scream.Control": control.ScreamController,
    "OGD.Control": control.GradientController,
    "Lazy Scream.Control": control.LazyScreamController,
}
ROUNDING = 1e-11
"""Rounding of a sum of costs, beside the sum."""

LONGEST = 25
"""Longest memory that a plant may ask for."""

COLUMNS = ("what", "against", "ratio", "guaranteed")


def _disturbances(rng: np.random.Generator, W: float, dim: int) -> control.Disturbance:
    """Draw disturbances of norms up to W: an adversary in one case of three."""
    alike = W / math.sqrt(dim)
    kinds: list[control.Disturbance] = [
        control.AdversarialDisturbance(W),
        control.UniformDisturbance(W),
        control.SinusoidDisturbance(alike, period=float(rng.uniform(3.0, 60.0))),
        control.SquareWaveDisturbance(alike, period=int(rng.integers(2, 40))),
        control.ConstantDisturbance(np.full(dim, alike)),
    ]
    return kinds[0] if rng.random() < 1.0 / 3.0 else kinds[rng.integers(1, len(kinds))]


def _costs(rng: np.random.Generator, rounds: int, dx: int, du: int) -> tuple[control.CostSequence, float]:
    """Draw costs that change in stages, and say how steep they are."""
    stages: list[control.Cost] = []
    for _ in range(int(rng.integers(1, 5))):
        Q, R = rng.standard_normal((dx, dx)), rng.standard_normal((du, du))
        stages.append(control.QuadraticCost(Q @ Q.T, R @ R.T + 0.01 * np.eye(du)))
    sequence = control.CostSequence.stages(stages, rounds)
    assert sequence.gradient_constant is not None
    return sequence, sequence.gradient_constant


def _moving(rng: np.random.Generator, rounds: int, radii: Array, shape: tuple[int, int]) -> Array:
    """Draw policies within the radii that change a few times, or in every round."""
    count = int(rng.choice([2, 5, rounds]))
    drawn = rng.standard_normal((count, radii.size, *shape))
    drawn *= (radii * rng.random((count, radii.size)) / np.linalg.norm(drawn, 2, axis=(2, 3)))[:, :, None, None]
    return np.asarray(drawn[np.arange(rounds) * count // rounds])


def _forgotten(trace: control.ControlTrace, policies: Array, K: Array) -> float:
    """Return how far the costs of policies are from their truncated losses, over all rounds of a run."""
    T, H = policies.shape[:2]
    losses = control.TruncatedLosses(trace.system, trace.cost_sequence, trace.disturbances, memory=H, K=K)
    window = np.concatenate([np.repeat(policies[:1], H + 1, axis=0), policies])
    truncated = 0.0
    for t in range(T):
        y, v = losses.states(t, window[t : t + H + 2])
        truncated += trace.cost_sequence[t].value(y, v)
    return abs(float(control.policy_costs(trace, policies, K).sum()) - truncated)


def _ratio(measured: float, limit: float, trace: control.ControlTrace) -> float:
    """Return what was measured over its bound, but for what rounding does to sums of costs."""
    beyond = measured - ROUNDING * max(trace.total, 1.0)
    return beyond / limit if limit > 0.0 else math.inf if beyond > 0.0 else 0.0


def certify_random_plant(seed: int) -> dict[str, Any]:
    """Run every controller on one random plant, and check its theorem, the truncation and the imitation of a gain.

    Returns columns, with an entry for every check.
    """
    rng = np.random.default_rng(seed)
    dx, du, T = int(rng.integers(1, 5)), int(rng.integers(1, 3)), int(10.0 ** rng.uniform(1.5, 2.7))
    system = control.random_system(dx, du, radius=float(rng.uniform(0.3, 1.1)), seed=rng)
    K, target = (control.lqr(system, 1.0, float(10.0 ** rng.uniform(-1.0, 1.0))) for _ in range(2))
    costs, steep = _costs(rng, T, dx, du)
    W, width = 10.0 ** rng.uniform(-1.0, 1.0), 10.0 ** rng.uniform(-2.0, 0.3)
    enough = bounds.log_memory(system, horizon=T, K=K, radii=width)
    # The cheapest policy in hindsight with a long memory takes longer than all the rest together.
    memory: int | str = "log" if enough <= LONGEST and rng.random() < 0.7 else int(rng.integers(1, 8))
    shared: dict[str, Any] = {"K": K, "radii": width, "disturbance_bound": W, "cost_gradient": steep}
    push, result = _disturbances(rng, W, dx), []
    for name, kind in KINDS.items():
        mine = kind(system, T, memory=memory, scale="certified", start="random", seed=rng, **shared)
        trace = control.simulate(system, mine, costs, push, seed=seed)
        domain, held = mine.learner.domain, np.full(mine.memory, width)
        best = control.best_policy(system, costs, trace.disturbances, K=K, domain=domain)
        moving = _moving(rng, T, held, (du, dx))
        for against, v in (("best fixed", best), ("moving", moving)):
            found = control.certificate(trace, v)
            result.append((name, against, found.ratio, found.guaranteed))
    limit = bounds.truncation_error(system, horizon=T, memory=mine.memory, **shared) / 2.0
    for against, v in (("best fixed", best.decisions), ("moving", moving)):
        result.append(("truncation", against, _ratio(_forgotten(trace, v, K), limit, trace), True))
    imitation = control.DisturbanceAction.matching(system, K, target, mine.memory)
    # Both regrets are of the same run, so their difference is what the imitation costs more.
    more = control.dynamic_policy_regret(trace, target) - control.dynamic_policy_regret(trace, imitation)
    sizes = {name: shared[name] for name in ("K", "disturbance_bound", "cost_gradient")}
    limit = bounds.sufficiency(system, target, horizon=T, memory=mine.memory, **sizes)
    result.append(("sufficiency", "another gain", _ratio(more, limit, trace), True))
    return dict(zip(COLUMNS, map(np.array, zip(*result, strict=True)), strict=True))


def _conclude(tasks: list[Arguments], results: list[dict[str, Any]]) -> Finding:
    what, against, ratio, guaranteed = (np.concatenate([result[name] for result in results]) for name in COLUMNS)
    rows, series = [], []
    for name in dict.fromkeys(what.tolist()):
        own = np.flatnonzero(what == name)
        worst = own[np.argmax(ratio[own])]
        beyond = int((ratio[own] > 1.0).sum())
        rows.append([name, str(own.size), str(beyond), f"{ratio[worst]:.2g}", str(against[worst])])
        ordered = np.sort(np.maximum(ratio[own], 0.0))
        kept = np.unique(np.linspace(0, own.size - 1, min(own.size, 200)).round().astype(int))
        series.append(Series(name, ordered[kept].tolist(), ((kept + 1) / own.size).tolist()))
    violations, applicable, largest = int((ratio > 1.0).sum()), int(guaranteed.sum()), float(ratio.max())
    measured = f"{violations} violations in {ratio.size} checks, {applicable} with all assumptions met"
    claims = [
        Claim("No cost of control above its bound", violations == 0 and applicable == ratio.size, measured),
        Claim("Largest measured / bound in control below 1", largest < 1.0, f"{largest:.3f}"),
    ]
    shares = ", ".join(f"{row[0]} {row[3]}" for row in rows)
    summary = [
        f"On {len(tasks)} random plants, what was measured stayed below its bound in {ratio.size - violations} of "
        f"{ratio.size} checks; on about a third of the plants the disturbance was an adversary that watches the state.",
        f"The nearest that anything came to its bound: {shares}.",
        "The bounds of control are far from tight: they let every norm be as large as it can be in every round.",
    ]
    table = Table("Measured / bound in control", ["what", "checked", "violated", "largest", "against"], rows)
    x_label = "measured / bound, 0 where it is negative"
    panel = Panel("How near costs of control come to their bounds", x_label, "part of the checks below", series)
    return Finding(STUDY.title, summary, [table], claims, [panel], columns=1)


STUDY = Study(
    "control_bounds",
    "The bounds of control on random plants",
    lambda size: [(seed,) for seed in range(20 if size.quick else 300)],
    certify_random_plant,
    _conclude,
)
