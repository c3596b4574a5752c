"""Control, measured: plants that are not known, and control without knobs, over many systems and disturbances."""

from driftwise.experiments.studies.control import exploration, identification, selftuned
from driftwise.experiments.studies.study import Study

STUDIES: tuple[Study, ...] = (identification.STUDY, exploration.STUDY, selftuned.STUDY)
"""In the order in which they are run."""

__all__ = ["STUDIES"]
