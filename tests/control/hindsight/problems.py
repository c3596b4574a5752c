"""Small problems, and the same problems written out: states and inputs as an affine function of all unknowns."""

import importlib
from collections.abc import Callable
from typing import Any

import numpy as np

from driftwise import control
from driftwise._validate import Array
from driftwise.control.costs.kernels import ABSOLUTE, HUBER, QUADRATIC, SOFT
from driftwise.control.hindsight.rollout import Problem, read_problem
from tests.control.cases import COSTS, PLANT, ROUNDS, WIDE, costs, roll

cp: Any = importlib.import_module("cvxpy")  # its names are made at run time

SYSTEMS: dict[str, control.LinearSystem] = {
    "scalar": control.LinearSystem(0.9, 0.5),
    "double integrator": PLANT,
    "wide": WIDE,
}

QUADRATICS = ("quadratic", "scalar", "stages", "scaled")

CENTRED = tuple(kind for kind in COSTS if kind != "targets")
"""Costs that are least near the origin, around which policies act."""


def waves(dx: int, rounds: int = ROUNDS) -> Array:
    """Return disturbances with a wave, a drift and some noise."""
    t = np.arange(rounds)[:, None]
    noise = 0.1 * np.random.default_rng(8).standard_normal((rounds, dx))
    return np.asarray(0.4 * np.sin(0.3 * t + np.arange(dx)) + 0.01 * t + noise)


def problem(name: str, kind: str, rounds: int = ROUNDS) -> Problem:
    """Return a problem with costs of `tests.control.cases.COSTS`, which does not begin at the origin."""
    system = SYSTEMS[name]
    dx, du = system.state_dim, system.input_dim
    start = np.linspace(0.5, -0.5, dx)
    return read_problem("problem", system, costs(kind, dx, du, rounds), waves(dx, rounds), start)


def given(problem: Problem) -> tuple[Any, Any, Any]:
    """Return the first three arguments of a comparator."""
    return problem.system, problem.costs, problem.disturbances


def played(problem: Problem, K: Array, policies: Array) -> Array:
    """Return states and inputs under one policy a round, (T, dx + du), by plain Python."""
    states, inputs = roll(problem.system, K, policies, problem.disturbances, problem.start)
    return np.hstack([states[:-1], inputs])


def affine(run: Callable[[Array], Array], dim: int) -> tuple[Array, Array]:
    """Return F, (T, d, dim), and r, (T, d), with run(v) = F v + r."""
    offset = run(np.zeros(dim))
    return np.stack([run(row) - offset for row in np.eye(dim)], axis=-1), offset


def of_policies(problem: Problem, K: Array, memory: int, starts: list[int]) -> tuple[Array, Array]:
    """Return states and inputs as an affine function of the policies of all segments."""
    T, dx, du = problem.size
    lengths = np.diff([*starts, T])

    def run(flat: Array) -> Array:
        return played(problem, K, np.repeat(flat.reshape(len(starts), memory, du, dx), lengths, axis=0))

    return affine(run, len(starts) * memory * du * dx)


def of_inputs(problem: Problem) -> tuple[Array, Array]:
    """Return states and inputs as an affine function of the inputs."""
    T, _, du = problem.size

    def run(flat: Array) -> Array:
        x, rows = problem.start, []
        for u, w in zip(flat.reshape(T, du), problem.disturbances, strict=True):
            rows.append(np.concatenate([x, u]))
            x = problem.system.A @ x + problem.system.B @ u + w
        return np.array(rows)

    return affine(run, T * du)


def least(
    problem: Problem,
    F: Array,
    r: Array,
    limits: Callable[[Any], list[Any]] | None = None,
    price: Callable[[Any], Any] | None = None,
) -> float:
    """Return the least total cost over all v of states and inputs F v + r, by cvxpy from the costs' own weights.

    `limits` are rules that v keeps, and `price` is what v itself costs.
    """
    dx = problem.size[1]
    v = cp.Variable(F.shape[-1])
    terms = []
    for t, cost in enumerate(problem.costs):
        assert isinstance(cost, control.costs.DataCost)
        z, data = F[t] @ v + r[t], cost.data
        for part, weights, scale, target in (
            (z[:dx], data.state[0], data.scales[0, 0], data.state_target),
            (z[dx:], data.input[0], data.scales[0, 1], data.input_target),
        ):
            size = part.shape[0]
            if data.kind in (QUADRATIC, SOFT):
                matrix = scale * (weights if len(weights) == size else weights * np.eye(size))
                terms.append(cp.quad_form(part - target[0] if target.size else part, cp.psd_wrap(matrix)))
            else:
                row = scale * np.broadcast_to(weights[0], (size,))
                terms.append(row @ _bent(data.kind, part, data.width))
        if data.kind == SOFT:
            terms += _outside(z[:dx], data.limits[0], data.scales[0, 0])
    total = cp.sum(cp.hstack(terms)) + (0.0 if price is None else price(v))
    model = cp.Problem(cp.Minimize(total), [] if limits is None else limits(v))
    model.solve(solver=cp.CLARABEL, tol_gap_rel=1e-9, tol_gap_abs=1e-9, tol_feas=1e-9)
    return float(model.value)


def _bent(kind: int, z: Any, width: float) -> Any:
    if kind == ABSOLUTE:
        return cp.abs(z)
    assert kind == HUBER
    return cp.huber(z, width) / (2.0 * width)


def _outside(x: Any, limits: Array, scale: float) -> list[Any]:
    pairs = enumerate(np.broadcast(*limits, np.empty(x.shape[0])))
    return [
        scale * heavy * cp.square(cp.pos(side))
        for i, (lowest, highest, heavy, _) in pairs
        for side, limit in ((x[i] - highest, highest), (lowest - x[i], lowest))
        if np.isfinite(limit)
    ]
