"""What sequences of decisions cost, round by round, and the reading of losses, domains and comparators."""

import numpy as np
from numpy.typing import ArrayLike

from driftwise._validate import Array, array, describe, instance, loose
from driftwise.domains import Domain
from driftwise.errors import InputError
from driftwise.losses import LossStream
from driftwise.losses.base import DataLoss, window
from driftwise.losses.kernels import LossData
from driftwise.optimum import kernels
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
    """Return comparators as (T, d), all of them in the domain.

    A single decision is held for all rounds; T numbers are a sequence of one coordinate; what has decisions (the
    hindsight optimum, another run) stands for them.
    """
    if isinstance(comparators, LossStream):
        raise InputError(
            f"{owner}: comparators must be decisions, such as best_fixed(losses, domain), got losses, {comparators!r}."
        )
    comparators = getattr(comparators, "decisions", comparators)
    given = np.atleast_1d(loose(owner, "comparators", comparators))
    if given.shape == (domain.dim,):
        v = np.tile(array(owner, "comparators", given, (domain.dim,)), (rounds, 1))
    elif given.shape == (rounds, domain.dim) or (domain.dim == 1 and given.shape == (rounds,)):
        v = array(owner, "comparators", given.reshape(rounds, -1), (rounds, domain.dim))
    else:
        raise InputError(
            f"{owner}: comparators must be finite real numbers of shape ({rounds}, {domain.dim}), or ({domain.dim},) "
            f"for one decision that is held, got {describe(comparators)}."
        )
    if not domain.contains(v):
        outside = next(t for t in range(rounds) if not domain.contains(v[t]))
        raise InputError(
            f"{owner}: comparators must lie in {domain!r}, but that of round {outside}, "
            f"{np.array2string(v[outside], threshold=6)}, does not; domain.project(comparators) brings them in."
        )
    return v


def policy_losses(losses: LossStream, decisions: Array) -> Array:
    """Return f_t(w_{t-m}, ..., w_t) for every round; before the first round the first decision stood."""
    if isinstance(losses, DataLoss) and losses.memory == 0:
        return unary_losses(losses, decisions)  # the same, by a kernel that is needed anyway
    result = np.empty(len(losses))
    if isinstance(losses, DataLoss):
        kernels.policy_values(losses.data, decisions, result)
    else:
        for t in range(len(losses)):
            result[t] = losses.value(t, window(decisions, t, losses.memory))
    return result


def unary_losses(losses: LossStream, decisions: Array, rounds: range | None = None) -> Array:
    """Return f~_t(w_t) for every round, or for some; a single row of decisions is held for all of them."""
    rounds = range(len(losses)) if rounds is None else rounds
    result = np.empty(len(rounds))
    if isinstance(losses, DataLoss):
        kernels.unary_values(_part(losses, rounds), decisions, result)
    else:
        for row, t in enumerate(rounds):
            result[row] = losses.unary_value(t, decisions[min(row, len(decisions) - 1)])
    return result


def unary_slopes(losses: LossStream, decisions: Array, rounds: range | None = None) -> Array:
    """Return the gradient of f~_t at w_t for every round, or for some; a single row is held for all of them."""
    rounds = range(len(losses)) if rounds is None else rounds
    result = np.empty((len(rounds), losses.dim))
    if isinstance(losses, DataLoss):
        kernels.unary_gradients(_part(losses, rounds), decisions, result)
    else:
        for row, t in enumerate(rounds):
            result[row] = losses.gradient(t, decisions[min(row, len(decisions) - 1)])
    return result


def _part(losses: DataLoss, rounds: range) -> LossData:
    """Return the data of some consecutive rounds."""
    part = slice(rounds.start, rounds.stop)
    return losses.data._replace(features=losses.data.features[part], targets=losses.data.targets[part])


def step_lengths(decisions: Array, norm: float = 2.0) -> Array:
    """Return ``|w_t - w_{t-1}|`` for every round, 0 in the first."""
    return np.asarray(np.linalg.norm(np.diff(decisions, axis=0, prepend=decisions[:1]), ord=norm, axis=1))
