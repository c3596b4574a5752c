"""One report for all tests of this folder."""

from pathlib import Path

import pytest

from driftwise.report import Report, build
from tests.report import chapters


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("report")
    for chapter in (chapters.theory(), chapters.figure1()):
        chapter.write(folder)
    return folder


@pytest.fixture(scope="session")
def report(folder: Path) -> Report:
    return build(folder, order=["figure1"])
