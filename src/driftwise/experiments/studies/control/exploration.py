"""Explore, then commit, on plants that are not known: what exploring costs, and whether it pays to commit.

Random controllable plants with 2 to 6 states and 1 or 2 inputs, about half of them unstable by themselves, each with
the gain of LQR to fall back on, under every kind of disturbance. Probes are sized by the controller. A run has diverged
when its largest state is a hundred times that of u = -K x under the same disturbances, or not a number.
"""

import math
from typing import Any

import numpy as np

from driftwise import control
from driftwise.experiments.findings.finding import Claim, Finding, Table
from driftwise.experiments.studies.study import Arguments, Size, Study, group

ROUNDS = 3000
RUNAWAY = 100.0

EXPLORING = 1.5
"""Largest cost of the rounds of exploration, over that of u = -K x."""

WORSE = 1.03
"""Largest cost after the commit, over that of u = -K x, in the mean over runs with disturbances that tell nothing."""

UNPREDICTABLE = ("Gaussian", "uniform", "adversarial")

KINDS: dict[str, control.Disturbance] = {
    "Gaussian": control.GaussianDisturbance(0.3),
    "uniform": control.UniformDisturbance(0.5),
    "constant": control.ConstantDisturbance(0.3),
    "sinusoid": control.SinusoidDisturbance(0.3, period=30.0),
    "switching": control.SinusoidDisturbance(0.3, period=30.0, switch_every=300),
    "random walk": control.RandomWalkDisturbance(0.1, bound=1.0),
    "autoregressive": control.AutoregressiveDisturbance(0.95, scale=0.1),
    "square wave": control.SquareWaveDisturbance(0.3, period=40),
    "adversarial": control.AdversarialDisturbance(0.3),
}


def tasks(size: Size) -> list[Arguments]:
    """Return (system seed, kind of disturbance, rounds): 60 systems with every kind, or 18 with one kind each."""
    names = list(KINDS)
    if size.quick:
        return [(seed, names[seed % len(names)], ROUNDS) for seed in range(18)]
    return [(seed, name, ROUNDS) for seed in range(60) for name in names]


def plant(seed: int) -> control.LinearSystem:
    """Return the random system of a seed."""
    rng = np.random.default_rng([7, seed])
    states, inputs = int(rng.integers(2, 7)), int(rng.integers(1, 3))
    return control.random_system(states, inputs, radius=float(rng.uniform(0.7, 1.3)), seed=seed)


def run(seed: int, kind: str, rounds: int) -> dict[str, Any]:
    """Run one plant with the controller that does not know it, and with the gain it falls back on.

    Returns the round of the commit, if there was one; and, over what it is for u = -K x, the largest state, the costs
    before and after the commit, and the cost of all rounds.
    """
    system = plant(seed)
    K, cost, disturbance = control.lqr(system), control.QuadraticCost(1.0, 1.0), KINDS[kind]
    dx, du = system.state_dim, system.input_dim
    controller = control.ExploreThenCommit(K=K, state_dim=dx, input_dim=du, horizon=rounds, seed=seed)
    linear = control.LinearController(system, K)
    trace = control.simulate(system, controller, cost, disturbance, seed=seed)
    base = control.simulate(system, linear, cost, disturbance, seed=seed, rounds=rounds)
    state, still = (float(np.linalg.norm(each.states, axis=1).max()) for each in (trace, base))
    statuses = [event.status for event in controller.log]
    committed = next((event.round for event in controller.log if event.status == "committed"), None)
    later = slice(committed, None)
    first = slice(rounds if committed is None else committed)
    return {
        "state": state / still,
        "committed": committed,
        "before": float(trace.costs[first].sum() / base.costs[first].sum()),
        "after": math.nan if committed is None else float(trace.costs[later].sum() / base.costs[later].sum()),
        "total": trace.total / base.total,
        "fallbacks": statuses.count("fallback"),
    }


def conclude(tasks: list[Arguments], results: list[dict[str, Any]]) -> Finding:
    """Return a row for every kind of disturbance, and whether nothing ran away."""

    def row(kind: str, outcomes: list[dict[str, Any]]) -> list[str]:
        found = [outcome for outcome in outcomes if outcome["committed"] is not None]
        return [
            kind,
            f"{len(found)} of {len(outcomes)}",
            f"{np.median([outcome['committed'] for outcome in found]):.0f}" if found else "",
            f"{np.median([outcome['before'] for outcome in outcomes]):.2f}",
            f"{np.median([outcome['after'] for outcome in found]):.2f}" if found else "",
            f"{np.median([outcome['total'] for outcome in outcomes]):.2f}",
            f"{max(outcome['state'] for outcome in outcomes):.1f}",
            str(sum(outcome["fallbacks"] for outcome in outcomes)),
        ]

    kinds = group((task[1] for task in tasks), results)
    runaway = sum(not outcome["state"] < RUNAWAY for outcome in results)
    largest = f"the largest state is {max(outcome['state'] for outcome in results):.1f} times that of u = -K x"
    after = [outcome["after"] for outcome in results if outcome["committed"] is not None]
    before = [outcome["before"] for outcome in results]
    summary = [
        f"{len(after)} of {len(results)} runs on unknown plants found a model sure enough to commit to within "
        f"{tasks[0][-1]} rounds.",
        f"{runaway} diverged; {largest}.",
        f"While they explored they cost {np.median(before):.2f} times what u = -K x does (median).",
        *([f"After the commit they cost {np.median(after):.2f} times what u = -K x does (median)."] * bool(after)),
    ]
    table = Table(
        "Costs before and after the commit and in all, largest state: over those of u = -K x",
        ["disturbance", "committed", "round", "before", "after", "in all", "state", "fallbacks"],
        [row(kind, outcomes) for kind, outcomes in kinds.items()],
    )
    return Finding(STUDY.title, summary, [table], _claims(kinds, results))


def _claims(kinds: dict[str, list[dict[str, Any]]], results: list[dict[str, Any]]) -> list[Claim]:
    """Return what is claimed of all runs."""
    runaway = sum(not outcome["state"] < RUNAWAY for outcome in results)
    late = sum(outcome["committed"] is None for outcome in results)
    dear = sum(not outcome["before"] <= EXPLORING for outcome in results)
    means = {
        kind: float(np.mean(found))
        for kind, of in kinds.items()
        if (found := [outcome["after"] for outcome in of if outcome["committed"] is not None])
    }
    told = [kind for kind in means if kind not in UNPREDICTABLE]
    return [
        Claim("No run diverges", runaway == 0, f"{runaway} of {len(results)}"),
        Claim("9 of 10 runs commit", late <= 0.1 * len(results), f"{late} of {len(results)} do not"),
        Claim(
            f"While they explore, 19 of 20 runs cost at most {EXPLORING:g} times what u = -K x does",
            dear <= 0.05 * len(results),
            f"{dear} of {len(results)} cost more, at most {max(outcome['before'] for outcome in results):.2f}",
        ),
        Claim(
            "After the commit they cost less than u = -K x where disturbances tell something, and at most "
            f"{WORSE:g} times as much elsewhere, on average",
            all(mean < 1.0 if kind in told else mean <= WORSE for kind, mean in means.items()),
            ", ".join(f"{mean:.3f} {kind}" for kind, mean in means.items()),
        ),
    ]


STUDY = Study("exploration", "Explore, then commit, on plants that are not known", tasks, run, conclude)
