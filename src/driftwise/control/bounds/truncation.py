"""The truncation error: what it costs that the learner forgets what happened more than H + 1 rounds ago.

With policies M_t, which may change in every round, and s_t = sum_k M_t[k] w_{t-k}, the state is x_t = sum_{j<t} A_K^j
(w_{t-1-j} + B s_{t-1-j}). The loss of the reduction (`TruncatedLosses`) has y_t in its place, the same sum over j <= H,
and v_t = -K y_t + s_t. So x_t = y_t up to round H + 1, and after that x_t - y_t = A_K^(H+1) x_{t-H-1}, the sum over j >
H. As ``|s_t| <= W R``, with R the sum of the radii,

``|x_t - y_t| <= W sum_{j>H} (|A_K^j| + R |A_K^j B|)`` and ``|u_t - v_t| <= W sum_{j>H} (|K A_K^j| + R |K A_K^j B|)``.

A convex cost is at most its gradient at (x_t, u_t) times the difference above its value at (y_t, v_t), and the other
way round with the gradient at (y_t, v_t); both gradients are at most G_c D, where D bounds states and inputs.
"""

from typing import Any

from numpy.typing import ArrayLike

from driftwise._docs import documented
from driftwise._validate import checked, choice, number, whole
from driftwise.control.bounds.problem import (
    LOG,
    PROVED,
    WITHOUT_LEARNING,
    Problem,
    imitating_radii,
    long_enough,
    radii_by_memory,
    read_problem,
    response_of,
)
from driftwise.control.plants import System
from driftwise.control.policies.disturbance_action import nominal_loop, stable_loop


def truncation(problem: Problem, T: int, start: float = 0.0) -> float:
    """Return the truncation error of T rounds, for the learner and its comparators together."""
    late = max(T - problem.memory - 2, 0)
    tails = problem.disturbance_bound * sum(problem.response.tail(problem.memory).reach(problem.total))
    whole = problem.response.whole
    return 2.0 * problem.slope(start) * (late * tails + start * (whole.states + whole.gains))


@documented(parameters=WITHOUT_LEARNING)
@checked
def truncation_error(
    system: System,
    *,
    horizon: int,
    memory: int | str = LOG,
    K: ArrayLike | None = None,
    radii: ArrayLike | None = None,
    scale: str = "certified",
    disturbance_bound: float = 1.0,
    cost_gradient: float = 2.0,
    start: float = 0.0,
) -> float:
    """Return a bound on what truncation costs in T rounds: of the learner, and once more of its comparators.

    ``2 G_c D (T - H - 2) W (sum_{j>H} (|A_K^j| + |K A_K^j|) + R sum_{j>H} (|A_K^j B| + |K A_K^j B|))`` with R the sum
    of the radii and D a bound on states and inputs; no less than 0. A first state x_0 fades like ``A_K^t x_0``, which
    the truncated losses leave out: it adds ``2 G_c D |x_0| sum_j (|A_K^j| + |K A_K^j|)``, however long the run is.

    {parameters}

    Examples
    --------
    It falls geometrically with H:

    >>> import driftwise as dw
    >>> plant = dw.control.double_integrator()
    >>> [round(dw.control.bounds.truncation_error(plant, horizon=2000, memory=H), 3) for H in (5, 10, 20, 40)]
    [1535194.296, 45126.608, 4.048, 0.0]
    """
    owner = "bounds.truncation_error"
    given: dict[str, Any] = {"memory": memory, "K": K, "radii": radii, "scale": scale}
    problem = read_problem(
        owner, system, horizon=horizon, **given, disturbance_bound=disturbance_bound, cost_gradient=cost_gradient
    )
    return truncation(problem, whole(owner, "horizon", horizon), number(owner, "start", start, low=0.0))


@checked
def log_memory(
    system: System,
    *,
    horizon: int,
    K: ArrayLike | None = None,
    radii: float | None = None,
    scale: str = "certified",
) -> int:
    """Return the memory that goes with a horizon, of the order of log T: what ``memory="log"`` takes.

    The least H for which the truncation error of all T rounds is at most G_c D^2, where D bounds states and inputs:
    the most that the assumptions let the cost of one round be above its least. Neither disturbances nor costs matter to
    it. As the powers of A_K fall geometrically, H grows like log T, and the error is a constant beside the sqrt(T) of
    the regret.

    Parameters
    ----------
    system : System
        The plant; its nominal (A, B) is used.
    horizon : int
        T.
    K : array of shape (du, dx), optional
        The gain; `lqr` with unit weights when left out.
    radii : float, optional
        Largest spectral norm of every M[i]; 2 kappa^3 (1 - gamma)^(i-1) when left out.
    scale : {"certified", "theory"}, default "certified"
        Norms of the powers of A_K that are computed, or the paper's bounds on them.

    Examples
    --------
    >>> import driftwise as dw
    >>> plant = dw.control.double_integrator()
    >>> [dw.control.bounds.log_memory(plant, horizon=10**k) for k in (2, 3, 4, 5, 6)]
    [6, 10, 12, 15, 18]
    """
    owner = "bounds.log_memory"
    choice(owner, "scale", scale, PROVED)
    gain, _ = stable_loop(owner, system, K)
    loop = nominal_loop(system)
    width = None if radii is None else number(owner, "radii", radii, low=0.0, exclusive=True)
    sizes = radii_by_memory(owner, width, imitating_radii(loop, gain))
    return long_enough(owner, whole(owner, "horizon", horizon), response_of(scale, loop, gain), sizes)
