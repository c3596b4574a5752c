"""The bounds on random problems: no run's regret may be above what its theorem allows."""

from typing import Any

import numpy as np

from driftwise import losses as lossy
from driftwise import mirror, regret
from driftwise._validate import Array
from driftwise.domains import Ball, Box, Domain, Simplex
from driftwise.experiments.findings.finding import Claim, Finding, Panel, Series, Table
from driftwise.experiments.studies.study import Arguments, Study
from driftwise.experiments.studies.theory.general import certify_general
from driftwise.learners import OGD, Ader, Hedge, LazyScream, Learner, MirrorDescent, Scream
from driftwise.play import play
from driftwise.streams import drifting_regression

DRAWN = ("OGD", "Mirror descent, entropy", "Hedge", "Ader, improved", "Scream, appendix", "Lazy Scream, appendix")
"""The curves of the panel; the table has all."""


COLUMNS = ("learner", "comparators", "ratio", "guaranteed")


def _random_problem(rng: np.random.Generator) -> tuple[lossy.LossStream, Domain, Array]:
    """Return losses with random drift, a domain, and a sequence that moves as the losses do."""
    T, d = int(10 ** rng.uniform(2.0, 3.3)), int(rng.integers(1, 9))
    size = 10 ** rng.uniform(-1.0, 1.0)
    domains: list[Domain] = [Ball(d, size), Box(-size * rng.random(d), size * rng.random(d))]
    if d > 1:
        domains += [Simplex(d, size), Simplex(d)]
    domain = domains[rng.integers(len(domains))]
    segment, change = int(rng.integers(1, T + 1)), ["abrupt", "gradual"][rng.integers(2)]
    source = drifting_regression(T, d, segment, change, size, seed=rng)
    x, y, walk = source.data.features, source.data.targets, source.generator
    noise = rng.normal(0.0, 0.1 * size, walk.shape)
    streams: list[lossy.LossStream] = [
        source,
        lossy.TrackingLoss(walk + noise),
        lossy.LinearLoss(rng.choice([-1.0, 1.0], x.shape) - 0.3 * np.sign(walk)),
        lossy.AbsoluteLoss(x, y),
        lossy.HuberLoss(x, y, delta=0.1 * size),
        lossy.LogisticLoss(x, np.where(y >= np.median(y), 1.0, -1.0)),
        lossy.FilteredLoss(0.5 ** np.arange(int(rng.integers(2, 6))), x, y),
    ]
    return streams[rng.integers(len(streams))], domain, domain.project(walk)


def _contestants(domain: Domain, lambda_: float, G: float, T: int) -> dict[str, Learner]:
    """Return every learner that a theorem is known for."""
    usual: dict[str, Any] = {"gradient_bound": G, "horizon": T}
    result: dict[str, Learner] = {
        "OGD": OGD(domain, **usual),
        "OGD, switching-aware": OGD(domain, switching_cost=lambda_, **usual),
        "OGD, constant step": OGD(domain, step=0.1 * domain.diameter / G),
        "OGD, no horizon": OGD(domain, gradient_bound=G),
        "OGD, doubling": OGD(domain, gradient_bound=G, horizon_free="doubling"),
        "Mirror descent": MirrorDescent(domain, switching_cost=lambda_, **usual),
        "Ader, improved": Ader(domain, **usual),
        "Ader, original": Ader(domain, variant="original", **usual),
        "Scream, appendix": Scream(domain, switching_cost=lambda_, **usual),
        "Scream, theorem": Scream(domain, switching_cost=lambda_, rate="theorem", **usual),
        "Scream, doubling": Scream(domain, switching_cost=lambda_, gradient_bound=G, horizon_free="doubling"),
        "Lazy Scream, appendix": LazyScream(domain, switching_cost=lambda_, **usual),
        "Lazy Scream, theorem": LazyScream(domain, switching_cost=lambda_, rate="theorem", **usual),
    }
    if isinstance(domain, Simplex):
        usual |= {"mirror": mirror.NegativeEntropy(), "start": np.full(domain.dim, domain.scale / domain.dim)}
        result["Mirror descent, entropy"] = MirrorDescent(domain, switching_cost=lambda_, **usual)
        if domain.scale == 1.0:
            result["Hedge"] = Hedge(domain.dim, loss_bound=G, horizon=T, switching_cost=lambda_)
    return result


