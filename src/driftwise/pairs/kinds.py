"""What is known of the losses before the first of them: which estimators make sense, and what they may use."""

from dataclasses import dataclass

from driftwise._saving import savable
from driftwise.losses import LossStream
from driftwise.losses.base import DataLoss
from driftwise.pairs.layout import EACH, GRADIENT, SCORE

WIDEST = 64
"""Coordinates up to which matrices are full; above, only their diagonals are kept."""


@savable
@dataclass(frozen=True)
class Kind:
    """A kind of loss.

    Attributes
    ----------
    form : int
        ``SCORE`` if losses see a decision through one score <x, w>, ``EACH`` if every coordinate has a target of its
        own, ``GRADIENT`` if only gradients are known, or if losses are linear.
    dim : int
        Number of coordinates.
    bend : float
        Second derivative of the loss in its score where it is the same everywhere, else 0.
    shifted : bool
        Whether the loss is a function of score less target.
    mixable : float
        Largest rate at which a mixture never loses more than Hedge's mix loss, where that is known, else 0.

    Examples
    --------
    >>> from driftwise import estimators
    >>> kind = estimators.Kind(estimators.EACH, dim=2, bend=1.0)
    >>> [one.suits(kind) for one in (estimators.Kalman(), estimators.Newton())]
    [True, False]
    """

    form: int
    dim: int
    bend: float = 0.0
    shifted: bool = False
    mixable: float = 0.0

    @property
    def full(self) -> bool:
        """Whether second moments are matrices, rather than diagonals."""
        return self.dim <= WIDEST if self.form != EACH else self.dim == 1

    @property
    def offsets(self) -> bool:
        """Whether the best level is another than the mean of the targets."""
        return self.form == EACH and self.bend == 0.0

    @property
    def name(self) -> str:
        """The kind in words."""
        words = ("a loss of a score <x, w>", "a loss of each coordinate", "a gradient, or a linear or custom loss")
        return words[self.form]


def kind_of(losses: LossStream) -> Kind:
    """Return the kind of a stream."""
    if not isinstance(losses, DataLoss):
        return Kind(GRADIENT, losses.dim)
    pieces = losses.pieces
    smooth = pieces is not None and pieces.smooth
    bend = pieces.bend if pieces is not None and smooth else 0.0
    if smooth and bend == 0.0:  # linear: a gradient says it all
        return Kind(GRADIENT, losses.dim)
    return Kind(EACH if losses.each else SCORE, losses.dim, float(bend), losses.of_gap, losses.mixable)
