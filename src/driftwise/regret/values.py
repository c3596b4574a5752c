"""What sequences of decisions cost, round by round, and the reading of losses, domains and comparators."""

import numpy as np
from numpy.typing import ArrayLike

from driftwise._validate import Array, array, instance, loose
from driftwise.domains import Domain
from driftwise.errors import InputError
from driftwise.losses import LossStream
from driftwise.losses.base import DataLoss
from driftwise.regret import kernels
from driftwise.trace import Trace


def read_problem(owner: str, losses: LossStream, domain: Domain) -> None:
    """Refuse losses and a domain that do not fit together."""
    instance(owner, "losses", losses, LossStream, "SquaredLoss(features, targets)")
    instance(owner, "domain", domain, Domain, "Ball(2)")
    if losses.dim != domain.dim:
        raise InputError(f"{owner}: the losses have dim {losses.dim}, the domain is {domain!r}.")


def read_run(owner: str, trace: Trace, losses: LossStream | None) -> LossStream:
    """Return the losses to judge a run by: those given, which must fit it, or those that were played."""
    instance(owner, "trace", trace, Trace, "play(learner, losses)")
    if losses is None:
        return trace.stream
    instance(owner, "losses", losses, LossStream, "the one that was played")
    if (len(losses), losses.dim) != trace.decisions.shape:
        raise InputError(
            f"{owner}: the run has {len(trace.decisions)} rounds of {trace.decisions.shape[1]} coordinates, but the "
            f"losses are {losses!r}; give the losses that were played, trace.stream."
        )
    return losses


def read_comparators(owner: str, comparators: ArrayLike, rounds: int, domain: Domain) -> Array:
    """Return comparators as (T, d), all of them in the domain; a single decision is held for all rounds."""
    given = loose(owner, "comparators", comparators)
    if given.ndim == 1:
        v = np.tile(array(owner, "comparators", given, (domain.dim,)), (rounds, 1))
    else:
        v = array(owner, "comparators", comparators, (rounds, domain.dim))
    if not domain.contains(v):
        outside = next(t for t in range(rounds) if not domain.contains(v[t]))
        raise InputError(
            f"{owner}: comparators must lie in {domain!r}, but that of round {outside}, "
            f"{np.array2string(v[outside], threshold=6)}, does not; domain.project(comparators) brings them in."
        )
    return v


def policy_losses(losses: LossStream, decisions: Array) -> Array:
    """Return f_t(w_{t-m}, ..., w_t) for every round; before the first round the first decision stood."""
    result = np.empty(len(losses))
    if isinstance(losses, DataLoss):
        kernels.policy_values(losses.data, decisions, result)
    else:
        for t in range(len(losses)):
            window = decisions[np.maximum(np.arange(t - losses.memory, t + 1), 0)]
            result[t] = losses.value(t, window)
    return result


def unary_losses(losses: LossStream, decisions: Array) -> Array:
    """Return f~_t(w_t) for every round; a single row of decisions is held for all rounds."""
    result = np.empty(len(losses))
    if isinstance(losses, DataLoss):
        kernels.unary_values(losses.data, decisions, result)
    else:
        for t in range(len(losses)):
            result[t] = losses.unary_value(t, decisions[min(t, len(decisions) - 1)])
    return result


def unary_slopes(losses: LossStream, decisions: Array) -> Array:
    """Return the gradient of f~_t at w_t for every round; a single row of decisions is held for all rounds."""
    result = np.empty((len(losses), losses.dim))
    if isinstance(losses, DataLoss):
        kernels.unary_gradients(losses.data, decisions, result)
    else:
        for t in range(len(losses)):
            result[t] = losses.gradient(t, decisions[min(t, len(decisions) - 1)])
    return result


def step_lengths(decisions: Array, norm: float = 2.0) -> Array:
    """Return ``|w_t - w_{t-1}|`` for every round, 0 in the first."""
    return np.asarray(np.linalg.norm(np.diff(decisions, axis=0, prepend=decisions[:1]), ord=norm, axis=1))
