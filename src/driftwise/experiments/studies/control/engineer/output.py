"""Control from measured outputs, beside the better of LQG and offset-free LQG.

An input may depend on what was measured before its round: the observers are predictors, and a whole sample is left for
computing. What the same designs cost as filters, which also use the measurement of the round, is shown beside.
"""

import math
from typing import Any

from driftwise._validate import Array
from driftwise.control import LinearSystem, OutputFeedback, QuadraticCost, simulate
from driftwise.errors import InputError
from driftwise.experiments.findings.finding import Claim, Finding, Table
from driftwise.experiments.studies.control.engineer.baselines.gaussian import lqg, offset_free, spread
from driftwise.experiments.studies.control.engineer.baselines.law import Law, total_cost, trajectory
from driftwise.experiments.studies.control.engineer.contest import OURS, ROUNDS, geometric_mean, shown, worst
from driftwise.experiments.studies.control.engineer.disturbances import disturbances, seed_of
from driftwise.experiments.studies.control.engineer.plants import MAKERS, Plant
from driftwise.experiments.studies.study import Arguments, Size, Study

LQG, FREE = OTHERS = ("LQG", "offset-free LQG")
FILTER = ", filter"

SEEN = (
    *("thermal chain", "lateral flight", "wheel pendulum", "two masses"),
    *("flexible motor", "levitation", "crane", "mass chain"),
)
"""Plants that were looked at: on the first four a plain observer, not an offset-free one, was chosen."""
JUDGED = ("balancing robot", "drone", "suspension", "tower")
"""Plants that were run only after that choice; claims are about these."""
LOADS = ("AR(1)", "two sines + bias")
NOISE = 0.02
"""Standard deviation of the noise of every measurement, in the units of the states."""

MEAN, WORST = 1.02, 1.10
"""Claimed cost over the better of the two: geometric mean, and at worst."""


def tasks(size: Size) -> list[Arguments]:
    """Return (plant, kind, rounds, seed)."""
    return [(name, kind, ROUNDS, 0) for name in (JUDGED[:2] if size.quick else SEEN + JUDGED) for kind in LOADS]


def our_cost(plant: Plant, rows: Array, noise: Array) -> float:
    """Return the total cost of the controller that is told what LQG is told, infinite if it diverges.

    Parameters
    ----------
    plant : Plant
        The plant.
    rows : array of shape (T, states)
        Disturbances.
    noise : array of shape (T, measured)
        Noise of the measurements.
    """
    system = LinearSystem(plant.A, plant.B, plant.measured)
    noises = spread(plant), NOISE**2
    controller = OutputFeedback(system, process_noise=noises[0], measurement_noise=noises[1], offset_free=False)
    try:
        return simulate(system, controller, QuadraticCost(1.0, 1.0), rows, noise=noise).total
    except InputError:
        return math.inf


def laws(plant: Plant) -> dict[str, list[Law]]:
    """Return the alternatives, in as many versions as are tried; the best of them in hindsight counts."""
    found = {}
    for current, form in ((False, ""), (True, FILTER)):
        found[LQG + form] = [lqg(plant, NOISE, current=current)]
        found[FREE + form] = [
            offset_free(plant, NOISE, current=current, through_inputs=through) for through in (False, True)
        ]
    return found


def run(plant: str, kind: str, rounds: int, seed: int) -> dict[str, float]:
    """Return the total cost of every controller."""
    known = MAKERS[plant]()
    rows = disturbances(known, plant, kind, "load", rounds, seed)
    noise = NOISE * seed_of(plant, kind, "noise", seed).normal(size=(rounds, len(known.measured)))

    def cost(law: Law) -> float:
        return total_cost(*trajectory(known.A, known.B, law, rows, known.measured, noise), len(known.A))

    return {OURS: our_cost(known, rows, noise)} | {name: min(map(cost, of)) for name, of in laws(known).items()}


def conclude(tasks: list[Arguments], results: list[dict[str, Any]]) -> Finding:
    """Return every controller's cost over the better of the two, and what is claimed of it."""
    best = [min(result[name] for name in OTHERS) for result in results]
    ratios = {name: [r[name] / least for r, least in zip(results, best, strict=True)] for name in results[0]}
    judged = [k for k, task in enumerate(tasks) if task[0] in JUDGED]
    mine = [ratios[OURS][k] for k in judged]
    mean, most, last = geometric_mean(mine), mine[worst(mine)], tasks[judged[worst(mine)]]
    claims = [
        Claim(
            f"In the geometric mean it costs at most {MEAN:.2f} times the better of LQG and offset-free LQG",
            mean <= MEAN,
            f"{mean:.4f} over {len(mine)} settings",
        ),
        Claim(
            f"It never costs over {WORST:.2f} times that",
            most <= WORST,
            f"at worst {shown(most)}: {last[0]}, {last[1]}",
        ),
    ]
    rows = [
        [f"{task[0]} (seen)" if task[0] in SEEN else task[0], task[1], *(shown(ratios[name][k]) for name in ratios)]
        for k, task in enumerate(tasks)
    ]
    means = ["all that are judged", "", *(shown(geometric_mean(ratios[name][k] for k in judged)) for name in ratios)]
    table = Table("Cost over the better of the two", ["plant", "load", *ratios], [*rows, means])
    own = {name: shown(geometric_mean(ratios[name][k] for k in judged)) for name in ratios}
    summary = [
        f"Around an observer it cost {mean:.3f} of the better of LQG and offset-free LQG in the geometric mean of "
        f"{len(mine)} settings that were not looked at before, {shown(most)} at worst.",
        f"LQG by itself cost {own[LQG]} of that, and offset-free LQG {own[FREE]}, which is the better of two models of "
        "what stays: a load, and an input.",
        f"As filters, which use the measurement of the round itself, they cost {own[LQG + FILTER]} and "
        f"{own[FREE + FILTER]}.",
        f"A plain observer was chosen for it, out of four versions, on {', '.join(SEEN[:4])}.",
    ]
    return Finding(STUDY.title, summary, [table], claims)


STUDY = Study("output", "Control from measured outputs", tasks, run, conclude)
