"""Settings that all tests share, and compiling once for all workers."""

import os
import subprocess
import sys

# Before NumPy is imported: matrices are small here, and threads of several workers get in each other's way.
os.environ |= {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}

import pytest
from hypothesis import settings

from driftwise._compile import INTERPRETED

for name, examples in (("driftwise", 20), ("full", 100)):
    settings.register_profile(name, deadline=None, max_examples=examples, derandomize=True)
settings.load_profile("full" if "full" in sys.argv else "driftwise")

SHARES = (
    ("self-tuned-learner", "hints", "committee", "fleet", "losses", "domains"),
    ("control", "self-tuned-control", "learners", "self-tuned", "prices", "regret", "hindsight-control"),
)
"""Families of kernels, shared out to two processes that take about as long."""


def pytest_configure(config: pytest.Config) -> None:
    """Compile every kernel before the workers start: each of them would compile it for itself."""
    workers = getattr(config.option, "numprocesses", None)
    if INTERPRETED or not workers or hasattr(config, "workerinput") or config.option.collectonly:
        return
    print("Compiling, once for all workers ...", flush=True)
    commands = [
        [sys.executable, "-m", "driftwise", "warmup", *(word for name in share for word in ("--family", name))]
        for share in SHARES
    ]
    running = [subprocess.Popen(command, stdout=subprocess.DEVNULL) for command in commands]
    codes = [process.wait() for process in running]
    if any(codes):
        raise pytest.UsageError("driftwise warmup failed; see above, or run it by itself.")
