"""One control step of Scream and of the self-tuned pool beside a plain NumPy step of GPC (one learner), and the cases.

Also how even steps by hand are, and what an engineer would use instead: costs over LQR, and over LQG where only outputs
are measured. Ratios are of one run; goals stand in parentheses.

python benchmarks/controllers.py [--rounds 2000] [--steps 100000] [--cases FILE.npz]
"""

import argparse
import platform
import time
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from driftwise import control
from driftwise.experiments.studies.control.engineer import nominal, output
from driftwise.experiments.studies.control.engineer.baselines.named import BASELINES
from driftwise.experiments.studies.control.engineer.contest import OURS, ROUNDS
from driftwise.experiments.studies.study import FULL

Array = NDArray[np.float64]

SIZES = [(2, 1, 5), (10, 3, 10), (50, 10, 20)]
HORIZON = 50_000
"""A horizon for which Scream has nine base-learners."""
SCREAM, POOL = (1.5, 6.0, 120.0), (10.0, 60.0, 1500.0)
"""Most microseconds that a step of `simulate` may take at each size: Scream, and the self-tuned pool."""
BY_HAND = 8.0
"""Most microseconds that a step by hand, act and observe, may take above one of `simulate`."""
UNEVEN = 10.0
"""A step that takes this many times the median counts as an interruption."""

SETTINGS = [
    ("short period", "AR(1)", "load"),
    ("levitation", "steps", "load"),
    ("four tanks", "daily cycle", "states"),
    ("reactor", "random walk", "states"),
    ("mass chain", "two sines + bias", "states"),
    ("mass chain", "white", "load"),
]
"""Plant, disturbance and entry of the rows with an engineer's alternatives; more in `driftwise reproduce control`."""


class NumPyController:
    """GPC as one writes it in NumPy: arrays throughout, no loop but those over the lags of the closed loop."""

    def __init__(self, A: Array, B: Array, K: Array, memory: int, step: float, radius: float) -> None:
        self.A, self.B, self.K, self.closed = A, B, K, A - B @ K
        self.step, self.radius, self.H = step, radius, memory
        self.M = np.zeros((memory, *K.shape))
        self.past = np.zeros((2 * memory + 1, len(A)))
        self.x, self.u = np.zeros(len(A)), np.zeros(len(K))

    def act(self, x: Array) -> Array:
        """Return the input for the state x."""
        self.past = np.roll(self.past, 1, axis=0)
        self.past[0] = x - self.A @ self.x - self.B @ self.u
        self.x = x
        self.u = -self.K @ x + np.einsum("kux,kx->u", self.M, self.past[: self.H])
        return self.u

    def observe(self) -> None:
        """Take in the cost x'x + u'u."""
        H = self.H
        windows = np.lib.stride_tricks.sliding_window_view(self.past, H, axis=0)  # (H + 2, dx, H)
        s = np.einsum("kux,jxk->ju", self.M, windows)
        y = np.zeros_like(self.x)
        for j in range(H, -1, -1):
            y = self.closed @ y + self.past[j] + self.B @ s[j + 1]
        slope_x, slope_u = 2.0 * y, 2.0 * (s[0] - self.K @ y)
        pulls, p = [slope_u], slope_x - self.K.T @ slope_u
        for _ in range(H + 1):
            pulls.append(self.B.T @ p)
            p = self.closed.T @ p
        M = self.M - self.step * np.einsum("ju,jxk->kux", np.array(pulls), windows)
        if np.any(np.linalg.norm(M, axis=(1, 2)) > self.radius):
            left, values, right = np.linalg.svd(M, full_matrices=False)
            M = (left * np.minimum(values, self.radius)[:, None, :]) @ right
        self.M = M


def best_of(times: int, run: Callable[[], float]) -> float:
    """Return the least of several measurements: other work on the machine only ever adds."""
    return min(run() for _ in range(times))


