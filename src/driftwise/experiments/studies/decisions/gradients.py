"""The paper's stream from gradients only: the learner sees one gradient a round and no loss."""

import numpy as np

from driftwise._validate import Array
from driftwise.experiments.findings.finding import Claim, Finding, Table
from driftwise.experiments.studies.decisions.ours import OURS, SCREAM, cost_of, ours
from driftwise.experiments.studies.decisions.paper import REFERENCE, SEEDS, player
from driftwise.experiments.studies.figure1 import ALPHAS, GRADIENT_BOUND, ROUNDS
from driftwise.experiments.studies.study import Arguments, Size, Study, group
from driftwise.learners import Learner
from driftwise.losses import LossStream
from driftwise.optimum.values import step_lengths
from driftwise.streams import drifting_regression

TARGETS = (0.165, 0.23, 0.29)
"""Parts of Scream's overall cost on abrupt drift at each alpha."""
LIMIT = 1.03
"""Multiple of what `SelfTunedScream` costs on gradual drift."""
DRIFTS = ("abrupt", "gradual")


def by_gradients(learner: Learner, losses: LossStream, price: float) -> float:
    """Return the overall cost of a learner that is shown the gradient at its decision, by hand."""
    decisions = np.empty((len(losses), losses.dim))
    for t in range(len(losses)):
        decisions[t] = learner.act()
        learner.observe(losses.gradient(t, decisions[t]))
    return float(losses.policy_losses(decisions).sum() + price * step_lengths(decisions).sum())


def run(drift: str, alpha: float, rounds: int, seed: int) -> dict[str, float]:
    """Return the overall cost of the three learners that see gradients only."""
    losses, price = drifting_regression(rounds, drift=drift, seed=seed), alpha * GRADIENT_BOUND
    others = {name: player(name, losses.domain, price, rounds) for name in (REFERENCE, SCREAM)}
    costs = {name: cost_of(learner, losses, price) for name, learner in others.items()}
    return {OURS: by_gradients(ours(losses.domain, price), losses, price), **costs}


def _tasks(size: Size) -> list[Arguments]:
    alphas, seeds = ((1.0,), SEEDS[:1]) if size.quick else (ALPHAS, SEEDS[:5])
    return [(drift, alpha, ROUNDS, seed) for drift in DRIFTS for alpha in alphas for seed in seeds]


def _conclude(tasks: list[Arguments], results: list[dict[str, float]]) -> Finding:
    runs = group([task[:2] for task in tasks], results)
    rows, claims, summary = [], [], []
    for (drift, alpha), of in runs.items():
        part, over = (_ratios(of, unit) for unit in (REFERENCE, SCREAM))
        rows.append([drift, f"{alpha:g}", _range(part), _range(over)])
        where, most = f"{drift}, alpha {alpha:g}", TARGETS[ALPHAS.index(alpha)]
        if drift == "abrupt":
            text = f"{where}: at most {most} of Scream from gradients only, on every seed"
            claims.append(Claim(text, bool(part.max() <= most), _range(part)))
        else:
            text = f"{where}: at most {LIMIT:g} times {SCREAM} from gradients only, on every seed"
            claims.append(Claim(text, bool(over.max() <= LIMIT), _range(over)))
    for drift in dict.fromkeys(drift for drift, _ in runs):
        here = {alpha: of for (kind, alpha), of in runs.items() if kind == drift}
        of_scream, of_tuned = (
            ", ".join(f"{_ratios(of, unit).mean():.3f}" for of in here.values()) for unit in (REFERENCE, SCREAM)
        )
        summary.append(
            f"{drift.capitalize()} drift, gradients only: {of_scream} of what Scream costs at alpha "
            f"{', '.join(f'{alpha:g}' for alpha in here)}, and {of_tuned} of what {SCREAM} costs."
        )
    table = Table(f"Overall cost of {OURS} from gradients", ["drift", "alpha", "/ Scream", f"/ {SCREAM}"], rows)
    return Finding(STUDY.title, summary, [table], claims)


def _ratios(results: list[dict[str, float]], unit: str) -> Array:
    return np.array([result[OURS] / result[unit] for result in results])


def _range(ratios: Array) -> str:
    if ratios.size == 1:
        return f"{ratios[0]:.3f}"
    return f"{ratios.min():.3f} to {ratios.max():.3f}, mean {ratios.mean():.3f}, {ratios.size} seeds"


STUDY = Study("gradients", "The paper's stream from gradients only", _tasks, run, _conclude)
