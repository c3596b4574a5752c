"""The protocol that learners, committees and controllers share: act, then observe, round after round."""

import copy
import math
import os
from typing import Any, ClassVar, Self

import numpy as np

from driftwise._container import pack
from driftwise._files import write_atomically
from driftwise._saving import Writer, header_of
from driftwise._settings import Fixed
from driftwise._validate import whole
from driftwise.errors import CheckpointError, HorizonError, OrderError


class Actor(Fixed):
    """Base class of everything that acts and then observes, once a round each: order, horizon, copies.

    Parameters
    ----------
    horizon : int, optional
        Number of rounds it is made for; None for any number.
    """

    state_names: ClassVar[tuple[str, ...] | None] = None
    """Names of the attributes that change from round to round, which are saved; a class of your own gives them."""
    _begun_with = frozenset({"_round"})
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

    def to_bytes(self) -> bytes:
        """Return a checkpoint: what it was built with and what it knows, without pickle, with a digest.

        `driftwise.from_bytes` makes of it, in any process, one that goes on bit for bit as this one does. It may be
        taken in the middle of a round. A class of your own takes part by naming its attributes in `state_names`.
        """
        return b"".join(self._checkpoint("to_bytes"))

    def save(self, path: "str | os.PathLike[str]") -> None:
        """Write a checkpoint to a file, which `driftwise.load` reads.

        Whatever happens meanwhile, the file is the one before or the new one: it is written beside, brought to the
        disk, and then renamed.

        Parameters
        ----------
        path : str or path
            The file; one that exists is replaced.
        """
        write_atomically(f"{type(self).__name__}.save", path, *self._checkpoint("save"))

    def _checkpoint(self, verb: str) -> list[bytes | memoryview]:
        writer = Writer(f"{type(self).__name__}.{verb}")
        return pack(header_of(self, writer), writer.arrays)

    def _saved(self) -> dict[str, Any]:
        """Return the state by name: all that a new object with the same configuration does not know."""
        names = self._names_of_state()
        return {"round": self._round, "acted": self._acted, **{name: getattr(self, name) for name in names}}

    def _resume(self, saved: dict[str, Any]) -> None:
        """Take in a state that was saved, after checking it."""
        names = self._names_of_state()
        expect_names(type(self).__name__, saved, {"round", "acted", *names})
        self.__dict__.update({name: saved[name] for name in names})
        self._round, self._acted = whole(type(self).__name__, "round", saved["round"], low=0), saved["acted"]

    def _names_of_state(self) -> tuple[str, ...]:
        if self.state_names is None:
            raise CheckpointError(
                f"{type(self).__name__}: to be saved, it must say what changes from round to round: give the class "
                "state_names = (...), the names of these attributes, or () if there are none."
            )
        return self.state_names

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


def expect_names(owner: str, saved: dict[str, Any], names: set[str]) -> None:
    """Raise unless a saved state has these names and no others."""
    if saved.keys() != names:
        raise CheckpointError(f"{owner}: a saved state has {sorted(names)}, this one {sorted(saved)}.")
