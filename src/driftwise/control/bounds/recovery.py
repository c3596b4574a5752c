"""Moment recovery: how far the moments of Algorithm 4, and the plant that they give, are off at most, most of the time.

While u_t = -K x_t + p n_t is played, n_t independent random signs, N_j = sum_t x_{t+j+1} n_t' / (p n) estimates A_K^j B
from n = T_0 - k rounds. Unrolled, with v_t the part of x_{t+j+1} that the probes from round t on have no part in,

    x_{t+j+1} n_t' / p - A_K^j B = v_t n_t' / p + A_K^j B (n_t n_t' - I) + sum_{i=1..j} A_K^(j-i) B n_{t+i} n_t'.

The paper takes this for a martingale difference given the probes before round t. It is not one: the last sum has probes
of later rounds in it, so it is not known after round t. *Sorted by the latest probe in it* it is: all products of
probes of rounds s < tau with that of round tau, and what is linear in n_tau, make up ::

    D_tau = v_tau n_tau' / p + A_K^j B (n_tau n_tau' - I) + sum_{i=1..j} A_K^(j-i) B n_tau n_{tau-i}',

which has mean 0 given the probes before tau, as long as disturbances do not react to the probes. In Frobenius norm it
is at most sqrt(du) c with ``c = W sum_m |A_K^m| / p + sqrt(du) sum_m |A_K^m B|``. There are at most T_0 of them, and by
Pinelis' inequality for martingales in a Hilbert space [1]_ their sum is above ``sqrt(du) c sqrt(2 T_0 ln(2 / f))`` with
probability at most f. With f = failure / (k + 1), all N_0, ..., N_k are within

    e = sqrt(du) c sqrt(2 T_0 ln(2 (k + 1) / failure)) / (T_0 - k).

With C = [B, ..., A_K^(k-1) B] and its estimates C_0 and C_1 of C and A_K C, each off by at most sqrt(k) e, the estimate
of A_K is off by (C_1 - A_K C_0) C_0^+, whose norm is at most sqrt(k) e (1 + ``|A_K|``) / (s - sqrt(k) e), s the
smallest singular value of C. (Interleaving k + 1 sums of every (k + 1)-th round would repair the paper's step too, with
a factor of sqrt(k + 1) more.)

References
----------
.. [1] Pinelis, "Optimum bounds for the distributions of martingales in Banach spaces", Annals of Probability 22, 1994,
   Theorem 3.5.
"""

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from driftwise._validate import checked, instance, number, whole
from driftwise.control.bounds.response import CertifiedResponse
from driftwise.control.plants import PLANT_HINT, System
from driftwise.control.policies.disturbance_action import nominal_loop, stable_loop
from driftwise.errors import InputError


class Recovery(NamedTuple):
    """What estimates from moments are off by at most, with the probability asked for.

    Parameters
    ----------
    moments : float
        Of every N_j, in Frobenius norm.
    B : float
        Of B, which is N_0.
    loop : float
        Of A_K, in spectral norm; infinite where the rounds are too few to tell.
    A : float
        Of A = A_K + B K, in spectral norm.

    Examples
    --------
    >>> import driftwise as dw
    >>> plant = dw.control.double_integrator()
    >>> found = dw.control.bounds.moment_recovery(plant, exploration=1_000_000, K=[[0.4, 1.2]])
    >>> round(found.error, 4), found.error == max(found.A, found.B)
    (0.1367, True)
    """

    moments: float
    B: float
    loop: float
    A: float

    @property
    def error(self) -> float:
        """The larger of the errors of A and B."""
        return max(self.A, self.B)


