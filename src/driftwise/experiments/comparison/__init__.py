"""Learners on a user's own data: `compare` plays them on a CSV or parquet file and says what came out."""

from driftwise.experiments.comparison.compare import compare
from driftwise.experiments.comparison.learners import CONTENDERS, Contender

__all__ = ["CONTENDERS", "Contender", "compare"]
