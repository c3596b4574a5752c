"""Everything that can be reproduced, by name."""

from typing import NamedTuple

from driftwise.experiments.studies import control, figure1, figure2, selftuned, theory
from driftwise.experiments.studies.study import Study


class Experiment(NamedTuple):
    """Studies that belong together: a chapter of the report."""

    title: str
    studies: tuple[Study, ...]
    core_seconds: tuple[float, float] = (0.0, 0.0)
    """What the quick and the full size take on one core of a cloud machine, with machine code in the cache."""
    seeded: bool = False
    """Whether that is for the usual seeds of `Size`, one and five, and grows with their number."""


CATALOGUE = {
    "figure1": Experiment("Figure 1: learning while moving costs", (figure1.STUDY,), (25.0, 70.0), seeded=True),
    "figure2": Experiment("Figure 2: control under changing costs", (figure2.STUDY,), (45.0, 190.0), seeded=True),
    "theory": Experiment("Theory: bounds, growth, and the hardest instances", theory.STUDIES, (35.0, 120.0)),
    "selftuned": Experiment("Learning without knobs", selftuned.STUDIES, (25.0, 600.0)),
    "control": Experiment("Plants that are not known, and control without knobs", control.STUDIES, (35.0, 3600.0)),
}
