"""The costs of many rounds in a file: each different one once, and those of one form as rows of one table.

Costs of a sequence are a new object in every round; a thousand rounds must not become a thousand parts of a file.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from driftwise._saving import expect
from driftwise.control.costs.base import Cost, DataCost
from driftwise.control.costs.saved import checked_data
from driftwise.errors import CheckpointError

ROWS = ("state", "input", "scales", "state_target", "input_target", "limits")
"""Fields of the data of one cost that become rows of a table."""


def table_of(costs: Sequence[Cost]) -> dict[str, Any]:
    """Return the costs of rounds as a list of different costs or tables of costs, and which of them each round has."""
    distinct = {id(cost): cost for cost in costs}
    groups: dict[Any, dict[Any, Cost]] = {}
    where = {}
    for key, cost in distinct.items():
        form, content = _form(cost), _content(cost)
        groups.setdefault(form, {}).setdefault(content, cost)
        where[key] = form, content
    first, places = 0, {}
    for form, members in groups.items():
        places.update({(form, content): first + k for k, content in enumerate(members)})
        first += len(members)
    index = np.array([places[where[id(cost)]] for cost in costs], np.int64)
    return {"costs": [_written(list(members.values())) for members in groups.values()], "cost_of": index}


def _form(cost: Cost) -> Any:
    """Return what costs must share to be rows of one table."""
    if not isinstance(cost, DataCost) or not cost.compiled or cost.data.stage.size > 1 or len(cost.data.scales) > 1:
        return id(cost)
    shapes = tuple(getattr(cost.data, name).shape for name in ROWS)
    if any(shape[0] > 1 for shape in shapes):
        return id(cost)
    return type(cost), cost.data.kind, cost.data.width, shapes, cost.state_dim, cost.input_dim, cost.if_not_convex


def _content(cost: Cost) -> Any:
    """Return what is equal for equal costs of one form."""
    return tuple(getattr(cost.data, name).tobytes() for name in ROWS) if isinstance(cost, DataCost) else None


def _written(members: list[Cost]) -> Any:
    """Return costs of one form: one as it is, and several as the first one and a table."""
    if len(members) == 1:
        return members[0]
    data = [cost.data for cost in members if isinstance(cost, DataCost)]
    return [members[0], {name: np.concatenate([getattr(each, name) for each in data]) for name in ROWS}]


def rows_of(owner: str, saved: dict[str, Any], rounds: int) -> list[Cost]:
    """Return the cost of every round, as `table_of` has written them."""
    costs: list[Cost] = []
    for each in saved["costs"]:
        like, table = each if isinstance(each, list) else (each, None)
        if not isinstance(like, Cost):
            raise CheckpointError(f"{owner}: a cost was expected, not {like!r:.60}.")
        costs.append(like)
        if table is not None:
            costs += _read(owner, like, table)
    index = saved["cost_of"]
    fits = isinstance(index, np.ndarray) and index.shape == (rounds,) and index.dtype == np.int64
    expect(owner, "costs", {"numbers": fits and 0 <= index.min() <= index.max() < len(costs)})
    return [costs[k] for k in index.tolist()]


def _read(owner: str, like: Cost, table: dict[str, Any]) -> list[Cost]:
    """Return the costs of a table but the first, which is `like`."""
    if not isinstance(like, DataCost) or table.keys() != set(ROWS):
        raise CheckpointError(f"{owner}: a table is for costs that are data, with {', '.join(ROWS)}.")
    data = like.data._replace(stage=np.zeros(1, np.int64), **table)
    checked_data(owner, like.data.kind, data, (like.state_dim, like.input_dim))
    n = len(data.state)
    expect(owner, "a table", {"rows": n == len(data.scales)})
    found: list[Cost] = []
    for k in range(1, n):
        row: dict[str, Any] = {name: part[k : k + 1] if part.size else part for name, part in table.items()}
        found.append(like.with_data(data._replace(**row)))
    return found
