"""What is assumed of losses that are a user's own functions, looked for in the run.

Built-in losses are convex, and their constants follow from their data. Of other losses a theorem can only be told. But
all that its proof uses of them is a handful of inequalities at the decisions and the comparators of the run, and these
can be looked at, round by round:

- *convexity*: ``f~_t(v_t) >= f~_t(w_t) + <g_t, v_t - w_t>``;
- *gradient bound*: ``|g_t| <= G``;
- *memory*: going from (w_t, ..., w_t) to (w_{t-m}, ..., w_t), one decision after the other, changes the loss by no more
  than L_k |w_{t-k} - w_t| for the decision of k rounds ago; and the same for the comparators.

If they hold in every round, the theorem holds for the run, whatever the functions do elsewhere. The inequality of
convexity is also looked at from the comparator to the decision, gradients at the comparators too, and slopes from w_t
to v_t in every decision of the window: the proof does not use them, but a wrong function or constant shows there first.
"""

from typing import NamedTuple

import numpy as np

from driftwise._validate import Array
from driftwise.domains import Domain
from driftwise.errors import ParameterError
from driftwise.losses import LossStream

ROUNDING = 1e-10
"""Part of the size of losses that a difference between them may be off by."""

SLACK = 1.0 + 1e-9
"""A constant is exceeded when something is more than this times as large."""


class Slopes(NamedTuple):
    """What was seen of the slopes of losses with memory."""

    used: float
    """Steepest slope as a part of the constant that was given for it; at most 1 if none is exceeded."""
    breach: str
    """Words for the worst breach; empty if there is none."""


def convexity_breach(losses: LossStream, decisions: Array, comparators: Array) -> str:
    """Return words for the round that contradicts convexity most, by its own size; empty if none does."""
    places = {"decision": decisions, "comparator": comparators}
    values = {name: losses.unary_losses(rows) for name, rows in places.items()}
    worst, words = 0.0, ""
    for here, there in (("decision", "comparator"), ("comparator", "decision")):
        away = places[there] - places[here]
        promised = np.einsum("td,td->t", losses.unary_gradients(places[here]), away)
        below = values[here] + promised - values[there]
        beyond = below - ROUNDING * (np.abs(values[here]) + np.abs(values[there]) + np.abs(promised))
        t = int(np.argmax(beyond))
        if beyond[t] > worst:
            worst = float(beyond[t])
            words = (
                f"not so in round {t}: at the {there} the loss is {below[t]:.6g} below what its value and gradient at "
                f"the {here} promise"
            )
    return words


def gradient_breach(losses: LossStream, domain: Domain, decisions: Array, comparators: Array) -> str:
    """Return words for the round whose gradient exceeds the bound that the losses state; empty if none does."""
    try:
        bound = losses.gradient_bound(domain)
    except ParameterError:  # none is stated
        return ""
    lengths = [np.linalg.norm(losses.unary_gradients(rows), axis=1) for rows in (decisions, comparators)]
    which, t = np.unravel_index(np.argmax(lengths), (2, len(losses)))
    found = float(lengths[which][t])
    if found <= bound * SLACK:
        return ""
    where = ("decision", "comparator")[int(which)]
    return f"the losses were given one of {bound:.6g}, and at the {where} of round {t} it is {found:.6g}"


def memory_slopes(losses: LossStream, constants: Array, decisions: Array, comparators: Array) -> Slopes:
    """Compare the slopes of losses with memory with the constants that they state for every age of a decision."""
    worst, breach = 0.0, ""
    for t in range(len(losses)):
        here, there = decisions[t], comparators[t]
        ages = np.maximum(t - np.arange(losses.memory + 1), 0)
        across = np.tile(there, (ages.size, 1))
        for start, ends in ((here, decisions[ages]), (there, comparators[ages]), (here, across)):
            changed, apart = _one_by_one(losses, t, start, ends)
            with np.errstate(divide="ignore", invalid="ignore"):
                part = np.where(changed > 0.0, changed / (apart * constants), 0.0)
            k = int(np.argmax(part))
            if part[k] > max(worst, SLACK):
                breach = (
                    f"in round {t} the loss changes by {changed[k] / apart[k]:.6g} per unit of the decision of {k} "
                    f"rounds ago, and the Lipschitz constant given for it is {constants[k]:.6g}"
                )
            worst = max(worst, float(part[k]))
    return Slopes(worst, breach)


def _one_by_one(losses: LossStream, t: int, start: Array, ends: Array) -> tuple[Array, Array]:
    """Replace a decision that was held by others, one age after the other: how the loss changes, and how far each is.

    Changes within rounding are 0.
    """
    count = len(ends)
    window = np.tile(start, (count, 1))
    values = np.empty(count + 1)
    values[0] = losses.value(t, window)
    for k in range(count):
        window[count - 1 - k] = ends[k]
        values[k + 1] = losses.value(t, window)
    changed = np.abs(np.diff(values))
    changed[changed <= ROUNDING * np.abs(values).max()] = 0.0
    return changed, np.linalg.norm(ends - start, axis=1)
