"""Series that are made up, seeded: the same numbers everywhere, so that every application runs without any extra."""

import numpy as np

from driftwise._validate import Array


def traffic(rounds: int, seed: int) -> Array:
    """Return hourly demand: a daily and a weekly wave, a level that shifts now and then, noise, rare peaks."""
    rng, hours = np.random.default_rng(seed), np.arange(rounds)
    day = 1.0 + 0.55 * np.sin(2.0 * np.pi * (hours % 24 - 8.0) / 24.0)
    week = np.where(hours // 24 % 7 < 5, 1.0, 0.75)
    level = np.exp(np.cumsum(np.where(rng.uniform(size=rounds) < 1.0 / 500.0, rng.normal(0.0, 0.25, rounds), 0.0)))
    noise = np.exp(rng.normal(0.0, 0.08, rounds))
    peaks = np.where(rng.uniform(size=rounds) < 1.0 / 300.0, 1.0 + rng.exponential(0.8, rounds), 1.0)
    return np.asarray(1000.0 * day * week * level * noise * peaks)[:, None]


def polls(rounds: int, seed: int) -> Array:
    """Return a share that wanders, and six forecasts of it with noise and a bias that drifts, each its own."""
    rng = np.random.default_rng(seed)
    share = 42.0 + np.cumsum(rng.normal(0.0, 0.12, rounds))
    bias = rng.normal(0.0, 1.5, 6) + np.cumsum(rng.normal(0.0, 0.08, (rounds, 6)), axis=0)
    noise = rng.normal(0.0, 1.0, (rounds, 6)) * np.array([0.4, 0.6, 0.8, 1.0, 1.3, 1.6])
    return np.asarray(np.column_stack([share, share[:, None] + bias + noise]))


def prices(rounds: int, seed: int) -> Array:
    """Return hourly prices: a daily wave around a level that wanders back to its middle, and spikes."""
    rng, hours = np.random.default_rng(seed), np.arange(rounds)
    level, away = np.empty(rounds), 0.0
    for t, push in enumerate(rng.normal(0.0, 0.045, rounds)):
        away += push - 0.004 * away
        level[t] = away
    day = 0.3 * np.sin(2.0 * np.pi * (hours % 24 - 9.0) / 24.0) + 0.15 * np.sin(4.0 * np.pi * (hours % 24 - 5.0) / 24.0)
    spikes = np.where(rng.uniform(size=rounds) < 1.0 / 250.0, rng.exponential(1.0, rounds), 0.0)
    return np.asarray(60.0 * np.exp(level + day + spikes + rng.normal(0.0, 0.08, rounds)))[:, None]


def stocks(rounds: int, seed: int, dim: int = 10) -> Array:
    """Return daily prices that begin at 1: a market whose volatility wanders, drifts that change, and noise."""
    rng = np.random.default_rng(seed)
    drift, beta, noise = rng.normal(4e-4, 3e-4, dim), rng.uniform(0.5, 1.5, dim), rng.uniform(0.008, 0.02, dim)
    drift = drift + np.repeat(rng.normal(0.0, 4e-4, (-(-rounds // 500), dim)), 500, axis=0)[:rounds]
    market = rng.normal(0.0, 0.009, rounds) * np.exp(0.3 * np.cumsum(rng.normal(0.0, 0.02, rounds)))
    growth = drift + market[:, None] * beta + rng.normal(size=(rounds, dim)) * noise
    growth[0] = 0.0
    return np.asarray(np.exp(np.cumsum(growth, axis=0)))
