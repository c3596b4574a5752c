"""Everything that can be reproduced, by name."""

from typing import NamedTuple

from driftwise.experiments.studies import control, figure1, figure2, selftuned, theory
from driftwise.experiments.studies.study import Study


class Experiment(NamedTuple):
    """Studies that belong together: a chapter of the report."""

    title: str
    studies: tuple[Study, ...]


CATALOGUE = {
    "figure1": Experiment("Figure 1: learning while moving costs", (figure1.STUDY,)),
    "figure2": Experiment("Figure 2: control under changing costs", (figure2.STUDY,)),
    "theory": Experiment("Theory: bounds, growth, and the hardest instances", theory.STUDIES),
    "selftuned": Experiment("Learning without knobs", selftuned.STUDIES),
    "control": Experiment("Plants that are not known, and control without knobs", control.STUDIES),
}
