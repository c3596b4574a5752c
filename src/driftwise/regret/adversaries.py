"""Streams that are hard for every learner: the instances behind the lower bounds, ready to be played.

All of them are random, and what is claimed holds in expectation, for every causal player: one that decides before it
sees the loss of the round. With a single seed a player may be lucky.
"""

import math

import numpy as np

from driftwise._validate import Array, checked, number, read_only, seeded, whole
from driftwise.domains import Ball, Domain, Simplex
from driftwise.errors import ParameterError
from driftwise.losses import LinearLoss


class Adversary(LinearLoss):
    """Linear losses that no learner can follow cheaply: a `LinearLoss` with the constants it was made for.

    Parameters
    ----------
    vectors : array of shape (T, d)
        g_t of the losses <g_t, w>.
    domain : Domain
        Domain to play in.
    switching_cost : float
        Price of moving at which the losses are hard; 0 when they are hard at any price.
    comparators : array of shape (T, d)
        Sequence that the lower bound compares with: the best fixed decision, on all rounds or on each segment.
    scale : float
        Lower bound up to a constant that does not depend on rounds, prices or path: in expectation over the coins, the
        regret of a causal player is at least that constant times the scale.
    block : int
        Number of rounds for which a loss is held.

    Examples
    --------
    >>> import driftwise as dw
    >>> losses = dw.regret.adversaries.moving_blocks(rounds=400, switching_cost=4.0, path_length=8.0, seed=0)
    >>> losses.domain, losses.block, losses.switching_cost, len(losses.comparators)
    (Simplex(2, scale=0.707107), 4, 4.0, 400)
    """

    def __init__(
        self, vectors: Array, domain: Domain, switching_cost: float, comparators: Array, scale: float, block: int
    ) -> None:
        super().__init__(vectors)
        self.domain, self.switching_cost, self.scale, self.block = domain, switching_cost, scale, block
        self.comparators = read_only(comparators)


