"""One series, with its title, its origin and its licence."""

from dataclasses import dataclass, replace

from driftwise._validate import Array


@dataclass(frozen=True, eq=False)
class Dataset:
    """Rows of numbers, one a round, in the order in which they were measured."""

    name: str
    """Key in `CATALOGUE`."""
    title: str
    """Name of what was measured, fit for a heading."""
    values: Array
    """Shape (T, k); of several columns the first is what the others forecast."""
    columns: tuple[str, ...]
    """Meaning of every column, with its unit."""
    step: str
    """Length of a round: "hour" or "day"."""
    source: str
    """Names of those who measured it."""
    licence: str
    """Licence of the data; the package that ships them may have another."""
    package: str | None
    """Package that ships it; None if it is synthetic."""
    note: str = ""
    """Caveat that a reader has to know before believing a conclusion."""
    gaps: tuple[int, ...] = ()
    """Rounds without a measurement, filled with the value before."""

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
