"""Streams that are hard for every learner: the instances behind the lower bounds, ready to be played."""

import math

import numpy as np

from driftwise._validate import Array, checked, number, read_only, seeded, whole
from driftwise.domains import Ball, Domain, Simplex
from driftwise.errors import ParameterError
from driftwise.losses import LinearLoss


class Adversary(LinearLoss):
    """Linear losses that no learner can follow cheaply.

    A `LinearLoss` that also knows what it was made for.

    Attributes
    ----------
    domain : Domain
        Where to play.
    switching_cost : float
        The price of moving at which it is hard; 0 when it is hard at any.
    comparators : array of shape (T, d)
        The sequence that the lower bound compares with: the best fixed decision, on all rounds or on each segment.
    scale : float
        The lower bound up to a constant that does not depend on rounds, prices or path: regret divided by it stays away
        from 0, whoever plays.
    block : int
        Rounds for which a loss is held.
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

    Nothing can be learnt, so every learner's expected loss is 0, and the best fixed decision is ahead by about R G
    sqrt(T).

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
    G = number(owner, "gradient_bound", gradient_bound, low=0.0, exclusive=True)
    domain = Ball(d, number(owner, "radius", radius, low=0.0, exclusive=True))
    vectors = G / math.sqrt(d) * _coins(seeded(owner, seed), T, d, 1)
    total = vectors.sum(axis=0)
    best = domain.project(-total / max(float(np.linalg.norm(total)), 1e-300) * domain.radius)
    return Adversary(vectors, domain, 0.0, np.tile(best, (T, 1)), G * domain.radius * math.sqrt(T), 1)


@checked
def expert_blocks(
    rounds: int,
    experts: int = 2,
    *,
    loss_bound: float = 1.0,
    switching_cost: float,
    seed: int | np.random.Generator = 0,
) -> Adversary:
    """Make the instance behind Theorem 4: experts whose losses are redrawn just as slowly as moving is dear.

    In blocks of about lambda / C rounds every expert's loss is -C or +C by the toss of a coin (0 or 2C in the paper,
    which is the same up to a constant). Following a good block costs as much as it brings, so with lambda per unit of
    l1 movement no learner keeps the regret to the best expert below a constant times sqrt(lambda C T).

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
    C = number(owner, "loss_bound", loss_bound, low=0.0, exclusive=True)
    lambda_ = number(owner, "switching_cost", switching_cost, low=0.0, exclusive=True)
    block = _block(owner, lambda_, C, T, "rounds")
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
    """Make the instance behind Theorem 6: the one of Theorem 4, begun anew on about tau segments.

    The comparators are the best corner of a simplex on each segment, so they move at most tau times by at most D: their
    path length is at most tau D (the paper writes tau). Regret with switching cost, l2, is at least a constant times
    sqrt(lambda tau T).

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
        lambda, above 0, with lambda tau of at most G T / sqrt(N): each segment must hold a block of lambda sqrt(N) / G
        rounds. Beyond that the instance proves nothing.
    seed : int or numpy.random.Generator, default 0
        Same seed, same stream.

    Examples
    --------
    >>> import driftwise as dw
    >>> losses = dw.regret.adversaries.moving_blocks(rounds=1000, path_length=5.0, switching_cost=2.0, seed=0)
    >>> losses.block, losses.scale, dw.regret.path_length(losses.comparators) <= 5.0
    (3, 100.0, True)
    """
    owner = "moving_blocks"
    T, N = whole(owner, "rounds", rounds), whole(owner, "experts", experts, low=2)
    G = number(owner, "gradient_bound", gradient_bound, low=0.0, exclusive=True)
    D = number(owner, "diameter", diameter, low=0.0, exclusive=True)
    lambda_ = number(owner, "switching_cost", switching_cost, low=0.0, exclusive=True)
    tau = number(owner, "path_length", path_length, low=0.0)
    segments = math.ceil(tau) if tau > D else 1
    if segments > T:
        raise ParameterError(
            f"{owner}: path_length must be at most rounds = {T}, as each unit of it is a segment; got {tau:g}."
        )
    C = G / math.sqrt(N)
    block = _block(owner, lambda_, C, T // segments, f"rounds in each of {segments} segments")
    domain, rng = Simplex(N, min(1.0, D / math.sqrt(2.0))), seeded(owner, seed)
    parts = [C * _coins(rng, len(part), N, block) for part in np.array_split(np.arange(T), segments)]
    comparators = np.vstack([_best_corner(part, domain.scale) for part in parts])
    return Adversary(np.vstack(parts), domain, lambda_, comparators, math.sqrt(lambda_ * max(tau, D) * T), block)


def _block(owner: str, lambda_: float, C: float, rounds: int, what: str) -> int:
    """Return the block length, about lambda / C, or say why there is none."""
    if lambda_ > C * rounds:
        raise ParameterError(
            f"{owner}: switching_cost must be at most {C * rounds:g}, the size {C:g} of a loss times {rounds} {what}, "
            f"got {lambda_:g}: a block of switching_cost / {C:g} rounds would be longer than that, never moving "
            "would be optimal, and the lower bound does not hold."
        )
    return max(1, round(lambda_ / C))
