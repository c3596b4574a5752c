"""How regret grows: with the number of rounds, with the path of the comparators, and with the price of moving."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from driftwise import regret
from driftwise.experiments.findings.finding import Claim, Finding, Panel, Series, Table
from driftwise.experiments.studies.study import Arguments, Size, Study, exponent, means, within
from driftwise.learners import LazyScream, Scream
from driftwise.play import play
from driftwise.regret.adversaries import Adversary


def _scream(losses: Adversary, price: float) -> dict[str, float]:
    """Return Scream's regret with switching cost to the comparators of an adversary, and its bound."""
    learner = Scream(losses.domain, switching_cost=price, gradient_bound=1.0, horizon=len(losses))
    certificate = regret.certificate(play(learner, losses, price), losses.comparators)
    path = regret.path_length(losses.comparators)
    return {"regret": certificate.measured, "bound": certificate.bound, "path": path}


def _against_bound(
    x: Iterable[float], cells: Iterable[dict[str, float]], x_label: str, column: tuple[str, list[str]]
) -> tuple[float, Table, Panel]:
    """Return the exponent of the regret's growth, and regret and bound as a table and drawn, with the line fitted."""
    x, (header, shown) = list(x), column
    regrets, bounds = ([cell[name] for cell in cells] for name in ("regret", "bound"))
    rows = [
        [name, f"{measured:.1f}", f"{bound:.1f}", f"{measured / bound:.3f}"]
        for name, measured, bound in zip(shown, regrets, bounds, strict=True)
    ]
    slope = exponent(x, regrets)
    middle = float(np.exp(np.mean(np.log(regrets)) - slope * np.mean(np.log(x))))
    series = [
        Series("Scream", x, regrets, style="points"),
        Series("Bound", x, bounds, style="dashed"),
        Series(f"{middle:.2g} ({x_label})^{slope:.3f}", x, [middle * each**slope for each in x], style="dashed"),
    ]
    panel = Panel(f"Scream's regret against {x_label}", x_label, "regret with switching cost", series, log=True)
    return slope, Table("Mean over seeds", [header, "regret", "bound", "ratio"], rows), panel


def random_sign_regret(rounds: int, dim: int, price: float, seed: int) -> dict[str, float]:
    """Return Scream's regret with switching cost to the best fixed decision on random-sign losses, and the bound."""
    return _scream(regret.adversaries.random_signs(rounds, dim, seed=seed), price)


def _round_tasks(size: Size) -> list[Arguments]:
    rounds = (1_000, 3_162, 10_000) if size.quick else (1_000, 3_162, 10_000, 31_623, 100_000)
    return [(T, 2, 1.0, seed) for T in rounds for seed in range(10 if size.quick else 40)]


def _conclude_rounds(tasks: list[Arguments], results: list[dict[str, float]]) -> Finding:
    cells = means([task[0] for task in tasks], results)
    slope, table, panel = _against_bound(map(float, cells), cells.values(), "T", ("rounds", [f"{T}" for T in cells]))
    text = "Scream's regret on random signs grows like T^0.515, give or take 0.03"
    claim = Claim(text, within(slope, 0.515, 0.03), f"T^{slope:.3f}")
    summary = [
        f"On losses of random sign, which nobody can predict, Scream's regret grows like T^{slope:.3f}, where its "
        "theorem has sqrt(T).",
        f"It is at least {min(cell['regret'] / cell['bound'] for cell in cells.values()):.0%} of the bound.",
    ]
    return Finding(IN_ROUNDS.title, summary, [table], [claim], [panel], columns=1)


def path_regret(tau: float, price: float, rounds: int, seed: int) -> dict[str, float]:
    """Return Scream's regret with switching cost to comparators that move about tau times, their path and the bound."""
    return _scream(regret.adversaries.moving_blocks(rounds, tau, switching_cost=price, seed=seed), price)


def _path_tasks(size: Size) -> list[Arguments]:
    T, seeds = (4_000, 5) if size.quick else (40_000, 10)
    return [(float(2**k), 1.0, T, seed) for k in range(1, 9) for seed in range(seeds)]


