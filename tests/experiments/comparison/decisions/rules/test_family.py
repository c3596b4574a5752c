"""A rule and its settings."""

import numpy as np

from driftwise.experiments.comparison.decisions.rules.family import Family

ROWS = {"": np.zeros((2, 1))}


def test_names() -> None:
    assert (Family("Dead band", ROWS, "").usual, Family("Dead band", ROWS, "").tuned) == (
        "Dead band",
        "Dead band, tuned",
    )
    assert Family("Last value + headroom", ROWS, "", "Last value + 10 %").usual == "Last value + 10 %"
    assert Family("One forecast", ROWS, None).tuned == "One forecast"
