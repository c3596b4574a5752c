"""What a delay costs: the paper's stream, where the feedback of every round comes the same number of rounds late.

Runs go by the two verbs: feedback for round t is given while round t + d is open, so it is learnt before the decision
of round t + d + 1, and that of the last d rounds never comes. Nobody is told the delay: steps, pools and rates are what
they are for feedback on time. For gradient descent whose step is made for the delay, regret is known to grow with the
root of 1 + d at most; here it is measured how it grows where nothing is.
"""

import math
from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from driftwise._validate import Array
from driftwise.domains import Domain
from driftwise.experiments.contests.words import counted, joined
from driftwise.experiments.findings.finding import Claim, Finding, Panel, Series, Table
from driftwise.experiments.studies.figure1 import ALPHAS, GRADIENT_BOUND
from driftwise.experiments.studies.study import Arguments, Size, Study, group
from driftwise.learners import OGD, Scream, SelfTunedLearner, SelfTunedScream
from driftwise.learners.committee import Committee
from driftwise.losses import LossStream
from driftwise.optimum.values import step_lengths
from driftwise.streams import DriftingRegression, drifting_regression

DELAYS = (0, 1, 2, 4, 8, 16, 32, 64)
WINDOW = max(DELAYS)
"""Rounds that feedback may be late, for a learner whose feedback is on time nevertheless."""
SEEDS = range(7000, 7003)
"""Seeds that were not used to choose anything."""
STEPS = (0.03, 0.1, 0.3)
"""Steps of the committee's members."""

GRADIENTS = "SelfTunedLearner, gradients only"
TEAM = "Committee of three OGDs"
FASTER = (("SelfTunedScream", 0.1), (GRADIENTS, 0.1))
"""Learners and prices of which regret was seen to grow faster than the root of 1 + d, on other seeds."""


class Player(Protocol):
    """What a run needs of a learner."""

    def act(self) -> Array:
        """Return the decision."""

    def skip(self) -> None:
        """End the round without feedback."""

    def observe(self, feedback: Any, round: int | None = None) -> None:
        """Take in the feedback of a round."""


class Team:
    """Three OGDs with fixed steps, mixed by a committee; each learns from the loss at what it proposed itself."""

    def __init__(self, domain: Domain, price: float, late: int) -> None:
        self.members = [OGD(domain, step=step, late=late) for step in STEPS]
        self.committee = Committee(len(STEPS), switching_cost=price, late=late)

    def act(self) -> Array:
        """Return the committee's decision about what its members propose."""
        return np.asarray(self.committee.act([member.act() for member in self.members]))

    def skip(self) -> None:
        """End the round of everybody without feedback."""
        for one in (*self.members, self.committee):
            one.skip()

    def observe(self, feedback: Any, round: int | None = None) -> None:
        """Let everybody learn from the loss of a round."""
        for member in self.members:
            member.observe(feedback, round=round)
        self.committee.observe(feedback, round=round)


Maker = Callable[[Domain, float, int, int], Player]

PLAYERS: dict[str, Maker] = {
    "OGD": lambda domain, price, T, late: OGD(domain, gradient_bound=GRADIENT_BOUND, horizon=T, late=late),
    "Scream": lambda domain, price, T, late: Scream(
        domain, switching_cost=price, gradient_bound=GRADIENT_BOUND, horizon=T, rate="theorem", late=late
    ),
    "SelfTunedScream": lambda domain, price, T, late: SelfTunedScream(domain, switching_cost=price, late=late),
    "SelfTunedLearner": lambda domain, price, T, late: SelfTunedLearner(domain, switching_cost=price, late=late),
    GRADIENTS: lambda domain, price, T, late: SelfTunedLearner(domain, switching_cost=price, late=late),
    TEAM: lambda domain, price, T, late: Team(domain, price, late),
}


def decisions(player: Player, losses: LossStream, delay: int, *, gradients: bool = False) -> Array:
    """Return what is decided if the feedback of every round comes exactly `delay` rounds late.

    Feedback is the loss itself, of which most learners read the gradient at what they played in that round; with
    `gradients` it is that gradient.
    """
    path = np.empty((len(losses), losses.dim))
    for t in range(len(losses)):
        path[t] = player.act()
        k = t - delay
        if k >= 0:
            player.observe(losses.gradient(k, path[k]) if gradients else losses[k], round=k)
        if delay:
            player.skip()
    return path


def overall(losses: LossStream, price: float, path: Array) -> float:
    """Return the cost of decisions, moves included."""
    return float(losses.unary_losses(path).sum() + price * step_lengths(path).sum())


def run(learner: str, alpha: float, delay: int, rounds: int, seed: int) -> dict[str, Any]:
    """Return the regret of one learner to what generated the stream, moves included on both sides.

    Without a delay it is played with a window for late feedback and without one; `same` counts the decisions that are
    equal to the bit.
    """
    losses, price = drifting_regression(rounds, seed=seed), alpha * GRADIENT_BOUND
    path, same = _played(learner, losses, price, delay, delay or WINDOW), 0
    if delay == 0:
        same = int((path == _played(learner, losses, price, 0, 0)).all(axis=1).sum())
    return {"regret": overall(losses, price, path) - overall(losses, price, losses.generator), "same": same}


def _played(learner: str, losses: DriftingRegression, price: float, delay: int, late: int) -> Array:
    player = PLAYERS[learner](losses.domain, price, len(losses), late)
    return decisions(player, losses, delay, gradients=learner == GRADIENTS)


