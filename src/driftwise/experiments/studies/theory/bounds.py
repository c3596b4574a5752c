"""The bounds on random problems: no run's regret may be above what its theorem allows."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from driftwise import losses as lossy
from driftwise import mirror, regret
from driftwise._validate import Array
from driftwise.domains import Ball, Box, Domain, Simplex
from driftwise.experiments.findings.finding import Claim, Finding, Panel, Series, Table
from driftwise.experiments.studies.selftuned.battery import STREAMS
from driftwise.experiments.studies.study import Arguments, Size, Study
from driftwise.experiments.studies.theory.general import certify_general
from driftwise.learners import (
    OGD,
    Ader,
    Hedge,
    LazyScream,
    Learner,
    MirrorDescent,
    Scream,
    SelfTunedLearner,
    SelfTunedScream,
    StronglyAdaptive,
)
from driftwise.play import play
from driftwise.streams import drifting_regression

DRAWN = ("OGD", "Hedge", "Ader, improved", "Scream, appendix", "Scream, no horizon", "Self-tuned Scream")
"""The curves of the panel; the table has all."""


BY_HAND = 500
"""Most rounds of a run whose certificate plays it once more, by hand."""

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
        "Ader, no horizon": Ader(domain, gradient_bound=G),
        "Scream, appendix": Scream(domain, switching_cost=lambda_, **usual),
        "Scream, theorem": Scream(domain, switching_cost=lambda_, rate="theorem", **usual),
        "Scream, no horizon": Scream(domain, switching_cost=lambda_, gradient_bound=G),
        "Scream, doubling": Scream(domain, switching_cost=lambda_, gradient_bound=G, horizon_free="doubling"),
        "Lazy Scream, appendix": LazyScream(domain, switching_cost=lambda_, **usual),
        "Lazy Scream, theorem": LazyScream(domain, switching_cost=lambda_, rate="theorem", **usual),
        "Lazy Scream, no horizon": LazyScream(domain, switching_cost=lambda_, gradient_bound=G),
        "Self-tuned Scream": SelfTunedScream(domain, switching_cost=lambda_),
        "Strongly adaptive": StronglyAdaptive(domain, switching_cost=lambda_, **usual),
        "Strongly adaptive, no horizon": StronglyAdaptive(domain, switching_cost=lambda_, gradient_bound=G),
    }
    if T <= BY_HAND:
        result["Self-tuned learner"] = SelfTunedLearner(domain, switching_cost=lambda_)
    if isinstance(domain, Simplex):
        usual |= {"mirror": mirror.NegativeEntropy(), "start": np.full(domain.dim, domain.scale / domain.dim)}
        result["Mirror descent, entropy"] = MirrorDescent(domain, switching_cost=lambda_, **usual)
        if domain.scale == 1.0:
            result["Hedge"] = Hedge(domain.dim, loss_bound=G, horizon=T, switching_cost=lambda_)
            result["Hedge, no horizon"] = Hedge(domain.dim, loss_bound=G, switching_cost=lambda_)
    return result


FIXED_ONLY = ("Hedge", "Hedge, no horizon", "Mirror descent, entropy")
"""Learners whose theorems are for fixed comparators."""


def certify_all(
    losses: lossy.LossStream,
    domain: Domain,
    price: float,
    G: float,
    comparators: dict[str, Array],
    others: Sequence[tuple[str, str, float, bool]] = (),
) -> dict[str, Any]:
    """Play every learner, and check its theorem against every comparator; the first is a fixed one.

    Returns columns, with an entry for every certificate, `others` included: learners in general norms, and losses with
    memory of one's own, are in `studies.theory.general`.
    """
    fixed, *_ = comparators
    of_memory = losses.switching_costs(domain).tight
    result = []
    for name, learner in _contestants(domain, price + of_memory, G, len(losses)).items():
        trace = play(learner, losses, price)
        for kind, v in comparators.items():
            if kind == fixed or name not in FIXED_ONLY:
                certificate = regret.certificate(trace, domain.project(v))
                result.append((name, kind, certificate.ratio, certificate.guaranteed))
    result += others
    return dict(zip(COLUMNS, map(np.array, zip(*result, strict=True)), strict=True))


def certify_random_problem(seed: int) -> dict[str, Any]:
    """Play every learner on one random problem, and check its theorem against several comparators."""
    rng = np.random.default_rng(seed)
    losses, domain, walk = _random_problem(rng)
    price = float(10 ** rng.uniform(-2.0, 2.5))
    G = max(losses.gradient_bound(domain), 1e-9)
    fixed = regret.best_fixed(losses, domain)
    comparators = {"best fixed": np.tile(fixed, (len(losses), 1)), "the drift": walk}
    # The optimum of a long stream takes longer than all the rest together.
    if losses.memory == 0 and losses.quadratic and len(losses) <= 1_000:
        comparators["hindsight optimum"] = regret.hindsight_optimum(losses, domain, price).decisions
    return certify_all(losses, domain, price, G, comparators, certify_general(rng, losses, domain, comparators, price))


HARD = ("coins", "moving blocks", *STREAMS)
"""Adversaries: the instances of the lower bounds, and the gradients that self-tuned Scream is tried on."""


def certify_adversary(kind: str, price: float, rounds: int, seed: int) -> dict[str, Any]:
    """Play every learner against an adversary, and check its theorem against what the adversary compares with."""
    if kind in STREAMS:
        losses: lossy.LinearLoss = lossy.LinearLoss(STREAMS[kind](np.random.default_rng(seed), rounds))
        domain: Domain = Ball(losses.dim)
        moving = regret.hindsight_optimum(losses, domain, price).decisions
    else:
        adversary = regret.adversaries.random_signs(rounds, 2, seed=seed)
        if kind == "moving blocks":
            adversary = regret.adversaries.moving_blocks(rounds, 8.0, switching_cost=price, seed=seed)
        losses, domain, moving = adversary, adversary.domain, adversary.comparators
    fixed = np.tile(regret.best_fixed(losses, domain), (rounds, 1))
    return certify_all(losses, domain, price, 1.0, {"best fixed": fixed, "moving": moving})


def _adversary_tasks(size: Size) -> list[Arguments]:
    rounds, seeds = (400, range(1)) if size.quick else (4_000, range(3))
    return [(kind, price, rounds, seed) for kind in HARD for price in (0.1, 2.0, 40.0) for seed in seeds]


def _conclude_bounds(tasks: list[Arguments], results: list[dict[str, Any]]) -> Finding:
    rest = "These problems are not made to be hard; for those that are, see below."
    return _conclude(STUDY, f"{len(tasks)} random problems", rest, results)


def _conclude_adversaries(tasks: list[Arguments], results: list[dict[str, Any]]) -> Finding:
    largest = _largest(results)
    rest = (
        "The bound of self-tuned Scream, which is told neither the rounds nor the gradients, was reached up to "
        f"{largest.get('Self-tuned Scream', 0.0):.3f}, that of Scream, which is told both, up to "
        f"{largest.get('Scream, appendix', 0.0):.3f}, and without the rounds "
        f"{largest.get('Scream, no horizon', 0.0):.3f}."
    )
    return _conclude(ADVERSARIES, f"{len(tasks)} streams made to be hard", rest, results)


def _largest(results: list[dict[str, Any]]) -> dict[str, float]:
    """Return the largest ratio of every learner."""
    learner, ratio = (np.concatenate([result[name] for result in results]) for name in ("learner", "ratio"))
    return {name: float(ratio[learner == name].max()) for name in dict.fromkeys(learner.tolist())}


def _conclude(study: Study, problems: str, rest: str, results: list[dict[str, Any]]) -> Finding:
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
    where = "" if study is STUDY else f", {study.name}"
    measured = f"{violations} violations in {ratio.size} certificates, {applicable} with all assumptions met"
    claims = [
        Claim(f"No regret above its bound{where}", violations == 0 and applicable == ratio.size, measured),
        Claim(f"Largest measured / bound below 1{where}", largest < 1.0, f"{largest:.3f}"),
    ]
    summary = [
        f"On {problems}, regret stayed below its bound in {ratio.size - violations} of {ratio.size} checks.",
        f"The nearest that a run came to its bound is {largest:.3f} of it, and half of all runs stay below "
        f"{np.median(ratio):.3f} of it.",
        rest,
    ]
    table = Table("Regret / bound", ["learner", "checked", "violated", "largest", "against"], rows)
    series.append(Series("Bound", [1.0, 1.0], [0.0, 1.0], style="dashed"))
    x_label = "regret / bound, 0 where regret is negative"
    panel = Panel("How near regret comes to its bound", x_label, "part of the runs below", series)
    return Finding(study.title, summary, [table], claims, [panel], columns=1)


STUDY = Study(
    "bounds",
    "The bounds on random problems (lambda 0.01 to 316, random drift)",
    lambda size: [(seed,) for seed in range(40 if size.quick else 300)],
    certify_random_problem,
    _conclude_bounds,
)
ADVERSARIES = Study(
    "adversaries",
    "The bounds on streams made to be hard (lambda 0.1 to 40)",
    _adversary_tasks,
    certify_adversary,
    _conclude_adversaries,
)
