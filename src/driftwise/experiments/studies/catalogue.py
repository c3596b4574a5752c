"""Everything that can be reproduced, by name."""

from typing import NamedTuple

from driftwise.errors import unknown_name
from driftwise.experiments.studies import figure1, late
from driftwise.experiments.studies.control import exploration, identification, selftuned
from driftwise.experiments.studies.control.engineer import drift, nominal, output, wrong
from driftwise.experiments.studies.decisions import adversaries, capacity, daily, gradients, paper, real, robustness
from driftwise.experiments.studies.figure2 import study as figure2
from driftwise.experiments.studies.selftuned import battery, glitches, hints, integers, stream, units
from driftwise.experiments.studies.study import Study
from driftwise.experiments.studies.theory import (
    adaptive,
    bounds,
    control,
    growth,
    jumping,
    lower_bounds,
    optimum,
    search,
)


class Experiment(NamedTuple):
    """Studies that belong together: a chapter of the report."""

    title: str
    studies: tuple[Study, ...]
    core_seconds: tuple[float, float] = (0.0, 0.0)
    """Seconds of the quick and of the full size on one core of a cloud machine, with machine code in the cache."""
    seeded: bool = False
    """Whether that is for the usual seeds of `Size`, one and five, and grows with their number."""


THEORY = (
    *(bounds.STUDY, bounds.ADVERSARIES, control.STUDY, growth.IN_ROUNDS, growth.IN_PATH, growth.IN_PRICE),
    *(lower_bounds.EXPERTS, lower_bounds.MOVING, jumping.STUDY, search.STUDY, optimum.SOLVERS),
    *(adaptive.INTERVALS, adaptive.CHANGES),
)
SELF_TUNED = (stream.STUDY, battery.STUDY, units.STUDY, glitches.STUDY, hints.STUDY, integers.STUDY)
DECISIONS = (
    *(real.STUDY, capacity.STUDY, daily.STUDY, robustness.STUDY),
    *(paper.STUDY, gradients.STUDY, adversaries.STUDY),
)
CONTROL = (
    *(nominal.STUDY, wrong.MISMATCH, wrong.ACTUATOR, drift.STUDY, output.STUDY),
    *(identification.STUDY, exploration.STUDY, selftuned.STUDY),
)

CATALOGUE = {
    "figure1": Experiment("Figure 1: learning while moving costs", (figure1.STUDY,), (25.0, 70.0), seeded=True),
    "figure2": Experiment("Figure 2: control under changing costs", (figure2.STUDY,), (45.0, 190.0), seeded=True),
    "theory": Experiment("Theory: bounds, growth, and the hardest instances", THEORY, (95.0, 800.0)),
    "selftuned": Experiment("Learning without knobs", SELF_TUNED, (25.0, 600.0)),
    "decisions": Experiment("Decisions, beside rules that are tuned in hindsight", DECISIONS, (50.0, 480.0)),
    "control": Experiment("Control without knobs, and plants that are not known", CONTROL, (60.0, 2200.0)),
    "late": Experiment("Late feedback", (late.STUDY,), (15.0, 300.0)),
}


def find_experiment(name: str) -> Experiment:
    """Return the experiment of a name."""
    if name not in CATALOGUE:
        raise unknown_name("reproduce", "experiment", name, CATALOGUE)
    return CATALOGUE[name]
