"""How pairs of member and mover go, and what they learn from losses, compiled.

A pair stands at a point w of its own and looks at its member's proposal u. Movers ask what staying has cost since the
pair last moved, and how much the losses bend along the way, which nobody has told the committee. So that is estimated
for each member, from the losses of all of its pairs::

    staying = max(staying + loss(w) - loss(u), 0)
    gain    = 2 max(sum of loss(w) - loss(u), 0) / (sum of |w - u|^2)  |way|^2

If losses are squared and proposals are right, this is ``way' S way``. Where being at the proposal has been worth
nothing it is 0, and `Prox` stays. A mover is the number `Mover.tau`, as in ``driftwise.pairs.moving``; nobody waits, as
nobody knows how much nearer to the truth a member will be after one more round.
"""

import math

from driftwise._compile import brief, helper
from driftwise._memory import Array, Pointer, at, part, whole_at
from driftwise.engine.prices import move_price
from driftwise.learners.committee import layout as slot


@helper
def squared_distance(a: Pointer, b: Pointer, d: int) -> float:
    """Return the squared Euclidean distance of two points."""
    total = 0.0
    for k in range(d):
        total += (b[k] - a[k]) * (b[k] - a[k])
    return total


@helper
def share_of(tau: float, price: float, gain: float, staying: float, horizon: float) -> float:
    """Return what part of the way to go: what `Follow`, `Prox` and `SkiRental` say."""
    if tau == math.inf:
        return 1.0
    if tau < 0.0:
        return 1.0 if staying >= -tau * price else 0.0
    worth = (tau if tau > 0.0 else horizon) * gain
    if worth > 0.0:
        return 1.0 - min(1.0, price / worth)
    return 1.0 if price == 0.0 else 0.0


@helper
def bend_of(known: Pointer) -> float:
    """Return the curvature in units of squared distance, of what was paid beyond a proposal and at which distances."""
    return 2.0 * known[0] / known[1] if known[0] > 0.0 and known[1] > 0.0 else 0.0


@brief
def move_pairs(committee: Array, tau: Array, known: Array, staying: Array, shares: Array) -> None:
    """Turn the rows of pairs that are awake, on entry their members' proposals, into the points where they go.

    `known` has a row for each member; `shares` has what movers in Python said, and is below 0 where there is none.
    """
    c = part(committee, 0)
    d, movers, seen, prices = whole_at(c, slot.DIM), tau.size, at(c, slot.SEEN), at(c, slot.PRICES)
    for j in range(whole_at(c, slot.MEMBERS)):
        if at(c, slot.PRIOR)[j] > -math.inf and seen[j] > 0.0:
            here, there = part(at(c, slot.KEPT), j * d), part(at(c, slot.ROWS), j * d)
            share, away = shares[j], False
            for k in range(d):
                away = away or there[k] != here[k]
            if share < 0.0:
                price = move_price(here, there, 1, prices, d, c[slot.ADDS_UP] > 0.0)
                gain = bend_of(part(known, 2 * (j // movers))) * squared_distance(here, there, d)
                share = share_of(tau[j % movers], price, gain, staying[j], c[slot.ROUNDS] + 2.0)
            if away and share > 0.0:
                staying[j] = 0.0
            if share < 1.0:
                for k in range(d):
                    there[k] = here[k] + share * (there[k] - here[k])


@brief
def learn_pairs(committee: Array, proposals: Array, proposed: Array, known: Array, staying: Array, paid: Array) -> None:
    """Take in what the proposals would have cost, and what the points of the pairs cost, `paid`."""
    c = part(committee, 0)
    d, movers = whole_at(c, slot.DIM), staying.size // proposed.size
    for j in range(whole_at(c, slot.MEMBERS)):
        if at(c, slot.PRIOR)[j] > -math.inf:
            i = j // movers
            beyond = paid[j] - proposed[i]
            staying[j] = max(staying[j] + beyond, 0.0)
            known[i, 0] += beyond
            known[i, 1] += squared_distance(part(at(c, slot.KEPT), j * d), part(proposals, i * d), d)
