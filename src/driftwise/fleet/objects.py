"""Members as objects, one after another: learners that driftwise has no struct of arrays for, such as your own.

They have the same verbs as all others, and a plain Python loop. A round is tried on copies, which take the place of
the members once everybody has accepted it, so that a refusal leaves all of them as they were.
"""

from collections.abc import Callable, Hashable
from typing import Any, Self

import numpy as np

from driftwise._validate import Array, Indices
from driftwise.errors import CheckpointError, InputError
from driftwise.fleet.feedback import Feedback, Flags
from driftwise.fleet.members import Lesson, Members, Runner, Standing
from driftwise.fleet.source import Source
from driftwise.learners import Committee, Learner


class Objects(Members):
    """Members of any kind, as the objects they are."""

    kind = "objects"

    def __init__(self, pattern: Any) -> None:
        self.family = self.family_of(pattern)
        self.held: list[Any] = []

    def __len__(self) -> int:
        return len(self.held)

    @classmethod
    def family_of(cls, learner: Any) -> Hashable:
        return cls.kind

    def append(self, source: Source) -> None:
        self.held += [source.learner(i) for i in range(source.which.size)]

    def keep(self, rows: Indices) -> None:
        self.held = [self.held[row] for row in rows.tolist()]

    def learner(self, row: int, standing: Standing) -> Any:
        """Return a copy of a member."""
        learner = self.held[row].clone()
        if standing.refused:
            learner.__dict__["_passed"] = standing.refused
        return learner

    def decide(self, rows: Indices) -> Array:
        """Return the decisions of some members."""
        held = [self.held[row] for row in rows.tolist()]
        return np.array([_decision(one) if isinstance(one, Committee) else one.act() for one in held], np.float64)

    def propose(self, rows: Indices, proposals: Any, places: Indices) -> "tuple[Array, Callable[[], None]]":
        """Let copies of committees act, and return what they decide."""
        trials = [self.held[row].clone() for row in rows.tolist()]
        decisions = [trial.act(proposals[place]) for trial, place in zip(trials, places.tolist(), strict=True)]

        def commit() -> None:
            for row, trial in zip(rows.tolist(), trials, strict=True):
                self.held[row] = trial

        return np.array(decisions, np.float64), commit

    def learn(self, rows: Indices, feedback: Feedback, places: Indices, run: Runner) -> Lesson:
        trials: dict[int, Any] = {}
        refused, why = np.zeros(rows.size, bool), ""
        for k, (row, place) in enumerate(zip(rows.tolist(), places.tolist(), strict=True)):
            if feedback.absent[place]:
                continue
            trial = self.held[row].clone()
            try:
                trial.observe(feedback.item(place))
                trials[k] = trial
                refused[k] = trial.refused > self.held[row].refused  # it passes over such feedback by itself
            except InputError as error:
                refused[k], why = True, why or str(error)

        def commit(skipped: Flags, decisions: Array, where: Indices) -> bool:
            for k, row in enumerate(rows.tolist()):
                if k in trials:
                    self.held[row] = trials[k]
            self.skip(np.array([row for k, row in enumerate(rows.tolist()) if k not in trials], np.int64))
            return False

        return Lesson(refused, why, commit)

    def skip(self, rows: Indices) -> list[tuple[int, Any]]:
        """End the round of some members without feedback."""
        for row in rows.tolist():
            self.held[row].skip()
        return []

    def clone(self) -> Self:
        other = type(self)(None)
        other.held = [member.clone() for member in self.held]
        return other

    @property
    def patterns(self) -> list[Any]:
        return self.held

    @property
    def nbytes(self) -> int:
        return sum(_size(vars(member)) for member in self.held)

    def saved(self) -> dict[str, Any]:
        return {"members": self.held}

    @classmethod
    def resumed(cls, saved: dict[str, Any]) -> "Objects":
        block = cls(None)
        block.held = saved["members"]
        if not all(isinstance(member, Learner | Committee) for member in block.held):
            raise CheckpointError("Fleet: its members must be learners or committees.")
        return block


def _decision(committee: Committee) -> Any:
    """Return what a committee has decided; before it has, numbers of the right shape."""
    now = committee._acted
    return np.zeros(committee._shape or ()) if now is None else now.decision


def _size(what: Any, deep: int = 6) -> int:
    """Return about how many bytes an object and the arrays inside it take."""
    if isinstance(what, np.ndarray):
        return what.nbytes if what.base is None else 0
    if deep > 0 and isinstance(what, dict):
        return sum(_size(part, deep - 1) for part in what.values())
    if deep > 0 and isinstance(what, list | tuple):
        return sum(_size(part, deep - 1) for part in what)
    return 64
