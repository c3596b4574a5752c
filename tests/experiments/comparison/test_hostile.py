"""Files that are damaged, made up or far too large: a typed error that says what to do, and no memory taken."""

import gzip
import io
import os
import subprocess
import sys
import zipfile
import zlib
from pathlib import Path

import pytest

from driftwise.errors import InputError
from driftwise.experiments.comparison import compare
from driftwise.experiments.comparison.sheet import read_sheet
from tests.cases import check_refused

GOOD = b"x,y\n" + b"1,2\n2,3\n" * 30


def zipped() -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("a.csv", GOOD)
    return file.getvalue()


HOSTILE: dict[str, tuple[bytes, str]] = {
    "zero.csv": (GOOD + b"1,\0\n", "zero bytes"),
    "zero_header.csv": (b"x\0,y\n1,2\n", "zero bytes"),
    "late_zero.csv": (GOOD * 200 + b"1\0,2\n", "is not a number"),
    "quote.csv": (b'x,"y\n1,2\n', "quotation marks in line 1"),
    "quote_below.csv": (GOOD + b'1,"2\n3,4\n', "quotation marks in line 62"),
    "header.csv": (b'x,"y"z\n1,2\n', "quotation marks in line 1"),
    "long_header.csv": (b"x" * 10**7 + b",y\n1,2\n", "more than 131072 characters"),
    "long_field.csv": (b"x,y\n1," + b"7" * 10**7 + b"x\n", "more than 131072 characters"),
    "long_quote.csv": (GOOD + b'1,"' + b"a,\n" * 10**6 + b'"\n', "more than 131072 characters"),
    "latin.csv": ("x,y\n1,2\n\xe4,3\n".encode("latin-1"), "not written in UTF-8: see line 3"),
    "surrogate.csv": (b"x,y\n\xed\xa0\x80,2\n", "not written in UTF-8"),
    "utf16.csv": ("x,y\n1,2\n".encode("utf-16"), "UTF-16"),
    "no_rows.csv": (b"x,y\n", "no rows"),
    "empty.csv": (b"", "is empty"),
    "twice.csv": (b"y,y\n1,2\n", "more than one column"),
    "cut.csv.gz": (gzip.compress(GOOD)[:-5], "damaged, or not compressed"),
    "garbage.csv.gz": (gzip.compress(GOOD) + b"garbage", "damaged, or not compressed"),
    "plain.csv.gz": (GOOD, "damaged, or not compressed"),
    "flipped.csv.gz": (gzip.compress(GOOD)[:-8] + b"12345678", "damaged, or not compressed"),
    "nothing.csv.gz": (gzip.compress(b""), "nothing but blank lines"),
    "zip.csv": (zipped(), "zip archive"),
    "parquet.csv": (b"PAR1" + b"x" * 100, "parquet"),
    "text.parquet": (GOOD, "not a parquet file"),
    "nonsense.parquet": (b"PAR1" + b"x" * 100 + b"PAR1", "not a parquet file"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_file_is_refused_with_words(name: str, tmp_path: Path) -> None:
    content, words = HOSTILE[name]
    (tmp_path / name).write_bytes(content)
    check_refused(lambda: compare(tmp_path / name, "y", None, 1.0, problem="level"), name, words, kind=InputError)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes")
def test_what_is_no_file_is_refused_without_being_opened(tmp_path: Path) -> None:
    (tmp_path / "folder.csv").mkdir()
    os.mkfifo(tmp_path / "pipe.csv")
    (tmp_path / "endless.csv").symlink_to("/dev/zero")
    (tmp_path / "loop.csv").symlink_to(tmp_path / "loop.csv")
    for name in ("folder.csv", "pipe.csv", "endless.csv"):
        check_refused(lambda name=name: read_sheet(tmp_path / name), "is not a file", kind=InputError)  # type: ignore[misc]
    for name in ("loop.csv", "none.csv", "n" * 300 + ".csv", "a\0b.csv", ""):
        with pytest.raises(InputError):
            read_sheet(str(tmp_path / name) if name else name)


def test_the_limit_can_be_raised(tmp_path: Path) -> None:
    for name, data in (("d.csv", GOOD), ("d.csv.gz", gzip.compress(GOOD))):
        (tmp_path / name).write_bytes(data)
        assert len(read_sheet(tmp_path / name, len(GOOD))) == 60
        check_refused(lambda name=name: read_sheet(tmp_path / name, 30), "at most", kind=InputError)  # type: ignore[misc]
    check_refused(lambda: read_sheet(tmp_path / "d.csv.gz", 200), "larger max_bytes", kind=InputError)
    finding = compare(tmp_path / "d.csv.gz", "y", None, 1.0, problem="level", max_bytes=len(GOOD), hindsight=False)
    assert finding.tables
    check_refused(
        lambda: compare(tmp_path / "d.csv.gz", "y", None, 1.0, problem="level", max_bytes=200), "200", kind=InputError
    )


def test_a_parquet_file_of_too_many_rows(tmp_path: Path) -> None:
    polars = pytest.importorskip("polars")
    polars.DataFrame({"y": [1.0] * 10**6}).write_parquet(tmp_path / "d.parquet")
    assert (tmp_path / "d.parquet").stat().st_size < 10**5
    check_refused(lambda: read_sheet(tmp_path / "d.parquet", 10**6), "max_bytes=8000000", kind=InputError)


LITTLE_MEMORY = """
import resource, sys
import polars
from driftwise.errors import InputError
from driftwise.experiments.comparison import compare

now = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (now + 200_000_000, now + 200_000_000))
try:
    compare(sys.argv[1], "y", None, 1.0, problem="level")
except InputError as error:
    print(error)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="memory limits are Linux's")
def test_a_few_bytes_that_stand_for_gigabytes_take_no_memory(tmp_path: Path) -> None:
    packer = zlib.compressobj(9, wbits=31)
    block = b"1,2\n" * 2**20
    data = packer.compress(b"x,y\n") + b"".join(packer.compress(block) for _ in range(1000)) + packer.flush()
    assert len(data) < 6_000_000 < 1000 * len(block)
    (tmp_path / "bomb.csv.gz").write_bytes(data)
    command = [sys.executable, "-c", LITTLE_MEMORY, str(tmp_path / "bomb.csv.gz")]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    assert "holds more than 536870912 bytes" in ran.stdout
    assert "larger max_bytes" in ran.stdout
