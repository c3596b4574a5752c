"""The one place where driftwise meets matplotlib, which is optional."""

from typing import TYPE_CHECKING

from driftwise.errors import MissingExtraError, ParameterError

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def axes(owner: str, ax: "Axes | None") -> "Axes":
    """Return the axes given, or new ones in a new figure."""
    try:
        from matplotlib import pyplot
        from matplotlib.axes import Axes
    except ImportError:
        raise MissingExtraError(
            f"{owner} needs matplotlib, which the extra 'plot' brings: pip install 'driftwise[plot]'."
        ) from None
    if ax is None:
        _, ax = pyplot.subplots(layout="constrained")
    elif not isinstance(ax, Axes):
        raise ParameterError(f"{owner}: ax must be matplotlib axes, such as plt.subplots()[1], got {ax!r}.")
    return ax