def measure(dx: int, du: int, H: int, rounds: int) -> tuple[float, float, float, float, float]:
    """Return seconds a step: simulate, act and observe, NumPy; simulate, act and observe with the self-tuned pool."""
    plant = control.random_system(dx, du, radius=1.0, seed=1)
    cost = control.QuadraticCost(np.eye(dx), np.eye(du))
    rows = control.SinusoidDisturbance(0.3, period=40.0, seed=2).sample(rounds, dx)
    K = control.lqr(plant)

    def make() -> control.ScreamController:
        return control.ScreamController(plant, K=K, memory=H, horizon=HORIZON)

    assert make().weights.size == 9
    tuned = control.SelfTunedController(plant, K=K, memory=H)
    for controller in (make(), tuned.clone()):
        control.simulate(plant, controller, cost, rows[:10])  # compiles

    def simulated(controller: control.Controller) -> float:
        start = time.perf_counter()
        control.simulate(plant, controller, cost, rows)
        return (time.perf_counter() - start) / rounds

    def compiled() -> float:
        return simulated(make())

    def pool() -> float:
        return simulated(tuned.clone())

    def plant_only(x: Array, u: Array, w: Array) -> Array:
        return np.asarray(plant.A @ x + plant.B @ u + w)

    def by_hand(start: control.Controller) -> float:
        controller, x, spent = start.clone(), np.zeros(dx), 0.0
        for w in rows:
            begun = time.perf_counter()
            u = controller.act(x)
            controller.observe(cost)
            spent += time.perf_counter() - begun
            x = plant_only(x, u, w)
        return spent / rounds

    def numpy_step() -> float:
        size = make().constants.diameter
        controller, x, spent = NumPyController(plant.A, plant.B, K, H, 1e-3 * size, 2.0 * size), np.zeros(dx), 0.0
        for w in rows:
            start = time.perf_counter()
            u = controller.act(x)
            controller.observe()
            spent += time.perf_counter() - start
            x = plant_only(x, u, w)
        return spent / rounds

    new = make()
    return (
        best_of(3, compiled),
        best_of(5, lambda: by_hand(new)),
        best_of(3, numpy_step),
        best_of(2, pool),
        best_of(2, lambda: by_hand(tuned)),
    )


def evenness(steps: int) -> None:
    """Print how many steps by hand take far longer than the median, beside a loop that does nothing for as long."""
    plant, cost = control.double_integrator(), control.QuadraticCost(np.eye(2), np.eye(1))
    rows = control.SinusoidDisturbance(0.3, period=40.0, seed=2).sample(steps, 2)
    print(f"\nSteps by hand above {UNEVEN:g} times the median      median us  longest us   steps   in an empty loop")
    for name, controller in (
        ("Scream", control.ScreamController(plant, memory=5, horizon=steps + 100)),
        ("SelfTuned", control.SelfTunedController(plant, memory=5)),
    ):
        times, x = np.zeros(steps + 100, dtype=np.int64), np.zeros(2)
        for t in range(steps + 100):  # the first hundred are for compiling
            begun = time.perf_counter_ns()
            u = controller.act(x)
            controller.observe(cost)
            times[t] = time.perf_counter_ns() - begun
            x = plant.A @ x + plant.B @ u + rows[t % steps]
        taken = times[100:]
        most = UNEVEN * float(np.median(taken))
        others = interruptions(int(taken.sum()), most)
        label = f"{name}, {steps} steps"
        print(
            f"{label:<44} {1e-3 * np.median(taken):>9.2f} {1e-3 * taken.max():>11.2f} {np.sum(taken > most):>7} "
            f"{others:>18}",
            flush=True,
        )


def interruptions(nanoseconds: int, longer: float) -> int:
    """Return how often an empty loop was held up for longer than this, in as much time."""
    count, begun = 0, time.perf_counter_ns()
    before = begun
    while before - begun < nanoseconds:
        now = time.perf_counter_ns()
        count += now - before > longer
        before = now
    return count


