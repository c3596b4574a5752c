"""Learning without knobs, measured: the paper's stream, adversarial streams, other units, hints, whole numbers."""

from driftwise.experiments.studies.selftuned import battery, hints, integers, stream, units
from driftwise.experiments.studies.study import Study

STUDIES: tuple[Study, ...] = (stream.STUDY, battery.STUDY, units.STUDY, hints.STUDY, integers.STUDY)

__all__ = ["STUDIES"]
