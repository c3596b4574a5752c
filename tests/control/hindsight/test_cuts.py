"""Costs of one's own with kinks, which the bundle method pins down."""

import numpy as np
import pytest

import driftwise as dw
from driftwise import control
from driftwise._validate import Array
from driftwise.control.hindsight import best_policy, cuts
from driftwise.errors import ConvergenceError
from driftwise.optimum import bundle
from tests.control.hindsight.problems import problem

KINKED = control.CustomCost(
    lambda x, u: float(np.abs(x).sum() + np.abs(u).sum()), lambda x, u: (np.sign(x), np.sign(u))
)
ASKED = problem("double integrator", "scalar")
SAME = control.AbsoluteCost(1.0, 1.0)
DOMAIN = dw.SpectralBalls((2, 1, 2), 1.0)


@pytest.mark.parametrize("domain", [None, DOMAIN, dw.Ball(4, 1.5)])
def test_kinks_of_an_unknown_kind_are_pinned_down(domain: dw.Domain | None) -> None:
    own = best_policy(ASKED.system, KINKED, ASKED.disturbances, memory=2, domain=domain, start=ASKED.start)
    built_in = best_policy(ASKED.system, SAME, ASKED.disturbances, memory=2, domain=domain, start=ASKED.start)
    assert own.total == pytest.approx(built_in.total, rel=3e-6)
    assert own.gap is not None
    assert own.gap <= 1e-4 * own.total
    assert own.status.startswith("By cutting planes.")
    assert ("in the domain" if domain is not None else "within a distance") in own.status
    assert domain is None or domain.contains(own.policies.ravel())


@pytest.mark.parametrize("reason", ["too many unknowns", "a domain without cones", "no convergence"])
def test_what_is_not_pinned_down_is_said_to_be_in_doubt(reason: str, monkeypatch: pytest.MonkeyPatch) -> None:
    asked, domain = ASKED, None
    if reason == "too many unknowns":
        monkeypatch.setattr(cuts, "MOST", 3)
    elif reason == "a domain without cones":
        asked, domain = problem("wide", "scalar"), dw.SpectralBalls((2, 2, 3), 0.15)
    else:

        def give_up(*args: object) -> Array:
            raise ConvergenceError("no")

        monkeypatch.setattr(bundle, "minimise", give_up)
    own = best_policy(asked.system, KINKED, asked.disturbances, memory=2, domain=domain)
    assert "not certain" in own.status
    assert own.gap is not None
    assert own.gap > 1e-4 * own.total
    built_in = best_policy(asked.system, SAME, asked.disturbances, memory=2, domain=domain)
    assert built_in.total * (1 - 2e-6) <= own.total <= built_in.total * 1.05
    assert own.total - own.gap <= built_in.total
