"""From control to learning with memory: the truncated losses of Section 5.2, as a stream that any learner can play."""

import functools
import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from driftwise._compile import LARGEST
from driftwise._validate import Array, array, instance, whole
from driftwise.control.costs import Cost, CostSequence, as_costs
from driftwise.control.plants import PLANT_HINT, System, read_limits
from driftwise.control.policies.disturbance_action import nominal_loop, read_loop
from driftwise.control.policies.engine import look_ahead, look_back
from driftwise.control.policies.layout import HEAD, STATES, new_cell, views
from driftwise.control.policies.scales import lipschitz, reach
from driftwise.control.stability import lqr
from driftwise.domains import Domain, SpectralBalls
from driftwise.errors import InputError
from driftwise.losses import LossStream


def loop_cell(system: System, K: Array, memory: int, columns: int, limit: Array | None = None) -> Array:
    """Return a new cell for policies of a memory on the nominal closed loop, with room for so many disturbances.

    Parameters
    ----------
    system : System
        The plant; with the memory of its actuator among the states, if it has any (`nominal_loop`).
    K, memory, columns
        The gain, H, and the number of disturbances.
    limit : array of shape (2, du), optional
        Lows and highs of the inputs; none when left out.
    """
    loop = nominal_loop(system)
    cell = new_cell(loop.state_dim, loop.input_dim, memory, columns)
    closed, parts = loop.A - loop.B @ K, views(cell)
    cell[STATES] = system.state_dim
    limit = read_limits("loop_cell", "limit", None, loop.input_dim) if limit is None else limit
    parts["limit"][:] = np.clip(limit, -LARGEST, LARGEST)  # what act returns can be given back as what was applied
    parts["rate"][:], parts["bound"][:] = math.inf, math.inf
    for name, part in (("A", loop.A), ("B", loop.B), ("K", K), ("closed", closed), ("turned", closed.T)):
        parts[name][:] = part
    return cell


class TruncatedLosses(LossStream):
    """f_t(M_{t-1-H}, ..., M_t) = c_t(y_t, v_t): the cost of policies on a plant that forgets after H + 1 rounds.

    The reduction of Section 5.2: a policy, flat, is a decision; the losses have memory H + 1. Play them with any
    learner on a `SpectralBalls` domain, and measure regret with ``driftwise.regret``. Controllers do the same thing
    live, with disturbances recovered from the states.

    Parameters
    ----------
    system : System
        The plant; its nominal (A, B) is used.
    costs : Cost, CostSequence or list of Cost
        c_0, ..., c_{T-1}, or one cost for all rounds.
    disturbances : array of shape (T, dx)
        w_0, ..., w_{T-1}.
    memory : int, default 10
        H, the number of past disturbances that a policy answers to.
    K : array of shape (du, dx), optional
        Gain of the policies; `lqr` with unit weights when left out.

    Attributes
    ----------
    dim : int
        H du dx.
    memory : int
        H + 1, the number of past policies that a loss looks at.

    Examples
    --------
    >>> import numpy as np
    >>> import driftwise as dw
    >>> plant = dw.control.double_integrator()
    >>> rows = 0.3 * np.sin(np.arange(200)[:, None] / 10.0 + np.array([0.0, 1.0]))
    >>> losses = dw.control.TruncatedLosses(plant, dw.control.QuadraticCost(1.0, 1.0), rows, memory=5)
    >>> domain = dw.SpectralBalls((5, 1, 2), radii=1.0)
    >>> trace = dw.play(dw.OGD(domain, step=0.02), losses)
    >>> round(trace.total / sum(losses.unary_value(t, np.zeros(10)) for t in range(200)), 3)
    0.161
    """

    def __init__(
        self,
        system: System,
        costs: "Cost | CostSequence | list[Cost]",
        disturbances: ArrayLike,
        memory: int = 10,
        K: ArrayLike | None = None,
    ) -> None:
        owner = "TruncatedLosses"
        instance(owner, "system", system, System, PLANT_HINT)
        H, dx, du = whole(owner, "memory", memory), system.state_dim, system.input_dim
        self.disturbances = array(owner, "disturbances", disturbances, ("rounds", dx), copy=True)
        self._rounds = len(self.disturbances)
        self.costs = as_costs(owner, costs, self._rounds, dx, du)
        self.system = system
        self.K, _ = read_loop(owner, system, lqr(system) if K is None else K)
        self.memory, self.dim = H + 1, H * du * dx
        self.shape = (H, du, dx)
        self._cell = loop_cell(system, self.K, H, self._rounds + 2 * H + 1)
        self._parts["past"][:, : self._rounds] = self.disturbances[::-1].T

    @functools.cached_property
    def _parts(self) -> dict[str, Array]:
        """The parts of the cell."""
        return views(self._cell)

    def __getstate__(self) -> dict[str, Any]:
        """Return what is to be copied: all but the views into the cell."""
        return {name: part for name, part in self.__dict__.items() if name != "_parts"}

    def _foreseen(self, t: int, w: Array) -> dict[str, Array]:
        """Return the parts of the cell with y_t and v_t of a policy in them."""
        self._cell[HEAD] = self._rounds - t
        look_ahead(self._cell, np.array(w))
        return self._parts

    def states(self, t: int, window: Array) -> tuple[Array, Array]:
        """Return y_t and v_t of a window of policies, shape (H + 2, H, du, dx), the oldest first.

        Parameters
        ----------
        t : int
            The round.
        window : array of shape (H + 2, H, du, dx)
            The policies of rounds t - H - 1, ..., t.
        """
        H, du, dx = self.shape
        policies = array("TruncatedLosses.states", "window", window, (H + 2, H, du, dx))
        past, closed, head = self._parts["past"], self._parts["closed"], self._rounds - self._index(t)
        y = np.zeros(dx)
        for j in range(H, -1, -1):
            s = np.einsum("kux,xk->u", policies[H - j], past[:, head + j + 1 : head + j + 1 + H])
            y = closed @ y + past[:, head + j] + self.system.B @ s
        return y, np.einsum("kux,xk->u", policies[-1], past[:, head : head + H]) - self.K @ y

    def _value(self, t: int, window: Array) -> float:
        return self.costs[t].value(*self.states(t, window.reshape(-1, *self.shape)))

    def _unary(self, t: int, w: Array) -> float:
        parts = self._foreseen(t, w)
        return self.costs[t].value(parts["y"], parts["v"])

    def _gradient(self, t: int, w: Array) -> Array:
        parts = self._foreseen(t, w)
        parts["slope_x"][:], parts["slope_u"][:] = self.costs[t].gradient(parts["y"], parts["v"])
        look_back(self._cell)
        return parts["gradient"].ravel().copy()

    def lipschitz(self, domain: Domain) -> Array:
        """Return L_0, ..., L_{H+1} over a `SpectralBalls` domain: bounds, from the norms of A_K^j B."""
        if not isinstance(domain, SpectralBalls) or domain.shape != self.shape:
            raise InputError(
                f"TruncatedLosses: the domain must be SpectralBalls of shape {self.shape}, got {domain!r}."
            )
        W = float(np.linalg.norm(self.disturbances, axis=1).max())
        loop = (self._parts["closed"], self.system.B, self.K, self.memory - 1, W)
        return lipschitz(*loop, self.costs.steepest(*reach(*loop, domain.radii)))

    def gradient_bound(self, domain: Domain) -> float:
        """Return a bound on the norm of a unary gradient over a `SpectralBalls` domain."""
        return float(self.lipschitz(domain).sum())