@checked
def moment_recovery(
    system: System,
    *,
    exploration: int,
    K: ArrayLike | None = None,
    order: int | None = None,
    probe: float = 1.0,
    disturbance_bound: float = 1.0,
    failure: float = 0.05,
) -> Recovery:
    """Return how far ``identify(..., method="moments")`` is off at most, except with a small probability.

    It holds for independent random signs times `probe`, from x_0 = 0, and for any disturbances of at most W that do not
    react to the probes. It is a statement about the true plant, so that it can be computed before the plant is explored
    only where something is known of it; the derivation is in the module's docstring.

    Parameters
    ----------
    system : System
        The true plant; its nominal (A, B) is used.
    exploration : int
        T_0, the number of rounds, more than `order`.
    K : array of shape (du, dx), optional
        The gain in use; `lqr` with unit weights when left out.
    order : int, optional
        k of `identify`; the number of states when left out.
    probe : float, default 1.0
        p, the size of the signs.
    disturbance_bound : float, default 1.0
        W.
    failure : float, default 0.05
        Probability that one of the errors is larger, between 0 and 1.

    Examples
    --------
    >>> import driftwise as dw
    >>> plant = dw.control.double_integrator()
    >>> found = dw.control.bounds.moment_recovery(plant, exploration=1_000_000, K=[[0.4, 1.2]])
    >>> round(found.B, 4), round(found.A, 4)
    (0.0258, 0.1367)
    """
    owner = "bounds.moment_recovery"
    gain, closed = stable_loop(owner, system, K)
    system = nominal_loop(system)
    p = number(owner, "probe", probe, low=0.0, exclusive=True)
    W = number(owner, "disturbance_bound", disturbance_bound, low=0.0)
    f = number(owner, "failure", failure, low=0.0, high=1.0)
    k = system.state_dim if order is None else whole(owner, "order", order)
    T_0, du = whole(owner, "exploration", exploration, low=k + 1), system.input_dim
    sums = CertifiedResponse(system, gain).whole
    c = W * sums.states / p + math.sqrt(du) * sums.pushed
    moments = math.sqrt(du) * c * math.sqrt(2.0 * T_0 * math.log(2.0 * (k + 1) / f)) / (T_0 - k)
    responses = [system.B]
    for _ in range(k - 1):
        responses.append(closed @ responses[-1])
    C = np.hstack(responses)
    clear = float(np.linalg.svd(C, compute_uv=False)[-1]) if C.shape[1] >= len(C) else 0.0
    margin, off = clear - math.sqrt(k) * moments, math.sqrt(k) * moments * (1.0 + float(np.linalg.norm(closed, 2)))
    loop = off / margin if margin > 0.0 else math.inf
    return Recovery(moments, moments, loop, loop + float(np.linalg.norm(gain, 2)) * moments)


@checked
def exploration_rounds(
    system: System,
    *,
    error: float,
    K: ArrayLike | None = None,
    order: int | None = None,
    probe: float = 1.0,
    disturbance_bound: float = 1.0,
    failure: float = 0.05,
) -> int:
    """Return how many rounds of exploration make `moment_recovery` promise an error: T_0, of the order of 1 / error^2.

    Parameters
    ----------
    system : System
        The true plant; its nominal (A, B) is used.
    error : float
        Largest spectral norm that A and B may be off by.
    K, order, probe, disturbance_bound, failure
        As in `moment_recovery`.

    Examples
    --------
    >>> import driftwise as dw
    >>> plant = dw.control.double_integrator()
    >>> [dw.control.bounds.exploration_rounds(plant, error=error, K=[[0.4, 1.2]]) for error in (0.2, 0.1)]
    [480599, 1837267]
    """
    owner = "bounds.exploration_rounds"
    goal = number(owner, "error", error, low=0.0, exclusive=True)
    system = nominal_loop(instance(owner, "system", system, System, PLANT_HINT))
    given: dict[str, Any] = {
        "K": K,
        "order": order,
        "probe": probe,
        "disturbance_bound": disturbance_bound,
        "failure": failure,
    }
    k = system.state_dim if order is None else whole(owner, "order", order)
    low, high = k, k + 1
    while moment_recovery(system, exploration=high, **given).error > goal:
        low, high = high, 2 * high
        if high > 2**52:
            raise InputError(
                f"{owner}: no exploration is long enough: [B, A_K B, ...] over {k} rounds has no full row rank, or "
                f"the error {goal:g} is too small; give a larger order or error."
            )
    while high - low > 1:
        middle = (low + high) // 2
        if moment_recovery(system, exploration=middle, **given).error > goal:
            low = middle
        else:
            high = middle
    return high
