"""The benchmark runs, and the controllers beat LQR where they should; how fast they are is not a test's business."""

import re
import subprocess
import sys
from pathlib import Path

import numpy as np

from driftwise import control

ROOT = Path(__file__).parents[2]


def test_every_size_and_case_is_printed_and_learning_pays() -> None:
    command = [sys.executable, "benchmarks/controllers.py", "--rounds", "20", "--steps", "50"]
    result = subprocess.run(command, check=True, capture_output=True, text=True, cwd=ROOT)
    assert len(re.findall(r"^dx = \d+, du = \d+, H = \d+ ", result.stdout, re.MULTILINE)) == 3
    goals = re.findall(
        r"^dx = .*? \(<= ([\d.]+)\) .* \(<= ([\d.]+)\) +[\d.]+ \(<= [\d.]+\)$", result.stdout, re.MULTILINE
    )
    assert goals == [("1.5", "10"), ("6", "60"), ("120", "1500")]
    assert len(re.findall(r"^\w+, 50 steps +[\d.]+ +[\d.]+ +\d+ +\d+$", result.stdout, re.MULTILINE)) == 2
    rows = re.findall(r"^(.*, \S.*?) +(\d+) +(\d+) +(\d+) +(\d+) +(\d+) +(\d+)$", result.stdout, re.MULTILINE)
    assert len(rows) == 6
    for name, *totals in rows:
        lqr, gradient, ader, scream, tuned, best = (float(total) for total in totals)
        assert best <= min(lqr, gradient, ader, scream, tuned)
        limit = 1.1 if "gaussian" in name else 0.52
        assert max(gradient, scream) <= limit * lqr
        assert tuned <= (1.01 if "gaussian" in name else 0.48) * lqr
    outputs = r"^[a-z ]+, (?:AR\(1\)|two sines \+ bias) +1\.000 +\d+\.\d{3} +\d+\.\d{3}$"
    assert len(re.findall(outputs, result.stdout, re.MULTILINE)) == 24
    ratios = re.findall(r"^.*, in the \w+ +1\.000" + 4 * r" +(\d+\.\d+)" + "$", result.stdout, re.MULTILINE)
    assert len(ratios) == 6
    for alternatives in ratios:
        *others, tuned = (float(ratio) for ratio in alternatives)
        assert tuned <= 1.08 * min(1.0, *others)


def test_the_numpy_step_is_gpc() -> None:
    """It decides as the library does with one step size, so that the comparison is one of like with like."""
    sys.path.insert(0, str(ROOT / "benchmarks"))
    try:
        from importlib import util

        spec = util.spec_from_file_location("benchmark_of_control", ROOT / "benchmarks" / "controllers.py")
        assert spec is not None
        assert spec.loader is not None
        module = util.module_from_spec(spec)
        spec.loader.exec_module(module)
    finally:
        sys.path.pop(0)
    import driftwise as dw

    plant = control.random_system(3, 2, seed=1)
    K = control.lqr(plant)
    mine = control.DisturbanceActionController(plant, dw.OGD(dw.SpectralBalls((4, 2, 3), 0.05), step=0.02), K=K)
    theirs = module.NumPyController(plant.A, plant.B, K, 4, 0.02, 0.05)
    x = np.zeros(3)
    for w in control.SinusoidDisturbance(1.0, period=9.0, seed=1).sample(60, 3):
        u = mine.act(x)
        np.testing.assert_allclose(theirs.act(x), u, atol=1e-10)
        mine.observe(control.QuadraticCost(1.0, 1.0))
        theirs.observe()
        x = plant.A @ x + plant.B @ u + w
    assert np.linalg.norm(mine.policy.M, 2, axis=(1, 2)).max() > 0.0499  # the projection was at work
