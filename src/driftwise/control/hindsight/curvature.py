"""The second derivatives of a quadratic total cost in the policies of a run, segment by segment, and Newton's step.

Within a segment of rounds, states and inputs are linear in z = (xi, M): the state in which the segment begins and the
policy that is played in it. So is the state in which the next one begins. With the sums G = sum_t (dx_t/dz)' Q_t
(dx_t/dz) + (du_t/dz)' R_t (du_t/dz) of each segment the best policies of all of them follow by dynamic programming,
from the last segment to the first; memory grows with the number of segments, and not with that of rounds.
"""

import functools

import numpy as np

from driftwise._compile import entry
from driftwise._memory import part
from driftwise._validate import Array, Indices
from driftwise.control.costs.kernels import QUADRATIC, CostData
from driftwise.control.hindsight.rollout import Problem
from driftwise.control.policies.engine import add_scaled, clear

BLOCK = 4_000_000
"""Entries, about, of the derivatives of the rounds that are processed together."""

FLAT = 1e-13
"""Curvature, relative to the largest, below which a direction is taken to be flat."""


def roots(problem: Problem) -> CostData:
    """Return quadratic costs with square roots in place of their weights: matrices L with L'L = Q_t, and factors too.

    Costs that are not data have the identity.
    """
    _, dx, du = problem.size
    data = problem.costs.data
    if data is None:
        return CostData(QUADRATIC, np.eye(dx)[None], np.eye(du)[None], np.zeros(1, np.int64), np.ones((1, 2)), 1.0)
    parts = []
    for weight, side in ((data.state, dx), (data.input, du)):
        values, vectors = np.linalg.eigh(weight if weight.shape[2] == side else weight * np.eye(side))
        parts.append(np.sqrt(np.maximum(values, 0.0))[:, :, None] * vectors.transpose(0, 2, 1))
    return data._replace(state=parts[0], input=parts[1], scales=np.sqrt(data.scales))


def diagonal_roots(of_states: Array, of_inputs: Array) -> CostData:
    """Return the roots of weights, shape (T, dx) and (T, du), of the squares of single states and inputs."""
    parts = [np.sqrt(weight)[:, :, None] * np.eye(weight.shape[1]) for weight in (of_states, of_inputs)]
    return CostData(QUADRATIC, parts[0], parts[1], np.arange(len(of_states)), np.ones((1, 2)), 1.0)


@entry
def _derivatives(
    A: Array, B: Array, K: Array, disturbances: Array, first: int, H: int, of_states: Array, of_inputs: Array
) -> None:
    """Write the derivatives of states and inputs in (xi, M) for some rounds from `first` on.

    `of_states`, (rounds + 1, dx, dx + H du dx), begins with the one of the first state, which is given.
    """
    dx, du = B.shape
    size = of_states.shape[2]
    for t in range(first, first + of_inputs.shape[0]):
        now, answer = part(of_states, (t - first) * dx * size), part(of_inputs, (t - first) * du * size)
        following = part(now, dx * size)
        clear(answer, du * size)
        clear(following, dx * size)
        for a in range(du):
            out = part(answer, a * size)
            for i in range(dx):
                add_scaled(out, -K[a, i], part(now, i * size), size)
            for k in range(min(H, t)):
                add_scaled(part(out, dx + (k * du + a) * dx), 1.0, part(disturbances, (t - 1 - k) * dx), dx)
        for i in range(dx):
            out = part(following, i * size)
            for k in range(dx):
                add_scaled(out, A[i, k], part(now, k * size), size)
            for a in range(du):
                add_scaled(out, B[i, a], part(answer, a * size), size)