def _tasks(size: Size) -> list[Arguments]:
    alphas, rounds, seeds = ((1.0,), 2000, SEEDS[:1]) if size.quick else (ALPHAS, 10_000, SEEDS)
    return [
        (name, alpha, delay, rounds, seed) for name in PLAYERS for alpha in alphas for delay in DELAYS for seed in seeds
    ]


Ratios = dict[tuple[str, float], Array]
"""Regret over that on time of every learner at every alpha: a row for each delay, a column for each seed."""


def _conclude(tasks: list[Arguments], results: list[dict[str, Any]]) -> Finding:
    regrets = {
        key: np.array([[found["regret"] for found in of] for of in by_delay.values()])
        for key, by_delay in _by_delay(tasks, results).items()
    }
    ratios = {key: of / of[0] for key, of in regrets.items()}
    alphas = list(dict.fromkeys(alpha for _, alpha in ratios))
    most = {key: (of[1:] / _roots()[1:, None]).max(axis=0) for key, of in ratios.items()}
    on_time = [(task[3], found["same"]) for task, found in zip(tasks, results, strict=True) if task[2] == 0]
    exact = sum(rounds == same for rounds, same in on_time)
    text = f"With feedback on time, decisions with late={WINDOW} are those with late=0, to the bit"
    claims = [Claim(text, exact == len(on_time), f"in {exact} of {counted(len(on_time), 'run')}")]
    for name in PLAYERS:
        claims += _growth(name, {alpha: most[name, alpha] for alpha in alphas})
    tables = [_table(alpha, regrets, ratios) for alpha in alphas]
    panels = [_panel(alpha, ratios) for alpha in alphas]
    return Finding(STUDY.title, _summary(alphas, regrets, ratios), tables, claims, panels)


def _by_delay(tasks: list[Arguments], results: list[Any]) -> dict[tuple[str, float], dict[int, list[Any]]]:
    """Return the results of every learner and alpha, by delay, those of all seeds in one list."""
    pairs = group([task[:2] for task in tasks], zip(tasks, results, strict=True))
    return {key: group([task[2] for task, _ in of], [found for _, found in of]) for key, of in pairs.items()}


def _roots() -> Array:
    return np.sqrt(1.0 + np.array(DELAYS))


def _growth(name: str, most: dict[float, Array]) -> list[Claim]:
    """Claim of one learner how its regret grows, from the largest ratio of that to the root of 1 + d on every seed."""
    usual = {alpha: each for alpha, each in most.items() if (name, alpha) not in FASTER}
    claims = []
    if usual:
        where = f"alpha {joined([f'{alpha:g}' for alpha in usual])}"
        worst = float(np.max(list(usual.values())))
        text = f"{name}, {where}: regret at most sqrt(1 + d) times that on time, for every delay and seed"
        claims.append(Claim(text, worst <= 1.0, f"at most {worst:.3f} sqrt(1 + d)"))
    for alpha, each in most.items():
        if (name, alpha) in FASTER:
            text = f"{name}, alpha {alpha:g}: regret grows faster than sqrt(1 + d), up to delay {WINDOW}, on every seed"
            claims.append(Claim(text, bool(each.min() > 1.0), f"{each.min():.2f} to {each.max():.2f} sqrt(1 + d)"))
    return claims


def _table(alpha: float, regrets: Ratios, ratios: Ratios) -> Table:
    header = ["learner", *(f"d = {delay}" for delay in DELAYS)]
    rows = []
    for name in PLAYERS:
        cells = zip(_mean(regrets, name, alpha), _mean(ratios, name, alpha), strict=True)
        rows.append([name, *(f"{regret:.0f} ({part:.2f})" for regret, part in cells)])
    root = ["sqrt(1 + d)", *(f"({root:.2f})" for root in _roots())]
    title = f"alpha = {alpha:g}: regret, and as a multiple of that on time, means over seeds; lambda = 2 alpha"
    return Table(title, header, [*rows, root])


def _panel(alpha: float, ratios: Ratios) -> Panel:
    across = [1.0 + delay for delay in DELAYS]
    drawn = [Series(name, across, _mean(ratios, name, alpha).tolist(), style="points") for name in PLAYERS]
    root = Series("sqrt(1 + d)", across, _roots().tolist(), style="dashed")
    return Panel(f"alpha = {alpha:g}", "1 + delay", "regret / regret on time", [*drawn, root], log=True)


def _mean(values: Ratios, name: str, alpha: float) -> Array:
    return np.asarray(values[name, alpha].mean(axis=1))


def _summary(alphas: list[float], regrets: Ratios, ratios: Ratios) -> list[str]:
    sentences = []
    for alpha in alphas:
        last = {name: _mean(ratios, name, alpha)[-1] for name in PLAYERS}
        least, most = (choose(last, key=lambda name: last[name]) for choose in (min, max))
        regret = {name: _mean(regrets, name, alpha)[-1] for name in PLAYERS}
        first = min(regret, key=lambda name: regret[name])
        sentences.append(
            f"At alpha {alpha:g}, feedback {WINDOW} rounds late makes regret {last[least]:.2f} ({least}) to "
            f"{last[most]:.2f} ({most}) times as large, where sqrt(1 + d) is {math.sqrt(1 + WINDOW):.2f}; the smallest "
            f"is then that of {first}, {regret[first]:.0f}."
        )
    return [*sentences, "Nobody was told the delay. None of this is proved for the learners with two layers."]


STUDY = Study("late", "The paper's stream with late feedback", _tasks, run, _conclude)
