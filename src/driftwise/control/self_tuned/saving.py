"""What is saved of a pool of members, and what a pool that comes from a file must be, before kernels read it.

All of a pool is written, and only what changes from round to round is read: sizes, the models, the preview and the
tables are those of the pool that is made for the model in use.
"""

from typing import Any

import numpy as np

from driftwise._saving import expect
from driftwise._validate import Array
from driftwise.control.controllers.saving import are_counts
from driftwise.control.self_tuned import pool as slot
from driftwise.control.self_tuned.pool import POOL, Sides
from driftwise.domains import SpectralBalls
from driftwise.errors import CheckpointError

COUNTS = (
    slot.ROUNDS, slot.HEARD, slot.SELECTED, slot.WANTED, slot.JUDGED, slot.STORY, slot.WILD, slot.CHANGED, slot.SINCE,
    slot.RELIEF,
)  # fmt: skip
"""Numbers of the header that count something, or are the number of a model."""

FLAGS = (slot.STARTED, slot.LOOKING, slot.FORGET)

SIZES = (slot.GAP, slot.SQUARES, slot.ENERGY, slot.ORDINARY, slot.COUNTED, slot.DOUBT, slot.BEFORE)
"""Numbers of the header that say how large something is; DOUBT may be infinite."""

CHANGING = (*COUNTS, *FLAGS, *SIZES)

NUMBERS = (
    "best_lead", "tilt", "tail", "mixture", "totals", "pending", "policies", "states", "extras", "inputs", "features",
    "free", "recent", "held", "regressions", "given_at", "filters", "queue", "seen", "sums", "story",
)  # fmt: skip
"""Parts that change from round to round, of any numbers,"""

SQUARED = ("weights", "norms", "spreads", "cuts", "errors")
"""and of numbers that are at least 0."""


def model_in(owner: str, saved: Any, models: int) -> int:
    """Return the number of the model that a pool was made for."""
    number = saved[slot.SELECTED] if isinstance(saved, np.ndarray) and saved.size > slot.HEADER else np.nan
    if number not in range(models):
        raise CheckpointError(f"{owner}: there is no model with the number {number}.")
    return int(number)


def resume_pool(owner: str, pool: Array, saved: Any, sides: Sides, domain: SpectralBalls) -> None:
    """Write what was saved of a pool into a new one for the same model, after checking it."""
    size = int(pool[slot.ROOM_AT])
    if not isinstance(saved, np.ndarray) or saved.dtype != np.float64 or saved.shape != (size,):
        raise CheckpointError(f"{owner}: members of {size} numbers were expected.")
    given, parts = POOL.views(POOL.with_room(saved, sides), sides), POOL.views(pool, sides)
    sizes = [each for each in CHANGING if each != slot.DOUBT]
    numbers = np.concatenate([saved[sizes], *(given[name].ravel() for name in (*NUMBERS, *SQUARED))])
    count, prior, weights = sides["count"], given["prior"], given["weights"]
    widths = np.linalg.norm(given["policies"].reshape(-1, *domain.shape), 2, axis=(2, 3)) if sides["dim"] else None
    expect(
        owner,
        "members",
        {
            "numbers": np.isfinite(numbers).all(),
            "counts": are_counts(saved[list(COUNTS)]),
            "models": max(saved[slot.SELECTED], saved[slot.WANTED]) < sides["candidates"],
            "flags": np.isin(saved[list(FLAGS)], (0.0, 1.0)).all(),
            "sizes": np.all(saved[list(SIZES)] >= 0.0) and saved[slot.COUNTED] <= 1.0,
            "squares": all(np.all(given[name] >= 0.0) for name in SQUARED),
            "prior": np.isfinite(prior[:count]).all() and np.all(prior[count:] == -np.inf),
            "weights": abs(weights.sum() - 1.0) <= 1e-9 and not weights[count:].any(),
            "policies": widths is None or np.all(widths <= domain.radii * (1.0 + 1e-9)),
        },
    )
    pool[list(CHANGING)] = saved[list(CHANGING)]
    for name in (*NUMBERS, *SQUARED, "prior"):
        parts[name][...] = given[name]