def _coins(rng: np.random.Generator, rounds: int, dim: int, block: int) -> Array:
    """Return signs of shape (rounds, dim), each held for a block of rounds."""
    signs = rng.integers(0, 2, (-(-rounds // block), dim)) * 2.0 - 1.0
    return np.asarray(np.repeat(signs, block, axis=0)[:rounds])


def _best_corner(vectors: Array, scale: float) -> Array:
    """Return the corner of a simplex that is best for all the rounds, once for each of them."""
    corner = np.zeros(vectors.shape[1])
    corner[np.argmin(vectors.sum(axis=0))] = scale
    return np.tile(corner, (len(vectors), 1))


@checked
def random_signs(
    rounds: int,
    dim: int = 1,
    *,
    gradient_bound: float = 1.0,
    radius: float = 1.0,
    seed: int | np.random.Generator = 0,
) -> Adversary:
    """Make linear losses with random signs: c_t in {-G/sqrt(d), +G/sqrt(d)}^d, on a ball.

    Nothing can be learnt, so the expected loss of every causal player is 0, and the best fixed decision is ahead by
    about R G sqrt(T), and by R G sqrt(T / 2) at least.

    Parameters
    ----------
    rounds : int
        T.
    dim : int, default 1
        d.
    gradient_bound : float, default 1.0
        G, the norm of every gradient.
    radius : float, default 1.0
        R, of the ball to play in.
    seed : int or numpy.random.Generator, default 0
        Same seed, same stream.

    Examples
    --------
    >>> import driftwise as dw
    >>> losses = dw.regret.adversaries.random_signs(rounds=10_000, dim=2, seed=0)
    >>> losses.scale, losses.comparators.shape
    (100.0, (10000, 2))
    """
    owner = "random_signs"
    T, d = whole(owner, "rounds", rounds), whole(owner, "dim", dim)
    G, R = _positive(owner, gradient_bound=gradient_bound, radius=radius)
    domain = Ball(d, R)
    vectors = G / math.sqrt(d) * _coins(seeded(owner, seed), T, d, 1)
    total = vectors.sum(axis=0)
    best = domain.project(-total / max(float(np.linalg.norm(total)), 1e-300) * R)
    return Adversary(vectors, domain, 0.0, np.tile(best, (T, 1)), G * R * math.sqrt(T), 1)


@checked
def expert_blocks(
    rounds: int,
    experts: int = 2,
    *,
    loss_bound: float = 1.0,
    switching_cost: float,
    seed: int | np.random.Generator = 0,
) -> Adversary:
    """Make the instance behind Theorem 3: experts whose losses are redrawn more slowly the more moving costs.

    In blocks of B = round(lambda / C) rounds, at least 1, every expert's loss is -C or +C by the toss of a coin (0 or
    2C in the paper, which is the same up to a constant). Shifting weight by Delta after the first round of a block
    gains at most ``(B - 1) C |Delta|_1 <= lambda |Delta|_1`` in the rest of it, so it never pays. With lambda per unit
    of l1 movement, the expected regret of every causal player to the best expert is at least sqrt(lambda C T) / 3.

    Parameters
    ----------
    rounds : int
        T.
    experts : int, default 2
        N.
    loss_bound : float, default 1.0
        C, the size of every loss.
    switching_cost : float
        lambda, above 0 and at most C T: with a larger one there is less than one block, and never moving is optimal.
    seed : int or numpy.random.Generator, default 0
        Same seed, same stream.

    Examples
    --------
    >>> import driftwise as dw
    >>> losses = dw.regret.adversaries.expert_blocks(rounds=1000, experts=4, switching_cost=10.0, seed=0)
    >>> losses.block, losses.scale
    (10, 100.0)
    """
    owner = "expert_blocks"
    T, N = whole(owner, "rounds", rounds), whole(owner, "experts", experts, low=2)
    C, lambda_ = _positive(owner, loss_bound=loss_bound, switching_cost=switching_cost)
    block = _block(owner, lambda_, C, T, "the rounds")
    vectors = C * _coins(seeded(owner, seed), T, N, block)
    scale = math.sqrt(lambda_ * C * T)
    return Adversary(vectors, Simplex(N), lambda_, _best_corner(vectors, 1.0), scale, block)


@checked
def moving_blocks(
    rounds: int,
    path_length: float,
    experts: int = 2,
    *,
    gradient_bound: float = 1.0,
    diameter: float = 1.0,
    switching_cost: float,
    seed: int | np.random.Generator = 0,
) -> Adversary:
    """Make the instance behind Theorem 5: blocks as in `expert_blocks`, for l2 movement, on about tau segments.

    In blocks of B = round(lambda / G) rounds, at least 1, every coordinate's loss is +-G / sqrt(N) by the toss of a
    coin. Blocks start again on each segment. The comparators are the best corner of a simplex on each segment, so they
    move at most tau times by at most D: their path length is at most tau D (the paper writes tau).

    Parameters
    ----------
    rounds : int
        T.
    path_length : float
        tau; above D there are ceil(tau) segments, up to D there is one.
    experts : int, default 2
        N, the number of coordinates.
    gradient_bound : float, default 1.0
        G; losses are +-G / sqrt(N), so that gradients have norm G.
    diameter : float, default 1.0
        D; the domain is a simplex of scale min(1, D / sqrt(2)).
    switching_cost : float
        lambda, above 0, with lambda tau of at most G T, so that every segment holds a block: beyond that, never moving
        would be optimal on most segments, and sqrt(lambda tau T) more than there is to lose.
    seed : int or numpy.random.Generator, default 0
        Same seed, same stream.

    Notes
    -----
    What holds, for every causal player and in expectation over the coins: the losses of a block are known after its
    first round. A move ``Delta`` from there on changes the loss of a round by at most ``G |Delta|_2``, and that of the
    rest of the block by at most ``(B - 1) G |Delta|_2 <= lambda |Delta|_2``, which is its price; and what was paid for
    in one block is worth nothing on average in the next, whose coins are new. So losses and moves together cost at
    least 0, and regret with switching cost, l2, is at least what the comparators gain. By Khintchine's inequality this
    is, for tau > D, at least

        ``min(1, D / sqrt(2)) sqrt(G / N) / 3`` times ``sqrt(lambda tau T)``,

    and the same with 1 in place of tau for tau <= D. Blocks that are longer by sqrt(N), lambda over the size of a
    loss, would be right for l1 movement only: on them, a player that jumps to the best corner after the first round of
    a block gains by every jump, and its regret is negative and linear in T.

    Examples
    --------
    >>> import driftwise as dw
    >>> losses = dw.regret.adversaries.moving_blocks(rounds=1000, path_length=5.0, switching_cost=2.0, seed=0)
    >>> losses.block, losses.scale, dw.regret.path_length(losses.comparators) <= 5.0
    (2, 100.0, True)
    """
    owner = "moving_blocks"
    T, N = whole(owner, "rounds", rounds), whole(owner, "experts", experts, low=2)
    G, D, lambda_ = _positive(owner, gradient_bound=gradient_bound, diameter=diameter, switching_cost=switching_cost)
    tau = number(owner, "path_length", path_length, low=0.0)
    segments = math.ceil(tau) if tau > D else 1
    if segments > T:
        raise ParameterError(
            f"{owner}: path_length must be at most rounds = {T}, as each unit of it is a segment; got {tau:g}."
        )
    most = min(T // segments, T / max(tau, 1.0))
    block = _block(owner, lambda_, G, most, "the rounds for each unit of path_length")
    domain, rng = Simplex(N, min(1.0, D / math.sqrt(2.0))), seeded(owner, seed)
    signs = [_coins(rng, len(part), N, block) for part in np.array_split(np.arange(T), segments)]
    vectors = [G / math.sqrt(N) * part for part in signs]
    comparators = np.vstack([_best_corner(part, domain.scale) for part in vectors])
    return Adversary(np.vstack(vectors), domain, lambda_, comparators, math.sqrt(lambda_ * max(tau, D) * T), block)


def _positive(owner: str, **given: float) -> list[float]:
    """Return finite numbers above 0."""
    return [number(owner, name, value, low=0.0, exclusive=True) for name, value in given.items()]


def _block(owner: str, lambda_: float, size: float, rounds: float, what: str) -> int:
    """Return the block length for moves that gain up to `size` a round and unit, or raise if there is none."""
    if lambda_ > size * rounds:
        raise ParameterError(
            f"{owner}: switching_cost must be at most {size * rounds:g}, which is {size:g} times {rounds:g}, {what}; "
            f"got {lambda_:g}. A block of switching_cost / {size:g} rounds would be longer than that, never moving "
            "would be optimal, and the lower bound does not hold: take more rounds or a lower switching_cost."
        )
    return max(1, round(lambda_ / size))
