"""Autoscaling in whole machines
=============================

Whole machines for a demand that is seen too late: `SelfTunedLearner` beside the rule of an autoscaler.

A machine costs 1 an hour, a missing one 5, starting one 6, stopping one nothing. You see what machines and starts cost,
for both, and a plot of who had how many machines. Wikipedia's page views are the demand if `driftwise[data]` is
installed, otherwise a series that is made up.
"""

import numpy as np
from matplotlib import pyplot as plt

import driftwise as dw
from driftwise.applications.data import choose, load
from driftwise.applications.rules import autoscaler

MACHINES = 60.0

data = load(choose(("pageviews",), "synthetic-traffic")[0])
demand = 20.0 * data.values[:, 0] / data.values[:, 0].mean()
losses = dw.CapacityLoss(demand, shortage=5.0, price=1.0)
starts = dw.MoveCost(up=6.0, down=0.0)

learner = dw.SelfTunedLearner(dw.Box([0.0], [MACHINES]), switching_cost=starts, start=[20.0])
ours = dw.play(dw.rounded(learner, seed=0), losses, switching_cost=starts)

rule = np.ceil(np.minimum(autoscaler(demand), MACHINES))
rule_losses = rule + 5.0 * np.maximum(demand - rule, 0.0)
rule_starts = starts(np.diff(rule)[:, None])

print(f"{data.title}, {len(demand)} rounds of one {data.step}")
print(f"{'':26}{'machines':>10}{'starts':>10}{'overall':>10}")
for name, machines, moves in (
    ("SelfTunedLearner, rounded", ours.total_loss, ours.total_switching),
    ("autoscaler, defaults", rule_losses.sum(), rule_starts.sum()),
):
    print(f"{name:26}{machines:10.0f}{moves:10.0f}{machines + moves:10.0f}")

shown = slice(1000, 1200)
figure, ax = plt.subplots(figsize=(9, 3.5), layout="constrained")
rounds = np.arange(len(demand))[shown]
ax.fill_between(rounds, demand[shown], step="post", color="0.88", label="demand")
ax.step(rounds, rule[shown], where="post", label="autoscaler")
ax.step(rounds, ours.decisions[shown, 0], where="post", label="SelfTunedLearner, rounded")
ax.set(xlabel=data.step, ylabel="machines", ylim=(0.0, None))
ax.legend(frameon=False, ncols=3)
plt.show()
