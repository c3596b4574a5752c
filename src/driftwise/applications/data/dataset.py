"""One series, with its title, its origin and its licence."""

from dataclasses import dataclass, replace

from driftwise._validate import Array


@dataclass(frozen=True, eq=False)
class Dataset:
    """Rows of numbers, one a round, in the order in which they were measured.

    Made by `load`.

    Attributes
    ----------
    name : str
        Key in `CATALOGUE`.
    title : str
        Name of what was measured, fit for a heading.
    values : array of shape (T, k)
        The numbers; of several columns the first is what the others forecast.
    columns : tuple of str
        Meaning of every column, with its unit.
    step : {"hour", "day"}
        Length of a round.
    source : str
        Names of those who measured it.
    licence : str
        Licence of the data; the package that ships them may have another.
    package : str or None
        Package that ships it; None if it is synthetic.
    note : str
        Caveat that a reader has to know before believing a conclusion.
    gaps : tuple of int
        Rounds without a measurement, filled with the value before.

    Examples
    --------
    >>> from driftwise.applications.data import load
    >>> series = load("synthetic-traffic")
    >>> series.title, series.step, series.values.shape, series.synthetic
    ('Synthetic demand', 'hour', (4000, 1), True)
    """

    name: str
    title: str
    values: Array
    columns: tuple[str, ...]
    step: str
    source: str
    licence: str
    package: str | None
    note: str = ""
    gaps: tuple[int, ...] = ()

    @property
    def synthetic(self) -> bool:
        """Whether it was made up."""
        return self.package is None

    @property
    def cycle(self) -> int:
        """Rounds in a day of hours, or in a week of days: after so many, things look alike."""
        return 24 if self.step == "hour" else 7

    def first(self, rounds: int) -> "Dataset":
        """Return the first rounds of it, and a title that says so; itself if it is not longer.

        Parameters
        ----------
        rounds : int
            Number of rounds to keep.
        """
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
