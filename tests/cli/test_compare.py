"""`driftwise compare`."""

import re
from pathlib import Path

import numpy as np

from driftwise.cli import app
from driftwise.cli.compare import LEARNERS
from driftwise.experiments import comparison
from tests.cli.small import RUNNER


def test_compare_plays_on_the_users_own_file(tmp_path: Path) -> None:
    data = tmp_path / "demand.csv"
    rng = np.random.default_rng(0)
    x = rng.uniform(size=(300, 2))
    rows = [f"{a:.6f},{b:.6f},{a - b:.6f}" for a, b in x]
    data.write_text("\n".join(["a,b,y", *rows]))
    arguments = ["--data", str(data), "--target", "y", "--switching-cost", "2.0", "--out", str(tmp_path / "out")]
    result = RUNNER.invoke(app, ["compare", "--learner", "scream", "--learner", "ogd", *arguments])
    assert result.exit_code == 0, result.output
    for label in ("Scream, appendix", "OGD", "Hindsight optimum", "Best fixed weights"):
        assert label in result.output
    assert "Ader" not in result.output
    assert "Scream, appendix" in (tmp_path / "out" / "report.html").read_text()


def test_compare_names_all_learners_in_its_help() -> None:
    assert set(LEARNERS) == set(comparison.CONTENDERS)
    output = RUNNER.invoke(app, ["compare", "--help"]).output
    assert all(name in re.sub(r"-\s+", "-", output) for name in LEARNERS)  # names are broken at their hyphens


def test_a_command_that_fails_leaves_no_folder(tmp_path: Path) -> None:
    out = tmp_path / "out"
    arguments = ["compare", "--data", str(tmp_path / "no.csv"), "--target", "y", "--switching-cost", "1"]
    assert RUNNER.invoke(app, [*arguments, "--out", str(out)]).exit_code == 1
    assert not out.exists()
