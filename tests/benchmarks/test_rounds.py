"""The benchmark runs and its contenders agree; how fast they are is not a test's business."""

import re
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

import driftwise as dw

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / "benchmarks" / "rounds.py"


@pytest.fixture(scope="module")
def rounds() -> ModuleType:
    """Return the benchmark as a module."""
    from importlib import util

    spec = util.spec_from_file_location("benchmark_of_rounds", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("against", [False, pytest.param(True, marks=pytest.mark.full)])
def test_every_contender_agrees_and_every_ratio_is_printed(against: bool) -> None:
    command = [sys.executable, str(SCRIPT), "--rounds", "300", "--turns", "1"]
    command += ["--against", str(ROOT / "src")] if against else []
    result = subprocess.run(command, check=True, capture_output=True, text=True)
    for label in ("NumPy / play", "NumPy / act + observe", "import a learner", "first play"):
        assert label in result.stdout
    other = r" +([\d.]+|nan)" if against else "()"
    rows = re.findall(rf"^\S.*, d = \d+, N = \d+ +([\d.]+) +(\S+) +(\S+){other} +at most", result.stdout, re.M)
    assert len(rows) == 5
    if shutil.which("cc") or shutil.which("gcc"):
        for play, c, ratio, others in rows:
            assert float(ratio) == pytest.approx(float(play) / float(c), rel=0.05)
            assert not against or float(others) > 0.0
    numbers = 3 if against else 2
    by_hand = rf"^\S.*, d = 10( +[\d.]+){{{numbers}}} +at most [\d.]+ us$"
    assert len(re.findall(by_hand, result.stdout, re.M)) == 2


def test_a_contender_that_decides_otherwise_is_noticed(rounds: ModuleType) -> None:
    for case in rounds.cases(30):
        decisions = rounds.play(case)()
        rounds.check(case, "itself", decisions, decisions)
        with pytest.raises(AssertionError, match="nobody does not decide as play does"):
            rounds.check(case, "nobody", decisions + 1e-6, decisions)


@pytest.mark.skipif(not (shutil.which("cc") or shutil.which("gcc")), reason="there is no C compiler")
def test_c_is_the_same_algorithm_in_every_row(rounds: ModuleType) -> None:
    with rounds.c_libraries() as libraries:
        for case in rounds.cases(2000):  # so many that a gradient is clipped in one of them
            decisions = rounds.in_c(case, libraries[case.source])()
            assert np.ptp(decisions) > 0.0
            rounds.check(case, "C", decisions, rounds.play(case)())


def test_a_gradient_is_clipped_in_a_row_of_two_thousand_rounds(rounds: ModuleType) -> None:
    tuned = [case for case in rounds.cases(2000) if case.source == "self_tuned.c"]
    learners = [case.learner.clone() for case in tuned]
    for learner, case in zip(learners, tuned, strict=True):
        dw.play(learner, case.losses)
    assert max(learner.clipping for learner in learners) > 0.0
