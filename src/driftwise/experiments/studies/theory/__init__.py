"""The theory, checked by running it: bounds, growth in rounds and prices, lower-bound adversaries, two solvers.

Each study is data, run, result: a list of tasks (one task is one whole seeded run), what a task measures, and what all
of them together say, with every claim stated as a number and whether it holds.
"""

from driftwise.experiments.studies.study import Study
from driftwise.experiments.studies.theory import bounds, growth, lower_bounds, optimum

STUDIES: tuple[Study, ...] = (
    bounds.STUDY,
    growth.IN_ROUNDS,
    growth.IN_PATH,
    growth.IN_PRICE,
    lower_bounds.EXPERTS,
    lower_bounds.MOVING,
    optimum.SOLVERS,
)

__all__ = ["STUDIES"]
