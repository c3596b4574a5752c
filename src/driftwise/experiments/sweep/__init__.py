"""Many seeded runs, on this machine's cores or a Dask cluster; it knows nothing of learners."""

from driftwise.experiments.sweep.sweep import Run, Sweep, sweep

__all__ = ["Run", "Sweep", "sweep"]
