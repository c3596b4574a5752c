"""One rule with all its settings."""

from collections.abc import Mapping
from dataclasses import dataclass

from driftwise._validate import Array


def whole_percent(part: float) -> str:
    """Return a setting in per cent, as it is written.

    Examples
    --------
    >>> whole_percent(0.05), whole_percent(1.0)
    ('5 %', '100 %')
    """
    return f"{100.0 * part:g} %"


@dataclass(frozen=True, eq=False)
class Family:
    """A rule with the setting that people have, and those that are tried in hindsight.

    Examples
    --------
    >>> import numpy as np
    >>> rule = Family("Moving average", {"mean of 20": np.zeros((5, 1)), "mean of 3": np.zeros((5, 1))}, "mean of 20")
    >>> rule.usual, rule.tuned
    ('Moving average', 'Moving average, tuned')
    """

    label: str
    """Name of the rule."""
    settings: Mapping[str, Array]
    """Decisions of every setting by its name, which is empty if there is nothing to set; shape (T, d)."""
    default: str | None
    """Setting that people have; None for a rule whose only settings are picked in hindsight."""
    shown: str = ""
    """Name of the rule with its default setting, if that is another one."""

    @property
    def usual(self) -> str:
        """Name of the rule with its default setting."""
        return self.shown or self.label

    @property
    def tuned(self) -> str:
        """Name of the rule with the best of its settings."""
        return self.label if self.default is None else f"{self.label}, tuned"
