"""Where numbers come from: command, versions, machine, time."""

import datetime
import platform
from importlib import metadata

import driftwise
from driftwise.experiments.findings.finding import Provenance

PACKAGES = ("numpy", "scipy", "numba", "clarabel")
"""Packages that compute."""


def provenance(command: str, seconds: float, runs: int) -> Provenance:
    """Return the provenance of numbers that were computed just now."""
    versions = {"driftwise": driftwise.__version__, "Python": platform.python_version()}
    versions |= {package: metadata.version(package) for package in PACKAGES}
    now = datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d %H:%M UTC")
    return Provenance(command, versions, f"{platform.system()} {platform.machine()}", now, round(seconds, 1), runs)
