"""How regret grows on random-sign losses: with the number of rounds, and with the price of moving."""

from typing import Any

import numpy as np

from driftwise import regret
from driftwise.experiments.study import Claim, Finding, Study, Task, exponent, group, within
from driftwise.learners import LazyScream, Scream
from driftwise.play import play


def random_sign_regret(rounds: int, dim: int, price: float, seed: int) -> tuple[float, float]:
    """Return Scream's regret with switching cost to the best fixed decision on random-sign losses, and the bound."""
    losses = regret.adversaries.random_signs(rounds, dim, seed=seed)
    learner = Scream(losses.domain, switching_cost=price, gradient_bound=1.0, horizon=rounds)
    certificate = regret.certificate(play(learner, losses, price), losses.comparators)
    return certificate.measured, certificate.bound


def _round_tasks(quick: bool) -> list[Task]:
    rounds = (1_000, 3_162, 10_000) if quick else (1_000, 3_162, 10_000, 31_623, 100_000)
    return [(T, 2, 1.0, seed) for T in rounds for seed in range(10 if quick else 40)]


def _conclude_rounds(tasks: list[Task], results: list[tuple[float, float]]) -> Finding:
    grouped = group([task[0] for task in tasks], results)
    mean = {T: float(np.mean([measured for measured, _ in values])) for T, values in grouped.items()}
    rows = [
        [f"{T}", f"{mean[T]:.1f}", f"{values[0][1]:.1f}", f"{mean[T] / values[0][1]:.3f}"]
        for T, values in grouped.items()
    ]
    slope = exponent(mean, mean.values())
    claim = Claim(
        "Scream's regret on random signs grows like T^0.515, give or take 0.03",
        within(slope, 0.515, 0.03),
        f"T^{slope:.3f}",
    )
    return Finding(["rounds", "regret", "bound", "ratio"], rows, [claim])


def priced_regret(price: float, rounds: int, seed: int) -> dict[str, float]:
    """Return the regret with switching cost on random-sign losses of Scream with both rates, and of Lazy Scream."""
    losses = regret.adversaries.random_signs(rounds, 2, seed=seed)
    usual: dict[str, Any] = {"gradient_bound": 1.0, "switching_cost": price, "horizon": rounds}
    learners = {
        "Scream, theorem": Scream(losses.domain, rate="theorem", **usual),
        "Scream, appendix": Scream(losses.domain, **usual),
        "Lazy Scream": LazyScream(losses.domain, **usual),
    }
    return {
        name: regret.dynamic_regret(play(learner, losses, price), losses, losses.comparators)
        for name, learner in learners.items()
    }


def _price_tasks(quick: bool) -> list[Task]:
    T, seeds = (5_000, 3) if quick else (50_000, 10)
    return [(float(4**k), T, seed) for k in range(6) for seed in range(seeds)]


def _conclude_prices(tasks: list[Task], results: list[dict[str, float]]) -> Finding:
    grouped = group([task[0] for task in tasks], results)
    names = list(results[0])
    means = {name: [float(np.mean([value[name] for value in values])) for values in grouped.values()] for name in names}
    slopes = {name: exponent(grouped, mean) for name, mean in means.items()}
    rows = [[name, *(f"{value:.0f}" for value in means[name]), f"{slopes[name]:.3f}"] for name in names]
    order = slopes["Lazy Scream"] < slopes["Scream, appendix"] < slopes["Scream, theorem"]
    text = "With lambda, Lazy Scream grows slower than Scream with the appendix rate"
    text += ", and that slower than with the theorem's"
    measured = ", ".join(f"lambda^{slopes[name]:.3f}" for name in reversed(names))
    header = ["regret at lambda =", *(f"{price:g}" for price in grouped), "exponent"]
    return Finding(header, rows, [Claim(text, order, measured)])


IN_ROUNDS = Study("Scream on random-sign losses: growth in T", _round_tasks, random_sign_regret, _conclude_rounds)
IN_PRICE = Study("Random-sign losses: growth in the price of moving", _price_tasks, priced_regret, _conclude_prices)
