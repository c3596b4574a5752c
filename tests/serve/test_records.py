"""Records in a file: whole, cut short, damaged."""

from pathlib import Path
from typing import Any

import pytest

from driftwise.errors import CheckpointError, StorageError
from driftwise.serve.records import BEGINNING, frame, read

RECORDS: list[tuple[dict[str, Any], bytes]] = [
    ({"one": 1}, b""),
    ({"two": [2.5, None]}, b"\0bytes\0"),
    ({}, b"x" * 300),
]


def written(path: Path) -> list[int]:
    """Write the records, and return where each of them ends."""
    digest, data, ends = BEGINNING, b"", []
    for what, blob in RECORDS:
        piece, digest = frame(digest, what, blob)
        data += piece
        ends.append(len(data))
    path.write_bytes(data)
    return ends


def test_what_was_written_is_read(tmp_path: Path) -> None:
    ends = written(tmp_path / "file")
    records = list(read(tmp_path / "file", may_be_cut=False))
    assert [(record.what, record.blob) for record in records] == RECORDS
    assert [record.end for record in records] == ends


def test_every_cut_leaves_out_what_is_not_whole_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "file"
    ends = written(path)
    data = path.read_bytes()
    for size in range(len(data)):
        path.write_bytes(data[:size])
        whole = sum(end <= size for end in ends)
        assert len(list(read(path, may_be_cut=True))) == whole
        if size not in (0, *ends):
            with pytest.raises(CheckpointError, match="is damaged at byte"):
                list(read(path, may_be_cut=False))


def test_every_flipped_bit_is_found(tmp_path: Path) -> None:
    path = tmp_path / "file"
    written(path)
    data = path.read_bytes()
    for place in range(len(data)):
        path.write_bytes(data[:place] + bytes([data[place] ^ 1 << place % 8]) + data[place + 1 :])
        for may_be_cut in (True, False):
            with pytest.raises(CheckpointError, match="is damaged at byte"):
                list(read(path, may_be_cut=may_be_cut))


def test_a_record_that_is_missing_in_the_middle_or_in_another_place_is_found(tmp_path: Path) -> None:
    path = tmp_path / "file"
    first, second, _ = written(path)
    data = path.read_bytes()
    for wrong in (data[:first] + data[second:], data[first:], data[first:second] + data[:first] + data[second:]):
        path.write_bytes(wrong)
        with pytest.raises(CheckpointError, match="is damaged at byte"):
            list(read(path, may_be_cut=True))


def test_room_without_a_record_in_it_counts_as_cut(tmp_path: Path) -> None:
    path = tmp_path / "file"
    written(path)
    data = path.read_bytes()
    path.write_bytes(data + bytes(500))
    assert len(list(read(path, may_be_cut=True))) == 3
    path.write_bytes(data + bytes(500) + b"x")
    with pytest.raises(CheckpointError, match="is damaged at byte"):
        list(read(path, may_be_cut=True))


def test_what_is_whole_and_no_json_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "file"
    piece, _ = frame(BEGINNING, [1])  # type: ignore[arg-type]
    path.write_bytes(piece)
    with pytest.raises(CheckpointError, match="no version of driftwise wrote"):
        list(read(path, may_be_cut=True))


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="nothing cannot be read"):
        list(read(tmp_path / "nothing", may_be_cut=True))
