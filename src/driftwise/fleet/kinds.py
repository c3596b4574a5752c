"""Which kind of member a learner becomes: the first that takes it."""

from collections.abc import Hashable
from typing import Any

from driftwise.errors import CheckpointError
from driftwise.fleet.cells import Cells
from driftwise.fleet.committees import Committees
from driftwise.fleet.members import Members
from driftwise.fleet.objects import Objects
from driftwise.fleet.pools import Pools

KINDS: tuple[type[Members], ...] = (Cells, Pools, Committees, Objects)
"""Every kind of member; the last one takes everybody."""


def kind_for(learner: Any) -> tuple[type[Members], Hashable]:
    """Return the kind of member that a learner becomes, and its family."""
    return next((kind, family) for kind in KINDS if (family := kind.family_of(learner)) is not None)


def kind_named(name: object) -> type[Members]:
    """Return the kind of member that a file names."""
    found = next((kind for kind in KINDS if kind.kind == name), None)
    if found is None:
        raise CheckpointError(f"Fleet: there are no members of a kind {name!r:.40}.")
    return found
