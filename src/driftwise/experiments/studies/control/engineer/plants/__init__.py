"""Plants that engineers meet, from physical constants: twelve that the controller was designed on, seven held out."""

from collections.abc import Callable

from driftwise.experiments.studies.control.engineer.plants import design, held_out
from driftwise.experiments.studies.control.engineer.plants.base import Plant, sampled

__all__ = ["DESIGN", "HELD_OUT", "MAKERS", "Plant", "sampled"]

_DESIGN: dict[str, Callable[[], Plant]] = {
    "cart-pole": design.cart_pole,
    "thermal chain": design.thermal_chain,
    "flexible motor": design.flexible_motor,
    "short period": design.short_period,
    "levitation": design.levitation,
    "two masses": design.two_masses,
    "four tanks": design.four_tanks,
    "lateral flight": design.lateral_flight,
    "crane": design.crane,
    "reactor": design.reactor,
    "wheel pendulum": design.wheel_pendulum,
    "mass chain": design.mass_chain,
}

_HELD_OUT: dict[str, Callable[[], Plant]] = {
    "ball and beam": held_out.ball_and_beam,
    "balancing robot": held_out.balancing_robot,
    "suspension": held_out.suspension,
    "converter": held_out.converter,
    "drone": held_out.drone,
    "heated house": held_out.heated_house,
    "tower": held_out.tower,
}

MAKERS = {**_DESIGN, **_HELD_OUT}
"""Every plant, by name."""

DESIGN, HELD_OUT = tuple(_DESIGN), tuple(_HELD_OUT)
"""Names of the plants that were looked at while the controller was designed, and of those that are for judging only."""
