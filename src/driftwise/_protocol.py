"""The protocol that learners, committees and controllers share: act, then observe, round after round."""

import copy
import difflib
import math
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from driftwise._validate import Checked, whole
from driftwise.errors import FrozenError, HorizonError, OrderError


class _Fixed:
    """A setting: assigned while its owner is built, only read afterwards.

    There is no `__get__`, so that reading it is reading an ordinary attribute.
    """

    def __init__(self, name: str) -> None:
        self.name = name

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

    Subclasses outside driftwise may be given any other attribute, at no more than the cost of a plain assignment.
    """

    def __init__(cls, name: str, bases: tuple[type, ...], space: dict[str, Any]) -> None:
        super().__init__(name, bases, space)
        if not cls.__module__.startswith("driftwise."):
            if cls.__setattr__ is Actor.__setattr__:  # type: ignore[comparison-overlap]
                cls.__setattr__ = object.__setattr__  # type: ignore[assignment]
        elif "__init__" in space:
            for argument in cls.__signature__.parameters:
                if not hasattr(cls, argument):
                    setattr(cls, argument, _Fixed(argument))

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        """Build an object, and fix its settings."""
        built = super().__call__(*args, **kwargs)
        built.__dict__["_built"] = True
        return built


class Actor(metaclass=Configured):
    """Base class of everything that acts and then observes, once a round each: order, horizon, copies.

    Parameters
    ----------
    horizon : int, optional
        Number of rounds it is made for; None for any number.
    """

    _act, _observe = "act()", "observe(...)"  # the two verbs as messages show them

    def __init__(self, horizon: int | None = None) -> None:
        self.horizon = None if horizon is None else whole(type(self).__name__, "horizon", horizon)
        self._round = 0
        self._limit = math.inf if self.horizon is None else self.horizon
        self._acted: Any = None

    @property
    def round(self) -> int:
        """Number of rounds observed so far."""
        return self._round

    def expect_act(self) -> None:
        """Raise unless `act` is what comes next: there are rounds left, and `observe` is not due."""
        if self._acted is not None:
            raise self._acts_again("a run to begin")
        if self._round >= self._limit:
            raise self._exhausted()

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

    def _end_round(self) -> None:
        """Count the round, and wait for `act` again."""
        state = self.__dict__  # the verbs write here directly: `__setattr__` would slow down every round
        state["_round"] += 1
        state["_acted"] = None

    def clone(self) -> Self:
        """Return an independent copy in the same state."""
        return copy.deepcopy(self)

    def restore(self, saved: Self) -> None:
        """Go back to the state of a clone that was taken earlier; the clone can be used again."""
        for name in self.__dict__.keys() - saved.__dict__.keys():
            del self.__dict__[name]
        self.__setstate__(saved.clone().__getstate__())  # type: ignore[arg-type]

    def __copy__(self) -> Self:
        """Return a deep copy: a shallow one would share the state and corrupt both."""
        return self.clone()

    def __setstate__(self, saved: dict[str, Any]) -> None:
        """Continue after copying or unpickling, where numpy forgets which arrays are read-only."""
        self.__dict__.update(saved)
        for name, part in saved.items():
            if isinstance(part, np.ndarray) and (name == "_acted" or not name.startswith("_")):
                part.setflags(write=False)

    def _exhausted(self) -> HorizonError:
        return HorizonError(
            f"{type(self).__name__}: all {self.horizon} rounds of its horizon have been played; build it with a larger "
            "horizon, or with horizon=None for any number of rounds."
        )

    def _too_early(self) -> OrderError:
        return OrderError(
            f"{type(self).__name__}: observe was called before act in round {self.round}; call {self._act} first, once "
            "a round."
        )

    def _acts_again(self, given: str) -> OrderError:
        return OrderError(
            f"{type(self).__name__}: act was called again before observe in round {self.round}, with {given}; call "
            f"{self._observe} once after every {self._act}."
        )
