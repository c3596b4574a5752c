"""Disturbance-action policies and the states they lead to (the definition and the proposition of Section 5.2)."""

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from driftwise._saving import savable
from driftwise._validate import Array, Checked, array, checked, instance, loose, read_only, whole
from driftwise.control.plants import PLANT_HINT, LinearSystem, System, as_matrix
from driftwise.control.stability import lqr
from driftwise.control.stability.certificate import stable
from driftwise.domains import Domain
from driftwise.errors import InputError, ParameterError


@savable
class DisturbanceAction(metaclass=Checked):
    """The policy u_t = -K x_t + sum_{i=1..H} M[i] w_{t-i}: a linear gain, plus a linear answer to past disturbances.

    Costs are convex in M, which is what makes learning it online possible, and every linear controller is such a
    policy up to an error that vanishes as H grows (`matching`).

    Parameters
    ----------
    K : array of shape (du, dx)
        Gain; u = -K x should make the system stable.
    M : array of shape (H, du, dx)
        Answers to the disturbances of 1, ..., H rounds ago.

    Examples
    --------
    >>> import driftwise as dw
    >>> policy = dw.control.DisturbanceAction(K=[[0.5]], M=[[[-1.0]], [[0.25]]])
    >>> policy.act([2.0], disturbances=[[4.0], [1.0]])
    array([-1.])
    """

    def __init__(self, K: ArrayLike, M: ArrayLike) -> None:
        self.K = read_only(array("DisturbanceAction", "K", K, ("du", "dx"), copy=True))
        self.M = read_only(array("DisturbanceAction", "M", M, ("H", *self.K.shape), copy=True))

    def _configuration(self) -> dict[str, Any]:
        """Return the arguments that build it again, for files."""
        return {"K": self.K, "M": self.M}

    @property
    def memory(self) -> int:
        """Number H of past disturbances that the policy answers to."""
        return len(self.M)

    def act(self, x: ArrayLike, disturbances: ArrayLike) -> Array:
        """Return the input for state x after the disturbances w_0, ..., w_{t-1} (rows, oldest first).

        Parameters
        ----------
        x : array of shape (dx,)
            x_t.
        disturbances : array of shape (t, dx)
            w_0, ..., w_{t-1}; before the first one they are 0.
        """
        owner = "DisturbanceAction.act"
        dx = self.K.shape[1]
        u: Array = -self.K @ array(owner, "x", x, (dx,))
        if np.size(disturbances):
            recent = array(owner, "disturbances", disturbances, ("rounds", dx))[: -self.memory - 1 : -1]
            u = u + np.einsum("iux,ix->u", self.M[: len(recent)], recent)
        return u

    @classmethod
    def matching(cls, system: System, K: ArrayLike, target: ArrayLike, memory: int) -> "DisturbanceAction":
        """Return the policy around gain K that imitates u = -K* x for the gain K* in `target`.

        M[i] = (K - K*) (A - B K*)^(i-1) for i = 1, ..., H: the paper's sufficiency lemma with its exponent corrected.

        Parameters
        ----------
        system : System
            The plant; its nominal (A, B) is used.
        K : array of shape (du, dx)
            Gain of the policy.
        target : array of shape (du, dx)
            K*, the gain to imitate.
        memory : int
            H, the number of past disturbances that the policy answers to.
        """
        owner = "DisturbanceAction.matching"
        instance(owner, "system", system, System, PLANT_HINT)
        shape = (system.input_dim, system.state_dim)
        gain, goal = array(owner, "K", K, shape), array(owner, "target", target, shape)
        closed = system.A - system.B @ goal
        rows = [gain - goal]
        for _ in range(whole(owner, "memory", memory) - 1):
            rows.append(rows[-1] @ closed)
        return cls(gain, np.stack(rows))

    def __repr__(self) -> str:
        du, dx = self.K.shape
        return f"DisturbanceAction(memory={self.memory}, state_dim={dx}, input_dim={du})"


def policy_memory(must: str, domain: Domain, memory: int | None, shape: tuple[int, int]) -> int:
    """Return H for a domain of policies, H matrices of a shape; `must` begins the error, with its owner and a colon."""
    H = domain.dim // math.prod(shape) if memory is None else whole(must.split(":")[0], "memory", memory)
    if H < 1 or domain.dim != H * math.prod(shape) or (len(domain.shape) == 3 and domain.shape != (H, *shape)):
        raise ParameterError(
            f"{must} {H or 'H'} matrices of shape {shape}, such as in SpectralBalls({(H or 5, *shape)}, radii), got "
            f"{domain!r}."
        )
    return H


