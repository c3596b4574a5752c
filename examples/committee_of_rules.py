"""A committee of rules
====================

Four rules of thumb and no idea which is right: let a `Committee` mix them.

Three rules always have an opinion. The fourth one, "as in the same hour last week", sleeps in the first week, when
there is no last week. You see what each rule cost by itself, what the committee cost, its own moves included, the
bound on that which can be read off any run, and who had how much of a say.
"""

import numpy as np
from matplotlib import pyplot as plt

import driftwise as dw
from driftwise.applications.data import load

values = load("synthetic-traffic").values[:, 0]
demand = (20.0 * values / values.mean()).tolist()
price = dw.MoveCost(up=6.0, down=6.0)  # starting or stopping a machine costs 6
WEEK = 168


def cost(machines: float, wanted: float) -> float:
    """Return what an hour costs: 1 for a machine, 5 for one that is missing."""
    return machines + 5.0 * max(wanted - machines, 0.0)


def propose(t: int) -> dict[str, float | None]:
    """Return what every rule would do in hour t, knowing the hours before it; None if it has no opinion."""
    return {
        "always 30": 30.0,
        "last hour": demand[max(t - 1, 0)],
        "most of the last day": max(demand[max(t - 24, 0) : t], default=20.0),
        "same hour last week": demand[t - WEEK] if t >= WEEK else None,
    }


names = list(propose(0))
committee = dw.Committee(len(names), switching_cost=price)
rows, weights = [], []
for t, wanted in enumerate(demand):
    proposals = propose(t)
    machines = committee.act(list(proposals.values()))
    committee.observe([None if x is None else cost(x, wanted) for x in proposals.values()])
    rows.append([*proposals.values(), machines])
    weights.append(committee.weights)

decisions = np.array(rows, dtype=float)  # NaN where a rule slept
losses = decisions + 5.0 * np.maximum(np.array(demand)[:, None] - decisions, 0.0)
moves = 6.0 * np.abs(np.diff(decisions, axis=0, prepend=decisions[:1]))
awake = slice(WEEK + 1, None)  # the rounds in which all four were awake
totals = (losses + moves)[awake].sum(axis=0)
for name, total in zip([*names, "committee"], totals, strict=True):
    print(f"{name:22}{total:10.0f}")
print(f"proved: at most {2.0 * committee.overhead:.0f} above each rule, over the rounds in which it is awake")
ax = plt.subplots(figsize=(9, 3.5), layout="constrained")[1]
ax.stackplot(range(len(demand)), np.transpose(weights), labels=names)
ax.set(xlabel="hour", ylabel="weight", xlim=(0, len(demand)), ylim=(0, 1))
ax.legend()
plt.show()
