"""How regret grows: with the number of rounds, with the path of the comparators, and with the price of moving."""

from typing import Any

import numpy as np

from driftwise import regret
from driftwise.experiments.findings.finding import Claim, Finding, Panel, Series, Table
from driftwise.experiments.studies.study import Size, Study, Task, exponent, group, within
from driftwise.learners import LazyScream, Scream
from driftwise.play import play
from driftwise.regret.adversaries import Adversary


def _scream(losses: Adversary, price: float) -> dict[str, float]:
    """Return Scream's regret with switching cost to the comparators of an adversary, and its bound."""
    learner = Scream(losses.domain, switching_cost=price, gradient_bound=1.0, horizon=len(losses))
    certificate = regret.certificate(play(learner, losses, price), losses.comparators)
    path = regret.path_length(losses.comparators)
    return {"regret": certificate.measured, "bound": certificate.bound, "path": path}


def _mean(results: list[dict[str, float]], name: str) -> float:
    return float(np.mean([result[name] for result in results]))


def _against_bound(x: list[float], regrets: list[float], bounds: list[float], x_label: str) -> Panel:
    """Draw regret and bound, with the straight line that was fitted through the logarithms."""
    slope = exponent(x, regrets)
    middle = float(np.exp(np.mean(np.log(regrets)) - slope * np.mean(np.log(x))))
    series = [
        Series("Scream", x, regrets, style="points"),
        Series("Bound", x, bounds, style="dashed"),
        Series(f"{middle:.2g} ({x_label})^{slope:.3f}", x, [middle * each**slope for each in x], style="dashed"),
    ]
    return Panel(f"Scream's regret against {x_label}", x_label, "regret with switching cost", series, log=True)


def random_sign_regret(rounds: int, dim: int, price: float, seed: int) -> dict[str, float]:
    """Return Scream's regret with switching cost to the best fixed decision on random-sign losses, and the bound."""
    return _scream(regret.adversaries.random_signs(rounds, dim, seed=seed), price)


def _round_tasks(size: Size) -> list[Task]:
    rounds = (1_000, 3_162, 10_000) if size.quick else (1_000, 3_162, 10_000, 31_623, 100_000)
    return [(T, 2, 1.0, seed) for T in rounds for seed in range(10 if size.quick else 40)]


def _conclude_rounds(tasks: list[Task], results: list[dict[str, float]]) -> Finding:
    grouped = group([task[0] for task in tasks], results)
    regrets, bounds = ([_mean(values, name) for values in grouped.values()] for name in ("regret", "bound"))
    rows = [
        [f"{T}", f"{measured:.1f}", f"{bound:.1f}", f"{measured / bound:.3f}"]
        for T, measured, bound in zip(grouped, regrets, bounds, strict=True)
    ]
    slope = exponent(grouped, regrets)
    claim = Claim(
        "Scream's regret on random signs grows like T^0.515, give or take 0.03",
        within(slope, 0.515, 0.03),
        f"T^{slope:.3f}",
    )
    least = min(measured / bound for measured, bound in zip(regrets, bounds, strict=True))
    summary = (
        f"On losses of random sign, which nobody can predict, Scream's regret grows like T^{slope:.3f}, where its "
        f"theorem has sqrt(T), and it is at least {least:.0%} of the bound."
    )
    table = Table("Mean over seeds", ["rounds", "regret", "bound", "ratio"], rows)
    panel = _against_bound([float(T) for T in grouped], regrets, bounds, "T")
    return Finding(IN_ROUNDS.title, summary, [table], [claim], [panel], columns=1)


def path_regret(tau: float, price: float, rounds: int, seed: int) -> dict[str, float]:
    """Return Scream's regret with switching cost to comparators that move about tau times, their path and the bound."""
    return _scream(regret.adversaries.moving_blocks(rounds, tau, switching_cost=price, seed=seed), price)


def _path_tasks(size: Size) -> list[Task]:
    T, seeds = (4_000, 5) if size.quick else (40_000, 10)
    return [(float(2**k), 1.0, T, seed) for k in range(1, 9) for seed in range(seeds)]


