"""Regret on every interval: the bound of the strongly adaptive learner, and what it costs beside the others."""

from collections.abc import Callable
from typing import Any

import numpy as np

from driftwise import regret
from driftwise.domains import Ball, Box, Domain, Simplex
from driftwise.experiments.findings.finding import Claim, Finding, Panel, Series, Table
from driftwise.experiments.studies.study import Arguments, Size, Study, group, means
from driftwise.learners import Learner, Scream, SelfTunedScream, StronglyAdaptive
from driftwise.losses import LinearLoss, LossStream, SquaredLoss, TrackingLoss
from driftwise.play import play
from driftwise.regret.adaptive import worst_intervals

SEGMENTS = 6
"""Parts of a stream that changes five times."""

DIM, GRADIENT = 3, 2.0
"""Coordinates of the streams that change, in the unit ball, and what no gradient of theirs is above."""


def _level(rng: np.random.Generator, rounds: int, segments: int, dim: int) -> np.ndarray[Any, Any]:
    """Return a point on the unit sphere for each round, another one in each segment."""
    points = rng.normal(size=(segments, dim))
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    return points[np.arange(rounds) * segments // rounds]


def _tracking(rng: np.random.Generator, rounds: int, segments: int, dim: int) -> LossStream:
    """Follow a point that jumps, seen with noise."""
    seen = _level(rng, rounds, segments, dim) + 0.3 * rng.normal(size=(rounds, dim))
    return TrackingLoss(seen / np.maximum(np.linalg.norm(seen, axis=1, keepdims=True), 1.0))


def _regression(rng: np.random.Generator, rounds: int, segments: int, dim: int) -> LossStream:
    """Predict with coefficients that jump."""
    x = rng.uniform(-1.0, 1.0, (rounds, dim)) / np.sqrt(dim)
    y = np.einsum("td,td->t", x, _level(rng, rounds, segments, dim)) + 0.1 * rng.normal(size=rounds)
    return SquaredLoss(x, np.clip(y, -1.0, 1.0))


def _flips(rng: np.random.Generator, rounds: int, segments: int, dim: int) -> LossStream:
    """Linear losses of full size whose direction jumps."""
    return LinearLoss(GRADIENT * _level(rng, rounds, segments, dim))


def _leaning(rng: np.random.Generator, rounds: int, segments: int, dim: int) -> LossStream:
    """Random signs that lean to one side, another one in each segment."""
    lean = 0.5 + 0.2 * _level(rng, rounds, segments, dim)
    return LinearLoss(GRADIENT / np.sqrt(dim) * np.where(rng.random((rounds, dim)) < lean, 1.0, -1.0))


def _signs(rng: np.random.Generator, rounds: int, segments: int, dim: int) -> LossStream:
    """Random signs, of which nothing can be learnt."""
    return LinearLoss(GRADIENT / np.sqrt(dim) * rng.choice([-1.0, 1.0], (rounds, dim)))


STREAMS: dict[str, Callable[[np.random.Generator, int, int, int], LossStream]] = {
    "tracking": _tracking,
    "regression": _regression,
    "flips": _flips,
    "leaning signs": _leaning,
    "random signs": _signs,
}
"""Streams that change so many times; on the last one there is nothing to follow."""

COLUMNS = ("length", "ratio")

LONG = 256
"""Intervals from this length on are looked at by themselves: on short ones the bound is the trivial one."""


def certify_intervals(seed: int) -> dict[str, Any]:
    """Play one random problem, and compare regret with its bound on the worst interval of every length.

    Returns columns, with an entry for every interval, and whether all assumptions were met.
    """
    rng = np.random.default_rng(seed)
    T, dim = int(10 ** rng.uniform(2.0, 3.8)), int(rng.integers(1, 6))
    kind = list(STREAMS)[rng.integers(len(STREAMS))]
    losses = STREAMS[kind](rng, T, int(rng.integers(1, max(T // 10, 2))), dim)
    size = float(10 ** rng.uniform(-1.0, 1.0))
    domains: list[Domain] = [Ball(dim, size), Box(-size * rng.random(dim), size * rng.random(dim))]
    domain = [*domains, Simplex(dim, size)][rng.integers(3 if dim > 1 else 2)]
    G = max(losses.gradient_bound(domain), 1e-9)
    price, horizon = G * float(10 ** rng.uniform(-2.0, 2.0)), [T, None][rng.integers(2)]
    learner = StronglyAdaptive(domain, switching_cost=price, gradient_bound=G, horizon=horizon)
    found = regret.interval_certificate(play(learner, losses, price))
    lengths = found.stops - found.starts
    return {"length": lengths, "ratio": found.ratios, "guaranteed": found.guaranteed, "stream": kind}


def _conclude_intervals(tasks: list[Arguments], results: list[dict[str, Any]]) -> Finding:
    length, ratio = (np.concatenate([result[name] for result in results]) for name in COLUMNS)
    guaranteed = all(bool(result["guaranteed"]) for result in results)
    longer = ratio[length >= LONG]
    violations, largest = int((ratio > 1.0).sum()), float(ratio.max())
    beyond = float(longer.max()) if longer.size else float("nan")
    rows = []
    for kind, own in group([str(result["stream"]) for result in results], results).items():
        ratios, lengths = (np.concatenate([result[name] for result in own]) for name in ("ratio", "length"))
        long, above = ratios[lengths >= LONG], int((ratios > 1.0).sum())
        longest = f"{long.max():.3f}" if long.size else "-"
        rows.append([kind, str(len(own)), str(ratios.size), str(above), f"{ratios.max():.3f}", longest])
    measured = f"{violations} violations on {ratio.size} intervals"
    claims = [
        Claim("No regret on an interval above its bound", violations == 0 and guaranteed, measured),
        Claim("Largest measured / bound below 1, intervals", largest < 1.0, f"{largest:.3f}"),
    ]
    summary = [
        f"On {len(tasks)} random problems, regret with switching cost on the worst interval of each dyadic length "
        f"stayed below its bound on {ratio.size - violations} of {ratio.size} intervals.",
        f"The nearest that a run came to its bound is {largest:.3f} of it, and {beyond:.3f} on intervals of {LONG} "
        "rounds and more; on short intervals the bound is the most that rounds can cost.",
    ]
    header = ["stream", "problems", "intervals", "violated", "largest ratio", f"from {LONG} rounds"]
    return Finding(INTERVALS.title, summary, [Table("Regret / bound", header, rows)], claims, [], columns=1)


INTERVALS = Study(
    "intervals",
    "Regret on every interval: the worst of each length on random problems (lambda / G 0.01 to 100)",
    lambda size: [(seed,) for seed in range(20 if size.quick else 300)],
    certify_intervals,
    _conclude_intervals,
)


def _contestants(price: float, rounds: int) -> dict[str, Learner]:
    ball = Ball(DIM)
    usual: dict[str, Any] = {"gradient_bound": GRADIENT, "horizon": rounds}
    return {
        "Strongly adaptive": StronglyAdaptive(ball, switching_cost=price, **usual),
        "Strongly adaptive, no horizon": StronglyAdaptive(ball, switching_cost=price, gradient_bound=GRADIENT),
        "Scream": Scream(ball, switching_cost=price, **usual),
        "SelfTunedScream": SelfTunedScream(ball, switching_cost=price),
    }


def play_changes(stream: str, price: float, rounds: int, seed: int) -> dict[str, float]:
    """Return what everybody costs on a stream with five changes, above the best decision of each segment.

    With it, the regret of Strongly adaptive and of Scream on the worst interval of each length, and the bound.
    """
    losses = STREAMS[stream](np.random.default_rng(seed), rounds, SEGMENTS, DIM)
    starts = [-(-rounds * part // SEGMENTS) for part in range(SEGMENTS)]
    ball = Ball(DIM)
    least = float(losses.unary_losses(regret.best_piecewise(losses, ball, starts)).sum())
    result: dict[str, float] = {}
    for name, learner in _contestants(price, rounds).items():
        trace = play(learner, losses, price)
        result[name] = trace.total - least
        if name in ("Strongly adaptive", "Scream"):
            worst = worst_intervals("changes", losses, ball, trace.decisions, trace.move_costs)
            for length, measured in zip(worst.lengths.tolist(), worst.regrets.tolist(), strict=True):
                result[f"{name}: {length}"] = measured
        if name == "Strongly adaptive":
            found = regret.interval_certificate(trace)
            result["ratio"] = found.ratio
            for start, stop, bound in zip(found.starts, found.stops, found.bounds, strict=True):
                result.setdefault(f"bound: {stop - start}", float(bound))
    return result


def _change_tasks(size: Size) -> list[Arguments]:
    rounds, seeds = (3_000, 1) if size.quick else (30_000, 5)
    prices = (0.2, 2.0, 20.0)
    return [(stream, price, rounds, seed) for stream in STREAMS for price in prices for seed in range(seeds)]


def _conclude_changes(tasks: list[Arguments], results: list[dict[str, float]]) -> Finding:
    cells = means([task[:2] for task in tasks], results)
    names = list(_contestants(1.0, 1))
    rows = [
        [stream, f"{price:g}", *(f"{cell[name]:.1f}" for name in names), f"{cell['ratio']:.3f}"]
        for (stream, price), cell in cells.items()
    ]
    changing = [cell for (stream, _), cell in cells.items() if stream != "random signs"]
    ahead = sum(cell["Strongly adaptive"] < cell["Scream"] for cell in changing)
    behind = sum(cell["Strongly adaptive"] > cell["SelfTunedScream"] for cell in changing)
    largest, violations = max(r["ratio"] for r in results), sum(r["ratio"] > 1.0 for r in results)
    claims = [
        Claim(
            "On the worst interval of each dyadic length, regret is below its bound",
            violations == 0,
            f"{violations} of {len(results)} runs above, largest ratio {largest:.3f}",
        ),
    ]
    summary = [
        f"Five changes in {tasks[0][2]} rounds. Of {len(changing)} streams and prices with something to follow, "
        f"Strongly adaptive costs less than Scream, beyond the best decision of each segment, in {ahead}, and more "
        f"than SelfTunedScream, which knows no gradient bound, in {behind}.",
        f"Its regret on the worst interval of each dyadic length came to at most {largest:.3f} of the bound.",
    ]
    title = "Cost beyond the best decision of each segment, moves included; largest regret / bound on an interval"
    table = Table(title, ["stream", "lambda", *names, "ratio"], rows)
    panels = [_panel(stream, cells[stream, 2.0]) for stream in STREAMS if (stream, 2.0) in cells]
    return Finding(CHANGES.title, summary, [table], claims, panels)


def _panel(stream: str, cell: dict[str, float]) -> Panel:
    """Draw the regret on the worst interval of each length where it is above 0, and the bound."""
    lengths = sorted(int(name.removeprefix("Scream: ")) for name in cell if name.startswith("Scream: "))
    series = []
    for name in ("Strongly adaptive", "Scream"):
        above = [length for length in lengths if cell[f"{name}: {length}"] > 0.0]
        series.append(
            Series(name, [float(length) for length in above], [cell[f"{name}: {length}"] for length in above])
        )
    bounds = [cell[f"bound: {length}"] for length in lengths]
    series.append(Series("Bound", [float(length) for length in lengths], bounds, style="dashed"))
    return Panel(f"{stream}, lambda = 2", "length of the worst interval", "regret", series, log=True)


CHANGES = Study(
    "changes",
    "Five changes: strongly adaptive beside Scream (lambda 0.2 to 20)",
    _change_tasks,
    play_changes,
    _conclude_changes,
)
