"""The arithmetic is right, and there is no sum without prices."""

import re
from collections.abc import Iterator
from importlib import util
from pathlib import Path
from types import ModuleType

import pytest

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "billion.py"
GIVEN = ["--member-bytes", "1000", "--microseconds", "0.5", "--rounds", "24", "--every", "12", "--busiest", "2"]


@pytest.fixture(scope="module")
def billion() -> Iterator[ModuleType]:
    """Return the script as a module."""
    spec = util.spec_from_file_location("arithmetic_of_a_billion", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = util.module_from_spec(spec)
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(__import__("sys").modules, spec.name, module)
        spec.loader.exec_module(module)
        yield module


def test_the_arithmetic(billion: ModuleType) -> None:
    need = billion.Need(1e9, 24.0, 2.0, 1000.0, 0.5, 12.0, 2.0)
    assert need.memory == pytest.approx(1000.0)
    assert need.round_traffic == pytest.approx(32.0)  # 2 numbers there and 2 back, 8 bytes each
    assert need.traffic == pytest.approx(768.0)
    assert need.kept == pytest.approx(192.0)
    assert need.written == pytest.approx(2000.0)  # two checkpoints a day
    assert need.core_hours == pytest.approx(12_000.0 / 3600.0)
    assert need.cores == pytest.approx(12_000.0 / 86_400.0 * 2.0)
    bill = need.bill(core_hour=1.0, memory_month=30.0, traffic_gb=0.5, storage_month=15.0)
    assert bill["cores"] == pytest.approx(2.0 * need.core_hours)
    assert bill["memory"] == pytest.approx(1192.0)
    assert bill["network"] == pytest.approx(384.0)
    assert bill["checkpoints"] == pytest.approx(1000.0)


def test_what_is_not_given_is_measured(billion: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    billion.main(["--sample", "200"])
    printed = capsys.readouterr().out
    found = re.search(r"^memory of a member +([\d.,]+) bytes$", printed, re.MULTILINE)
    assert found is not None
    assert float(found[1].replace(",", "")) > 8.0


def test_there_is_no_sum_without_prices(billion: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    billion.main([*GIVEN, "--core-hour", "1"])
    printed = capsys.readouterr().out
    assert "no sum: prices are yours to give (--memory-month, --traffic-gb, --storage-month)" in printed
    billion.main([*GIVEN, "--core-hour", "1", "--memory-month", "1", "--traffic-gb", "1", "--storage-month", "1"])
    assert re.search(r"^together +[\d.,]+$", capsys.readouterr().out, re.MULTILINE)
