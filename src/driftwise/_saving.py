"""What is saved of an object, as JSON and named arrays: what it was built with, and what it has become since.

An object of driftwise is written down as its class and the arguments of its constructor, and built again by calling
that constructor, so that everything is checked as it was the first time. Learners, committees, controllers and fleets
add their *state*, whatever changes from round to round. No code is written, none is read, and nothing is imported by
a name that stands in a file: classes are looked up in a table of driftwise's own, and of those the caller names.
"""

import dataclasses
import functools
import inspect
import math
from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from driftwise._container import can_be_saved
from driftwise.errors import CheckpointError

C = TypeVar("C", bound=type)

CLASSES: dict[str, type] = {}
"""Every class of driftwise that can be in a file, by name."""

SCHEMA = 2
"""Version of what stands in a file; a file of an older one is brought up to date when it is read."""

GENERATORS = ("PCG64", "PCG64DXSM", "MT19937", "Philox", "SFC64")

SIDES = frozenset({"dim", "n", "memory", "state_dim", "input_dim", "size", "shape", "period", "order"})
"""Arguments that say how much memory an object takes: none can be larger than the file that it is in."""

DEEPEST = 64
"""Most levels of objects in objects."""


def title(cls: type) -> str:
    """Return the name of a class in files: the room of the house and its own name, or for others the full path."""
    parts = cls.__module__.split(".")
    if parts[0] != "driftwise":
        return f"{cls.__module__}:{cls.__qualname__}"
    return f"{parts[1]}.{cls.__qualname__}"


def savable(cls: C) -> C:
    """Enter a class in the table: a dataclass, a named tuple, or a class that keeps its constructor's arguments."""
    CLASSES[title(cls)] = cls
    return cls


class Given(dict[str, Any]):
    """The arguments that an object was built with; nobody changes them, so copies share them."""

    def __copy__(self) -> "Given":
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> "Given":
        return self


class Anew(NamedTuple):
    """An object that is saved as it was when it was built: by the arguments of its constructor, without its state."""

    of: Any


def snapshot(value: Any) -> Any:
    """Return an argument such that later changes of what was given do not show."""
    if type(value) is np.ndarray:
        return value.copy()
    if type(value) in (list, tuple):
        return type(value)(snapshot(part) for part in value)
    if type(value) is dict:
        return {name: snapshot(part) for name, part in value.items()}
    return value


