"""What sequences of decisions cost, round by round, and the reading of losses, domains and comparators."""

import numpy as np
from numpy.typing import ArrayLike

from driftwise._validate import Array, array, describe, instance, loose
from driftwise.domains import Domain
from driftwise.errors import InputError
from driftwise.losses import LossStream
from driftwise.movecost import MoveCost
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


def run_domain(owner: str, trace: Trace, domain: Domain | None) -> Domain:
    """Return the domain that was given, or else that of the run's learner."""
    found = trace.domain if domain is None else domain
    if found is None:
        known = "learner" in vars(trace)
        why = "a committee has no domain of its own" if known else "the trace was read without its learner"
        raise InputError(f"{owner}: {why}, so give domain=, such as Box([0.0], [1.0]).")
    return found


def read_comparators(owner: str, comparators: ArrayLike, rounds: int, where: Domain | int) -> Array:
    """Return comparators as (T, d), all of them in the domain, or of so many coordinates.

    A single decision is held for all rounds; T numbers are a sequence of one coordinate; what has decisions (the
    hindsight optimum, another run) stands for them.
    """
    if isinstance(comparators, LossStream):
        raise InputError(
            f"{owner}: comparators must be decisions, such as best_fixed(losses, domain), got losses, {comparators!r}."
        )
    comparators = getattr(comparators, "decisions", comparators)
    given = np.atleast_1d(loose(owner, "comparators", comparators))
    dim = where.dim if isinstance(where, Domain) else where
    if given.shape == (dim,):
        v = np.tile(array(owner, "comparators", given, (dim,)), (rounds, 1))
    elif given.shape == (rounds, dim) or (dim == 1 and given.shape == (rounds,)):
        v = array(owner, "comparators", given.reshape(rounds, -1), (rounds, dim))
    else:
        raise InputError(
            f"{owner}: comparators must be finite real numbers of shape ({rounds}, {dim}), or ({dim},) for one "
            f"decision that is held, got {describe(comparators)}."
        )
    if isinstance(where, Domain) and not where.contains(v):
        outside = next(t for t in range(rounds) if not where.contains(v[t]))
        raise InputError(
            f"{owner}: comparators must lie in {where!r}, but that of round {outside}, "
            f"{np.array2string(v[outside], threshold=6)}, does not; domain.project(comparators) brings them in."
        )
    return v


def total_cost(losses: LossStream, decisions: Array, cost: MoveCost) -> float:
    """Return what decisions cost in all: their losses and the price of their moves."""
    return float(losses.policy_losses(decisions).sum() + cost.along(decisions).sum())


def step_lengths(decisions: Array, norm: float = 2.0) -> Array:
    """Return ``|w_t - w_{t-1}|`` for every round, 0 in the first."""
    return np.asarray(np.linalg.norm(np.diff(decisions, axis=0, prepend=decisions[:1]), ord=norm, axis=1))
