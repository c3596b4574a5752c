"""A loss of your own
==================

Losses of your own: a `CustomLoss` from two Python functions, with memory.

A heater: today's temperature comes from 60 % of today's power and 40 % of yesterday's, so a loss looks at the last two
decisions. What memory amounts to as a switching cost is given by hand. You see that the loss passes the public checks,
and what it costs to follow the season with and without a price on moves.
"""

import math

import numpy as np
import numpy.typing as npt
from matplotlib import pyplot as plt

import driftwise as dw
from driftwise.testing import check_loss

Array = npt.NDArray[np.float64]


def wanted(t: int) -> float:
    """Return the temperature that is wanted in round t."""
    return 2.0 + math.sin(2.0 * math.pi * t / 365.0)


def value(t: int, window: Array) -> float:
    """Return the loss; the window has yesterday's decision in its first row and today's in its second."""
    temperature = 0.4 * window[0, 0] + 0.6 * window[1, 0]
    return float(abs(temperature - wanted(t)))


def gradient(t: int, w: Array) -> Array:
    """Return a subgradient of the unary loss: of what w costs when it is held."""
    return np.sign(w - wanted(t))


losses = dw.CustomLoss(value, gradient, rounds=2000, dim=1, memory=1)
domain = dw.Box([0.0], [4.0])
check_loss(losses, domain)
print("The loss passes every check of check_loss.")

# One round late, a unit moved is 0.4 units off; on top of that, changing the power may cost something by itself.
ax = plt.subplots(figsize=(9, 3.5), layout="constrained")[1]
ax.plot([wanted(t) for t in range(2000)], color="0.7", label="wanted")
for price in (0.4, 10.0):
    trace = dw.play(dw.SelfTunedScream(domain, switching_cost=price, start=[2.0]), losses, switching_cost=price)
    print(f"price {price:4g}: discomfort {trace.total_loss:6.1f}, distance moved {trace.moves.sum():5.1f}")
    ax.plot(trace.decisions[:, 0], label=f"power, price {price:g}")
ax.set(xlabel="day")
ax.legend()
plt.show()
