"""Whole-number decisions: how often they move, next to the path of the fractional ones."""

import numpy as np

from driftwise.domains import Box
from driftwise.experiments.findings.finding import Claim, Finding, Table
from driftwise.experiments.studies.study import Arguments, Size, Study, group
from driftwise.learners import OGD, Learner, SelfTunedScream, rounded
from driftwise.losses import TrackingLoss
from driftwise.play import play

NEAR = 0.1

BOXES = {
    "one coordinate": Box([0.0], [12.0]),
    "three coordinates": Box(np.zeros(3), np.full(3, 6.0)),
    "limits that are not whole": Box([0.5, -2.3], [7.5, 3.6]),
}


def run(box: str, learner: str, rounds: int, seed: int, count: int) -> dict[str, float]:
    """Return the mean number of unit moves over so many seeds, the fractional path, and whether all was feasible."""
    domain = BOXES[box]
    rng = np.random.default_rng(7)
    middle, half = (domain.low + domain.high) / 2.0, domain.diameter / 4.0
    walk = np.cumsum(rng.standard_normal((rounds, domain.dim)), axis=0)
    losses = TrackingLoss(middle + half * np.sin(walk / 4.0))
    inner: Learner = OGD(domain, step=0.1) if learner == "OGD" else SelfTunedScream(domain, switching_cost=1.0)
    fractional = np.clip(play(inner.clone(), losses).decisions, np.ceil(domain.low), np.floor(domain.high))
    path = float(np.abs(np.diff(fractional, axis=0)).sum())
    moves, feasible = 0.0, True
    for threshold in range(seed, seed + count):
        decisions = play(rounded(inner, threshold), losses).decisions
        moves += float(np.abs(np.diff(decisions, axis=0)).sum()) / count
        feasible &= domain.contains(decisions) and bool(np.all(decisions == np.round(decisions)))
    return {"path": path, "moves": moves, "feasible": float(feasible)}


def _tasks(size: Size) -> list[Arguments]:
    batch, batches, rounds = (50, 2, 100) if size.quick else (100, 10, 200)
    cells = [(box, name) for box in BOXES for name in ("OGD", "SelfTunedScream")]
    return [(*cell, rounds, batch * k, batch) for cell in cells for k in range(batches)]


def _conclude(tasks: list[Arguments], results: list[dict[str, float]]) -> Finding:
    cells = group([task[:2] for task in tasks], results)
    seeds = sum(task[-1] for task in tasks) // len(cells)
    rows, ratios = [], []
    for (box, name), of in cells.items():
        moves, path = float(np.mean([r["moves"] for r in of])), of[0]["path"]
        ratios.append(moves / path)
        rows.append([box, name, f"{path:.2f}", f"{moves:.2f}", f"{moves / path:.3f}"])
    feasible = all(r["feasible"] for r in results)
    near = max(abs(ratio - 1.0) for ratio in ratios)
    claims = [
        Claim(
            f"Moves within {NEAR:.0%} of the fractional path, mean over {seeds} seeds",
            near <= NEAR,
            f"{min(ratios):.3f} to {max(ratios):.3f} of it",
        ),
        Claim("Every decision is whole and feasible", feasible, f"{seeds * len(cells)} runs"),
    ]
    summary = [
        "Decisions are rounded by one random threshold per coordinate, the same for the whole run.",
        f"They make {min(ratios):.2f} to {max(ratios):.2f} times as many unit moves as the fractional path is long, on "
        f"average over {seeds} seeds.",
        f"{'All' if feasible else 'Not all'} of them are whole and feasible.",
    ]
    table = Table("Unit moves", ["box", "learner", "fractional path", "moves", "ratio"], rows)
    return Finding(STUDY.title, summary, [table], claims)


STUDY = Study("integers", "Whole-number decisions", _tasks, run, _conclude)