class Writer:
    """Turns objects into a tree of plain JSON and a table of arrays."""

    def __init__(self, owner: str) -> None:
        self.owner = owner
        self.arrays: dict[str, NDArray[Any]] = {}

    def write(self, value: Any, path: str) -> Any:
        """Return a value as JSON; its arrays are entered in the table under names that begin with `path`."""
        if value is None or isinstance(value, bool | str):
            return value
        if isinstance(value, int | np.integer) and not isinstance(value, np.bool_):
            return int(value)
        if isinstance(value, float | np.floating):
            return float(value) if math.isfinite(value) else {"!": "float", "is": str(float(value))}
        if isinstance(value, np.bool_):
            return bool(value)
        if isinstance(value, np.ndarray):
            return self._array(value, path)
        if isinstance(value, list):
            return [self.write(part, f"{path}.{i}") for i, part in enumerate(value)]
        if type(value) is tuple:
            return {"!": "tuple", "is": [self.write(part, f"{path}.{i}") for i, part in enumerate(value)]}
        if isinstance(value, dict):
            pairs = enumerate(value.items())
            return {
                "!": "dict",
                "is": [[self.write(k, f"{path}.{i}k"), self.write(v, f"{path}.{i}")] for i, (k, v) in pairs],
            }
        if isinstance(value, np.random.Generator):
            return self._generator(value, path)
        if isinstance(value, type):
            return self._class(value, path)
        if isinstance(value, functools.partial):
            given = [self.write(list(value.args), f"{path}.args"), self.write(value.keywords, f"{path}.keywords")]
            return {"!": "partial", "of": self.write(value.func, path), "is": given}
        return self._object(value, path)

    def _class(self, cls: type, path: str) -> Any:
        """Return a class as JSON, such as one that a controller makes others of: it is found by its name."""
        if cls.__module__.split(".")[0] == "driftwise" and CLASSES.get(title(cls)) is not cls:
            raise CheckpointError(f"{self.owner}: {path} is the class {cls.__name__}, which cannot be saved.")
        return {"!": "class", "is": title(cls)}

    def _array(self, value: NDArray[Any], path: str) -> Any:
        if not can_be_saved(value):
            raise CheckpointError(f"{self.owner}: {path} is an array of {value.dtype}, and only numbers can be saved.")
        name = path if path not in self.arrays else f"{path}.{len(self.arrays)}"
        self.arrays[name] = value
        return {"!": "array", "is": name} if value.flags.writeable else {"!": "array", "is": name, "fixed": True}

    def _generator(self, value: np.random.Generator, path: str) -> Any:
        kind = type(value.bit_generator).__name__
        if kind not in GENERATORS:
            raise CheckpointError(f"{self.owner}: {path} draws from a {kind}; use one of {', '.join(GENERATORS)}.")
        return {"!": "generator", "kind": kind, "is": self.write(_plain(value.bit_generator.state), path)}

    def _object(self, value: Any, path: str) -> Any:
        anew = isinstance(value, Anew)
        value = value.of if anew else value
        cls = type(value)
        known: dict[str, Any] = {"!": "object", "class": title(cls)}
        if CLASSES.get(title(cls)) is cls or cls.__module__.split(".")[0] != "driftwise":
            if dataclasses.is_dataclass(value):
                fields = {field.name: getattr(value, field.name) for field in dataclasses.fields(value) if field.init}
                return {**known, "with": self._parts(fields, path)}
            if isinstance(value, tuple) and hasattr(value, "_asdict"):
                return {**known, "with": self._parts(value._asdict(), path)}
            configuration = getattr(value, "_configuration", None)
            if configuration is not None and not isinstance(value, type):
                known["with"] = self._parts(configuration(), path)
                saved = getattr(value, "_saved", None)
                state = None if saved is None or anew else saved()
                if state is not None:
                    known["state"] = self._parts(state, path)
                return known
        raise CheckpointError(
            f"{self.owner}: {path} is a {cls.__name__}, which cannot be saved: only numbers, arrays, and objects of "
            "driftwise or of classes derived from these can; a function is code, and code is never in a file."
        )

    def _parts(self, parts: Mapping[str, Any], path: str) -> dict[str, Any]:
        return {name: self.write(part, f"{path}.{name}" if path else name) for name, part in parts.items()}


def header_of(what: Any, writer: Writer) -> dict[str, Any]:
    """Return the header of a checkpoint; arrays are entered in the writer's table."""
    return {"schema": SCHEMA, "driftwise": import_module("driftwise").__version__, "what": writer.write(what, "")}


