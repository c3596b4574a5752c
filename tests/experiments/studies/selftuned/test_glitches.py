"""One absurd gradient: the study at both sizes, and conclusions that do not hold."""

import itertools

import numpy as np
import pytest

from driftwise.experiments.studies.selftuned import glitches
from driftwise.experiments.studies.selftuned.glitches import LEARNERS, PLACES, PRICES, STREAMS, STUDY
from tests.experiments.claims import BOTH_SIZES, check_claims


@BOTH_SIZES
def test_after_glitches_it_is_at_most_twice_as_dear(quick: bool) -> None:
    finding = check_claims(STUDY, quick, count=4)
    assert len(finding.tables[0].rows) == len(LEARNERS) * len(STREAMS)


def test_glitches_are_rounds_of_the_run_and_never_two_in_a_row() -> None:
    for rounds in (300, 1000):
        for rule in PLACES.values():
            bad = rule(rounds)
            assert 0 <= bad[0] <= bad[-1] < rounds - 1
            assert min((late - early for early, late in itertools.pairwise(bad)), default=2) > 1


def test_without_a_glitch_nothing_changes() -> None:
    for learner in LEARNERS:
        assert set(glitches.run(learner, "a level", PRICES[0], 1.0, 60, 0).values()) != {1.0}  # the other sign is one
        problem = STREAMS["a level"](60, np.random.default_rng(0))
        costs = [
            glitches._costs(LEARNERS[learner](problem[1], switching_cost=1.0), problem[0], 1.0, np.ones(60))
            for _ in range(2)
        ]
        assert costs[0].tolist() == costs[1].tolist()


@pytest.mark.parametrize("place", ["the middle", "nine"])
def test_a_ratio_above_the_limit_is_said(place: str) -> None:
    tasks = [(learner, stream, 0.3, 1e6, 300, 0) for learner in LEARNERS for stream in STREAMS]
    results = [dict.fromkeys(PLACES, 1.1) for _ in tasks]
    results[2][place] = 2.5
    claims = STUDY.conclude(tasks, results).claims
    assert [claim.holds for claim in claims] == [place == "nine", place != "nine", True, True]
    assert f"2.50, drift in noise, {place}" in claims[place == "nine"].measured
