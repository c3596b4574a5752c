"""Tables as parquet files: there whole or not at all, and read with limits and a digest.

The settings are JSON in the file's metadata under ``driftwise`` (and once more where pandas looks for the attributes of
a frame), attachments are base64 under ``driftwise.<name>``, and ``driftwise.digest`` is the SHA-256 of all of it. Files
that others wrote have no digest, and are read as well.
"""

import base64
import hashlib
import json
import os
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from driftwise._extras import optional
from driftwise._files import read_limited, write_atomically
from driftwise._frames.frames import EXTRA
from driftwise._frames.table import KEY, Table, pack, unpack
from driftwise._validate import whole
from driftwise.errors import CheckpointError, DriftwiseError, InputError

MAX_BYTES = 2**31
"""Largest file, and largest table in memory, that is read unless one asks for more."""

DIGEST = f"{KEY}.digest"
PANDAS = "PANDAS_ATTRS"
"""Where pandas keeps the attributes of a frame in a parquet file."""


def write_parquet(owner: str, path: str | os.PathLike[str], table: Table) -> None:
    """Write a table as a parquet file, whole or not at all.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = f"{folder}/table.parquet"
    ...     table = Table({"loss": np.array([1.0, 2.0])}, {"learner": "OGD"}, {"learner": b"..."})
    ...     write_parquet("example", path, table)
    ...     read_parquet("example", path)
    Table(columns={'loss': array([1., 2.])}, settings={'learner': 'OGD'}, attachments={'learner': b'...'})
    """
    arrow, parquet = optional(owner, "pyarrow", EXTRA), optional(owner, "pyarrow.parquet", EXTRA)
    settings = pack(table.settings)
    labels = _labels(arrow, table.index, list(table.columns))
    metadata = {
        KEY: settings,
        DIGEST: _digest(table.columns, settings, table.attachments, labels),
        PANDAS: json.dumps({KEY: settings}),
        # In base64, since readers in other languages take metadata for text.
        **{f"{KEY}.{name}": base64.b64encode(data).decode() for name, data in table.attachments.items()},
    }
    columns = arrow.table({**labels, **{name: arrow.array(values) for name, values in table.columns.items()}})
    sink = arrow.BufferOutputStream()
    parquet.write_table(columns.replace_schema_metadata(metadata), sink, use_dictionary=False, write_page_checksum=True)
    write_atomically(owner, path, memoryview(sink.getvalue()))


def read_parquet(owner: str, path: str | os.PathLike[str], max_bytes: int = MAX_BYTES) -> Table:
    """Return the table of a parquet file, written by `write_parquet` or by anybody else.

    Raises
    ------
    StorageError
        If the file does not exist or cannot be read.
    CheckpointError
        If it is not a parquet file, is damaged, or was changed since driftwise wrote it.
    InputError
        If the file, or the table in it, is larger than `max_bytes`, or a column is not of numbers.
    """
    arrow, parquet = optional(owner, "pyarrow", EXTRA), optional(owner, "pyarrow.parquet", EXTRA)
    limit = whole(owner, "max_bytes", max_bytes)
    data = read_limited(owner, path, limit)
    name = os.fspath(path)
    try:
        file = parquet.ParquetFile(
            arrow.BufferReader(data),
            page_checksum_verification=True,
            thrift_string_size_limit=len(data),
            thrift_container_size_limit=len(data),
        )
        _check_size(owner, name, file.metadata, limit)
        # One thread: a damaged file is to be refused, not to be fast.
        read = file.read(use_threads=False)
        metadata = {key.decode(): value for key, value in (file.metadata.metadata or {}).items()}
        names = read.schema.names
        if len(set(names)) < len(names):
            raise InputError(f"{owner}: {name} has two columns of one name; drop one of them.")
        words = [key for key in names if _is_label(arrow, read.schema.field(key).type)]
        labels = {words[0]: read.column(words[0])} if len(words) == 1 else {}
        columns = {key: _numbers(owner, arrow, key, read.column(key)) for key in names if key not in labels}
        # Looked for in the bytes too: damage can hide the metadata as a whole.
        return _verified(owner, name, columns, labels, metadata, ours=DIGEST.encode() in data)
    except DriftwiseError:
        raise
    except MemoryError:
        raise InputError(f"{owner}: {name} does not fit into memory; give a smaller file.") from None
    except Exception as error:  # whatever pyarrow raises for bytes that are not what they should be
        reason = " ".join(str(error).split())[:200]
        raise CheckpointError(
            f"{owner}: {name} is not a parquet file, or is damaged ({type(error).__name__}: {reason}). Nothing was "
            "read; give a file that to_parquet wrote."
        ) from None


