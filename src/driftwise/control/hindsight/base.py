"""What all comparators have in common: a run of the plant that was chosen with everything known."""

from dataclasses import dataclass

from driftwise.control.costs.run import Run


@dataclass(frozen=True, repr=False, eq=False)
class Comparator(Run):
    """The run of a plant under the best policy, gain or inputs in hindsight.

    Attributes
    ----------
    states, inputs, costs : arrays of shape (T, dx), (T, du) and (T,)
        x_t, u_t and c_t(x_t, u_t).
    gap : float or None
        Bound on how much cheaper the best of its kind can be; None where none is known.
    status : str
        How it was found and what is certain about it, in a sentence.

    Examples
    --------
    >>> import driftwise as dw
    >>> plant, cost = dw.control.LinearSystem(0.5, 1.0), dw.control.QuadraticCost(1.0, 1.0)
    >>> best = dw.control.clairvoyant(plant, cost, [[1.0], [-1.0], [1.0]])
    >>> isinstance(best, dw.control.Comparator), round(best.total, 6), best.gap < 1e-9
    (True, 0.764706, True)
    """

    gap: float | None
    status: str

    def __repr__(self) -> str:
        gap = "unknown" if self.gap is None else f"{self.gap:.3g}"
        return f"{type(self).__name__}(rounds={len(self.costs)}, total={self.total:.6g}, gap={gap})"
