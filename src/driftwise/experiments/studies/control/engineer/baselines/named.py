"""The alternatives by name, and what the best version of each costs."""

from collections.abc import Callable
from functools import partial

from driftwise._validate import Array
from driftwise.experiments.studies.control.engineer.baselines.forecast import forecast_trajectory
from driftwise.experiments.studies.control.engineer.baselines.integral import WEIGHTS, integral, regulator
from driftwise.experiments.studies.control.engineer.baselines.law import Law, total_cost, trajectory
from driftwise.experiments.studies.control.engineer.baselines.observer import observer
from driftwise.experiments.studies.control.engineer.plants import Plant

LQR, LQI, DOB, ARF = BASELINES = ("LQR", "LQI", "DOB", "AR-preview")

LAWS: dict[str, list[Callable[[Plant], Law]]] = {
    LQR: [regulator],
    LQI: [partial(integral, weight=weight) for weight in WEIGHTS],
    DOB: [observer],
}
"""Linear alternatives, in as many versions as are tried; the best of them in hindsight counts."""


def baseline_cost(name: str, pair: tuple[Array, Array], plant: Plant, rows: Array) -> float:
    """Return the total cost of one of `BASELINES`, infinite if it diverges.

    Parameters
    ----------
    name : str
        Which one.
    pair : tuple of arrays
        A and B of the plant as it is, actuator included; its first states are those of `plant`.
    plant : Plant
        The plant as it is known.
    rows : array of shape (T, states)
        Disturbances.
    """
    count = rows.shape[1]
    if name == ARF:
        return total_cost(*forecast_trajectory(*pair, plant, rows), count)
    return min(total_cost(*trajectory(*pair, make(plant), rows), count) for make in LAWS[name])
