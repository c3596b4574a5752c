"""The total cost of a run as a function of the policies that are played in it."""

import math
from typing import NamedTuple

import numpy as np

from driftwise._validate import Array, Indices
from driftwise.control.costs.run import Run
from driftwise.control.hindsight.rollout import Problem
from driftwise.domains import Domain

NEAR = 1e-4
"""Gap, relative to the total, above which a result is said to be in doubt."""


class Totals(NamedTuple):
    """The total cost of policies around one gain, each played in a segment of the rounds.

    Policies are a flat vector here, of length S H du dx.
    """

    problem: Problem
    gains: Array
    """(1, du, dx): the gain K."""
    starts: Indices
    """(S,): first round of every segment."""
    played: Indices
    """(T,): the segment of every round."""
    shape: tuple[int, int, int, int]
    """S, H, du, dx."""

    @property
    def dim(self) -> int:
        """Number of unknowns."""
        return math.prod(self.shape)

    def roll(self, policies: Array) -> Run:
        """Play the policies."""
        return self.problem.roll(self.gains, self.problem.extra_inputs(policies.reshape(self.shape), self.played))

    def at(self, policies: Array) -> tuple[float, Array]:
        """Return the total cost and its gradient."""
        return self.seen(self.roll(policies))

    def seen(self, rollout: Run) -> tuple[float, Array]:
        """Return the total cost of a rollout and its gradient in the policies."""
        pulls = self.problem.pull(self.gains, rollout)
        return rollout.total, self.problem.policy_slopes(pulls, self.played, self.shape).ravel()


class Region(NamedTuple):
    """The policies among which one is the best: a domain for the policy of each segment, or those up to a norm."""

    domain: Domain | None
    segments: int
    size: float
    """Unit of policies: the size of a good gain."""

    def contains(self, policies: Array) -> bool:
        """Tell whether all policies are in the domain."""
        return self.domain is None or self.domain.contains(policies.reshape(self.segments, -1), tol=1e-12)

    def project(self, policies: Array) -> Array:
        """Return the nearest policies of the domain."""
        assert self.domain is not None
        return self.domain.project(policies.reshape(self.segments, -1)).ravel()

    def reach(self, policies: Array) -> float:
        """Return the norm up to which policies are compared with these if there is no domain."""
        return 10.0 * (float(np.linalg.norm(policies)) + self.size)

    def gap(self, policies: Array, slope: Array) -> float:
        """Return ``max <slope, M - V>`` over V in the region: by convexity, how much cheaper V can be than M."""
        inside = float(slope @ policies)
        if self.domain is None:
            return max(0.0, inside + self.reach(policies) * float(np.linalg.norm(slope)))
        return max(0.0, inside + float(self.domain.support(-slope.reshape(self.segments, -1)).sum()))

    def supports(self, rows: Array, reach: float) -> Array:
        """Return the largest inner product of each row with a policy, of a norm up to `reach` if there is no domain."""
        if self.domain is None:
            return np.asarray(reach * np.linalg.norm(rows, axis=1))
        return self.domain.support(rows)

    def farthest(self, reach: float) -> float:
        """Return the largest norm of a policy, which is `reach` if there is no domain."""
        return reach if self.domain is None else float(self.domain.farthest(np.zeros(self.domain.dim)))

    def words(self, policies: Array) -> str:
        """Say which policies a gap is about."""
        return "in the domain" if self.domain is not None else f"of norm up to {self.reach(policies):.3g}"


def verdict(how: str, they: str, others: str, total: float, gap: float) -> str:
    """Say how something was found, and what its gap tells: that no others are much cheaper, or that some may be."""
    no = "No" if gap <= NEAR * abs(total) else f"{they} not certain to be the best: no"
    return f"{how} {no} {others} cheaper by more than {gap:.3g}."


class Found(NamedTuple):
    """Policies, flat, and what is certain about them."""

    policies: Array
    gap: float
    words: str

    @classmethod
    def told(cls, how: str, region: Region, policies: Array, total: float, gap: float) -> "Found":
        """Put the gap in words."""
        return cls(policies, gap, verdict(how, "It is", f"policy {region.words(policies)} is", total, gap))
