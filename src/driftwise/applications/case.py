"""An application on one series: what is decided, what it costs, and the rules that people use for it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from driftwise._validate import Array
from driftwise.applications.data import Dataset
from driftwise.domains import Domain
from driftwise.losses import LossStream
from driftwise.movecost import MoveCost, move_cost_for


@dataclass(frozen=True, eq=False)
class Case:
    """Losses, a domain, and the decisions of simple rules; what a move costs comes later, as there are several prices.

    Decisions of rules have shape (T, d), and none of them depends on what a move costs.
    """

    application: str
    data: Dataset
    what: str
    """Description of what is decided and what it costs, in a sentence or two, with the units."""
    moving: str
    """Meaning of a move cost of 1."""
    losses: LossStream
    domain: Domain
    gradient_bound: float
    """Bound on the gradients, which the paper's Scream has to be told."""
    start: Array
    """First decision of every learner, shape (d,); the rules know as much before the first round."""
    rules: Mapping[str, Array]
    """Decisions of rules with the settings that people have."""
    tuned: Mapping[str, Mapping[str, Array]]
    """Rules by name, and the decisions of each for every setting of a grid: the best one is picked in hindsight."""
    members: Mapping[str, Array]
    """The rules that a committee mixes."""
    forecasts: Mapping[str, Array] = field(default_factory=dict)
    """Forecasts that a learner is given as proposals, each also one of `rules`; rows of NaN while there is none."""
    free: Mapping[str, Array] = field(default_factory=dict)
    """Costs of forecasts that need no decision of this kind, each of shape (T,)."""
    constant: float = 0.0
    """Running cost of a round whatever is decided, on top of the losses."""
    price: Callable[[float], MoveCost] = field(default=lambda price: move_cost_for("apply", price))
    """Function from a move cost to prices."""
    observed: Array | None = None
    """Series in units of its mean, to be drawn beside decisions."""
    note: str = ""
    """Caveat that a reader has to know before believing a conclusion."""

    @property
    def title(self) -> str:
        """Application and series, as a heading."""
        return f"{self.application.capitalize()}: {self.data.title}"
