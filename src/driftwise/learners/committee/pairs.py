"""Every member followed by every mover: which movers, and what their pairs have learnt from losses."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from driftwise._validate import Array, array, describe, instance
from driftwise.errors import ParameterError
from driftwise.learners.committee import moving
from driftwise.learners.committee.layout import ROUNDS, Flags, Parts
from driftwise.movecost import MoveCost
from driftwise.movers import Mover, Step
from driftwise.movers import default as default_movers

KERNELS = -1.0
"""Stands for the share of a mover that the kernel knows."""


def read_movers(given: Any) -> tuple[Mover, ...]:
    """Return the movers of a committee: none for False, the usual ones for True."""
    if isinstance(given, bool):
        return tuple(default_movers()) if given else ()
    if not isinstance(given, Sequence) or isinstance(given, str) or not given:
        raise ParameterError(
            "Committee: movers must be True, False, or at least one mover, such as [Follow(), SkiRental()], got "
            f"{describe(given)}."
        )
    return tuple(instance("Committee", "movers", one, Mover, "SkiRental()") for one in given)


class Pairs:
    """The pairs of n members and M movers, those of one member side by side.

    Where they are stands in the committee's vector, in which every pair is a member.

    Parameters
    ----------
    n : int
        Number of members.
    movers : tuple of Mover
        The movers of each.
    """

    def __init__(self, n: int, movers: tuple[Mover, ...]) -> None:
        self.movers = movers
        self.tau = np.array([math.nan if mover.tau is None else mover.tau for mover in movers])
        self.staying = np.zeros(n * len(movers))
        self.known = np.zeros((n, 2))  # what the pairs of each member paid beyond its proposals, and squared distances

    def go(self, vector: Array, shares: Array) -> None:
        """Move the pairs towards the proposals, which stand in the rows of the vector, and leave their points there."""
        moving.move_pairs(vector, self.tau, self.known, self.staying, shares)

    def learn(self, vector: Array, proposals: Array, proposed: Array, paid: Array) -> None:
        """Take in the losses of the proposals, (n,), and of the pairs' points, (n M,)."""
        moving.learn_pairs(vector, proposals, proposed, self.known, self.staying, paid)

    def shares(self, cost: MoveCost, vector: Array, parts: Parts, awake: Flags, proposals: Array) -> Array:
        """Return what part of their way the pairs go whose mover is written in Python; `KERNELS` for all others."""
        count, rounds = len(self.movers), int(vector[ROUNDS])
        shares = np.full(self.staying.size, KERNELS)
        for m, mover in enumerate(self.movers):
            for i in np.flatnonzero(awake) if mover.tau is None else ():
                j = int(i) * count + m
                here, there = parts["kept"][j], proposals[i]
                if parts["seen"][j] > 0.0 and np.any(here != there):
                    price, way = float(cost.along(np.stack([here, there]))[1]), there - here
                    gain = self._bend(int(i)) * float(way @ way)
                    shares[j] = _share(mover, Step(way, price, gain, float(self.staying[j]), rounds, rounds + 2.0))
                else:
                    shares[j] = 1.0
        return shares

    def _bend(self, i: int) -> float:
        """Return the curvature along the ways to a member's proposals, for a way of length 1."""
        beyond, squares = self.known[i].tolist()
        return float(2.0 * beyond / squares) if beyond > 0.0 and squares > 0.0 else 0.0


def _share(mover: Mover, step: Step) -> float:
    """Return what a mover that is written in Python says, if that is a part of the way."""
    owner = f"{type(mover).__name__}.share"
    share = float(array(owner, "what it returns", mover.share(step), ()))
    if not 0.0 <= share <= 1.0:
        raise ParameterError(f"{owner}: it must return a number from 0 to 1, got {share:g}.")
    return share
