"""Records of runs as tables, one row a round: to and from pandas, polars and parquet files.

`columns` maps arrays to named columns and back, and checks them; `frames` holds what is particular to pandas and
polars, `files` to parquet; `record` gives a class of records its methods.
"""

from driftwise._frames.columns import Part, flatten, gather
from driftwise._frames.files import MAX_BYTES
from driftwise._frames.record import Record
from driftwise._frames.table import Table

__all__ = ["MAX_BYTES", "Part", "Record", "Table", "flatten", "gather"]