def _conclude_path(tasks: list[Task], results: list[dict[str, float]]) -> Finding:
    grouped = group([task[0] for task in tasks], results)
    paths, regrets, bounds = (
        [_mean(values, name) for values in grouped.values()] for name in ("path", "regret", "bound")
    )
    rows = [
        [f"{path:.1f}", f"{measured:.1f}", f"{bound:.1f}", f"{measured / bound:.3f}"]
        for path, measured, bound in zip(paths, regrets, bounds, strict=True)
    ]
    grown = [1.0 + path for path in paths]
    slope = exponent(grown, regrets)
    worst = max(result["regret"] / result["bound"] for result in results)
    claims = [
        Claim("Scream's regret grows no faster than (1 + P_T)^0.5", slope <= 0.5, f"(1 + P_T)^{slope:.3f}"),
        Claim("Scream's regret is below its bound on every path", worst <= 1.0, f"largest ratio {worst:.3f}"),
    ]
    summary = (
        f"Against comparators that move, Scream's regret grows like (1 + P_T)^{slope:.3f} in the length P_T of their "
        "path, where its theorem has a root. It was not told how far they would move."
    )
    table = Table("Mean over seeds", ["path length", "regret", "bound", "ratio"], rows)
    panel = _against_bound(grown, regrets, bounds, "1 + P_T")
    return Finding(IN_PATH.title, summary, [table], claims, [panel], columns=1)


def priced_regret(price: float, rounds: int, seed: int) -> dict[str, float]:
    """Return the regret with switching cost on random-sign losses of Scream with both rates, and of Lazy Scream."""
    losses = regret.adversaries.random_signs(rounds, 2, seed=seed)
    usual: dict[str, Any] = {"gradient_bound": 1.0, "switching_cost": price, "horizon": rounds}
    learners = {
        "Scream, theorem": Scream(losses.domain, rate="theorem", **usual),
        "Scream, appendix": Scream(losses.domain, **usual),
        "Lazy Scream": LazyScream(losses.domain, **usual),
    }
    result = {}
    for name, learner in learners.items():
        certificate = regret.certificate(play(learner, losses, price), losses.comparators)
        result[name], result[f"{name}: bound"] = certificate.measured, certificate.bound
    return result


def _price_tasks(size: Size) -> list[Task]:
    T, seeds = (5_000, 3) if size.quick else (50_000, 10)
    return [(float(4**k), T, seed) for k in range(6) for seed in range(seeds)]


def _conclude_prices(tasks: list[Task], results: list[dict[str, float]]) -> Finding:
    grouped = group([task[0] for task in tasks], results)
    means = {name: [_mean(values, name) for values in grouped.values()] for name in results[0]}
    names = [name for name in means if not name.endswith(": bound")]
    slopes = {name: exponent(grouped, means[name]) for name in names}
    rows = [[name, *(f"{value:.0f}" for value in means[name]), f"{slopes[name]:.3f}"] for name in names]
    order = slopes["Lazy Scream"] < slopes["Scream, appendix"] < slopes["Scream, theorem"]
    text = "With lambda, Lazy Scream grows slower than Scream with the appendix rate"
    text += ", and that slower than with the theorem's"
    measured = ", ".join(f"lambda^{slopes[name]:.3f}" for name in reversed(names))
    summary = (
        f"With the price of moving, regret grows like lambda^{slopes['Lazy Scream']:.3f} for Lazy Scream, and for "
        f"Scream like lambda^{slopes['Scream, appendix']:.3f} with the rate of the paper's appendix and "
        f"lambda^{slopes['Scream, theorem']:.3f} with that of its main text."
    )
    table = Table(
        "Regret, mean over seeds, at lambda =", ["learner", *(f"{price:g}" for price in grouped), "exponent"], rows
    )
    prices = list(grouped)
    series = [Series(name, prices, means[name], style="points") for name in names]
    series += [Series(f"{name}: bound", prices, means[f"{name}: bound"], style="dashed") for name in names]
    panel = Panel("Regret against lambda", "lambda", "regret with switching cost", series, log=True)
    return Finding(IN_PRICE.title, summary, [table], [Claim(text, order, measured)], [panel], columns=1)


IN_ROUNDS = Study("rounds", "Random-sign losses: growth in T", _round_tasks, random_sign_regret, _conclude_rounds)
IN_PATH = Study("path", "Moving comparators: growth in P_T", _path_tasks, path_regret, _conclude_path)
IN_PRICE = Study("price", "Random-sign losses: growth in lambda", _price_tasks, priced_regret, _conclude_prices)
