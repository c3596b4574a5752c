"""Rehearsals: what a controller made for an estimate would have cost on other plants that explain the same data.

The estimate is off by an unknown error. Plants are drawn whose distance from it is as large as that error, and those
are taken on which it would matter most. Each explains the data by disturbances of its own. On each of them, under
these disturbances, the controller is run for the rounds that were observed, beside u = -K x.
"""

import math
from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from driftwise._validate import Array, read_only
from driftwise.control.controllers.base import Controller
from driftwise.control.costs import Cost
from driftwise.control.identification.identify import Identified
from driftwise.control.identification.past import Past
from driftwise.control.plants import LinearSystem
from driftwise.control.policies.scales import gain_size
from driftwise.control.stability import spectral_radius
from driftwise.errors import DriftwiseError

DRAWN, PLAYED = 60, 6
"""Plants that are drawn, and how many of them are played: those with the largest error of the loop."""

ROUNDS = 400
"""Rounds of a rehearsal, the newest; the first third, in which a controller learns, does not count."""

KNOWN = 0.25
"""Share of the plants drawn that K must stabilise; the others are ruled out, as K does stabilise the plant."""

LOOP, MOSTLY = 1.0, 0.8
"""Largest gain of the loop through the error of the estimate, for a good gain, on this share of the plants."""

WORST, MEAN = 1.1, 1.02
"""Largest cost, over that of u = -K x, on the worst of the plants that are played, and on average."""

RUNAWAY = 100.0
"""A state that is so many times as large as in the data has run away."""

ANGLES = 33
"""Points of the unit circle, from 1 to -1, at which the error of the loop is looked at."""


Plant = tuple[Array, Array]
"""A and B."""


class Rehearsal(NamedTuple):
    """Costs over those of u = -K x, plant by plant."""

    ratios: Array

    @property
    def passed(self) -> bool:
        """Whether the controller is safe to commit to."""
        return bool(self.ratios.max() <= WORST and self.ratios.mean() <= MEAN)

    def __str__(self) -> str:
        mean, worst = (f"{ratio:.2f}" if math.isfinite(ratio) else "far more" for ratio in (self.mean, self.worst))
        return f"{mean} times what u = -K x does on plants that explain the data as well, {worst} on the worst of them"

    @property
    def mean(self) -> float:
        """The mean over plants."""
        return float(self.ratios.mean())

    @property
    def worst(self) -> float:
        """The largest."""
        return float(self.ratios.max())


def stabilised(found: Identified, K: Array) -> Identified | None:
    """Return the estimate, given that K stabilises the plant; None if the data say that it does not.

    If K does not stabilise the estimate itself, it is the mean of the plants drawn around it that K stabilises.
    """
    if spectral_radius(found.A - found.B @ K) < 1.0:
        return found
    A, B = found.draw(DRAWN, found.rounds)
    stable = np.abs(np.linalg.eigvals(A - B @ K)).max(axis=1) < 1.0
    if stable.mean() < KNOWN:
        return None
    A, B = A[stable].mean(axis=0), B[stable].mean(axis=0)
    return replace(found, A=read_only(A), B=read_only(B)) if spectral_radius(A - B @ K) < 1.0 else None


def plausible_plants(found: Identified, K: Array, states: Array) -> list[Plant]:
    """Return plants near the estimate that are farthest from it in closed loop; none if it is too uncertain.

    What a policy adds to -K x reaches the disturbance that is recovered through the error E(z) = (z - A_K) [G(z) -
    G_s(z)], where G(z) = (z - A_K)^-1 B is the response of the estimate and G_s that of the plant drawn. The larger its
    peak over the unit circle, the harder the plant is to control by what was made for the estimate. Times the size of a
    good gain it must be below LOOP for most plants; states are in units of what they usually are.
    """
    A, B = found.draw(DRAWN, found.rounds)
    units = np.sqrt(np.mean(states**2, axis=0))
    units = np.where(units > 0.0, units, 1.0)
    scaled_A, scaled_B, gain = A * units / units[:, None], B / units[:, None], K * units
    loops = scaled_A - scaled_B @ gain
    stable = np.abs(np.linalg.eigvals(loops)).max(axis=1) < 1.0
    if stable.mean() < KNOWN:
        return []
    mine = LinearSystem(found.A * units / units[:, None], found.B / units[:, None])
    closed = mine.A - mine.B @ gain
    circle = np.exp(1j * np.linspace(0.0, np.pi, ANGLES))[:, None, None] * np.eye(len(closed))
    response = np.linalg.solve(circle[:, None] - loops[stable], scaled_B[stable] + 0j)
    error = (circle - closed)[:, None] @ response - mine.B
    peaks = np.linalg.norm(error, 2, axis=(2, 3)).max(axis=0) * gain_size(mine, gain)
    if np.quantile(peaks, MOSTLY) > LOOP:
        return []
    worst = np.flatnonzero(stable)[np.argsort(peaks)[-PLAYED:]]
    return [(A[i], B[i]) for i in worst]


Control = Callable[[Array, Cost], Array]
"""Returns the input for a state, in a round with this cost."""


def by(controller: Controller) -> Control:
    """Return what a controller does, round by round."""

    def control(x: Array, cost: Cost) -> Array:
        u = controller.act(x)
        controller.observe(cost)
        return u

    return control


def rehearse(make: Callable[[], Controller], plants: list[Plant], K: Array, past: Past) -> Rehearsal:
    """Play the newest rounds again on every plant, by a new controller and by u = -K x."""
    return Rehearsal(np.array([over(by(one := make()), gain_within(K, one), plant, past) for plant in plants]))


def gain_within(K: Array, controller: Controller) -> Control:
    """Return u = -K x, within the limits of a controller."""
    return lambda x, _: np.clip(-K @ x, *controller._bounds)


def over(control: Control, other: Control, plant: Plant, past: Past) -> float:
    """Return the cost of one way to control a plant over that of another, for the newest rounds."""
    recent = past.latest(ROUNDS)
    total, base = played(control, plant, recent), played(other, plant, recent)
    if not math.isfinite(base):
        return 0.0 if math.isfinite(total) else math.inf
    if total <= base:
        return total / base if base > 0.0 else 1.0
    return 1.0 + (total - base) / abs(base) if base != 0.0 else math.inf


def played(control: Control, plant: Plant, past: Past) -> float:
    """Return what the rounds cost on a plant, the first third left out; infinite if the state runs away."""
    A, B = plant
    w = past.disturbances(A, B)
    limit = RUNAWAY * float(np.abs(past.states).max())
    x, total = past.states[0], 0.0
    for t, cost in enumerate(past.costs):
        try:
            u = control(x, cost)
        except DriftwiseError:
            return math.inf
        if 3 * t >= len(w):
            total += cost.value(x, u)
        x = A @ x + B @ u + w[t]
        if not float(np.abs(x).max()) <= limit:
            return math.inf
    return total