def _check_size(owner: str, name: str, metadata: Any, limit: int) -> None:
    """Refuse a table that would be too large in memory: a few bytes of a file can stand for billions of rows."""
    # Of a group only, not of its columns: to ask pyarrow for damaged metadata of a column ends the process.
    told = sum(metadata.row_group(number).total_byte_size for number in range(metadata.num_row_groups))
    size = max(8 * metadata.num_rows * metadata.num_columns, told)
    if size > limit:
        raise InputError(
            f"{owner}: {name} holds {metadata.num_rows} rows of {metadata.num_columns} columns, {size} bytes in "
            f"memory, and at most {limit} are read; if that is right, give max_bytes={size}."
        )


def _numbers(owner: str, arrow: Any, name: str, column: Any) -> NDArray[Any]:
    """Return a column of numbers without gaps."""
    column.validate(full=True)
    if column.null_count:
        raise InputError(f"{owner}: the column {name!r:.60} has {column.null_count} missing values; a record has none.")
    if not (arrow.types.is_integer(column.type) or arrow.types.is_floating(column.type)):
        raise InputError(f"{owner}: the column {name!r:.60} must be float64, got {column.type!s:.60}.")
    return np.asarray(column.to_numpy())


def _is_label(arrow: Any, kind: Any) -> bool:
    """Tell whether values of a type can be what rows are called: dates, times or words."""
    kind = kind.value_type if arrow.types.is_dictionary(kind) else kind
    text = arrow.types.is_string(kind) or arrow.types.is_large_string(kind) or arrow.types.is_string_view(kind)
    return bool(arrow.types.is_temporal(kind) or text)


def _labels(arrow: Any, index: Any, taken: list[str]) -> dict[str, Any]:
    """Return what rows are called as an arrow column by its name; none where they are counted, or have several levels.

    As in a polars frame, numbers are left out: they could not be told from the columns of the table.
    """
    if index is None or getattr(index, "nlevels", 1) > 1:
        return {}
    if hasattr(index, "start_time"):  # periods, which only pandas can read
        index = index.start_time.rename(index.name)
    try:
        values = index.to_arrow() if hasattr(index, "to_arrow") else arrow.Array.from_pandas(index)
    except (arrow.ArrowInvalid, arrow.ArrowTypeError):  # of several types, of which only the text stays
        values = arrow.array([str(label) for label in index])
    if not _is_label(arrow, values.type):
        return {}
    name = str(index.name or ("time" if arrow.types.is_temporal(values.type) else "index"))
    return {f"{name} of the data" if name in taken else name: values}


def _verified(
    owner: str,
    name: str,
    columns: Mapping[str, NDArray[Any]],
    labels: Mapping[str, Any],
    metadata: Mapping[str, bytes],
    ours: bool,
) -> Table:
    """Return a table with its settings, if it is not one of ours or its digest is that of what was read."""
    text = metadata[KEY].decode() if KEY in metadata else None
    own = {DIGEST, KEY}
    attachments = {
        key.removeprefix(f"{KEY}."): base64.b64decode(value, validate=True)
        for key, value in metadata.items()
        if key.startswith(f"{KEY}.") and key not in own
    }
    if ours or any(key.startswith(KEY) for key in metadata):
        if metadata.get(DIGEST, b"").decode() != _digest(columns, text, attachments, labels):
            raise CheckpointError(
                f"{owner}: {name} is damaged, or was changed after driftwise wrote it: its digest is another. To read "
                f"a table that was changed on purpose, write it without the metadata whose names begin with {KEY!r}."
            )
    elif PANDAS in metadata:
        attributes = json.loads(metadata[PANDAS])
        text = attributes.get(KEY) if isinstance(attributes, dict) else None
    index = None
    for key, values in labels.items():
        values.validate(full=True)
        index = optional(owner, "pandas", EXTRA).Index(values.to_pandas(), name=key)
    return Table(columns, unpack(owner, text), attachments, index)


def _digest(
    columns: Mapping[str, NDArray[Any]],
    settings: str | None,
    attachments: Mapping[str, bytes],
    labels: Mapping[str, Any],
) -> str:
    """Return the SHA-256 of everything in a table, in whatever order its columns come."""
    parts = [("settings", (settings or "").encode())]
    parts += [(f"attachment {name}", data) for name, data in sorted(attachments.items())]
    digest = hashlib.sha256()
    for name, data in parts:
        digest.update(f"{name} {len(data)}\n".encode() + data)
    for name, values in sorted(columns.items()):
        digest.update(f"column {name} {values.dtype} {len(values)}\n".encode())
        digest.update(np.ascontiguousarray(values).data)
    for name, called in labels.items():
        digest.update(f"index {name}\n".encode() + "\n".join(map(str, called.to_pylist())).encode())
    return digest.hexdigest()
