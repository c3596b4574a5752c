"""The paper's experiments as data -> run -> result, and the engine for many runs that they share with yours."""

from typing import TYPE_CHECKING, Any

from driftwise.experiments.findings.finding import Chapter, Claim, Finding, Panel, Series, Table
from driftwise.experiments.sweep import Run, Sweep, sweep

__all__ = ["Chapter", "Claim", "Finding", "Panel", "Run", "Series", "Sweep", "Table", "reproduce", "sweep"]

if TYPE_CHECKING:
    from driftwise.experiments.studies.reproduction import reproduce
else:

    def __getattr__(name: str) -> Any:
        """Import the paper's experiments when they are asked for; a sweep of your own does not need them."""
        if name == "reproduce":
            from driftwise.experiments.studies.reproduction import reproduce

            return reproduce
        raise AttributeError(f"module 'driftwise.experiments' has no attribute {name!r}")
