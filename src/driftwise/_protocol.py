"""The protocol that learners, committees and controllers share: act, then observe, round after round."""

import copy
import math
import os
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, ClassVar, Self, TypedDict

import numpy as np

from driftwise._container import pack
from driftwise._files import write_atomically
from driftwise._html import Bar, Card, Shown
from driftwise._saving import Writer, header_of
from driftwise._settings import Fixed
from driftwise._validate import choice, whole
from driftwise.errors import CheckpointError, HorizonError, InputError, OrderError

ON_BAD_INPUT = ("raise", "skip")
"""What to do about input that is refused."""

NOTHING: Mapping[Any, Any] = MappingProxyType({})
"""Stands for a table without entries."""


NONE_MISSING: Mapping[str, Any] = MappingProxyType(
    {"skipped": 0, "refused": 0, "owed": [], "open": {}, "standing": None}
)
"""What is saved of rounds that went wrong, where none did."""


class BadInput(TypedDict, total=False):
    """What every constructor takes about input that is refused; `Actor` explains it."""

    on_bad_input: str


class Rounds(BadInput, total=False):
    """What constructors of learners take about rounds that go wrong; `Actor` explains each."""

    late: int


class Actor(Fixed, Shown):
    """Base class of everything that acts and then observes, once a round each: order, horizon, copies.

    Parameters
    ----------
    horizon : int, optional
        Number of rounds it is made for; None for any number.
    on_bad_input : {"raise", "skip"}, default "raise"
        What to do about feedback that is refused, such as NaN or a wrong shape. "raise": an `InputError`, and nothing
        has changed. "skip": the round ends without feedback, as with `skip`, and `refused` counts it.
    late : int, default 0
        How many rounds late feedback may come, by ``observe(..., round=k)``.
    """

    state_names: ClassVar[tuple[str, ...] | None] = None
    """Names of the attributes that change from round to round, which are saved; a class of your own gives them."""
    _begun_with = frozenset({"_round"})
    _skipped = 0  # here until the first is counted: most objects never need them
    _passed = 0
    _owed: Mapping[int, Any] = NOTHING
    """What was played in each round within the window that ended without feedback."""
    _open: Mapping[str, Any] = NOTHING
    """What belongs to a round that is not over, and is in the way of most: its price, feedback that waits, ..."""
    _standing: Any = None
    """What the next decision is to be made of if nothing is learnt before it, after a round without feedback."""
    _act, _observe = "act()", "observe(...)"  # the two verbs as messages show them

    def __init__(self, horizon: int | None = None, *, on_bad_input: str = "raise", late: int = 0) -> None:
        self.horizon = None if horizon is None else whole(type(self).__name__, "horizon", horizon)
        self._set_rules(on_bad_input, late)
        self._round = 0
        self._limit = math.inf if self.horizon is None else self.horizon
        self._acted: Any = None

    def _set_rules(self, on_bad_input: str, late: int) -> None:
        """Keep what to do about rounds that go wrong; called while it is built."""
        self.on_bad_input = choice(type(self).__name__, "on_bad_input", on_bad_input, ON_BAD_INPUT)
        self.late = whole(type(self).__name__, "late", late, low=0)

    def _card(self) -> Card:
        state = "waits for feedback" if self._acted is not None else "ready to act"
        rows = [*self._facts(), ("round", f"{self.round}, {state}")]
        if self.horizon is not None:
            rows.append(("horizon", f"{self.horizon}"))
        rows += [(name, f"{count}") for name in ("skipped", "refused") if (count := getattr(self, name))]
        heading, bars = self._in_charge()
        return Card(type(self).__name__, rows, heading, bars)

    def _facts(self) -> list[tuple[str, str]]:
        """Return what it was built with, in words, for its card."""
        price = getattr(self, "switching_cost", None)
        return [] if price is None else [("switching cost", f"{price}")]

    def _in_charge(self) -> tuple[str, list[Bar]]:
        """Return what is mixed, the heaviest first, and a heading."""
        return "", []

    @property
    def round(self) -> int:
        """Number of rounds that are over: those observed, and those that were skipped."""
        return self._round

    @property
    def skipped(self) -> int:
        """Number of rounds that ended without feedback, and have had none since."""
        return self._skipped

    @property
    def refused(self) -> int:
        """Number of inputs that were refused and passed over, where `on_bad_input` is "skip"."""
        return self._passed

    def skip(self) -> None:
        """End the round without feedback: nothing is learnt, and the next decision is the same."""
        if self._acted is None:
            raise self._too_early("skip")
        self._end_without()

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
        if "_open" in state:
            self._close(state.pop("_open"))

    def _close(self, held: Mapping[str, Any]) -> None:
        """Learn what came late while the round was open."""
        for what in held.get("waiting", ()):
            try:
                self._learn_late(what)
            except InputError:  # it was looked at when it came, but some things show only now
                self.__dict__.update(_passed=self._passed + 1, _skipped=self._skipped + 1)

    def _put_by(self, name: str, what: Any) -> None:
        """Keep something until the round is over."""
        self.__dict__.setdefault("_open", {})[name] = what

    def _end_without(self) -> None:
        """Count a round without feedback, and wait for `act` again."""
        state = self.__dict__
        if self.late:
            first = self._round + 1 - self.late
            state["_owed"] = {k: what for k, what in self._owed.items() if k >= first} | {self._round: self._played()}
        self._let_go()
        state["_skipped"] = self._skipped + 1
        self._end_round()

    def _played(self) -> Any:
        """Return what feedback for this round will be about."""
        return self._acted

    def _let_go(self) -> None:
        """Undo what `act` did to what is known, before a round ends without feedback; for those where it did."""

    def _is_now(self, k: int, given: Any) -> bool:
        """Tell whether feedback for round k is for the present one."""
        k = whole(f"{type(self).__name__}.observe", "round", k, low=0)
        if given is None and k != self._round:
            raise InputError(f"{type(self).__name__}.observe: there is no feedback for round {k}, so nothing to say.")
        return k == self._round

    def _observe_late(self, given: Any, k: int) -> None:
        """Take in feedback for an earlier round."""
        played = self._owed_in(k)
        try:
            what = self._read_late(given, k, played)
            if self._acted is None:
                self._learn_late(what)
        except InputError as error:
            return self._refuse(error)
        state = self.__dict__
        state["_owed"] = {j: kept for j, kept in self._owed.items() if j != k}
        state["_skipped"] = self._skipped - 1
        if self._acted is not None:
            self._put_by("waiting", [*self._open.get("waiting", ()), what])
        return None

    def _owed_in(self, k: int) -> Any:
        """Return what was played in an earlier round that still has no feedback."""
        owner, now = type(self).__name__, self._round
        if k > now:
            raise OrderError(f"{owner}: feedback was given for round {k}, and this is round {now}; act first.")
        if k < now - self.late:
            window = f"from round {max(now - self.late, 0)} on" if self.late else "for the present round only"
            raise OrderError(
                f"{owner}: feedback for round {k} comes {now - k} rounds late, and with late={self.late} it is taken "
                f"{window}; leave it out, or build one with late={now - k} or more."
            )
        if k not in self._owed:
            raise OrderError(
                f"{owner}: round {k} has had its feedback, and each round has it once; a round is left open for later "
                "feedback by skip()."
            )
        return self._owed[k]

    def _read_late(self, given: Any, k: int, played: Any) -> Any:
        """Return feedback for round k, checked, in the form in which it is learnt."""
        raise OrderError(f"{type(self).__name__} takes no late feedback; give it in the round that it is for.")

    def _learn_late(self, what: Any) -> None:
        """Learn feedback of an earlier round, between two rounds."""

    def _refuse(self, error: InputError) -> None:
        """Raise what was found wrong with an input, or count it where such inputs are passed over."""
        if self.on_bad_input == "raise":
            raise error
        self.__dict__["_passed"] = self._passed + 1

    def clone(self) -> Self:
        """Return an independent copy in the same state."""
        return copy.deepcopy(self)

    def restore(self, saved: Self) -> None:
        """Go back to the state of a clone that was taken earlier; the clone can be used again.

        Parameters
        ----------
        saved : the same class
            A `clone` of this object, of an earlier round.
        """
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
        return {
            "round": self._round,
            "acted": self._acted,
            "missing": self._missing(),
            **{name: getattr(self, name) for name in names},
        }

    def _resume(self, saved: dict[str, Any]) -> None:
        """Take in a state that was saved, after checking it."""
        names = self._names_of_state()
        expect_names(type(self).__name__, saved, {"round", "acted", "missing", *names})
        self.__dict__.update({name: saved[name] for name in names})
        self._round, self._acted = whole(type(self).__name__, "round", saved["round"], low=0), saved["acted"]
        self._resume_missing(saved["missing"])

    def _missing(self) -> dict[str, Any] | None:
        """Return what is to be saved about rounds that went wrong; None if none ever did."""
        if not (self._skipped or self._passed or self._owed or self._open or self._standing is not None):
            return None
        return {
            "skipped": self._skipped,
            "refused": self._passed,
            "owed": list(self._owed.items()),
            "open": dict(self._open),
            "standing": self._standing,
        }

    def _resume_missing(self, saved: dict[str, Any] | None) -> None:
        """Take in what was saved about rounds that went wrong; the number of rounds is known."""
        if saved is None:
            return
        owner = type(self).__name__
        expect_names(owner, saved, {"skipped", "refused", "owed", "open", "standing"})
        self._skipped = whole(owner, "skipped", saved["skipped"], low=0, high=self._round)
        self._passed = whole(owner, "refused", saved["refused"], low=0)
        owed = {whole(owner, "owed", k, low=0, high=self._round): self._check_owed(what) for k, what in saved["owed"]}
        if owed:
            self._owed = owed
        if saved["open"]:
            self._open = {name: self._check_open(name, what) for name, what in saved["open"].items()}
        if saved["standing"] is not None:
            self._standing = self._check_standing(saved["standing"])

    def _check_owed(self, what: Any) -> Any:
        """Return what was played in a round that waits for feedback, checked."""
        raise CheckpointError(f"{type(self).__name__}: it keeps nothing of earlier rounds.")

    def _check_open(self, name: str, what: Any) -> Any:
        """Return what belongs to the round that is not over, checked."""
        raise CheckpointError(f"{type(self).__name__}: it keeps nothing of this name for a round: {name!r:.60}.")

    def _check_standing(self, what: Any) -> Any:
        """Return what the next decision is to be made of, checked."""
        raise CheckpointError(f"{type(self).__name__}: it makes every decision anew.")

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
            if isinstance(part, np.ndarray) and (name in ("_acted", "_standing") or not name.startswith("_")):
                part.setflags(write=False)

    def _exhausted(self) -> HorizonError:
        return HorizonError(
            f"{type(self).__name__}: all {self.horizon} rounds of its horizon have been played; build it with a larger "
            "horizon, or with horizon=None for any number of rounds."
        )

    def _too_early(self, verb: str = "observe") -> OrderError:
        return OrderError(
            f"{type(self).__name__}: {verb} was called before act in round {self.round}; call {self._act} first, once "
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
