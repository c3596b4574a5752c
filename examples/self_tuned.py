"""Machines by the hour, and a forecast
====================================

A column of demand and a forecast that is missing at times: `SelfTunedLearner`, hour by hour.

A machine costs 1 an hour, a missing one 5; starting one costs 4, stopping one 1. The demand has a daily season, and on
some days there is a sale. The planners know the season and announce sales, so their forecast is worth something; but in
one hour of twenty there is none. You see what following the forecast at once costs, what the learner costs without it
and with it, who was in charge at the end, and the proved inequality with its numbers.
"""

import numpy as np
from matplotlib import pyplot as plt

import driftwise as dw

DAYS, DAY = 60, 24

rng = np.random.default_rng(0)
hours = np.arange(DAYS * DAY)
sale = np.repeat(rng.random(DAYS) < 0.2, DAY)
season = 20.0 + 8.0 * np.sin(2.0 * np.pi * hours / DAY) + 12.0 * sale
demand = season + rng.normal(size=hours.size)  # or a column of a file: np.loadtxt("demand.csv")
forecast = season + 1.0
known = rng.random(hours.size) > 0.05

losses = dw.CapacityLoss(demand, shortage=5.0, price=1.0)
prices = dw.MoveCost(up=4.0, down=1.0)
machines = dw.Box([0.0], [60.0])


def live(with_forecast: bool) -> dw.SelfTunedLearner:
    """Decide hour by hour: what is known before an hour goes into `act`, what it brought into `observe`."""
    learner = dw.SelfTunedLearner(machines, switching_cost=prices, start=[20.0], period=DAY)
    for t in range(hours.size):
        given = [forecast[t]] if with_forecast and known[t] else None
        learner.act(proposal={"planners": given})  # returns how many machines to run
        learner.observe(losses[t])
    return learner


last_known = np.maximum.accumulate(np.where(known, hours, 0))  # without a forecast, stay
followed = forecast[last_known][:, None]
at_once = losses.policy_losses(followed).sum() + prices.along(followed).sum()
alone, helped = live(with_forecast=False), live(with_forecast=True)
best = dw.regret.hindsight_optimum(losses, machines, prices)

for who, cost in (
    ("forecast, followed at once", at_once),
    ("SelfTunedLearner without it", alone.explain().cost),
    ("SelfTunedLearner, given it as a proposal", helped.explain().cost),
    ("hindsight optimum", best.total),
):
    print(f"{who:42}{cost:8.0f}")
print(helped.explain())
print(helped.certificate())
helped.explain().plot()
plt.show()
