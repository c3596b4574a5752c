"""One run beside another: a controller that diverges costs infinitely much, and means leave it to be counted."""

import math

import numpy as np

from driftwise import control
from driftwise.experiments.studies.control.engineer.baselines.named import LQR, baseline_cost
from driftwise.experiments.studies.control.engineer.contest import (
    QUICK,
    alternating,
    diverged,
    geometric_mean,
    our_cost,
    shown,
    sorted_panel,
    worst,
)
from driftwise.experiments.studies.control.engineer.disturbances import ENTRIES, KINDS, disturbances
from driftwise.experiments.studies.control.engineer.faults import Fault, truth
from driftwise.experiments.studies.control.engineer.plants import DESIGN, MAKERS


def test_a_controller_is_built_for_what_is_known_and_runs_what_is_there() -> None:
    plant = MAKERS["reactor"]()
    rows = disturbances(plant, "reactor", "steps", "load", 300)
    true = truth(plant, "reactor", Fault("", mismatch=0.1, delay=2, lag=0.3))
    mine = our_cost(true, plant, rows, control.LinearController)
    np.testing.assert_allclose(mine, baseline_cost(LQR, true.augmented, plant, rows), rtol=1e-6)


def test_a_run_that_diverges_costs_infinitely_much() -> None:
    plant = MAKERS["reactor"]()
    rows = disturbances(plant, "reactor", "steps", "load", 1500)
    away = control.LinearSystem(3.0 * plant.A, plant.B)
    assert our_cost(away, plant, rows, control.LinearController) == math.inf


def test_every_kind_comes_once_and_entries_take_turns() -> None:
    for name in MAKERS:
        pairs = alternating(name)
        assert [kind for kind, _ in pairs] == list(KINDS)
        assert {entry for _, entry in pairs} == set(ENTRIES)
    assert alternating("cart-pole") != alternating("thermal chain")
    assert not {*QUICK} & {*DESIGN}


def test_divergences_are_counted_and_not_averaged() -> None:
    ratios = [0.5, 2.0, math.inf, math.nan, 150.0]
    assert geometric_mean(ratios) == 1.0
    assert math.isnan(geometric_mean([math.inf]))
    assert diverged(ratios) == 3
    assert worst(ratios) in (2, 3)
    assert worst([0.2, 0.9, 0.3]) == 1
    assert [shown(ratio) for ratio in (0.12345, math.nan, 100.0)] == ["0.123", "diverges", "diverges"]
    (series,) = sorted_panel("", "", {"all": ratios}).series
    assert list(series.y) == [0.5, 2.0]
    assert list(series.x) == [0.2, 0.4]
