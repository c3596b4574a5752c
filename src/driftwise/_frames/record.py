"""What every record of a run can do: become a table, and be one that a table was made into again.

A table holds numbers. What it cannot hold, such as the learner and the losses, is given back by keyword when a record
is read; a record that was read without it works for everything else.
"""

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Self

from driftwise._frames import files, frames
from driftwise._frames.columns import Part, flatten, gather
from driftwise._frames.given import Labels
from driftwise._frames.table import Table
from driftwise._html import Shown
from driftwise._validate import Array
from driftwise.errors import ArgumentError, InputError

if TYPE_CHECKING:
    import polars

VERSION = 1
"""Version of the settings that travel with a table."""


class Record(Shown):
    """Base class of records of a run: `to_pandas`, `to_polars` and `to_parquet`, and what reading needs.

    A subclass declares its columns and what a table cannot hold, and says what goes into columns and settings.
    """

    _layout: ClassVar[tuple[Part, ...]]
    """The columns."""
    _outside: ClassVar[tuple[str, ...]]
    """Attributes that a table cannot hold; each is also the keyword to give it back by."""

    def _parts(self) -> "Mapping[str, Array | None]":
        """Return the arrays of the columns, by the names of the layout."""
        raise NotImplementedError

    def _settings(self) -> Mapping[str, Any]:
        """Return the plain values that travel with the table."""
        raise NotImplementedError

    def _attachments(self) -> Mapping[str, bytes]:
        """Return what only a file carries, by name.

        This is the place for checkpoints: ``{"learner": self.learner.to_bytes()}`` here would be in every file that
        `to_parquet` writes, under its digest, and in ``Table.attachments`` when it is read.
        """
        return {}

    def _table(self) -> Table:
        settings = {"record": type(self).__name__, "version": VERSION, **self._settings()}
        return Table(flatten(self._parts()), settings, self._attachments(), self.index)

    @property
    def _span(self) -> str:
        """The first and the last of what the rounds are called, in words; empty where they are only counted."""
        index = self.index
        if index is None or not len(index):
            return ""
        first, last = (str(index[k]).removesuffix(" 00:00:00") for k in (0, -1))
        return f", from {first} to {last}"

    @property
    def index(self) -> Labels:
        """What the rounds are called, such as dates: a pandas Index or a polars Series; None if they are only counted.

        It comes from the data that were played, or from the frame that the record was read from.
        """
        return vars(self).get("_index")

    @classmethod
    def _read(cls, owner: str, table: Table) -> "tuple[dict[str, Array | None], Mapping[str, Any]]":
        """Return the arrays and the settings of a table, if it is one of this record."""
        settings = table.settings or {}
        kind, version = settings.get("record", cls.__name__), settings.get("version", VERSION)
        if kind != cls.__name__:
            raise InputError(f"{owner}: this is the table of a {kind!r:.60}, not of a {cls.__name__}.")
        if version != VERSION:
            raise InputError(
                f"{owner}: the settings of the table are of version {version!r:.20}, and this driftwise reads version "
                f"{VERSION}; use the driftwise that wrote it, or a later one."
            )
        called = str(getattr(table.index, "name", None))
        if any(part.place(called) is not None for part in cls._layout):
            raise InputError(
                f"{owner}: the column {called} must be float64, in which a record is kept without rounding, got "
                f"{table.index.dtype}."
            )
        return gather(owner, table.columns, cls._layout), settings

    @classmethod
    def _made_of(cls, label: object, values: Mapping[str, Any], outside: Mapping[str, Any]) -> Self:
        """Return a record of these values, without what is None of those that a table cannot hold.

        The label is the name of the class of whoever made it, as the settings have it.
        """
        made = cls.__new__(cls)
        given = {name: value for name, value in outside.items() if value is not None}
        made.__dict__.update({**values, **given, "_label": str(label)[:100] if isinstance(label, str) else None})
        return made

    def _maker(self, name: str) -> str | None:
        """Return the class of the learner or controller under that attribute, by name; None where it is not known."""
        if name in vars(self):
            return type(vars(self)[name]).__name__
        label: str | None = vars(self)["_label"]
        return label

    if not TYPE_CHECKING:  # a type checker would take any attribute for granted

        def __getattr__(self, name: str) -> Any:
            """Say how to give what a record was read without; asked only for attributes that are not there."""
            kind = type(self).__name__
            if name not in self._outside:
                raise AttributeError(f"{kind!r} object has no attribute {name!r}")
            raise ArgumentError(
                f"{kind}.{name}: this record was read from a table, which cannot hold it; give it when reading, as in "
                f"{kind}.from_parquet(path, {name}=...)."
            )

    def to_pandas(self) -> Any:
        """Return the run as a pandas DataFrame, one row a round; needs the extra ``frames``.

        Values are those of the record, bit for bit, and the frame has its `index`. Plain settings travel as JSON in
        ``frame.attrs["driftwise"]``.

        Returns
        -------
        pandas.DataFrame

        Examples
        --------
        >>> import driftwise as dw
        >>> losses = dw.TrackingLoss([[1.0], [1.0], [-1.0]])
        >>> dw.play(dw.OGD(dw.Ball(1), step=0.5), losses, switching_cost=2.0).to_pandas()
           round     loss  move  move_cost   w_0
        0      0  0.50000  0.00        0.0  0.00
        1      1  0.12500  0.50        1.0  0.50
        2      2  1.53125  0.25        0.5  0.75
        """
        return frames.to_pandas(f"{type(self).__name__}.to_pandas", self._table())

    def to_polars(self) -> "polars.DataFrame":
        """Return the run as a polars DataFrame, one row a round; needs the extra ``frames``.

        Values are those of the record, bit for bit; the first column is its `index`, if that is of dates, times or
        words. A polars frame has no place for settings: give them by keyword when it is read again.

        Returns
        -------
        polars.DataFrame

        Examples
        --------
        >>> import driftwise as dw
        >>> losses = dw.TrackingLoss([[1.0], [1.0], [-1.0]])
        >>> dw.play(dw.OGD(dw.Ball(1), step=0.5), losses, switching_cost=2.0).to_polars()["w_0"].to_list()
        [0.0, 0.5, 0.75]
        """
        return frames.to_polars(f"{type(self).__name__}.to_polars", self._table())

    def to_parquet(self, path: str | os.PathLike[str]) -> None:
        """Write the run to a parquet file, one row a round; needs the extra ``frames``.

        The file is put in its place whole, or what was there stays. Its columns are those of `to_polars`. Plain
        settings travel as JSON in its metadata, with a digest of everything.

        Parameters
        ----------
        path : str or path
            The file; one that exists is replaced.

        Raises
        ------
        StorageError
            If the disk is full, or the folder is read-only or absent; what was there before is unchanged.

        Examples
        --------
        >>> import tempfile
        >>> import driftwise as dw
        >>> losses = dw.TrackingLoss([[1.0], [1.0], [-1.0]])
        >>> trace = dw.play(dw.OGD(dw.Ball(1), step=0.5), losses, switching_cost=2.0)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     trace.to_parquet(f"{folder}/run.parquet")
        ...     dw.Trace.from_parquet(f"{folder}/run.parquet")
        Trace(OGD, rounds=3, total=3.65625, loss=2.15625, switching=1.5)
        """
        files.write_parquet(f"{type(self).__name__}.to_parquet", path, self._table())
