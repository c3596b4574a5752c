"""Players that jump on the instance of Theorem 5, where blocks are as long as its proof wants them and where longer.

The losses of a block are known after its first round. A move then gains at most G for each unit of distance in each of
the rounds that are left, and costs lambda: in blocks of lambda / G rounds it does not pay, and nobody expects less
regret than one who stands still. In blocks of lambda sqrt(N) / G rounds it does, and regret becomes negative.
"""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy import stats

from driftwise import regret
from driftwise._validate import Array
from driftwise.experiments.findings.finding import Claim, Finding, Panel, Series, Table
from driftwise.experiments.studies.study import Arguments, Size, Study, exponent, means, within
from driftwise.regret.adversaries import Adversary, moving_blocks

LEAST = 0.15
"""Regret / sqrt(lambda tau T) that every player is to have, in the mean over seeds."""

EXPECTED = "standing still"
GAINED = "gained"

Cells = dict[tuple[int, float, int], dict[str, float]]
"""Mean results by N, tau and T."""


def to_corner(at: Array, vector: Array) -> Array:
    """Return the corner of a simplex with the least loss."""
    corner = np.zeros_like(at)
    corner[np.argmin(vector)] = at.sum()
    return corner


def aside(at: Array, vector: Array) -> Array:
    """Return the nearest point of a simplex among those with the least loss."""
    good = vector == vector.min()
    return np.where(good, at + at[~good].sum() / good.sum(), 0.0)


class Player(NamedTuple):
    """Where a player goes once it knows the losses of a block, and how much the way may cost."""

    aim: Callable[[Array, Array], Array]
    """Its target, from where it is and the losses of the block."""
    most: float
    """Price of the way that it accepts, as a part of what it gains in the rest of the block."""

    def decisions(self, vectors: Array, block: int, price: float, scale: float) -> Array:
        """Return its decisions, one more than there are blocks: the first, and that after the first round of each.

        It begins at the centre and knows how long blocks are. It is causal: what it decides in a block depends on the
        losses of that block and of those before.
        """
        at = np.full(vectors.shape[1], scale / vectors.shape[1])
        held = [at]
        for vector in vectors:
            way = self.aim(at, vector) - at
            distance = math.sqrt(float(way @ way))
            gain, noise = (1 - block) * float(vector @ way), 1e-9 * block * distance
            if gain > noise * float(np.abs(vector).max()) and self.most * gain > price * distance * (1.0 + 1e-9):
                at = at + way
            held.append(at)
        return np.array(held)


JUMPER = "Jumps if it pays"
PLAYERS = {
    JUMPER: Player(to_corner, 1.0),
    "Jumps always": Player(to_corner, math.inf),
    "Steps aside always": Player(aside, math.inf),
}


def costs(losses: Adversary, price: float) -> dict[str, tuple[float, float]]:
    """Return what losses and moves cost every player, and its regret to the comparators.

    Examples
    --------
    >>> from driftwise.regret.adversaries import moving_blocks
    >>> losses = moving_blocks(4_000, 8.0, switching_cost=20.0, seed=1)
    >>> [round(beyond, 1) for _, beyond in costs(losses, 20.0).values()]
    [190.0, 239.5, 239.5]
    """
    vectors, comparators = losses.data.features, losses.comparators
    fresh = np.any(vectors[1:] != vectors[:-1], axis=1) | np.any(comparators[1:] != comparators[:-1], axis=1)
    begun = np.flatnonzero(np.append(True, fresh))
    lengths, each = np.diff([*begun, len(vectors)])[:, None], vectors[begun]
    compared, result = float(np.sum(each * lengths * comparators[begun])), {}
    for name, player in PLAYERS.items():
        held = player.decisions(each, losses.block, price, float(comparators[0].sum()))
        # After a last block of a single round there is no decision left to make.
        loss = float(np.sum(each * (held[:-1] + (lengths - 1) * held[1:])))
        cost = loss + price * regret.path_length(held if lengths[-1] > 1 else held[:-1])
        result[name] = (cost, cost - compared)
    return result


def expected_gain(rounds: int, block: int, experts: int) -> float:
    """Return what the best of some coordinates is expected to gain, if each is -1 or +1 in a block by a coin.

    Its total is ``-B W - r e``, where W is the sum of the signs of the full blocks and e the sign of the r rounds that
    are left. The expected largest of N independent totals is a sum over their values: ``sum_x x (F(x)^N - F(x-)^N)``.

    Examples
    --------
    >>> round(expected_gain(rounds=20_000, block=20, experts=64), 1)
    1481.7
    """
    full, rest = divmod(rounds, block)
    walk = np.arange(full + 1)
    totals = np.concatenate([block * (2.0 * walk - full) - rest, block * (2.0 * walk - full) + rest])
    likely = np.tile(stats.binom.pmf(walk, full, 0.5) / 2.0, 2)
    order = np.argsort(totals, kind="stable")
    below = np.minimum(np.cumsum(likely[order]), 1.0) ** experts
    return float(totals[order] @ np.diff(below, prepend=0.0))


def jumping_regret(experts: int, tau: float, rounds: int, price: float, longer: bool, seed: int) -> dict[str, float]:
    """Return every player's regret / sqrt(lambda tau T) and gain a round, and what one who stands still expects.

    Parameters
    ----------
    experts, tau, rounds, price, seed
        N, tau, T and lambda of `moving_blocks`, and its seed.
    longer : bool
        Whether blocks are longer by sqrt(N), as if moves were priced in l1.
    """
    stretched = price * math.sqrt(experts) if longer else price
    losses = moving_blocks(rounds, tau, experts, switching_cost=stretched, seed=seed)
    unit, result = math.sqrt(price * tau * rounds), dict[str, float]()
    for name, (cost, beyond) in costs(losses, price).items():
        result |= {name: beyond / unit, f"{name}: {GAINED}": -cost / rounds}
    segments = math.ceil(tau) if tau > 1.0 else 1
    parts = [len(part) for part in np.array_split(np.arange(rounds), segments)]
    gain = sum(expected_gain(part, losses.block, experts) for part in parts)
    return {**result, EXPECTED: gain * float(losses.comparators[0].sum()) / math.sqrt(experts) / unit}


