"""Load what was saved: learners, committees, controllers, fleets and traces, from a file or from bytes.

Saving is a method of each of them, ``save(path)`` or ``to_bytes()``. A checkpoint is one safetensors file with a digest
over everything (see `driftwise._container`), read without pickle, and what is loaded goes on bit for bit.
"""

import importlib
import math
import os
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from driftwise._container import unpack
from driftwise._files import read_limited
from driftwise._saving import CLASSES, SCHEMA, Reader
from driftwise._validate import checked
from driftwise.errors import CheckpointError, DriftwiseError, InputError, ParameterError

Migration = Callable[[dict[str, Any], dict[str, NDArray[Any]]], dict[str, Any]]


def _with_missing(tree: Any) -> Any:
    """Return a tree in which everything that acts has had feedback in every round, as it must have had in schema 1."""
    if isinstance(tree, list):
        return [_with_missing(part) for part in tree]
    if not isinstance(tree, dict):
        return tree
    tree = {name: _with_missing(part) for name, part in tree.items()}
    state = tree.get("state")
    if isinstance(state, dict) and "round" in state:
        state["missing"] = None
    if tree.get("!") == "dict" and {"round", "acted"} <= {name for name, _ in tree["is"] if isinstance(name, str)}:
        tree["is"].append(["missing", None])
    return tree


def _clipping_state(known: NDArray[Any]) -> NDArray[Any]:
    """Return the state of an ensemble with the four numbers on clipping that schema 1 did not have.

    What was never clipped counts as gradients of the usual size in all rounds. Only self-tuned rounds have such a size.
    """
    updates, seen, squares = known[1], known[9], known[10]
    usual = math.sqrt(squares / updates) if seen > 0.0 and squares > 0.0 and updates > 0.0 else 0.0
    counted = updates if usual > 0.0 else 0.0
    return np.concatenate([known[:16], [counted, usual, usual, 0.0], known[16:]])


def _with_clipping(tree: Any, arrays: dict[str, NDArray[Any]]) -> None:
    """Bring the state of every ensemble in a tree up to date, in the table of arrays."""
    if isinstance(tree, list):
        for part in tree:
            _with_clipping(part, arrays)
    elif isinstance(tree, dict):
        parts = dict(tree["is"]) if tree.get("!") == "dict" else tree
        if {"known", "twins"} <= parts.keys():
            name = parts["known"]["is"]
            if arrays[name].dtype != np.float64 or arrays[name].ndim != 1 or arrays[name].size < 16:
                raise CheckpointError(f"the state of an ensemble, {name}, is too short.")
            arrays[name] = _clipping_state(arrays[name])
        else:
            for part in tree.values():
                _with_clipping(part, arrays)


def _from_1(header: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> dict[str, Any]:
    """Add the rounds that went without feedback, of which schema 1 had none, and what clipping knows."""
    _with_clipping(header["what"], arrays)
    return {**header, "schema": 2, "what": _with_missing(header["what"])}


MIGRATIONS: dict[int, Migration] = {1: _from_1}
"""For each older schema, what turns header and arrays of it into those of the next schema."""


@checked
def load(path: "str | os.PathLike[str]", *, classes: Sequence[type] = ()) -> Any:
    """Load what ``save(path)`` has written.

    A file that is damaged, cut short, or no checkpoint at all raises `CheckpointError`, and one that cannot be read
    `StorageError`. Loading runs no code that stands in the file: there is none. It is no protection against a file
    whose author wishes you ill and has made a digest that fits: that can hold any numbers that the checks let pass,
    such as a badly tuned learner.

    Parameters
    ----------
    path : str or path
        The file.
    classes : sequence of types, optional
        Classes of your own that are in the file. Those of driftwise are found without.

    Returns
    -------
    Learner, Committee, Controller, Fleet or Trace
        As it was when it was saved. A file that ``FrozenPolicy.save`` has written is read as such.

    Examples
    --------
    >>> import os, tempfile
    >>> import driftwise as dw
    >>> learner = dw.SelfTunedScream(dw.Ball(2), switching_cost=1.0)
    >>> for _ in range(3):
    ...     w = learner.act()
    ...     learner.observe([1.0, -0.5])
    >>> path = os.path.join(tempfile.mkdtemp(), "learner.safetensors")
    >>> learner.save(path)
    >>> again = dw.load(path)
    >>> again.round, bool((again.act() == learner.act()).all())
    (3, True)
    """
    data = read_limited("load", path)
    if data.lstrip()[:1] == b"{":
        return _frozen(path)
    return _read(f"load: {os.fspath(path)}", data, classes)


@checked
def from_bytes(data: bytes, *, classes: Sequence[type] = ()) -> Any:
    """Return what ``to_bytes()`` was called on, as it was then.

    Parameters
    ----------
    data : bytes
        A checkpoint.
    classes : sequence of types, optional
        As in `load`.

    Examples
    --------
    >>> import driftwise as dw
    >>> learner = dw.OGD(dw.Ball(1), step=0.5)
    >>> w = learner.act()
    >>> learner.observe([1.0])
    >>> dw.from_bytes(learner.to_bytes()).act()
    array([-0.5])
    """
    if not isinstance(data, bytes | bytearray | memoryview):
        raise InputError(f"from_bytes: data must be bytes, as to_bytes() returns them, got {type(data).__name__}.")
    return _read("from_bytes", bytes(data), classes)


def _frozen(path: "str | os.PathLike[str]") -> Any:
    """Return the policy that ``FrozenPolicy.save`` has written, which is a text of its own kind."""
    from driftwise.control import FrozenPolicy

    try:
        return FrozenPolicy.load(path)
    except InputError as error:
        raise CheckpointError(f"load: {error}") from None


def _read(owner: str, data: bytes, classes: Sequence[type]) -> Any:
    if isinstance(classes, type) or not all(isinstance(cls, type) for cls in classes):
        raise ParameterError(f"{owner}: classes must be a sequence of classes, such as [MyLearner], got {classes!r}.")
    header, arrays = unpack(owner, data)
    try:
        tree = up_to_date(owner, header, arrays)["what"]
        if not isinstance(tree, dict) or tree.get("!") != "object":
            raise CheckpointError(f"{owner}: the file holds no object.")
        return Reader(owner, arrays, len(data), classes, _find).whole(tree)
    except CheckpointError:
        raise
    except MemoryError:
        raise CheckpointError(f"{owner}: what the file describes does not fit in memory.") from None
    except (DriftwiseError, KeyError, TypeError, ValueError, AttributeError, IndexError, OverflowError) as error:
        raise CheckpointError(
            f"{owner}: the file is whole, but what it describes is not possible: {type(error).__name__}: {error}"
        ) from error
    except RecursionError:
        raise CheckpointError(f"{owner}: the file has objects in objects, too deep to be read.") from None


def up_to_date(owner: str, header: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> dict[str, Any]:
    """Return a header of any schema so far as one of the present schema; arrays are brought up to date in place."""
    schema = header.get("schema")
    if not isinstance(schema, int) or schema > SCHEMA or schema < 1:
        raise CheckpointError(
            f"{owner}: the file has schema {schema!r}, written by driftwise {header.get('driftwise')}; this version "
            f"reads schemas up to {SCHEMA}. Install a newer version of driftwise."
        )
    while schema < SCHEMA:
        header, schema = MIGRATIONS[schema](header, arrays), schema + 1
    return header


def _find(name: str) -> type | None:
    """Return a class of driftwise by its name in files."""
    if name not in CLASSES:
        importlib.import_module("driftwise.fleet" if name.startswith("fleet.") else "driftwise.control")
    return CLASSES.get(name)
