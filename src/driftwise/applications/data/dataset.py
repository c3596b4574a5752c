"""One series with what has to be said about it: what it is, where it comes from, and under which licence."""

from dataclasses import dataclass, replace

from driftwise._validate import Array


@dataclass(frozen=True, eq=False)
class Dataset:
    """Rows of numbers, one a round, in the order in which they were measured."""

    name: str
    """Key in `CATALOGUE`."""
    title: str
    """What was measured, fit for a heading."""
    values: Array
    """Shape (T, k); of several columns the first is what the others forecast."""
    columns: tuple[str, ...]
    """What every column is, with its unit."""
    step: str
    """What a round is: "hour" or "day"."""
    source: str
    """Who measured it."""
    licence: str
    """Of the data; that of the package which ships them may be another."""
    package: str | None
    """Which package ships it; None if it is synthetic."""
    note: str = ""
    """What a reader has to know before believing a conclusion."""
    gaps: tuple[int, ...] = ()
    """Rounds in which nothing was measured and the value before was put."""

    @property
    def synthetic(self) -> bool:
        """Whether it was made up."""
        return self.package is None

    @property
    def cycle(self) -> int:
        """Rounds in a day of hours, or in a week of days: after so many, things look alike."""
        return 24 if self.step == "hour" else 7

    def first(self, rounds: int) -> "Dataset":
        """Return the first rounds of it, and a title that says so; itself if it is not longer."""
        if len(self) <= rounds:
            return self
        return replace(
            self,
            title=f"{self.title}, first {rounds} {self.step}s",
            values=self.values[:rounds],
            gaps=tuple(t for t in self.gaps if t < rounds),
        )

    def __len__(self) -> int:
        return len(self.values)
