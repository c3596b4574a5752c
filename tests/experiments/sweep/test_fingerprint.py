"""A digest of a function and of what it uses."""

import functools
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from driftwise.experiments.studies.catalogue import CATALOGUE
from driftwise.experiments.sweep.fingerprint import fingerprint, full_name, package_digest

SCRIPT = """
from driftwise.experiments.sweep.fingerprint import fingerprint
FACTOR = {factor}
class Tool:
    size = 1
    def step(self, x):
        return x + {step}
    def __call__(self, seed):
        return self.step(seed)
def helper(x):
    return x * {helper}
def run(seed):
    return sum(FACTOR * helper(k) for k in range(seed))
def main():
    def inner(x):
        return x + {inner}
    def local(seed):
        return inner(seed)
    return local
print(fingerprint(run), fingerprint(Tool()), fingerprint(main()))
"""
USUAL = {"factor": 1.0, "step": 1, "helper": 2, "inner": 3}


def script(tmp_path: Path, **changes: float) -> list[str]:
    """Return the digests of a script's functions, from a process of its own."""
    path = tmp_path / "script.py"
    path.write_text(SCRIPT.format(**USUAL | changes))
    result = subprocess.run([sys.executable, str(path)], check=True, capture_output=True, text=True)
    return result.stdout.split()


def test_digests_are_the_same_in_every_process_and_change_with_what_is_used(tmp_path: Path) -> None:
    usual = script(tmp_path)
    assert script(tmp_path) == usual
    for name, place in {"factor": 0, "helper": 0, "step": 1, "inner": 2}.items():
        other = script(tmp_path, **{name: 7})
        assert [k for k in range(3) if other[k] != usual[k]] == [place]


def test_two_functions_on_one_line_differ() -> None:
    one, other = (lambda seed: seed), (lambda seed: -seed)
    assert fingerprint(one) != fingerprint(other)


def test_text_without_a_file_has_a_digest_of_its_own() -> None:
    def made(text: str) -> Any:
        names: dict[str, Any] = {}
        exec(text, names)
        return names["run"]

    text = "def run(seed): return sum(k for k in range(seed))"
    assert fingerprint(made(text)) == fingerprint(made(text))
    assert fingerprint(made(text)) != fingerprint(made(text.replace("k for", "-k for")))


def test_what_cannot_be_pickled_never_passes_for_another() -> None:
    def holding(hidden: object) -> Any:
        return lambda seed: (hidden, seed)

    locks = threading.Lock(), threading.Lock()
    assert fingerprint(holding(locks[0])) != fingerprint(holding(locks[1]))


def test_functions_that_call_each_other_come_to_an_end() -> None:
    names: dict[str, Any] = {"__name__": "somewhere"}
    exec("def even(n): return n == 0 or odd(n - 1)\ndef odd(n): return n != 0 and even(n - 1)", names)
    assert fingerprint(names["even"]) != fingerprint(names["odd"])


@pytest.mark.parametrize("name", CATALOGUE)
def test_the_papers_studies_can_be_resumed_by_another_process(name: str) -> None:
    code = (
        "from driftwise.experiments.studies.catalogue import CATALOGUE\n"
        "from driftwise.experiments.sweep.fingerprint import fingerprint\n"
        f"print(*(fingerprint(study.run) for study in CATALOGUE[{name!r}].studies))"
    )
    result = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert result.stdout.split() == [fingerprint(study.run) for study in CATALOGUE[name].studies]


def test_names() -> None:
    assert full_name(max) == "builtins:max"
    assert full_name(functools.partial(script, Path())) == "tests.experiments.sweep.test_fingerprint:script"
    assert len(package_digest()) == 16
