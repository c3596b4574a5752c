"""Draw the picture of the README: how much capacity to keep for a real series, ours beside the rule of an autoscaler.

    pip install ".[data,plot]"
    python docs/pictures.py

The demand is the number of views of one Wikipedia article a day. A unit of capacity costs 1 a day, a unit that is
missing costs 5, and moving the capacity by one unit costs 5; a unit is the mean demand. Everybody decides on a day
before that day's demand is known. What the picture shows is also printed.
"""

import argparse
from itertools import product
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from matplotlib import pyplot as plt

import driftwise as dw
from driftwise.applications.capacity import ROOM, SHORTAGE, TARGETS, TOLERANCES, WINDOWS
from driftwise.applications.data import Dataset, load
from driftwise.applications.rules import autoscaler, last

Array = npt.NDArray[np.float64]

MOVE_COST = 5.0
DAYS = 160
"""Length of the part that is shown."""

OURS, RULE, BEST = "#1162ea", "#c8690a", "#6f6f7d"
OPTIMUM, LEARNER, SCREAM = "Hindsight optimum", "SelfTunedLearner (ours)", "SelfTunedScream (ours)"
DEFAULT, TUNED = "Autoscaler rule, defaults", "Autoscaler rule, tuned in hindsight"


class Player(NamedTuple):
    """Somebody's decisions, and what they cost in all."""

    name: str
    decisions: Array
    running: float
    moving: float

    @property
    def overall(self) -> float:
        """Running and moving."""
        return self.running + self.moving


def contest(data: Dataset) -> tuple[Array, list[Player]]:
    """Return the demand in units of its mean, and everybody, the cheapest first."""
    demand = data.values[:, 0] / data.values[:, 0].mean()
    losses, domain = dw.CapacityLoss(demand, shortage=SHORTAGE), dw.Box([0.0], [ROOM])

    def judge(name: str, levels: Array) -> Player:
        levels = np.clip(levels, 0.0, ROOM)
        running = float((levels + SHORTAGE * np.maximum(demand - levels, 0.0)).sum())
        return Player(name, levels, running, MOVE_COST * float(np.abs(np.diff(levels)).sum()))

    start = np.clip(demand[:1], 0.0, ROOM)
    learner = dw.SelfTunedLearner(domain, switching_cost=MOVE_COST, start=start)
    scream = dw.SelfTunedScream(domain, switching_cost=MOVE_COST, start=start)
    best = dw.regret.hindsight_optimum(losses, domain, switching_cost=MOVE_COST)
    grid = [
        judge(TUNED, autoscaler(demand, window=window, tolerance=tolerance, target=target))
        for window, tolerance, target in product(WINDOWS, TOLERANCES, TARGETS)
    ]
    players = [
        judge(LEARNER, dw.play(learner, losses).decisions[:, 0]),
        judge(SCREAM, dw.play(scream, losses).decisions[:, 0]),
        judge(DEFAULT, autoscaler(demand)),
        min(grid, key=lambda player: player.overall),
        judge("Last value", last(demand)),
        judge("Best fixed level in hindsight", np.full(len(demand), dw.regret.best_fixed(losses, domain)[0])),
        judge(OPTIMUM, best.decisions[:, 0]),
    ]
    return demand, sorted(players, key=lambda player: player.overall)


def draw(data: Dataset, demand: Array, players: list[Player], file: Path) -> None:
    """Draw decisions over a part of the series, and the costs of all of it."""
    by_name = {player.name: player for player in players}
    first = max(min(len(demand) - DAYS, 1580), 0)
    days = np.arange(first, len(demand))[:DAYS]
    style = {"font.size": 10.0, "axes.spines.top": False, "axes.spines.right": False, "figure.facecolor": "white"}
    with plt.rc_context(style):
        figure = plt.figure(figsize=(8.0, 5.6), layout="constrained", dpi=200)
        upper, lower = figure.subfigures(2, 1, height_ratios=[1.5, 1.0], hspace=0.02)
        above, below = upper.subplots(), lower.subplots()
        above.fill_between(days, demand[days], step="post", color="#dfe2e8", label=f"Demand ({data.columns[0]})")
        for name, colour, width, dashes in (
            (TUNED, RULE, 1.6, "-"),
            (OPTIMUM, BEST, 1.3, "--"),
            (LEARNER, OURS, 2.2, "-"),
        ):
            levels = by_name[name].decisions[days]
            above.step(days, levels, color=colour, linewidth=width, linestyle=dashes, where="post", label=name)
        above.set(xlim=(days[0], days[-1]), ylim=(0.0, 1.1 * demand[days].max()), ylabel="capacity / mean demand")
        title = {"loc": "left", "fontsize": 11.5, "fontweight": "bold"}
        above.set_title(f"Every {data.step}: decide what to keep, then see the demand. Moving costs extra.", **title)
        above.legend(loc="upper left", ncols=2, frameon=False, handlelength=1.6, columnspacing=1.4)
        best = by_name[OPTIMUM].overall
        colours = {LEARNER: OURS, SCREAM: OURS, OPTIMUM: BEST}
        for place, player in enumerate(players):
            colour = colours.get(player.name, RULE)
            below.barh(place, player.running, color=colour, height=0.64)
            below.barh(place, player.moving, left=player.running, color=colour, alpha=0.45, height=0.64)
            text = f"{player.overall:.0f}" + (
                "" if player.name == OPTIMUM else f"  ({player.overall / best - 1.0:+.0%})"
            )
            below.text(player.overall + 0.01 * best, place, text, va="center")
        below.set_yticks(range(len(players)), [player.name for player in players])
        below.tick_params(axis="y", length=0)
        below.invert_yaxis()
        below.set_xlim(0.0, 1.18 * max(player.overall for player in players))
        below.set_title(f"What {len(demand)} {data.step}s cost: running, and moving (pale)", x=0.0, **title)
        below.set_xticks([])
        below.spines["bottom"].set_visible(False)
        figure.savefig(file)
        plt.close(figure)


def main() -> None:
    """Draw, and print what was drawn."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--series", default="pageviews", help="a name of driftwise.applications.data.CATALOGUE")
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "images" / "capacity.png")
    given = parser.parse_args()
    data = load(given.series)
    demand, players = contest(data)
    draw(data, demand, players, given.out)
    print(f"{data.title}, {len(demand)} {data.step}s; {data.source}; {data.licence}")
    for player in players:
        print(f"{player.name:36} {player.running:8.0f} {player.moving:8.0f} {player.overall:8.0f}")
    print(f"Drawn: {given.out}")


if __name__ == "__main__":
    main()
