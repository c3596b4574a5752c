"""Settings that cannot be changed: what an object was built with can be read, and not assigned."""

import difflib
from typing import TYPE_CHECKING, Any

from driftwise._saving import Given, savable, snapshot
from driftwise._validate import Checked, taken_apart
from driftwise.errors import ArgumentError, CheckpointError, FrozenError

PLAIN = (bool, int, float, str, type(None))
"""Types of settings that are kept as they were given."""


class _Setting:
    """A setting: assigned while its owner is built, only read afterwards."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __get__(self, owner: Any, kind: type | None = None) -> Any:
        if owner is None:
            return self
        if self.name in owner.__dict__:
            return owner.__dict__[self.name]
        raise AttributeError(f"{type(owner).__name__}: the {self.name} that it was built with is not kept.")

    def __set__(self, owner: Any, value: Any) -> None:
        if "_built" in owner.__dict__:
            raise self._refusal(owner)
        owner.__dict__[self.name] = value

    def __delete__(self, owner: Any) -> None:
        raise self._refusal(owner)

    def _refusal(self, owner: Any) -> FrozenError:
        kind = type(owner).__name__
        return FrozenError(
            f"{kind}: {self.name} is fixed when a {kind} is built, and cannot be changed afterwards; build a new one "
            f"with the {self.name} that you want."
        )


class Configured(Checked):
    """Metaclass of classes whose settings, the arguments of driftwise's own constructors, cannot be assigned later.

    Settings that a constructor does not keep are kept as they were given if they are plain values. Subclasses outside
    driftwise may be given any other attribute, at no more than the cost of a plain assignment.
    """

    _begun_with: frozenset[str]
    _for_all: tuple[str, ...]
    _remembers: bool

    def __init__(cls, name: str, bases: tuple[type, ...], space: dict[str, Any]) -> None:
        super().__init__(name, bases, space)
        if not cls.__module__.startswith("driftwise."):
            if cls.__setattr__ is Fixed.__setattr__:  # type: ignore[comparison-overlap]
                cls.__setattr__ = object.__setattr__  # type: ignore[assignment]
            return
        savable(cls)
        if "__init__" in space:
            for argument in cls.__signature__.parameters:
                if not hasattr(cls, argument):
                    setattr(cls, argument, _Setting(argument))

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        """Build an object, and fix its settings."""
        built, given = cls._made(args, kwargs)
        known = built.__dict__
        if not known.keys() >= cls._begun_with:
            raise ArgumentError(f"{cls.__name__}: its __init__ does not call super().__init__(...); that comes first.")
        apart = {name: kwargs[name] for name in taken_apart(cls) if name in kwargs}
        if apart:
            built._set_rules(**{name: getattr(built, name) for name in cls._for_all} | apart)
        given.apply_defaults()
        for name, value in given.arguments.items():
            if name not in known and isinstance(value, PLAIN) and isinstance(getattr(cls, name, None), _Setting):
                known[name] = value
        if cls._remembers:
            known["_arguments"] = Given(snapshot(given.arguments))
        known["_built"] = True
        return built


class Fixed(metaclass=Configured):
    """Base class of objects whose settings cannot be assigned once they are built."""

    _begun_with: frozenset[str] = frozenset()
    """Attributes that the constructor of a base class sets; without them, a subclass has not called it."""
    _for_all: tuple[str, ...] = ()
    """Options of a base class that subclasses take too, whether or not their own constructors name them."""
    _remembers = True
    """Whether the arguments of the constructor are kept, so that the object can be saved; not where they are large."""

    def _configuration(self) -> dict[str, Any]:
        """Return the arguments of the constructor that build this object again."""
        given = self.__dict__.get("_arguments")
        if given is None:
            raise CheckpointError(
                f"{type(self).__name__}: this one was not made by its constructor, so it cannot be saved."
            )
        return given  # type: ignore[no-any-return]

    if not TYPE_CHECKING:  # type checkers take a class with this method to have every attribute

        def __setattr__(self, name: str, value: Any) -> None:
            """Refuse a public name that a class of driftwise does not have: most likely it is misspelt."""
            known = self.__dict__
            if name[0] != "_" and "_built" in known and name not in known and not hasattr(type(self), name):
                kind = type(self).__name__
                near = difflib.get_close_matches(name, [word for word in dir(self) if word[0] != "_"], 1)
                hint = f" Did you mean {near[0]}?" if near else ""
                raise FrozenError(f"{kind}: a {kind} has no attribute {name!r}, and cannot be given one.{hint}")
            object.__setattr__(self, name, value)
