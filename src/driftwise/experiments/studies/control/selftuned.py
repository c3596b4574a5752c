"""The controller without knobs beside OGD.Control with the step that was best in hindsight.

Random plants with 2 to 4 states and 1 or 2 inputs, some of them unstable by themselves, under every kind of
disturbance and with costs that stay, change slowly or change at once. `SelfTunedController` was developed on plants of
seeds below 100, under disturbances with other parameters; the seeds here begin at 1000.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from driftwise import control
from driftwise._validate import Array
from driftwise.control.policies.scales import gain_size
from driftwise.experiments.findings.finding import Claim, Finding, Panel, Series, Table
from driftwise.experiments.studies.study import Arguments, Size, Study, group

FIRST_SEED = 1000

EXPONENTS = np.arange(-28, 21) / 2.0
"""OGD.Control is run with 49 steps, 2^-14 to 2^10 times D^2 / (mean cost of u = -K x times sqrt(T))."""

OTHERS = ("self-tuned", "Scream", "OGD, not tuned", "LQR", "best fixed policy")
SELF, SCREAM, UNTUNED, LQR, FIXED = OTHERS

NOISE = "Gaussian"

MEAN, WORST, ON_NOISE = 0.0, 0.15, 0.05
"""Claimed excess over tuned OGD.Control on average and at worst, and over LQR on Gaussian noise at worst."""

KINDS: dict[str, Callable[[np.random.Generator], control.Disturbance]] = {
    NOISE: lambda rng: control.GaussianDisturbance(0.3),
    "sinusoid": lambda rng: control.SinusoidDisturbance(0.3, period=10.0 ** rng.uniform(1.0, 2.0)),
    "switching": lambda rng: control.SinusoidDisturbance(0.3, period=30.0, switch_every=int(rng.integers(100, 500))),
    "random walk": lambda rng: control.RandomWalkDisturbance(10.0 ** rng.uniform(-2.0, -1.0), bound=1.0),
    "autoregressive": lambda rng: control.AutoregressiveDisturbance(rng.uniform(0.5, 0.98), scale=0.1),
    "constant": lambda rng: control.ConstantDisturbance(rng.uniform(0.1, 0.5)),
    "square wave": lambda rng: control.SquareWaveDisturbance(0.3, period=int(rng.integers(10, 100))),
}

CHANGES = ("fixed", "gradual", "abrupt")


def tasks(size: Size) -> list[Arguments]:
    """Return (seed, kind, change of costs, rounds): 24 plants with everything, or one plant for every kind."""
    if size.quick:
        return [(FIRST_SEED + k, kind, CHANGES[k % 3], 1000) for k, kind in enumerate(KINDS)]
    seeds = range(FIRST_SEED, FIRST_SEED + 24)
    return [(seed, kind, change, 2000) for seed in seeds for kind in KINDS for change in CHANGES]


def setting(seed: int, kind: str, change: str, rounds: int) -> tuple[control.System, control.CostSequence, Array]:
    """Return plant, costs and disturbances of a task."""
    rng = np.random.default_rng([31, seed])
    dx, du = int(rng.integers(2, 5)), int(rng.integers(1, 3))
    plant = control.random_system(dx, du, radius=float(rng.uniform(0.7, 1.2)), seed=seed)
    rows = KINDS[kind](rng).sample(rounds, dx, rng)
    if change == "gradual":
        costs = control.gradual(rounds, state_dim=dx, input_dim=du)
    elif change == "abrupt":
        costs = control.abrupt(rounds, state_dim=dx, input_dim=du, seed=seed)
    else:
        costs = control.CostSequence.constant(control.QuadraticCost(np.eye(dx), np.eye(du)), rounds)
    return plant, costs, rows


def run(seed: int, kind: str, change: str, rounds: int) -> dict[str, Any]:
    """Return the total costs of all controllers, and the exponent of the step that was best for OGD.Control."""
    plant, costs, rows = setting(seed, kind, change, rounds)

    def total(controller: control.Controller) -> float:
        return control.simulate(plant, controller, costs, rows).total

    tuned = control.SelfTunedController(plant)
    same: dict[str, Any] = {"K": tuned.K, "memory": tuned.memory}
    found = {
        SELF: total(tuned),
        SCREAM: total(control.ScreamController(plant, horizon=rounds, **same)),
        UNTUNED: total(control.GradientController(plant, horizon=rounds, **same)),
        LQR: total(control.LinearController(plant, tuned.K)),
        FIXED: control.best_policy(plant, costs, rows, **same).total,
    }
    # With alpha = 0 a gradient bound G means steps of diameter / (G sqrt(T)).
    unit = tuned.domain.diameter * found[LQR] / rounds / gain_size(plant, tuned.K) ** 2
    totals = [
        total(control.GradientController(plant, horizon=rounds, alpha=0.0, gradient_bound=bound, **same))
        for bound in unit / 2.0**EXPONENTS
    ]
    return {**found, "tuned": min(totals), "exponent": float(EXPONENTS[np.argmin(totals)])}


def conclude(tasks: list[Arguments], results: list[dict[str, Any]]) -> Finding:
    """Return how much every controller cost beside the tuned one, and what is claimed of it."""
    excess = {name: np.array([result[name] / result["tuned"] - 1.0 for result in results]) for name in OTHERS}
    mine = excess[SELF]
    on_noise = np.array([r[SELF] / r[LQR] - 1.0 for task, r in zip(tasks, results, strict=True) if task[1] == NOISE])
    worst = tasks[int(np.argmax(mine))]
    claims = [
        Claim(
            "On average the self-tuned controller costs no more than OGD.Control with its step tuned in hindsight",
            bool(mine.mean() <= MEAN),
            f"{mine.mean():+.2%}; less in {np.sum(mine < 0.0)} of {mine.size} settings",
        ),
        Claim(
            f"It never costs over {WORST:.0%} more than that",
            bool(mine.max() <= WORST),
            f"at worst {mine.max():+.1%}: {worst[1]} disturbance, {worst[2]} costs, seed {worst[0]}",
        ),
        Claim(
            f"On Gaussian noise it never costs over {ON_NOISE:.0%} more than u = -K x",
            bool(on_noise.max() <= ON_NOISE),
            f"{on_noise.mean():+.2%} on average, {on_noise.max():+.2%} at worst",
        ),
        Claim(
            "The best step of OGD.Control is never the longest that was tried",
            all(result["exponent"] < EXPONENTS[-1] for result in results),
            f"exponents up to {max(result['exponent'] for result in results):g} of {EXPONENTS[-1]:g}",
        ),
    ]
    tables = []
    for what, place in (("disturbances", 1), ("costs", 2)):
        places = {**group((task[place] for task in tasks), range(len(tasks))), "all": list(range(len(tasks)))}
        rows = [
            [name, *(f"{excess[other][at].mean():+.1%}" for other in OTHERS), f"{mine[at].max():+.1%}"]
            for name, at in places.items()
        ]
        title = f"{what.capitalize()}: mean cost above that of OGD.Control tuned in hindsight"
        tables.append(Table(title, [what, *OTHERS, "self-tuned, worst"], rows))
    summary = [
        f"Over {len(results)} settings that it was not developed on, the controller without knobs cost "
        f"{mine.mean():+.2%} beside OGD.Control with its step tuned in hindsight, {mine.max():+.1%} at worst.",
        f"Scream with its usual constants cost {excess[SCREAM].mean():+.2%}, {excess[SCREAM].max():+.1%} at worst.",
        f"LQR cost {excess[LQR].mean():+.0%}, {excess[LQR].max():+.0%} at worst.",
        f"On Gaussian noise the controller without knobs was {on_noise.mean():+.2%} beside LQR, {on_noise.max():+.2%} "
        "at worst.",
    ]
    share = np.arange(1, mine.size + 1) / mine.size
    series = [Series(name, list(share), list(100.0 * np.sort(excess[name]))) for name in (SELF, SCREAM, UNTUNED)]
    panel = Panel("Cost above that of tuned OGD.Control", "share of settings", "excess in %", series)
    return Finding(STUDY.title, summary, tables, claims, [panel])


STUDY = Study("selftuned", "No knobs: the self-tuned controller", tasks, run, conclude)
