"""What the data of a cost that comes from a file must be, before kernels read them."""

from collections.abc import Sequence

import numpy as np

from driftwise._saving import expect
from driftwise._validate import whole
from driftwise.control.costs.kernels import QUADRATIC, SOFT, CostData
from driftwise.errors import CheckpointError


def checked_data(owner: str, kind: int, given: CostData, sizes: tuple[int | None, int | None]) -> CostData:
    """Return data that were saved, or raise unless kernels can read them as a cost of this kind and these sizes.

    Parameters
    ----------
    owner : str
        Who complains.
    kind : int
        What kind of cost it must be.
    given : CostData
        What was saved.
    sizes : tuple of int or None
        Number of states and of inputs of the cost, None for any.
    """
    arrays = [given.state, given.input, given.stage, given.scales, given.state_target, given.input_target, given.limits]
    if not all(isinstance(part, np.ndarray) for part in arrays):
        raise CheckpointError(f"{owner}: the data of a cost must be arrays.")
    n, square = len(given.state) if given.state.ndim else 0, kind in (QUADRATIC, SOFT)
    side = [part.shape[-1] if part.ndim == 3 else 0 for part in (given.state, given.input)]
    rows = [each if square else 1 for each in side]
    columns = given.limits.shape[-1] if given.limits.ndim == 3 else 0
    wide = [part.shape[-1] if part.ndim == 2 and part.size else 0 for part in given.targets]
    floats = [part for part in arrays if part is not given.stage]
    expect(
        owner,
        "a cost",
        {
            "kind": given.kind == kind,
            "width": isinstance(given.width, float) and 0.0 < given.width < np.inf,
            "numbers": all(part.dtype == np.float64 for part in floats)
            and all(np.isfinite(part).all() for part in floats[:-1])
            and not np.isnan(given.limits).any(),
            "stages": given.stage.dtype == np.int64
            and given.stage.ndim == 1
            and given.stage.size > 0
            and 0 <= given.stage.min() <= given.stage.max() < n,
            "factors": given.scales.ndim == 2 and given.scales.shape[1] == 2 and len(given.scales) > 0,
            "weights": n > 0
            and min(side) > 0
            and all(part.shape == (n, r, s) for part, r, s in zip(arrays[:2], rows, side, strict=True))
            and all(s in (1, size) for s, size in zip(side, sizes, strict=True)),
            "targets": all(
                part.shape == ((n, w) if w else (0, 0)) and w in (0, size)
                for part, w, size in zip(given.targets, wide, sizes, strict=True)
            ),
            "limits": given.limits.shape == ((n, 3, columns) if kind == SOFT else (0, 3, 0))
            and (columns in (1, sizes[0]) if kind == SOFT else True),
        },
    )
    return given


def sizes_of(owner: str, saved: Sequence[int | None]) -> tuple[int | None, int | None]:
    """Return numbers of states and of inputs that were saved, after checking them."""
    states, inputs = (None if size is None else whole(owner, "size", size) for size in saved)
    return states, inputs
