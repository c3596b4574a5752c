"""Time a round of every learner: in compiled play, and by hand with the two verbs, all in one run.

Run with ``python benchmarks/learners.py``. Everybody plays the paper's stream at d = 10 (experts: ten of them, on a
simplex), rows take turns, and the fastest of several turns counts. The page *Which learner?* has the numbers.
"""

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import driftwise as dw

PRICE, GRADIENT_BOUND, DIM = 2.0, 2.1, 10

Player = dw.Learner | dw.Committee


def learners(horizon: int) -> dict[str, Player]:
    """Return every learner by its name, as a user would build it."""
    ball, simplex = dw.Ball(DIM), dw.Simplex(DIM)
    told: dict[str, Any] = {"switching_cost": PRICE, "gradient_bound": GRADIENT_BOUND, "horizon": horizon}
    return {
        "OGD": dw.OGD(ball, **told),
        "MirrorDescent": dw.MirrorDescent(simplex, mirror=dw.mirror.NegativeEntropy(), **told),
        "Hedge": dw.Hedge(DIM, switching_cost=PRICE, loss_bound=1.0, horizon=horizon),
        "Ader": dw.Ader(ball, gradient_bound=GRADIENT_BOUND, horizon=horizon),
        "Scream": dw.Scream(ball, **told),
        "LazyScream": dw.LazyScream(ball, **told),
        "StronglyAdaptive": dw.StronglyAdaptive(ball, **told),
        "SelfTunedScream": dw.SelfTunedScream(ball, switching_cost=PRICE),
        "SelfTunedLearner": dw.SelfTunedLearner(ball, switching_cost=PRICE),
        "Committee": dw.Committee(DIM, switching_cost=PRICE),
    }


def whole(learner: dw.Learner, losses: dw.LossStream) -> Callable[[], None]:
    """Return a whole run in compiled code."""
    return lambda: void(dw.play(learner.clone(), losses, PRICE))


def by_hand(learner: dw.Learner, rounds: int) -> Callable[[], None]:
    """Return a run round by round; gradients are ready beforehand."""
    gradients = np.random.default_rng(0).normal(size=(rounds, DIM)) / DIM

    def run() -> None:
        fresh = learner.clone()
        for gradient in gradients:
            fresh.act()
            fresh.observe(gradient)

    return run


def council(committee: dw.Committee, rounds: int) -> Callable[[], None]:
    """Return a run of a committee of ten rules whose costs are known."""
    rng = np.random.default_rng(0)
    proposals, costs = rng.normal(size=(rounds, DIM)).tolist(), rng.random((rounds, DIM))

    def run() -> None:
        fresh = committee.clone()
        for row, cost in zip(proposals, costs, strict=True):
            fresh.act(row)
            fresh.observe(cost)

    return run


def void(_: object) -> None:
    """Forget a result."""


def fastest(run: Callable[[], None], turns: int) -> float:
    """Return the seconds of the fastest of several turns; the first one, which may compile, does not count."""
    run()
    seconds = []
    for _ in range(turns):
        start = time.perf_counter()
        run()
        seconds.append(time.perf_counter() - start)
    return min(seconds)


def main() -> None:
    """Time everybody and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=20_000)
    parser.add_argument("--turns", type=int, default=7)
    given = parser.parse_args()
    losses = dw.streams.drifting_regression(given.rounds, DIM, seed=0)
    experts = dw.LinearLoss(np.random.default_rng(0).random((given.rounds, DIM)))
    few = max(given.rounds // 4, 20)
    print(f"microseconds a round, d = {DIM}, the fastest of {given.turns} turns")
    print(f"{'':18}{'play':>8}{'by hand':>10}")
    for name, learner in learners(given.rounds).items():
        if isinstance(learner, dw.Committee):
            print(f"{name:18}{'':>8}{1e6 * fastest(council(learner, few), given.turns) / few:10.2f}")
            continue
        stream = experts if name in {"Hedge", "MirrorDescent"} else losses
        compiled = 1e6 * fastest(whole(learner, stream), given.turns) / given.rounds
        hand = 1e6 * fastest(by_hand(learner, few), given.turns) / few
        print(f"{name:18}{compiled:8.2f}{hand:10.2f}")


if __name__ == "__main__":
    main()