def read_loop(owner: str, system: System, K: ArrayLike) -> tuple[Array, Array]:
    """Return K and A - B K."""
    instance(owner, "system", system, System, PLANT_HINT)
    gain = as_matrix(owner, "K", K, (system.input_dim, system.state_dim))
    return gain, np.ascontiguousarray(system.A - system.B @ gain)


def nominal_loop(system: System) -> System:
    """Return the plant that a controller runs: with the memory of its actuator among the states, if it has any."""
    return system if system.prompt else LinearSystem(*system.augmented)


def stable_loop(owner: str, system: System, K: ArrayLike | None) -> tuple[Array, Array]:
    """Return K, that of `lqr` with unit weights if None, and A - B K; refuse a gain that does not stabilise.

    Both are of `nominal_loop`; a gain for the states of the plant alone leaves the actuator's memory aside.
    """
    loop = nominal_loop(instance(owner, "system", system, System, PLANT_HINT))
    if K is not None and loop is not system:
        given = loose(owner, "K", K)
        if given.shape == system.B.T.shape:
            K = np.hstack(
                [array(owner, "K", given, given.shape), np.zeros((loop.input_dim, loop.state_dim - system.state_dim))]
            )
    gain, closed = read_loop(owner, loop, lqr(loop) if K is None else K)
    stable(owner, loop, gain)
    return gain, closed


@checked
def transfer_matrices(system: System, K: ArrayLike, policies: ArrayLike) -> Array:
    """Return Psi_{t,0}, ..., Psi_{t,H+h}: what the last disturbances contribute to the state x_{t+1} .

    Psi_{t,i} = A_K^i [i <= h] + sum_{j=0..h} A_K^j B M_{t-j}[i-j] [1 <= i-j <= H], with A_K = A - B K.

    Parameters
    ----------
    system : System
        The plant; its nominal (A, B) is used.
    K : array of shape (du, dx)
        Gain of the policies.
    policies : array of shape (h + 1, H, du, dx)
        M_{t-h}, ..., M_t, the oldest first.

    Returns
    -------
    array of shape (H + h + 1, dx, dx)

    Examples
    --------
    What w_t, w_{t-1} and w_{t-2} contribute under two policies, around a gain of 0:

    >>> import driftwise as dw
    >>> plant = dw.control.LinearSystem(0.5, 1.0)
    >>> dw.control.transfer_matrices(plant, 0.0, [[[[-0.5]]], [[[-0.4]]]]).ravel()
    array([ 1.  ,  0.1 , -0.25])
    """
    owner = "transfer_matrices"
    gain, closed = read_loop(owner, system, K)
    window = array(owner, "policies", policies, ("h + 1", "H", *gain.shape))
    count, H = window.shape[:2]
    matrices = np.zeros((H + count, *closed.shape))
    power = np.eye(len(closed))
    for j in range(count):
        matrices[j] += power
        matrices[j + 1 : j + 1 + H] += (power @ system.B) @ window[count - 1 - j]
        power = closed @ power
    return matrices


@checked
def unrolled_state(
    system: System, K: ArrayLike, policies: ArrayLike, disturbances: ArrayLike, start: ArrayLike | None = None
) -> Array:
    """Return x_t as the linear function of the disturbances that it is, by the transfer matrices.

    The check of the paper's proposition: it equals the simulated state. Simulating is faster.

    Parameters
    ----------
    system, K
        As in `transfer_matrices`.
    policies : array of shape (t, H, du, dx)
        M_0, ..., M_{t-1}.
    disturbances : array of shape (t, dx)
        w_0, ..., w_{t-1}.
    start : array of shape (dx,), optional
        x_0; the origin when left out.

    Returns
    -------
    array of shape (dx,)

    Examples
    --------
    >>> import driftwise as dw
    >>> plant = dw.control.LinearSystem(0.5, 1.0)
    >>> dw.control.unrolled_state(plant, 0.0, [[[[-0.5]]], [[[-0.4]]]], [[1.0], [0.0]])
    array([0.1])
    """
    owner = "unrolled_state"
    _, closed = read_loop(owner, system, K)
    rows = array(owner, "disturbances", disturbances, ("rounds", system.state_dim))
    matrices = transfer_matrices(system, K, policies)
    t = len(np.asarray(policies))
    if len(rows) != t:
        raise InputError(f"{owner}: as many disturbances as policies are needed, got {len(rows)} and {t}.")
    x = np.einsum("iab,ib->a", matrices[:t], rows[::-1])
    if start is not None:
        x = x + np.linalg.matrix_power(closed, t) @ array(owner, "start", start, (system.state_dim,))
    return np.asarray(x)
