"""A user's own data: `compare` plays everyone on a CSV or parquet file and says what came out."""

from driftwise.experiments.comparison.compare import compare
from driftwise.experiments.comparison.regression.learners import CONTENDERS, Contender

__all__ = ["CONTENDERS", "Contender", "compare"]