def alternatives() -> None:
    """Print what an engineer would use instead, beside the self-tuned controller: costs over LQR, and over LQG."""
    names = [*BASELINES, OURS]
    print(f"\nCost over LQR, {ROUNDS} rounds" + " " * 27 + "".join(f" {name:>10}" for name in names))
    for setting in SETTINGS:
        totals = nominal.run(*setting, ROUNDS, 0)
        label = "{}, {}, in the {}".format(*setting)
        print(f"{label:<52}" + "".join(f" {totals[name] / totals['LQR']:>10.3f}" for name in names), flush=True)
    names = [*output.OTHERS, OURS]
    print(f"\nCost over LQG, outputs measured, {ROUNDS} rounds" + " " * 11 + "".join(f" {name:>15}" for name in names))
    for plant, kind, *rest in output.STUDY.tasks(FULL):
        totals = output.run(plant, kind, *rest)
        label = f"{plant}, {kind}"
        print(f"{label:<52}" + "".join(f" {totals[name] / totals['LQG']:>15.3f}" for name in names), flush=True)


def cases(path: str) -> None:
    """Print what controllers without tuning cost, beside LQR and the best fixed policy."""
    data = np.load(path)
    print("\nTotal cost x'x + u'u, 2000 rounds         LQR  Gradient      Ader    Scream SelfTuned  best fixed policy")
    for name in ("double_integrator", "ten_states"):
        plant = control.LinearSystem(data[f"{name}_A"], data[f"{name}_B"])
        cost = control.QuadraticCost(1.0, 1.0)
        for kind in ("sinusoid", "random_walk", "gaussian"):
            rows = data[f"{name}_{kind}"]
            controllers = [
                control.LinearController(plant),
                control.GradientController(plant, horizon=len(rows)),
                control.AderController(plant, horizon=len(rows)),
                control.ScreamController(plant, horizon=len(rows)),
                control.SelfTunedController(plant),
            ]
            totals = [control.simulate(plant, controller, cost, rows).total for controller in controllers]
            best = control.best_policy(plant, cost, rows).total
            label = f"{name}, {kind}".replace("_", " ")
            print(f"{label:<36}" + "".join(f" {total:>9.0f}" for total in totals) + f" {best:>18.0f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=2000, help="steps in a measurement")
    parser.add_argument("--steps", type=int, default=100_000, help="steps by hand that are timed one by one")
    parser.add_argument("--cases", default="tests/data/control_cases.npz", help="systems and disturbances of the cases")
    arguments = parser.parse_args()
    print(f"Scream.Control, 9 base-learners; {platform.machine()}, Python {platform.python_version()}")
    print(
        f"{'microseconds a step':<26} {'simulate':>17} {'act + observe':>18}  NumPy GPC  simulate / NumPy  "
        "by hand / NumPy  SelfTuned: simulate      act + observe"
    )
    goals = zip(SIZES, SCREAM, POOL, [("1/10", "1/3"), ("1/10", "1/3"), ("", "")], strict=True)
    for (dx, du, H), most, most_pool, (first, second) in goals:
        compiled, by_hand, plain, pool, pool_by_hand = measure(dx, du, H, arguments.rounds)
        shape = f"dx = {dx}, du = {du}, H = {H}"
        print(
            f"{shape:<26} {against(compiled, most):>17} {against(by_hand, 1e6 * compiled + BY_HAND):>18} "
            f"{1e6 * plain:>10.2f} {part(compiled / plain, first):>17} {part(by_hand / plain, second):>16} "
            f"{against(pool, most_pool):>20} {against(pool_by_hand, 1e6 * pool + BY_HAND):>18}",
            flush=True,
        )
    evenness(arguments.steps)
    cases(arguments.cases)
    alternatives()


def against(seconds: float, most: float) -> str:
    """Return a time in microseconds and its goal."""
    return f"{1e6 * seconds:.2f} (<= {most:.4g})"


def part(ratio: float, goal: str) -> str:
    """Return a ratio and its goal, if it has one."""
    return f"{ratio:.3f}" + (f" (<= {goal})" if goal else "")


if __name__ == "__main__":
    main()
