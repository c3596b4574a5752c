"""The inverted pendulum of the paper's experiments (Section 6)."""

from numpy.typing import ArrayLike

from driftwise._validate import number
from driftwise.control.plants.actuator import ActuatorOptions
from driftwise.control.plants.base import System
from driftwise.control.plants.kernels import PENDULUM


class InvertedPendulum(System):
    """A pendulum to be kept upright by a motor of limited torque, as in the paper's experiments.

    The pendulum is a rod with a motor at its pivot, moved on in steps of Euler's method: theta' = theta + step omega
    and omega' = omega + step (3 g / (2 l) sin(theta) + 3 / (m l^2) u), plus the disturbance. The slightest push ends
    the upright position, so a run needs a controller; one without a disturbance that starts upright shows nothing.

    ===== ========= ======================== ==================================================
    State Name      Range                    Unit
    ===== ========= ======================== ==================================================
    x[0]  theta     [-pi, pi], wrapped       rad, 0 is upright
    x[1]  omega     not limited              rad/s
    ===== ========= ======================== ==================================================

    ===== ========= ======================== ==================================================
    Input Name      Range                    Unit
    ===== ========= ======================== ==================================================
    u[0]  torque    [-limit, limit], clipped N m, positive turns towards positive theta
    ===== ========= ======================== ==================================================

    The nominal pair is the linearisation about the upright position: A = [[1, step], [3 g step / (2 l), 1]] and
    B = [[0], [3 step / (m l^2)]].

    Parameters
    ----------
    torque_limit : float, default 2.0
        Largest torque that the motor delivers, in N m, above zero. It can hold the pendulum still only up to
        sin(theta) = 2 torque_limit / (m g l), with the defaults 0.4115 rad.
    step : float, default 0.05
        Time between two rounds, in seconds, above zero.
    gravity : float, default 10.0
        Gravitational acceleration g, in m/s^2, above zero.
    mass : float, default 1.0
        Mass m of the rod, in kg, above zero.
    length : float, default 1.0
        Length l of the rod, in m, above zero.
    rate_limit, delay, lag : optional
        What else the motor does to its input, as in `LinearSystem`.

    Notes
    -----
    In the paper's symbols, theta' = theta + c omega and omega' = omega + a sin(theta + pi) + b u with c = 0.05,
    b = 0.15 and a = -0.75; a positive a would put the stable hanging position at 0.

    How far from upright it comes back without falling, measured with the defaults, the linear-quadratic gain for unit
    weights and no disturbance: from rest at 0.411 rad, or from theta = 0 with 1.56 rad/s. With independent Gaussian
    disturbances in both states it stayed up for 10 000 rounds at a standard deviation of 0.03 and fell at 0.05 (five
    seeds each).

    References
    ----------
    .. [1] Zhao, Yan, Wang, Zhou, "Non-stationary online learning with memory ...", JMLR 24, 2023, Section 6.

    Examples
    --------
    >>> from driftwise.control import InvertedPendulum
    >>> InvertedPendulum().A
    array([[1.  , 0.05],
           [0.75, 1.  ]])
    """

    _kind = PENDULUM

    def __init__(
        self,
        *,
        torque_limit: float = 2.0,
        step: float = 0.05,
        gravity: float = 10.0,
        mass: float = 1.0,
        length: float = 1.0,
        rate_limit: ArrayLike | None = None,
        delay: int = 0,
        lag: ArrayLike | None = None,
    ) -> None:
        def positive(name: str, value: float) -> float:
            return number("InvertedPendulum", name, value, low=0.0, exclusive=True)

        self.torque_limit, self.step = positive("torque_limit", torque_limit), positive("step", step)
        self.gravity = positive("gravity", gravity)
        self.mass, self.length = positive("mass", mass), positive("length", length)
        fall = 1.5 * self.gravity * self.step / self.length
        push = 3.0 * self.step / self.mass / self.length / self.length
        motor: ActuatorOptions = {
            "input_limit": self.torque_limit,
            "rate_limit": rate_limit,
            "delay": delay,
            "lag": lag,
        }
        super().__init__([[1.0, self.step], [fall, 1.0]], [[0.0], [push]], **motor)
        self._numbers = (-fall, push, self.step)

    def __repr__(self) -> str:
        rod = f"gravity={self.gravity:g}, mass={self.mass:g}, length={self.length:g}"
        motor = self._actuator.replace(", input_limit=...", "")
        return f"InvertedPendulum(torque_limit={self.torque_limit:g}, step={self.step:g}, {rod}{motor})"