def _tasks(size: Size) -> list[Arguments]:
    lengths = (20_000, 80_000) if size.quick else (20_000, 80_000, 320_000)
    seeds = {2: 16, 10: 4, 64: 2} if size.quick else {2: 40, 10: 12, 64: 4}
    cells = [(N, tau, T, longer) for longer in (False, True) for N in seeds for tau in (0.5, 8.0) for T in lengths]
    return [
        (N, tau, T, 20.0, longer, seed)
        for N, tau, T, longer in cells
        if tau == 0.5 or not longer
        for seed in range(seeds[N] * (4 if longer and T < 50_000 else 1))
    ]


def _conclude(tasks: list[Arguments], results: list[dict[str, float]]) -> Finding:
    cells = means([(longer, N, tau, T) for N, tau, T, _, longer, _ in tasks], results)
    right = {key[1:]: cell for key, cell in cells.items() if not key[0]}
    wrong = {key[1:]: cell for key, cell in cells.items() if key[0]}
    sizes = list(dict.fromkeys(N for N, _, _ in right))
    claims = [_stays_up(N, {key: cell for key, cell in right.items() if key[0] == N}) for N in sizes]
    claims += [_gains(N, {T: cell for (n, _, T), cell in wrong.items() if n == N}) for N in sizes]
    parts = {"Blocks of lambda / G": right, "Blocks longer by sqrt(N)": wrong}
    least = min(min(cell[name] for name in PLAYERS) for cell in right.values())
    furthest = max(T for _, _, T in wrong)
    ends = ", ".join(f"{wrong[key][JUMPER]:.1f}" for key in wrong if key[2] == furthest)
    summary = [
        "On the instance of Theorem 5 the losses of a block are known after its first round; its blocks of lambda / G "
        "rounds are just too short for a move to pay.",
        f"So players that jump have no less regret than one who stands still: in the mean over seeds at least "
        f"{least:.3f} sqrt(lambda tau T), at {len({T for _, _, T in right})} lengths and "
        f"N = {', '.join(map(str, sizes))}.",
        "The last column is what one who stands still expects; it is computed, not measured, and on these blocks no "
        "causal player can expect less. It falls with N like sqrt(log(N) / N), as a gradient of norm 1 has N entries "
        "of 1 / sqrt(N).",
        f"If blocks were longer by sqrt(N), the player that jumps if it pays would have {ends} sqrt(lambda tau T) at "
        f"T = {furthest}: a gain that is linear in T.",
    ]
    tables = [_table(title, part) for title, part in parts.items()]
    panels = [_panel(title, part, sizes) for title, part in parts.items()]
    return Finding(STUDY.title, summary, tables, claims, panels, columns=2)


def _stays_up(N: int, cells: Cells) -> Claim:
    """Return the claim that no player has less regret than it should."""
    least, name, tau, T = min((cell[name], name, tau, T) for (_, tau, T), cell in cells.items() for name in PLAYERS)
    text = f"N = {N}: every player's regret / sqrt(lambda tau T) is at least {LEAST} at every length"
    return Claim(text, least >= LEAST, f"least {least:.3f}: {name.lower()}, tau = {tau:g}, T = {T}")


def _gains(N: int, cells: dict[int, dict[str, float]]) -> Claim:
    """Return the claim that all players gain linearly on blocks that are too long."""
    powers = [exponent(cells, [cell[f"{name}: {GAINED}"] * T for T, cell in cells.items()]) for name in PLAYERS]
    most = max(cells[max(cells)][name] for name in PLAYERS)
    text = f"N = {N}, blocks longer by sqrt(N): every player's regret is negative at the longest T, its gain linear"
    linear = all(within(power, 1.0, 0.15) for power in powers)
    return Claim(text, most < 0.0 and linear, f"at most {most:.2f}, {', '.join(f'T^{power:.2f}' for power in powers)}")


def _table(title: str, cells: Cells) -> Table:
    """Return every player's mean regret, beside what one who stands still expects."""
    names = [*PLAYERS, EXPECTED]
    rows = [
        [f"{N}", f"{tau:g}", f"{T}", *(f"{cell[name]:.3f}" for name in names)] for (N, tau, T), cell in cells.items()
    ]
    return Table(f"{title}: regret / sqrt(lambda tau T), mean over seeds", ["N", "tau", "T", *names], rows)


def _panel(title: str, cells: Cells, sizes: list[int]) -> Panel:
    """Return the curves of the player that jumps if it pays, on the shorter path."""
    series = []
    for N in sizes:
        mine = {T: cell[JUMPER] for (n, tau, T), cell in cells.items() if n == N and tau < 1.0}
        series.append(Series(f"N = {N}", list(mine), list(mine.values()), style="points"))
    lengths = series[0].x
    series.append(Series(f"{LEAST}", [lengths[0], lengths[-1]], [LEAST, LEAST], style="dashed"))
    return Panel(title, "T", f"regret / sqrt(lambda tau T): {JUMPER.lower()}", series)


STUDY = Study("jumping", "Players that jump on the instance of Theorem 5", _tasks, jumping_regret, _conclude)
