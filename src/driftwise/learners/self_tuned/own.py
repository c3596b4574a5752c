"""Estimators and movers that are written in Python: what they are shown of a round, and what they make of it."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from driftwise._validate import Array, array
from driftwise.errors import CheckpointError, ParameterError
from driftwise.estimators import Estimator, Seen
from driftwise.movers import Follow, Mover, Step
from driftwise.pairs import layout
from driftwise.pairs.layout import EACH, GRADIENT, SCORE
from driftwise.pairs.pool import Plan
from driftwise.pairs.run import slopes_at


class Shown(Follow):
    """What the kernel takes a mover in Python to be: it follows to where that mover goes."""

    def __init__(self, name: str) -> None:
        self.name = name


@dataclass
class Follower:
    """A pair whose mover is written in Python."""

    row: int
    """Its own row of the pool, which proposes where it goes."""
    source: int
    """Row of the estimator that it looks at."""
    mover: Mover
    staying: float = 0.0
    """What staying has cost beyond what the proposals have cost, since it last moved."""

    def go(self, plan: Plan, vector: Array) -> Array:
        """Return where it goes from where it is."""
        parts, lane = plan.views(vector), plan.first_lane(self.row)
        here = parts["points"][lane // 4, :, lane % 4].copy()
        way = parts["proposals"][self.source] - here
        if not way.any():
            return here
        price, gain = float(np.asarray(plan.cost(way))), curvature(plan, vector, way, self.source)
        rounds, horizon = int(vector[layout.ROUNDS]), float(parts["horizons"][self.source])
        step = Step(way, price, gain, self.staying, rounds, horizon, float(parts["gains"][self.source]))
        owner = f"{type(self.mover).__name__}.share"
        given = self.mover.share(step)
        share = float(array(owner, "what it returns", given, ()))
        if not 0.0 <= share <= 1.0:
            raise ParameterError(f"{owner}: it must return a number from 0 to 1, got {share:g}.")
        self.staying = 0.0 if share > 0.0 else self.staying
        return np.asarray(here + share * way)

    def learn(self, plan: Plan, vector: Array) -> None:
        """Count what staying has cost in the round."""
        parts, lane = plan.views(vector), plan.first_lane(self.row)
        self.staying = max(self.staying + float(parts["values"][lane] - parts["offered"][self.source]), 0.0)


def curvature(plan: Plan, vector: Array, way: Array, row: int) -> float:
    """Return the curvature of the losses along a way, as the estimator of a row takes it to be."""
    parts, d = plan.views(vector), plan.domain.dim
    if plan.kind.form == EACH:
        bend = float(parts["curves"] @ way**2)
    elif plan.kind.full:
        bend = float(way @ parts["moments"].reshape(d, d) @ way) * vector[layout.CURVE]
    else:
        bend = float(parts["moments"] @ way**2) * vector[layout.CURVE]
    return float(max(bend, 0.0) * parts["bends"][row])


def seen_in(plan: Plan, vector: Array, terms: Array | None) -> Seen:
    """Return the round that was learnt from last, as estimators see it; `terms` are those of its loss."""
    parts, d, kind = plan.views(vector), plan.domain.dim, plan.kind
    score = kind.form == SCORE

    def slope(z: Any) -> Any:
        if terms is None:
            raise ParameterError(f"Seen.slope: nothing is known of {kind.name} but its slope at the decision.")
        scores = array("Seen.slope", "z", np.atleast_1d(z), (1 if score else d,))
        slopes = np.empty(scores.size)
        slopes_at(vector, terms, scores, slopes)
        return float(slopes[0]) if score else slopes

    plain = kind.form == GRADIENT
    return Seen(
        kind,
        int(vector[layout.ROUNDS]) - 1,
        parts["decision"].copy(),
        parts["targets"][: 1 if score else d].copy(),
        parts["x"][:d].copy(),
        parts["tangent"][:d].copy(),
        parts["scales"].copy(),
        parts["scales" if plain else "sizes"].copy(),
        median=float(np.median(parts["scales"]) if plain else vector[layout.CURVE] * vector[layout.MEDIAN]),
        curve=float(vector[layout.CURVE]),
        intercept=float(parts["x"][d]) if score else 0.0,
        slope=slope,
        price=plan.cost,
    )


def saved_state(one: Estimator) -> dict[str, Any]:
    """Return what an estimator that is written in Python knows, by name."""
    return {name: getattr(one, name) for name in _names(one)}


def resume_state(one: Estimator, saved: dict[str, Any]) -> None:
    """Let an estimator that is written in Python know what was saved."""
    if saved.keys() != set(_names(one)):
        raise CheckpointError(f"{type(one).__name__}: a saved state has {sorted(_names(one))}, got {sorted(saved)}.")
    one.__dict__.update(saved)


def _names(one: Estimator) -> tuple[str, ...]:
    if one.state_names is None:
        raise CheckpointError(
            f"{type(one).__name__}: to be saved, an estimator in Python must say what changes from round to round: "
            "give the class state_names = (...), the names of these attributes, or () if there are none."
        )
    return one.state_names


def proposal_of(one: Estimator, plan: Plan) -> Array | None:
    """Return what an estimator proposes, checked and put into the domain; None if it has no opinion."""
    given: Any = one.propose()
    if given is None:
        return None
    owner = f"{type(one).__name__}.propose"
    return plan.domain.project(array(owner, "what it returns", given, (plan.domain.dim,), copy=True))
