"""Names and options that the help shows; what they stand for is not imported, and tests hold both together."""

from enum import StrEnum
from typing import Any

import typer


class Experiment(StrEnum):
    """What can be reproduced: the names of `driftwise.experiments.studies.catalogue.CATALOGUE`."""

    figure1 = "figure1"
    figure2 = "figure2"
    theory = "theory"
    selftuned = "selftuned"
    control = "control"


class Application(StrEnum):
    """What can be applied: the names of `driftwise.applications.NAMES`."""

    capacity = "capacity"
    forecasts = "forecasts"
    energy = "energy"
    policies = "policies"


LEARNERS = (
    *("selftuned", "scream", "lazy-scream", "ader", "ogd"),
    *("ader-original", "ogd-switching", "ogd-no-horizon", "scream-theorem", "scream-no-horizon", "lazy-scream-theorem"),
)
"""The names of `driftwise.experiments.comparison.CONTENDERS`; the first five play unless others are chosen."""

FAMILIES = (
    *("learners", "self-tuned", "domains", "prices", "hints", "committee", "losses"),
    *("control", "self-tuned-control", "regret", "hindsight-control"),
)
"""The names of `driftwise.warmup.FAMILIES`."""


def several(metavar: str, text: str, **more: Any) -> Any:
    """Return an option that may be left out or repeated, and shows no default: its text says what that is."""
    return typer.Option(metavar=metavar, help=text, show_default=False, **more)
