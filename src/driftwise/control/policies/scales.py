"""The constants of a controller's learner at three scales: the paper's, certified numerically, or measured on the way.

A learner of policies needs a bound G on its gradients, a price lambda of moving, and the radii of its domain.

"theory"
    The paper's formulas (Appendix C, the lemma on the truncated loss) from kappa, gamma, the disturbance bound W and
    the cost constant G_c, with G_f multiplied by the bound on states and inputs, which the paper leaves out. Safe,
    and so careful that next to nothing is learnt.
"certified"
    The same quantities from the norms of A_K^j and A_K^j B, computed one by one: a guarantee of the same kind, with
    constants that are smaller by orders of magnitude.
"measured"
    Every gradient is divided by the root mean square of those so far, moving by one unit is priced at `alpha` of
    these units, and steps are made for policies that are about as far apart as a good gain is large. Nothing needs to
    be known of disturbances or costs; nothing is proved.
"""

import math
from dataclasses import dataclass

import numpy as np

from driftwise._validate import Array
from driftwise.control.plants import System
from driftwise.control.stability import StrongStability, lqr
from driftwise.domains import SpectralBalls

SCALES = ("measured", "certified", "theory")

ALPHA = 10.0
"""Price of moving, in gradients, at the measured scale."""

WIDTH = 4.0
"""Largest norm of an M[i] at the measured scale, in units of a good gain: projections are rare then."""


SHORTEST, MOST = 10, 200
"""Past disturbances that a policy answers to, at least and at most, unless another number is asked for."""

FADED = 0.1
"""What is left of a disturbance in the state when a policy need no longer answer to it."""


@dataclass(frozen=True)
class Constants:
    """What the learner of a controller is built from.

    Attributes
    ----------
    scale : str
        "measured", "certified" or "theory", or "given" for a gradient bound of the user's own.
    diameter : float
        D, the distance between policies that steps are made for.
    gradient_bound : float
        G; 1 at the measured scale, where gradients are normalised.
    switching_cost : float
        lambda, the price of moving a policy by one unit.
    condition : str or None
        What must be true for these constants to hold; None when nothing is claimed of them.
    """

    scale: str
    diameter: float
    gradient_bound: float
    switching_cost: float
    condition: str | None


def loop_memory(closed: Array) -> int:
    """Return a memory that covers the closed loop: the least H with ``|A_K^H| <= 0.1``, from 10 to 200.

    A policy is judged by what it does within H + 1 rounds, so H must cover the time that the loop takes: a plant that
    is sampled ten times as often needs about ten times as many.
    """
    power = np.linalg.matrix_power(closed, SHORTEST)
    for H in range(SHORTEST, MOST):
        if np.linalg.norm(power, 2) <= FADED:
            return H
        power = closed @ power
    return MOST


def gain_size(system: System, K: Array) -> float:
    """Return the size of a good gain, which is the unit that policies are measured in.

    It is the largest spectral norm among the gain in use, the gain of LQR and the best answer to a disturbance that
    lasts one more round, (I + B'B)^-1 B'.
    """
    B = system.B
    answer = np.linalg.solve(np.eye(system.input_dim) + B.T @ B, B.T)
    return max(float(np.linalg.norm(matrix, 2)) for matrix in (K, lqr(system), answer)) or 1.0


def theory_radii(certificate: StrongStability, memory: int) -> Array:
    """Return 2 kappa^3 (1 - gamma)^(i-1): policies that imitate any gain with this certificate are inside.

    The paper's kappa_B kappa^3 (1 - gamma)^i need not contain them. A decay below a tenth a round is not used, so that
    every lag has a say.
    """
    decay = max(1.0 - certificate.gamma, 0.1)
    return np.asarray(2.0 * certificate.kappa**3 * decay ** np.arange(memory))


def lipschitz(closed: Array, B: Array, K: Array, memory: int, W: float, slopes: tuple[float, float]) -> Array:
    """Return L_0, ..., L_{H+1}: how fast a truncated loss changes with the policy of 0, ..., H + 1 rounds ago.

    `slopes` bound the norms of the cost's gradients in state and input. Their sum bounds the gradient of the unary
    loss.
    """
    constants, power = [slopes[1]], B
    for _ in range(memory + 1):
        constants.append(slopes[0] * float(np.linalg.norm(power, 2)) + slopes[1] * float(np.linalg.norm(K @ power, 2)))
        power = closed @ power
    return np.asarray(math.sqrt(memory) * W * np.array(constants))


def reach(closed: Array, B: Array, K: Array, memory: int, W: float, radii: Array) -> tuple[float, float]:
    """Return bounds on the norms of truncated state and input under policies within the radii."""
    total = float(radii.sum())
    state, input, power = 0.0, total, np.eye(len(closed))
    for _ in range(memory + 1):
        state += float(np.linalg.norm(power, 2) + np.linalg.norm(power @ B, 2) * total)
        input += float(np.linalg.norm(K @ power, 2) + np.linalg.norm(K @ power @ B, 2) * total)
        power = closed @ power
    return W * state, W * input


def measured_constants(size: float, alpha: float) -> Constants:
    """Return the constants at the measured scale, for gains of this size."""
    return Constants("measured", size, 1.0, alpha, None)


def certified_constants(domain: SpectralBalls, closed: Array, B: Array, K: Array, W: float, G_c: float) -> Constants:
    """Return the constants at the certified scale."""
    H = domain.radii.size
    state, input = reach(closed, B, K, H, W, domain.radii)
    # The paper's assumption: both gradients are at most G_c D where state and input are at most D.
    slope = G_c * max(state, input)
    parts = lipschitz(closed, B, K, H, W, (slope, slope))
    G, lambda_ = float(parts.sum()), float(np.arange(H + 2) @ parts)
    return Constants("certified", domain.diameter, G, lambda_, _condition(W, G_c))


def theory_constants(domain: SpectralBalls, B: Array, W: float, G_c: float, certificate: StrongStability) -> Constants:
    """Return the constants at the theory's scale, with the factor D that the paper's G_f lacks."""
    H, d = domain.radii.size, min(B.shape)
    kappa, gamma, kappa_B = certificate.kappa, certificate.gamma, max(1.0, float(np.linalg.norm(B, 2)))
    total = float(domain.radii.sum())
    # The paper's D divides by 1 - kappa^2 (1 - gamma)^(H+1), which may be negative; this form always holds.
    D = W * (kappa**3 * (1.0 + kappa_B * total) / gamma + total)
    L = 3.0 * math.sqrt(H) * G_c * D * W * kappa_B * kappa**3
    G = 3.0 * H * d**2 * G_c * D * W * kappa_B * kappa**3 / gamma
    return Constants("theory", domain.diameter, G, (H + 2) ** 2 * L, _condition(W, G_c))


def _condition(W: float, G_c: float) -> str:
    return (
        f"disturbances stay within {W:g}, and the cost's gradients within {G_c:g} times the larger of state and input"
    )


def given_constants(domain: SpectralBalls, G: float, alpha: float) -> Constants:
    """Return constants for a gradient bound of the user's own."""
    condition = f"gradients stay within {G:g}, and moving a policy is worth at most {alpha * G:g} a unit"
    return Constants("given", domain.diameter, G, alpha * G, condition)
