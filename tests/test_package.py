"""The package itself: names that are imported when they are asked for."""

import copy
import subprocess
import sys
from typing import Any

import pytest

import driftwise as dw
from driftwise.experiments.sweep.task import pack


@pytest.mark.parametrize("name", dw.__all__)
def test_every_name_is_there_and_stays_the_same(name: str) -> None:
    assert getattr(dw, name) is getattr(dw, name)
    assert name in dir(dw)


def test_other_names_are_not() -> None:
    absent = "scream"
    with pytest.raises(AttributeError, match="module 'driftwise' has no attribute 'scream'"):
        getattr(dw, absent)


@pytest.mark.parametrize("first", ["import driftwise.play", "from driftwise import regret", "driftwise.Scream"])
def test_play_is_the_function_whatever_is_imported_first(first: str) -> None:
    code = f"import sys, driftwise; {first}; import driftwise.play\n"
    code += "print(driftwise.play is sys.modules['driftwise.play'].play)"
    result = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert result.stdout == "True\n"


def test_functions_that_use_the_package_can_be_sent_to_workers() -> None:
    names: dict[str, Any] = {"dw": dw, "__name__": "__main__"}
    exec("def ball(): return dw.Ball(3)", names)
    packed = pack(names["ball"], names["ball"])
    code = f"import pickle; print(pickle.loads({packed!r})().dim)"
    result = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert result.stdout == "3\n"
    assert copy.deepcopy(dw) is dw
