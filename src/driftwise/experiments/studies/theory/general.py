"""Theorems in general norms and for general memory on a random problem: prices, geometries, losses of one's own."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from driftwise import mirror, regret
from driftwise._validate import Array
from driftwise.domains import Box, Domain, Simplex
from driftwise.learners import OGD, Hedge, LazyScream, Learner, MirrorDescent, Scream
from driftwise.losses import CustomLoss, LossStream
from driftwise.movecost import MoveCost
from driftwise.play import play

Row = tuple[str, str, float, bool]
"""Learner, comparators, ratio, and whether all assumptions hold."""

OWN_ROUNDS = 300
"""Most rounds of losses that are Python functions, which take longer than the others."""


def random_prices(rng: np.random.Generator, dim: int, price: float) -> MoveCost:
    """Return prices of up to some ten times `price`, for each coordinate or one for all, even or not, l1 or l2."""
    count = dim if rng.random() < 0.5 else 1
    up, down = price * 10.0 ** rng.uniform(-1.0, 1.0, (2, count))
    even, norm = rng.random() < 0.3, "l1" if rng.random() < 0.7 else "l2"
    return MoveCost(np.resize(up, dim), np.resize(up if even else down, dim), norm=norm)


def own_losses(rng: np.random.Generator, domain: Domain, walk: Array) -> CustomLoss:
    """Return |score of a random filter of the last decisions - target|, as Python functions with constants."""
    T, memory = min(len(walk), OWN_ROUNDS), int(rng.integers(1, 5))
    taps = rng.choice([-1.0, 1.0], memory + 1) * rng.random(memory + 1)
    x = rng.normal(size=(T, domain.dim))
    y = taps.sum() * np.einsum("td,td->t", x, walk[:T]) + 0.1 * domain.diameter * rng.normal(size=T)
    steepest = float(np.linalg.norm(x, axis=1).max())

    def value(t: int, window: Array) -> float:
        return float(abs(taps @ (window[::-1] @ x[t]) - y[t]))

    def gradient(t: int, w: Array) -> Array:
        return np.asarray(np.sign(taps.sum() * (x[t] @ w) - y[t]) * taps.sum() * x[t])

    return CustomLoss(
        value,
        gradient,
        T,
        domain.dim,
        memory,
        "never",
        lipschitz=steepest * np.abs(taps),
        gradient_bound=max(steepest * abs(float(taps.sum())), 1e-9),
    )


def _geometries(rng: np.random.Generator, domain: Domain, lambda_: float, G: float, T: int) -> dict[str, Learner]:
    """Return mirror descents whose theorems cover comparators that move."""
    usual: dict[str, Any] = {"gradient_bound": G, "horizon": T, "switching_cost": lambda_}
    result: dict[str, Learner] = {}
    if isinstance(domain, Box | Simplex):
        p_norm = mirror.PNorm(float(rng.choice([1.1, 1.5, 1.9])))
        result["Mirror descent, p-norm"] = MirrorDescent(domain, mirror=p_norm, **usual)
    if isinstance(domain, Simplex):
        shared, start = mirror.NegativeEntropy(1.0 / T), np.full(domain.dim, domain.scale / domain.dim)
        result["Mirror descent, shared entropy"] = MirrorDescent(domain, mirror=shared, start=start, **usual)
        if domain.scale == 1.0:
            prior = rng.uniform(0.1, 1.0, domain.dim)
            share = float(10.0 ** rng.uniform(-4.0, -1.0))
            result["Hedge, shared"] = Hedge(
                domain.dim, loss_bound=G, horizon=T, switching_cost=lambda_, prior=prior, share=share
            )
    return result


def _screams(domain: Domain, cost: float | MoveCost, G: float, T: int) -> Iterator[tuple[str, Learner]]:
    """Return Scream and Lazy Scream for a price."""
    for name, kind in (("Scream", Scream), ("Lazy Scream", LazyScream)):
        yield name, kind(domain, switching_cost=cost, gradient_bound=G, horizon=T)


def certify_general(
    rng: np.random.Generator, losses: LossStream, domain: Domain, comparators: dict[str, Array], price: float
) -> list[Row]:
    """Play learners in general norms on a problem, and others on losses with memory that are functions of one's own."""
    rows: list[Row] = []

    def certify(name: str, learner: Learner, stream: LossStream, cost: float | MoveCost) -> None:
        trace = play(learner, stream, cost)
        for kind, v in comparators.items():
            found = regret.certificate(trace, domain.project(v[: len(stream)]))
            rows.append((name, kind, found.ratio, found.guaranteed))

    of_memory, G, T = losses.switching_costs(domain).tight, max(losses.gradient_bound(domain), 1e-9), len(losses)
    for name, learner in _geometries(rng, domain, price + of_memory, G, T).items():
        certify(name, learner, losses, price)
    prices = random_prices(rng, losses.dim, price)
    if losses.memory:  # which is a price of distance too, and no higher in l1
        prices = MoveCost(prices.up, prices.down)
    up, down = prices.prices(losses.dim) + of_memory
    for name, learner in _screams(domain, MoveCost(up, down, norm=prices.norm), G, T):
        certify(f"{name}, prices", learner, losses, prices)
    own = own_losses(rng, domain, comparators["the drift"])
    needed, G, T = own.switching_costs(domain).tight, own.gradient_bound(domain), len(own)
    certify("OGD, own losses", OGD(domain, gradient_bound=G, horizon=T, switching_cost=needed), own, 0.0)
    for name, learner in _screams(domain, needed, G, T):
        certify(f"{name}, own losses", learner, own, 0.0)
    return rows