class Curvature:
    """The second derivatives of a total of quadratic costs in the policies of all segments.

    Parameters
    ----------
    problem : Problem
        Plant and disturbances.
    weights : CostData
        Roots of the weights of the costs, from `roots` or `diagonal_roots`.
    K : array of shape (du, dx)
        Gain of the policies.
    memory : int
        H.
    starts : array of shape (S,)
        First round of every segment.
    """

    def __init__(self, problem: Problem, weights: CostData, K: Array, memory: int, starts: Indices) -> None:
        T, dx, du = problem.size
        n = dx + memory * du * dx
        self.sums = np.zeros((len(starts), n, n))
        """G of every segment."""
        self.ends = np.empty((len(starts), dx, n))
        """Derivative of the state in which the next segment begins."""
        most = max(1, BLOCK // (n * (dx + du)))
        of_states, of_inputs = np.empty((most + 1, dx, n)), np.empty((most, du, n))
        for s, (start, stop) in enumerate(zip(starts, np.append(starts[1:], T), strict=True)):
            of_states[0] = np.eye(dx, n)
            for first in range(start, stop, most):
                last = min(first + most, stop)
                rows = of_states[: last - first + 1], of_inputs[: last - first]
                _derivatives(problem.A, problem.B, K, problem.disturbances, first, memory, *rows)
                for root, derivatives in zip(weights.of_rounds(first, last), (rows[0][:-1], rows[1]), strict=True):
                    weighed = (root @ derivatives).reshape(-1, n)
                    self.sums[s] += weighed.T @ weighed
                of_states[0] = rows[0][-1]
            self.ends[s] = of_states[0]

    @functools.cached_property
    def _factors(self) -> tuple[Array, Array]:
        """Go through the segments backwards, and keep what the steps of `newton` need."""
        count, dx, n = self.ends.shape
        inverses, answers = np.empty((count, n - dx, n - dx)), np.empty((count, n - dx, dx))
        to_come = np.zeros((dx, dx))
        for s in range(count - 1, -1, -1):
            whole = self.sums[s] + self.ends[s].T @ to_come @ self.ends[s]
            inverses[s] = inverse(whole[dx:, dx:])
            answers[s] = inverses[s] @ whole[dx:, :dx]
            to_come = whole[:dx, :dx] - whole[:dx, dx:] @ answers[s]
            to_come = 0.5 * (to_come + to_come.T)
        return inverses, answers

    @property
    def steepest(self) -> float:
        """The largest second derivative, if segments did not touch one another."""
        return 2.0 * float(np.linalg.eigvalsh(self.sums)[:, -1].max())

    def newton(self, slopes: Array) -> Array:
        """Return the change of policies that minimises the quadratic of these slopes, both (S, H du dx) or flat."""
        count, dx, _ = self.ends.shape
        inverses, answers = self._factors
        rows, to_come = slopes.reshape(count, -1), np.zeros(dx)
        best = np.empty_like(rows)
        for s in range(count - 1, -1, -1):
            pulled = self.ends[s].T @ to_come
            pulled[dx:] += 0.5 * rows[s]
            best[s] = inverses[s] @ pulled[dx:]
            to_come = pulled[:dx] - answers[s].T @ pulled[dx:]
        begun = np.zeros(dx)
        for s in range(count):
            best[s] = -best[s] - answers[s] @ begun
            begun = self.ends[s] @ np.concatenate([begun, best[s]])
        return best.reshape(slopes.shape)

    def times(self, change: Array) -> Array:
        """Return how the slopes change with the policies, both (S, H du dx) or flat."""
        count, dx, _ = self.ends.shape
        moved, begun = [], np.zeros(dx)
        for s, row in enumerate(change.reshape(count, -1)):
            z = np.concatenate([begun, row])
            moved.append(self.sums[s] @ z)
            begun = self.ends[s] @ z
        result, to_come = np.empty((count, change.size // count)), np.zeros(dx)
        for s in range(count - 1, -1, -1):
            pulled = 2.0 * moved[s] + self.ends[s].T @ to_come
            result[s], to_come = pulled[dx:], pulled[:dx]
        return result.reshape(change.shape)


def inverse(matrix: Array) -> Array:
    """Return the pseudo-inverse of a positive semidefinite matrix, without directions flatter than `FLAT`."""
    values, vectors = np.linalg.eigh(matrix)
    steep = values > FLAT * max(values[-1], 0.0)
    kept = vectors[:, steep]
    return np.asarray((kept / values[steep]) @ kept.T)
