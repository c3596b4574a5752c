"""What a user may ask of a self-tuned controller: margins to keep, and a policy to begin with."""

import numpy as np

from driftwise._validate import Array, number, whole
from driftwise.control.frozen import Margins
from driftwise.control.frozen.margins import MOST_DELAY
from driftwise.control.policies.model import Model

CHECKS = 25
"""Rounds from one look at the margins to the next."""

Floor = dict[str, float]
"""Margins to keep, as `margin_share` takes them."""


def read_floor(owner: str, delay: int | None, gain: float | None, phase: float | None) -> Floor:
    """Return the margins that were asked for."""
    floor: Floor = {}
    if delay is not None:
        floor["min_delay"] = whole(owner, "min_delay_margin", delay, low=1, high=MOST_DELAY)
    if gain is not None:
        floor["min_gain_up"] = number(owner, "min_gain_margin", gain, low=1.0, exclusive=True)
    if phase is not None:
        floor["min_phase"] = number(owner, "min_phase_margin", phase, low=0.0, exclusive=True)
    return floor


def shortfalls(margins: Margins, floor: Floor) -> str:
    """Say which of the margins that were asked for are missed; empty if none is."""
    least = margins.least()
    found = {"min_delay": least.delay, "min_gain_up": least.gain_up, "min_phase": least.phase}
    names = {"min_delay": "a delay of {:g} samples", "min_gain_up": "a gain of {:g}", "min_phase": "{:g} degrees"}
    return " and ".join(names[name].format(least) for name, least in floor.items() if not found[name] >= least)


def around(model: Model, M: Array) -> Array:
    """Return the policy around the best gain that does what M does around the gain in use, on the model.

    With Z_1 = [1, 0] and Z_{k+1} = (A - B own) Z_k + B M[k], it is S[k] = M[k] - (own - K) Z_k.
    """
    n, out = M.shape[2], np.empty_like(M)
    Z = np.eye(len(model.A))[:, :n]
    for k, row in enumerate(M):
        out[k] = row - (model.own - model.K) @ Z
        Z = (model.A - model.B @ model.own) @ Z + model.B @ row
    return out
