"""The hindsight optimum: seconds and memory against the number of rounds, beside cvxpy with Clarabel in the same run.

python benchmarks/optimum.py [--rounds 50000] [--beside 5000]
"""

import argparse
import platform
import time
import tracemalloc

import numpy as np

import driftwise as dw
from driftwise.regret import hindsight_optimum


def measure(
    losses: dw.LossStream, domain: dw.Domain, lambda_: float | dw.MoveCost
) -> tuple[float, float, dw.regret.HindsightOptimum]:
    """Return seconds, megabytes of arrays at the peak (of a second run, as counting takes time), and the optimum."""
    start = time.perf_counter()
    best = hindsight_optimum(losses, domain, lambda_)
    seconds = time.perf_counter() - start
    tracemalloc.start()
    hindsight_optimum(losses, domain, lambda_)
    peak = tracemalloc.get_traced_memory()[1] / 1e6
    tracemalloc.stop()
    return seconds, peak, best


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=50_000, help="rounds of the longest stream")
    parser.add_argument("--beside", type=int, default=5_000, help="rounds of the stream that cvxpy solves too")
    arguments = parser.parse_args()

    print(f"Hindsight optimum of the paper's stream, d = 10; {platform.machine()}, Python {platform.python_version()}")
    warm = dw.streams.drifting_regression(rounds=200)
    hindsight_optimum(warm, warm.domain, 2.0)
    print("  rounds  lambda  seconds  peak MB  KB / round  relative gap")
    for lambda_ in (0.2, 2.0, 4.0):
        for rounds in (arguments.rounds // 4, arguments.rounds // 2, arguments.rounds):
            losses = dw.streams.drifting_regression(rounds=rounds)
            seconds, peak, best = measure(losses, losses.domain, lambda_)
            room = f"{peak:>8.1f} {1e3 * peak / rounds:>11.2f}"
            print(f"{rounds:>8} {lambda_:>7g} {seconds:>8.2f} {room} {best.gap:>13.1e}", flush=True)

    losses = dw.streams.drifting_regression(rounds=arguments.beside)
    # A second tap that is zero makes no difference to the losses, but memory is left to cvxpy.
    same = dw.FilteredLoss([1.0, 0.0], losses.data.features, losses.data.targets)
    start = time.perf_counter()
    ours = hindsight_optimum(losses, losses.domain, 2.0)
    middle = time.perf_counter()
    theirs = hindsight_optimum(same, losses.domain, 2.0)
    end = time.perf_counter()
    print(f"\n{arguments.beside} rounds, lambda = 2, active set        {middle - start:>7.2f} s, cost {ours.total:.8g}")
    print(f"{arguments.beside} rounds, lambda = 2, cvxpy, Clarabel   {end - middle:>7.2f} s, cost {theirs.total:.8g}")
    print(f"cvxpy, Clarabel / active set                 {(end - middle) / (middle - start):>7.1f}")

    print("\nA capacity that costs 1, 5 if it is missing, 3 to raise and 1 to lower, by a unit")
    prices, rng = dw.MoveCost(up=3.0, down=1.0), np.random.default_rng(0)
    shapes = ((arguments.rounds, 1, prices), (arguments.rounds // 16, 30, prices), (arguments.rounds // 16, 30, 5.0))
    for rounds, dim, price in shapes:
        demands = 50.0 + 30.0 * np.sin(np.arange(rounds)[:, None] / 200.0 + np.arange(dim))
        capacity = dw.CapacityLoss(demands + 10.0 * rng.standard_normal((rounds, dim)))
        seconds, peak, best = measure(capacity, dw.Box(np.zeros(dim), np.full(dim, 200.0)), price)
        what = "l1, up and down" if isinstance(price, dw.MoveCost) else "l2, one price"
        print(f"{rounds} rounds x {dim}, {what:<16} {seconds:>7.2f} s {peak:>8.1f} MB, relative gap {best.gap:.1e}")


if __name__ == "__main__":
    main()
