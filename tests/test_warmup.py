"""The warm-up compiles all that users touch, so that nothing is left to compile for a first decision."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from driftwise import _compile, warmup
from driftwise.cli.warmup import FAMILIES
from driftwise.errors import ParameterError

EVERY_KERNEL = """
import importlib, pkgutil, sys
import driftwise
from driftwise import _compile, warmup

for module in pkgutil.walk_packages(driftwise.__path__, "driftwise."):
    if not module.name.endswith("__main__"):
        importlib.import_module(module.name)
plugins = {
    value
    for name, module in sys.modules.items()
    if name.startswith("driftwise")
    for value in vars(module).values()
    if isinstance(value, _compile.Plugin)
}
assert len(plugins) > 10 and len(_compile._OURS) > 20
warmup.warm_up()
# Kernels of studies are compiled by the studies alone.
ours = [kernel for kernel in _compile._OURS if not kernel.py_func.__module__.startswith("driftwise.experiments.")]
print(*sorted(kernel.__name__ for kernel in ours if not kernel.signatures))
print(*sorted(plugin.function.__name__ for plugin in plugins if "address" not in vars(plugin)))
"""

COMMITTEE = """
import numpy as np
import driftwise as dw
from driftwise import _compile

for price in (4.0, dw.MoveCost(up=[1.0, 2.0, 3.0], down=0.5, norm="l2")):
    for mode, movers in (("mix", False), ("follow", False), ("mix", True)):
        committee = dw.Committee(5, switching_cost=price, mode=mode, prior=[1, 2, 3, 4, 5], movers=movers)
        for t in range(4):
            committee.act([None, *np.random.default_rng(t).normal(size=(4, 3))])
            committee.observe(dw.TrackingLoss(np.ones((1, 3)))[0])
        committee.weights, committee.overhead
print(*_compile.compilations())
"""

POOLS = """
import numpy as np
import driftwise as dw
from driftwise import _compile

rng = np.random.default_rng(0)
for dim in (1, 3, 70):
    x, y = np.abs(rng.normal(size=(8, dim))), rng.normal(size=8)
    for losses in (
        dw.SquaredLoss(x, y), dw.AbsoluteLoss(x, y), dw.HuberLoss(x, y), dw.QuantileLoss(x, y, quantile=0.9),
        dw.LogisticLoss(x, np.sign(y)), dw.FilteredLoss([1.0, 0.5], x, y), dw.TrackingLoss(x),
        dw.CapacityLoss(x, shortage=3.0), dw.LinearLoss(x),
    ):
        for domain in (dw.Ball(dim), dw.Box(np.zeros(dim), np.ones(dim))):
            for price in (0.3, dw.MoveCost(up=0.1, down=0.2), dw.MoveCost(up=0.1, down=0.2, norm="l2")):
                learner = dw.SelfTunedLearner(domain, switching_cost=price, period=3 if dim == 3 else None)
                dw.play(learner, losses, proposals={"mine": x}, record_weights=True)
                learner.act(hint=x[0], proposal={"mine": x[0], "late": x[1]})
                learner.observe(losses[2])
                learner.act()
                learner.observe(x[3])
                learner.clone().explain()
                learner.certificate()
print(*_compile.compilations())
"""

USERS = """
import numpy as np
import driftwise as dw
from driftwise import _compile, control, regret

rng = np.random.default_rng(0)
fixed = np.ones(3)
fixed.setflags(write=False)
price = dw.MoveCost(up=[1.0, 2.0, 3.0], down=0.5, norm="l2")
targets = rng.normal(size=(20, 3))
streams = [
    dw.SquaredLoss(targets, np.ones(20)),
    dw.LinearLoss(targets),
    dw.AbsoluteLoss(targets, np.ones(20)),
    dw.HuberLoss(targets, np.ones(20)),
    dw.LogisticLoss(targets, np.ones(20)),
    dw.TrackingLoss(targets),
    dw.CapacityLoss(np.abs(targets), shortage=5.0),
    dw.FilteredLoss([1.0, 0.5], targets, np.ones(20)),
]
domains = [
    dw.Ball(3, radius=2.0), dw.Box([0.0] * 3, [1.0, 2.0, 3.0]), dw.Simplex(3), dw.Product(dw.Simplex(2), dw.Ball(1)),
    dw.SpectralBalls((1, 1, 3), radii=1.0),
]
for domain in domains:
    for lam in (0.0, 3.0, price):
        for learner in (
            dw.OGD(domain, step=0.1),
            dw.Ader(domain, gradient_bound=2.0),
            dw.Scream(domain, switching_cost=lam, gradient_bound=2.0, horizon=100),
            dw.Scream(domain, switching_cost=lam, gradient_bound=2.0, horizon_free="doubling"),
            dw.LazyScream(domain, switching_cost=2.0, gradient_bound=2.0, horizon=100),
            dw.SelfTunedScream(domain, switching_cost=lam),
            dw.StronglyAdaptive(domain, switching_cost=lam, gradient_bound=2.0),
            dw.SelfTunedLearner(domain, switching_cost=lam),
        ):
            learner.act()
            learner.observe([1.0, 2.0, 3.0])
            for gradient in (fixed, np.ones(3, np.float32), np.ones(6)[::2], streams[0][1]):
                learner.act()
                learner.observe(gradient)
            if not isinstance(learner, dw.LazyScream | dw.StronglyAdaptive):
                learner.act(hint=[1.0, 2.0, 3.0])
                learner.observe(fixed)
            learner.clone().act()
            for losses in streams:
                dw.play(learner.clone(), losses, switching_cost=lam, record_weights=True)
