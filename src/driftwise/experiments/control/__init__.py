"""Control, measured: what the methods for plants that are not known do over many systems and disturbances."""

from driftwise.experiments.control import exploration, identification
from driftwise.experiments.study import Study

STUDIES: tuple[Study, ...] = (identification.STUDY, exploration.STUDY)
"""In the order in which they are run."""

__all__ = ["STUDIES"]
