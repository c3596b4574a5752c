"""Scream beside gradient descent
==============================

The paper's stream, in small: Scream beside online gradient descent, how good they were, and what is proved.

The true weights jump every 1000 rounds, and every unit of movement costs 2. You see what each learner cost, how far
that is from the cheapest decisions in hindsight, whose optimality is certified, and the certificate of Scream: its
regret beside the bound of Theorem 2, with every assumption of it.
"""

from matplotlib import pyplot as plt

import driftwise as dw
from driftwise import regret

LAMBDA, T = 2.0, 10_000

losses = dw.streams.drifting_regression(rounds=T, dim=10, segment=1000, seed=0)
domain, G = losses.domain, losses.gradient_bound(losses.domain)

learners = [
    dw.OGD(domain, gradient_bound=G, switching_cost=LAMBDA, horizon=T),
    dw.Scream(domain, switching_cost=LAMBDA, gradient_bound=G, horizon=T),
    dw.SelfTunedScream(domain, switching_cost=LAMBDA),
]
traces = [dw.play(learner, losses, switching_cost=LAMBDA) for learner in learners]
best = regret.hindsight_optimum(losses, domain, switching_cost=LAMBDA)

for trace in traces:
    name = type(trace.learner).__name__
    print(f"{name:16} {trace.total:8.1f} = {trace.total_loss:.1f} + {trace.total_switching:.1f} for moves")
print(f"{'in hindsight':16} {best.total:8.1f}   relative gap to the lower bound {best.gap:.0e}")
print()
print(regret.certificate(traces[1], losses.generator))

regret.plots.costs(traces[1], best)
plt.show()