def _conclude_path(tasks: list[Arguments], results: list[dict[str, float]]) -> Finding:
    cells = list(means([task[0] for task in tasks], results).values())
    shown = [f"{cell['path']:.1f}" for cell in cells]
    grown = [1.0 + cell["path"] for cell in cells]
    slope, table, panel = _against_bound(grown, cells, "1 + P_T", ("path length", shown))
    worst = max(result["regret"] / result["bound"] for result in results)
    claims = [
        Claim("Scream's regret grows no faster than (1 + P_T)^0.5", slope <= 0.5, f"(1 + P_T)^{slope:.3f}"),
        Claim("Scream's regret is below its bound on every path", worst <= 1.0, f"largest ratio {worst:.3f}"),
    ]
    summary = [
        f"Against comparators that move, Scream's regret grows like (1 + P_T)^{slope:.3f} in the length P_T of their "
        "path, where its theorem has a root.",
        "Scream was not told how far they would move.",
    ]
    return Finding(IN_PATH.title, summary, [table], claims, [panel], columns=1)


PRICED = ("Scream, theorem", "Scream, appendix", "Lazy Scream")


def priced_regret(price: float, rounds: int, seed: int) -> dict[str, float]:
    """Return the regret with switching cost on random-sign losses of Scream with both rates, and of Lazy Scream."""
    losses = regret.adversaries.random_signs(rounds, 2, seed=seed)
    usual: dict[str, Any] = {"gradient_bound": 1.0, "switching_cost": price, "horizon": rounds}
    learners = (Scream(losses.domain, rate="theorem", **usual), Scream(losses.domain, **usual))
    result: dict[str, float] = {}
    for name, learner in zip(PRICED, (*learners, LazyScream(losses.domain, **usual)), strict=True):
        certificate = regret.certificate(play(learner, losses, price), losses.comparators)
        result |= {name: certificate.measured, f"{name}: bound": certificate.bound}
    return result


def _price_tasks(size: Size) -> list[Arguments]:
    T, seeds = (5_000, 3) if size.quick else (50_000, 10)
    return [(float(4**k), T, seed) for k in range(6) for seed in range(seeds)]


def _conclude_prices(tasks: list[Arguments], results: list[dict[str, float]]) -> Finding:
    cells = means([task[0] for task in tasks], results)
    curves = {name: [cell[name] for cell in cells.values()] for name in results[0]}
    theorem, appendix, lazy = slopes = [exponent(cells, curves[name]) for name in PRICED]
    rows = [
        [name, *(f"{value:.0f}" for value in curves[name]), f"{slope:.3f}"]
        for name, slope in zip(PRICED, slopes, strict=True)
    ]
    text = "With lambda, Lazy Scream grows slower than Scream with the appendix rate"
    text += ", and that slower than with the theorem's"
    measured = f"lambda^{lazy:.3f}, lambda^{appendix:.3f}, lambda^{theorem:.3f}"
    claim = Claim(text, lazy < appendix < theorem, measured)
    summary = [
        f"With the price of moving, Lazy Scream's regret grows like lambda^{lazy:.3f}.",
        f"Scream's grows like lambda^{appendix:.3f} with the rate of the paper's appendix, and like "
        f"lambda^{theorem:.3f} with that of its main text.",
    ]
    header = ["learner", *(f"{price:g}" for price in cells), "exponent"]
    series = [Series(name, list(cells), curves[name], style="points") for name in PRICED]
    series += [Series(f"{name}: bound", list(cells), curves[f"{name}: bound"], style="dashed") for name in PRICED]
    panel = Panel("Regret against lambda", "lambda", "regret with switching cost", series, log=True)
    table = Table("Regret, mean over seeds, at lambda =", header, rows)
    return Finding(IN_PRICE.title, summary, [table], [claim], [panel], columns=1)


IN_ROUNDS = Study("rounds", "Random-sign losses: growth in T", _round_tasks, random_sign_regret, _conclude_rounds)
IN_PATH = Study("path", "Moving comparators: growth in P_T", _path_tasks, path_regret, _conclude_path)
IN_PRICE = Study("price", "Random-sign losses: growth in lambda", _price_tasks, priced_regret, _conclude_prices)
