"""A floor under the margins of a policy: how much of what was learnt may be used.

The answer of the loop is affine in M (see ``response``), so that it is computed once for all shares of M.
"""

from driftwise._validate import checked, instance, number, whole
from driftwise.control.frozen.margins import MOST_DELAY, Survey
from driftwise.control.frozen.policy import FrozenPolicy
from driftwise.control.frozen.response import Loop
from driftwise.errors import ParameterError

HALVINGS = 12
"""Number of halvings in the search for the share."""


@checked
def margin_share(
    policy: FrozenPolicy,
    *,
    min_delay: int = 0,
    min_gain_up: float = 1.0,
    max_gain_down: float = 1.0,
    min_phase: float = 0.0,
) -> float:
    """Return the largest share of a policy's M and offset, from 0 to 1, with which the loop keeps its margins.

    `FrozenPolicy.scaled` makes the policy with that share. With 0 it is u = rest - K z; that 0 is returned also if even
    this one misses the floor, which `margins` of it says. Margins are asked for an error on all inputs at once and on
    each input alone, one error at a time.

    Parameters
    ----------
    policy : FrozenPolicy
        The policy.
    min_delay : int, default 0
        Samples of extra delay with which the loop must be stable, at most 100.
    min_gain_up : float, default 1
        Factor, at least 1, up to which the plant's gain may rise.
    max_gain_down : float, default 1
        Factor, from 0 to 1, down to which the plant's gain may fall.
    min_phase : float, default 0
        Phase margin in degrees, below 180.

    Examples
    --------
    >>> from driftwise.control import double_integrator, lqr
    >>> from driftwise.control.frozen import FrozenPolicy, margin_share
    >>> plant = double_integrator()
    >>> policy = FrozenPolicy(plant.A, plant.B, lqr(plant), M=[[[-0.2, -0.5]]])
    >>> share = margin_share(policy, min_gain_up=1.8)
    >>> round(share, 2), policy.scaled(share).margins()
    (0.18, Margins(gain x 0 to x 1.8, phase 38.8 degrees, delay 0 samples))
    """
    owner = "margin_share"
    instance(owner, "policy", policy, FrozenPolicy, "controller.freeze()")
    delay = whole(owner, "min_delay", min_delay, low=0, high=MOST_DELAY)
    up = number(owner, "min_gain_up", min_gain_up, low=1.0)
    down = number(owner, "max_gain_down", max_gain_down, low=0.0)
    if down > 1.0:
        raise ParameterError(f"{owner}: max_gain_down must be from 0 to 1, got {down:g}.")
    phase = number(owner, "min_phase", min_phase, low=0.0)
    if phase >= 180.0:
        raise ParameterError(f"{owner}: min_phase must be from 0 to below 180 degrees, got {phase:g}.")
    loop = Loop(policy.law)
    if not loop.radius < 1.0:
        return 0.0
    survey = Survey(loop)
    channels = [None] if policy.input_dim == 1 else [None, *range(policy.input_dim)]

    def keeps(share: float, channel: int | None) -> bool:
        if survey.delay(share, channel, delay) < delay:
            return False
        if up > 1.0 or down < 1.0:
            low, high = survey.gains(share, channel)
            if high < up or low > down:
                return False
        return phase == 0.0 or survey.phase(share, channel) >= phase

    def safe(share: float) -> bool:
        return all(keeps(share, channel) for channel in channels)

    if safe(1.0):
        return 1.0
    if not safe(0.0):
        return 0.0
    low, high = 0.0, 1.0
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if safe(middle) else (low, middle)
    return low
