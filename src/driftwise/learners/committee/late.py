"""What a committee learns from a round whose losses come late, between two rounds.

If no later round has been judged yet, the round is played again, as if it were the present one: members are charged
their own moves as well, from the last proposals that were judged to these, pairs stay at the points where they were in
that round, and what the change of weights adds to the price of the move joins the overhead. So where all losses are
late by the same number of rounds, every move is counted, and the weights are those of a committee on time, that many
rounds later.

If a later round has been judged, its charges have counted the way past this round, and proposals are charged their
losses alone: going back would charge members for moves that nobody made.
"""

import math
from typing import NamedTuple

import numpy as np

from driftwise._validate import Array
from driftwise.learners.committee import kernels, layout
from driftwise.learners.committee.layout import Flags, Parts, begin_round, charge, keep_rows
from driftwise.learners.committee.pairs import Pairs


class Late(NamedTuple):
    """Losses of an earlier round, and what they are about."""

    round: int
    awake: Flags
    rows: Array
    """Proposals as rows."""
    points: Array | None
    """Where the pairs were, if there are any."""
    proposed: Array
    """Losses of the proposals."""
    paid: Array | None
    """Losses at the points."""

    def present(self, each: int) -> Flags:
        """Return which lanes were in play, where every member has so many."""
        return self.awake if self.points is None else np.repeat(self.awake, each)


def begin_again(vector: Array, parts: Parts, pairs: Pairs | None, late: Late, present: Flags) -> bool:
    """Put proposals and points of the round in place; return whether own moves were charged before the weights."""
    if late.points is None or pairs is None:
        begin_round(parts, present, late.rows)
        return False
    begin_round(parts, present, late.points)
    gone = (parts["kept"] != late.points).any(axis=1) & (parts["seen"] > 0.0) & present
    pairs.staying[gone] = 0.0
    return bool(kernels.announce(vector))


def end_again(vector: Array, parts: Parts, pairs: Pairs | None, late: Late, present: Flags, announced: bool) -> None:
    """Charge everybody, and leave the proposals as the last that were judged."""
    keep_rows(parts, present)
    if late.paid is not None and pairs is not None:
        pairs.learn(vector, late.rows, late.proposed, late.paid)
    charge(parts, present, late.proposed if late.paid is None else late.paid, announced)
    kernels.observe(vector)


def learn_behind(vector: Array, parts: Parts, pairs: Pairs | None, late: Late, present: Flags) -> None:
    """Charge everybody the losses alone, where a later round has been judged; who is where stays."""
    names = ("prior", "weights", "own", "charges", *(("kept",) if late.points is not None else ()))
    before = {name: parts[name].copy() for name in names}
    parts["own"][:] = 0.0
    parts["prior"][:] = np.where(present, parts["log_prior"], -math.inf)
    layout.weigh_again(vector, parts)
    if late.paid is not None and pairs is not None:
        parts["kept"][:] = late.points
        pairs.learn(vector, late.rows, late.proposed, late.paid)
    charge(parts, present, late.proposed if late.paid is None else late.paid)
    charged, vector[layout.CHARGE] = vector[layout.CHARGE], 0.0
    kernels.observe(vector)
    vector[layout.CHARGE] = charged
    for name, part in before.items():
        parts[name][:] = part