def certify_random_problem(seed: int) -> dict[str, Any]:
    """Play every learner on one random problem, and check its theorem against several comparators.

    Learners in general norms, and losses with memory of one's own, are in `studies.theory.general`.

    Returns columns, with an entry for every certificate.
    """
    rng = np.random.default_rng(seed)
    losses, domain, walk = _random_problem(rng)
    price = float(10 ** rng.uniform(-2.0, 2.5))
    of_memory = losses.switching_costs(domain).tight
    G = max(losses.gradient_bound(domain), 1e-9)
    fixed = regret.best_fixed(losses, domain)
    comparators = {"best fixed": np.tile(fixed, (len(losses), 1)), "the drift": walk}
    # The optimum of a long stream takes longer than all the rest together.
    if losses.memory == 0 and losses.quadratic and len(losses) <= 1_000:
        comparators["hindsight optimum"] = regret.hindsight_optimum(losses, domain, price).decisions
    result = []
    for name, learner in _contestants(domain, price + of_memory, G, len(losses)).items():
        trace = play(learner, losses, price)
        for kind, v in comparators.items():
            if kind != "best fixed" and name in ("Hedge", "Mirror descent, entropy"):
                continue  # their theorems are for fixed comparators
            certificate = regret.certificate(trace, domain.project(v))
            result.append((name, kind, certificate.ratio, certificate.guaranteed))
    result += certify_general(rng, losses, domain, comparators, price)
    return dict(zip(COLUMNS, map(np.array, zip(*result, strict=True)), strict=True))


def _conclude_bounds(tasks: list[Arguments], results: list[dict[str, Any]]) -> Finding:
    learner, against, ratio, guaranteed = (np.concatenate([result[name] for result in results]) for name in COLUMNS)
    rows, series = [], []
    for name in dict.fromkeys(learner.tolist()):
        own = np.flatnonzero(learner == name)
        worst = own[np.argmax(ratio[own])]
        beyond = int((ratio[own] > 1.0).sum())
        rows.append([name, str(own.size), str(beyond), f"{ratio[worst]:.3f}", str(against[worst])])
        if name in DRAWN:
            ordered = np.sort(np.maximum(ratio[own], 0.0))
            kept = np.unique(np.linspace(0, own.size - 1, min(own.size, 200)).round().astype(int))
            series.append(Series(name, ordered[kept].tolist(), ((kept + 1) / own.size).tolist()))
    violations, applicable, largest = int((ratio > 1.0).sum()), int(guaranteed.sum()), float(ratio.max())
    measured = f"{violations} violations in {ratio.size} certificates, {applicable} with all assumptions met"
    claims = [
        Claim("No regret above its bound", violations == 0 and applicable == ratio.size, measured),
        Claim("Largest measured / bound below 1", largest < 1.0, f"{largest:.3f}"),
    ]
    summary = [
        f"On {len(tasks)} random problems, regret stayed below its bound in {ratio.size - violations} of {ratio.size} "
        "checks.",
        f"The nearest that a run came to its bound is {largest:.3f} of it, and half of all runs stay below "
        f"{np.median(ratio):.3f} of it.",
        "These problems are not made to be hard; for those that are, see below.",
    ]
    table = Table("Regret / bound", ["learner", "checked", "violated", "largest", "against"], rows)
    series.append(Series("Bound", [1.0, 1.0], [0.0, 1.0], style="dashed"))
    x_label = "regret / bound, 0 where regret is negative"
    panel = Panel("How near regret comes to its bound", x_label, "part of the runs below", series)
    return Finding(STUDY.title, summary, [table], claims, [panel], columns=1)


STUDY = Study(
    "bounds",
    "The bounds on random problems (lambda 0.01 to 316, random drift)",
    lambda size: [(seed,) for seed in range(40 if size.quick else 300)],
    certify_random_problem,
    _conclude_bounds,
)
