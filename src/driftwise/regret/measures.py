"""How far a run was from a sequence of comparators: policy regret, regret with switching cost, path length."""

import numpy as np
from numpy.typing import ArrayLike

from driftwise._validate import Array, array, checked, loose, number
from driftwise.domains import Domain
from driftwise.errors import ParameterError
from driftwise.losses import LossStream
from driftwise.movecost import MoveCost, move_cost_for
from driftwise.optimum.fixed import best_fixed
from driftwise.optimum.values import read_comparators, read_run, run_domain, step_lengths
from driftwise.trace import Trace

Price = float | MoveCost | None
"""A switching cost, or None for that of the trace."""


@checked
def path_length(v: ArrayLike, norm: float = 2.0) -> float:
    """Return ``P = sum_{t>=2} |v_t - v_{t-1}|``: how much a sequence of decisions moves.

    Parameters
    ----------
    v : array of shape (T, d), or (T,) for d = 1
        The sequence.
    norm : float, default 2.0
        Order of the norm, as in `numpy.linalg.norm`; 1 for experts.

    Examples
    --------
    >>> import driftwise as dw
    >>> dw.regret.path_length([[0.0, 0.0], [3.0, 4.0], [3.0, 4.0]])
    5.0
    """
    given = loose("path_length", "v", v)
    rows = array("path_length", "v", given[:, None] if given.ndim == 1 else given, ("rounds", "dim"))
    return float(step_lengths(rows, _order("path_length", norm)).sum())


@checked
def dynamic_policy_regret(trace: Trace, losses: LossStream, comparators: ArrayLike) -> float:
    """Return ``sum_t f_t(w_{t-m:t}) - sum_t f_t(v_{t-m:t})``: policy regret to any sequence, memory included.

    Both the run and the comparators are taken to have been at their first decision before the first round.

    Parameters
    ----------
    trace : Trace
        A run.
    losses : LossStream
        The losses by which both are judged: those that were played, or others of the same shape.
    comparators : array of shape (T, d) or (d,)
        v_1, ..., v_T in the learner's domain; one decision is held for all rounds.

    See Also
    --------
    dynamic_regret : the same for unary losses, with the price of the run's own movement.

    Examples
    --------
    >>> import driftwise as dw
    >>> losses = dw.TrackingLoss([[1.0], [1.0], [-1.0]])
    >>> trace = dw.play(dw.OGD(dw.Ball(1), step=0.5), losses)
    >>> dw.regret.dynamic_policy_regret(trace, losses, [[1.0], [1.0], [-1.0]])
    2.15625
    """
    losses = read_run("dynamic_policy_regret", trace, losses)
    v = read_comparators("dynamic_policy_regret", comparators, len(losses), trace.domain or losses.dim)
    return float(_own_losses(trace, losses).sum() - losses.policy_losses(v).sum())


@checked
def static_policy_regret(trace: Trace, losses: LossStream | None = None, domain: Domain | None = None) -> float:
    """Return the policy regret to the best fixed decision, ``sum_t f_t(w_{t-m:t}) - min_v sum_t f_t(v, ..., v)``.

    Moves are not counted. To count those of the run, at the trace's price:
    ``dynamic_regret(trace, losses, best_fixed(losses, domain))``.

    Parameters
    ----------
    trace : Trace
        A run.
    losses : LossStream, optional
        The losses; those that were played when left out.
    domain : Domain, optional
        Where the fixed decision may lie; the learner's domain when left out.

    Examples
    --------
    >>> import driftwise as dw
    >>> losses = dw.TrackingLoss([[1.0], [1.0], [-0.5]])
    >>> trace = dw.play(dw.OGD(dw.Ball(1), step=0.5), losses)
    >>> dw.regret.static_policy_regret(trace)
    0.65625
    """
    losses = read_run("static_policy_regret", trace, losses)
    fixed = best_fixed(losses, run_domain("static_policy_regret", trace, domain))
    return float(_own_losses(trace, losses).sum() - losses.unary_losses(fixed[None]).sum())


@checked
def dynamic_regret(
    trace: Trace, losses: LossStream, comparators: ArrayLike, switching_cost: Price = None, norm: float = 2.0
) -> float:
    """Return ``sum_t f~_t(w_t) - sum_t f~_t(v_t) + lambda sum_t |w_t - w_{t-1}|``: regret with switching cost.

    The measure that the guarantees bound: the run pays for its movement, the comparators do not (their path length
    appears in the bound instead).

    Parameters
    ----------
    trace : Trace
        A run.
    losses : LossStream
        The losses by which both are judged.
    comparators : array of shape (T, d) or (d,)
        v_1, ..., v_T in the learner's domain.
    switching_cost : float or MoveCost, optional
        lambda, or prices up and down, per coordinate; that of the trace when left out. With 0 moves do not
        count.
    norm : float, default 2.0
        Order of the norm in which the run's movement is priced by a number; 1 for experts.

    Examples
    --------
    >>> import driftwise as dw
    >>> losses = dw.TrackingLoss([[1.0], [1.0], [-1.0]])
    >>> trace = dw.play(dw.OGD(dw.Ball(1), step=0.5), losses, switching_cost=2.0)
    >>> dw.regret.dynamic_regret(trace, losses, [[1.0], [1.0], [-1.0]])
    3.65625
    """
    return float(_over_time("dynamic_regret", trace, losses, comparators, switching_cost, norm)[-1])


@checked
def regret_over_time(
    trace: Trace, losses: LossStream, comparators: ArrayLike, switching_cost: Price = None, norm: float = 2.0
) -> Array:
    """Return the regret with switching cost of the first t rounds, for every t; parameters as in `dynamic_regret`.

    Parameters
    ----------
    trace, losses, comparators, switching_cost, norm
        As in `dynamic_regret`.

    Returns
    -------
    array of shape (T,)

    Examples
    --------
    >>> import driftwise as dw
    >>> targets = [[1.0], [1.0], [-1.0]]
    >>> trace = dw.play(dw.OGD(dw.Ball(1), step=0.5), dw.TrackingLoss(targets), switching_cost=2.0)
    >>> dw.regret.regret_over_time(trace, trace.stream, targets)
    array([0.5    , 1.625  , 3.65625])
    """
    return _over_time("regret_over_time", trace, losses, comparators, switching_cost, norm)


def _over_time(
    owner: str, trace: Trace, losses: LossStream, comparators: ArrayLike, switching_cost: Price, norm: float
) -> Array:
    losses = read_run(owner, trace, losses)
    v = read_comparators(owner, comparators, len(losses), trace.domain or losses.dim)
    price = trace.price if switching_cost is None else move_cost_for(owner, switching_cost, losses.dim)
    order = _order(owner, norm)
    if price.plain is None and order != 2.0:
        raise ParameterError(f"{owner}: norm goes with a price that is a number; {price!r} has a norm of its own.")
    moves = price.along(trace.decisions, step_lengths(trace.decisions, order))
    rounds = losses.unary_losses(trace.decisions) - losses.unary_losses(v) + moves
    return np.asarray(np.cumsum(rounds))


def _own_losses(trace: Trace, losses: LossStream) -> Array:
    return trace.losses if losses is vars(trace).get("stream") else losses.policy_losses(trace.decisions)


def _order(owner: str, norm: float) -> float:
    if norm == np.inf:
        return float(norm)
    order = number(owner, "norm", norm)
    if order < 1.0:
        raise ParameterError(f"{owner}: norm must be at least 1 (2 for Euclidean, 1 for experts), got {norm}.")
    return order