own = dw.Ader(domains[0], gradient_bound=2.0, variant="original")
dw.play(own, streams[0])
own.act()
own.observe(streams[5][0])
dw.play(dw.Hedge(3, loss_bound=1.0), streams[1])
for mirror in (dw.mirror.NegativeEntropy(), dw.mirror.PNorm(1.5)):
    dw.play(dw.MirrorDescent(dw.Simplex(3), mirror=mirror, step=0.1), streams[1])
whole = dw.rounded(dw.SelfTunedScream(dw.Box([0.0], [9.0]), switching_cost=2.0), seed=0)
whole.act()
whole.observe(dw.CapacityLoss([3.0], shortage=5.0)[0])

plant = control.random_system(3, 2, seed=1)
costs = [control.QuadraticCost(np.eye(3), [[2.0, 0.0], [0.0, 1.0]]), control.AbsoluteCost(1.0, 1.0)]
costs += [make(30, state_dim=3, input_dim=2) for make in (control.gradual, control.abrupt)]
costs.append(control.HuberCost(1.0, 1.0))
for make in (
    control.LinearController, control.GradientController, control.AderController, control.ScreamController,
    control.LazyScreamController, control.SelfTunedController,
):
    controller = make(plant, input_bound=5.0)
    u = controller.act([1.0, 0.0, 0.5])
    controller.observe(costs[0])
    controller.act(fixed)
    controller.observe(costs[1], applied=[0.1, 0.2])
    for cost in costs:
        control.simulate(plant, controller.clone(), cost, control.SinusoidDisturbance(0.3, period=9.0), rounds=30)
    control.simulate(plant, controller, costs[0], control.AdversarialDisturbance(0.1), rounds=30, record_weights=True)
pendulum = control.InvertedPendulum()
control.simulate(pendulum, control.ScreamController(pendulum), control.pendulum(30), control.ConstantDisturbance(0.1))

trace = dw.play(dw.SelfTunedScream(domains[0], switching_cost=3.0), streams[0], switching_cost=3.0)
for lam in (1.0, price):
    regret.hindsight_optimum(streams[0], domains[1], lam)
regret.hindsight_optimum(streams[6], domains[1], dw.MoveCost(up=1.0, down=2.0))
regret.best_fixed(streams[0], domains[0])
regret.best_piecewise(streams[5], domains[0], segments=2)
regret.adaptive_regret(trace)
regret.static_policy_regret(trace)
print(*_compile.compilations())
"""


def python(code: str, folder: Path | None) -> list[str]:
    """Run code in a process with a folder of its own for machine code, or the usual one, and return its lines."""
    environment = dict(os.environ)
    if folder is not None:
        environment["DRIFTWISE_CACHE_DIR"] = str(folder)
    result = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    return result.stdout.splitlines()


def warm(folder: Path, *families: str) -> list[str]:
    return python(
        f"from driftwise.warmup import warm_up; print(sum(w.compiled for w in warm_up({families or None})))", folder
    )


def test_the_command_line_knows_the_families() -> None:
    assert tuple(warmup.FAMILIES) == FAMILIES
    assert all(family.__doc__ for family in warmup.FAMILIES.values())


def test_an_unknown_family_is_refused_with_a_list_before_anything_is_compiled() -> None:
    with pytest.raises(ParameterError, match=r"no family 'lerners'; did you mean learners\? There are .*self-tuned-c"):
        warmup.warm_up(["losses", "lerners"], progress=pytest.fail)


def test_families_are_warmed_once_in_the_order_that_was_asked_for() -> None:
    seen: list[str] = []
    done = warmup.warm_up(["losses", "committee", "losses"], progress=seen.append)
    assert seen == [warmed.family for warmed in done] == ["losses", "committee"]
    again = warmup.warm_up(["losses"])
    assert again[0].compiled == 0
    assert again[0].cpu_seconds >= 0.0


@pytest.mark.skipif(_compile.INTERPRETED, reason="kernels run as plain Python")
def test_the_folder_is_where_the_files_are(tmp_path: Path) -> None:
    code = "from driftwise.warmup import machine_code_folder; print(machine_code_folder())"
    assert python(code, tmp_path) == [str(tmp_path)]
    beside = {name: value for name, value in os.environ.items() if not name.endswith("_CACHE_DIR")}
    result = subprocess.run([sys.executable, "-c", code], env=beside, check=True, capture_output=True, text=True)
    assert result.stdout.strip() == str(Path(_compile.__file__).parent)


@pytest.mark.skipif(_compile.INTERPRETED, reason="kernels run as plain Python")
def test_every_kernel_is_reached() -> None:
    entries, plugins = python(EVERY_KERNEL, None)
    assert entries == ""
    assert plugins == ""


@pytest.mark.skipif(_compile.INTERPRETED, reason="kernels run as plain Python")
def test_after_the_warm_up_of_a_family_its_users_compile_nothing(tmp_path: Path) -> None:
    assert python(COMMITTEE, tmp_path / "cold") != [""]
    assert int(warm(tmp_path / "warm", "committee")[0]) > 0
    assert python(COMMITTEE, tmp_path / "warm") == [""]


@pytest.mark.full
def test_after_the_warm_up_of_the_self_tuned_learner_its_users_compile_nothing(tmp_path: Path) -> None:
    """With losses and prices of all kinds, which are families of their own."""
    assert int(warm(tmp_path, "self-tuned-learner", "losses", "prices")[0]) > 10
    assert python(POOLS, tmp_path) == [""]


@pytest.mark.full
def test_after_the_whole_warm_up_nobody_compiles_anything(tmp_path: Path) -> None:
    assert int(warm(tmp_path)[0]) > 40
    assert warm(tmp_path) == ["0"]
    assert python(USERS, tmp_path) == [""]