class Reader:
    """Builds objects from what a `Writer` has written.

    Parameters
    ----------
    owner : str
        Who complains.
    arrays : mapping
        The arrays of the file by name.
    size : int
        Length of the file: nothing in it can be larger.
    classes : iterable of types
        Classes outside driftwise that may be in the file.
    find : callable
        Looks up a class of driftwise that is not in the table yet.
    """

    def __init__(
        self,
        owner: str,
        arrays: Mapping[str, NDArray[Any]],
        size: int,
        classes: Iterable[type] = (),
        find: Callable[[str], type | None] = CLASSES.get,
    ) -> None:
        self.owner, self.arrays, self.size = owner, dict(arrays), size
        self.classes = {title(cls): cls for cls in classes}
        self.find = find
        self.depth = 0

    def read(self, tree: Any) -> Any:
        """Return the value that a tree stands for."""
        if isinstance(tree, list):
            return [self.read(part) for part in tree]
        if not isinstance(tree, dict):
            return tree
        kind = tree.get("!")
        if kind == "object":
            return self._object(tree)
        held = tree["is"]
        if kind == "class":
            return self._class(held)
        if kind == "partial":
            args, keywords = self.read(held[0]), self.read(held[1])
            for name in SIDES & keywords.keys():
                self._check_side(name, keywords[name])
            return functools.partial(self.read(tree["of"]), *args, **keywords)
        if kind == "array":
            part = self.arrays.pop(held)  # each is used once: two objects must not share state
            part.setflags(write="fixed" not in tree)
            return part
        if kind == "float":
            return float(held)
        if kind == "tuple":
            return tuple(self.read(part) for part in held)
        if kind == "dict":
            return {self.read(key): self.read(part) for key, part in held}
        if kind == "generator":
            return self._generator(tree["kind"], self.read(held))
        raise CheckpointError(f"{self.owner}: the file has a part of an unknown kind, {kind!r}.")

    def whole(self, tree: Any) -> Any:
        """Return the value that the whole file stands for: all its arrays must be used."""
        value = self.read(tree)
        if self.arrays:
            raise CheckpointError(
                f"{self.owner}: the file has arrays that belong to nothing: {sorted(self.arrays)[:3]}."
            )
        return value

    def _generator(self, kind: str, state: dict[str, Any]) -> np.random.Generator:
        if kind not in GENERATORS:
            raise CheckpointError(f"{self.owner}: the file has a generator of an unknown kind, {kind!r}.")
        generator = np.random.Generator(getattr(np.random, kind)(0))
        generator.bit_generator.state = state
        return generator

    def _class(self, name: str) -> type:
        cls = self.classes.get(name) or self.find(name)
        if cls is None:
            raise CheckpointError(
                f"{self.owner}: the file has a {name}, which is no class of this version of driftwise. For a class of "
                "your own, give it by classes=[...]."
            )
        return cls

    def _object(self, tree: dict[str, Any]) -> Any:
        cls, given = self._class(tree["class"]), tree["with"]
        for name in SIDES & given.keys():
            self._check_side(name, given[name])
        self.depth += 1
        if self.depth > DEEPEST:
            raise CheckpointError(f"{self.owner}: the file has objects in objects, more than {DEEPEST} levels deep.")
        arguments = {name: self.read(part) for name, part in given.items()}
        made = build(cls, arguments)
        if "state" in tree:
            made._resume({name: self.read(part) for name, part in tree["state"].items()})
        self.depth -= 1
        return made

    def _check_side(self, name: str, side: Any) -> None:
        sides = side["is"] if isinstance(side, dict) else side if isinstance(side, list) else [side]
        if any(isinstance(one, int) and one > self.size for one in sides):
            raise CheckpointError(f"{self.owner}: the file says {name}={side}, and is only {self.size} bytes long.")


def build(cls: type, arguments: dict[str, Any]) -> Any:
    """Call a constructor with the arguments that it was called with, by name."""
    signature = inspect.signature(cls)
    if not arguments.keys() <= signature.parameters.keys():
        raise CheckpointError(f"{cls.__name__} does not take {sorted(arguments.keys() - signature.parameters.keys())}.")
    ordered = {name: arguments[name] for name in signature.parameters if name in arguments}
    call = inspect.BoundArguments(signature, ordered)
    return cls(*call.args, **call.kwargs)


def expect(owner: str, what: str, possible: Mapping[str, Any]) -> None:
    """Raise unless all of a state is possible; `possible` says so by the name of each of its parts."""
    wrong = [name for name, fine in possible.items() if not fine]
    if wrong:
        raise CheckpointError(f"{owner}: {what} with such {', '.join(wrong)} is not possible.")


def _plain(state: Any) -> Any:
    """Return the state of a generator, which has numbers of any length, as JSON can hold it."""
    return {name: _plain(part) for name, part in state.items()} if isinstance(state, dict) else state
