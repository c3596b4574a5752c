"""Gymnasium: driftwise's plants as environments, and driftwise's controllers on anybody's environments.

Importing this registers ``driftwise/LinearSystem-v0`` and ``driftwise/InvertedPendulum-v0``;
``gymnasium.make("driftwise.adapters.gymnasium:driftwise/LinearSystem-v0")`` does both in one line.
"""

from driftwise._extras import optional
from driftwise.adapters.gymnasium.environments import InvertedPendulumEnv, LinearSystemEnv
from driftwise.adapters.gymnasium.identify import identify
from driftwise.adapters.gymnasium.run import run
from driftwise.adapters.gymnasium.trace import EnvTrace

__all__ = ["EnvTrace", "InvertedPendulumEnv", "LinearSystemEnv", "identify", "run"]


def _register() -> None:
    gym = optional(__name__, "gymnasium", "gymnasium")
    for name in ("LinearSystem", "InvertedPendulum"):
        if f"driftwise/{name}-v0" not in gym.registry:
            gym.register(id=f"driftwise/{name}-v0", entry_point=f"{__name__}:{name}Env")


_register()
