"""A run of a plant: states, inputs and what they cost."""

from dataclasses import dataclass

from driftwise._validate import Array


@dataclass(frozen=True, repr=False, eq=False)
class Run:
    """What happened on a plant, or would have happened: x_t, u_t and c_t(x_t, u_t), one row a round."""

    states: Array
    inputs: Array
    costs: Array

    @property
    def total(self) -> float:
        """Sum of the costs."""
        return float(self.costs.sum())

    @property
    def label(self) -> str:
        """What the run is called in a figure."""
        return type(self).__name__
