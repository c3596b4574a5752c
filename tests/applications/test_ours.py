"""What this package offers: told the price of moving, and the paper's learner also what its theorem needs."""

import pytest

from driftwise.applications.ours import LEARNERS, SCREAM, SELF_TUNED, scream
from driftwise.learners import Scream, SelfTunedLearner
from driftwise.movecost import MoveCost, move_cost_for
from tests.applications.cases import case


def test_the_papers_learner_is_told_what_its_theorem_needs() -> None:
    learner = scream(case("energy"), MoveCost(up=4.0, down=0.0))
    assert isinstance(learner, Scream)
    assert learner.horizon == len(case("energy").losses)
    assert learner.gradient_bound == case("energy").gradient_bound
    assert learner.switching_cost == pytest.approx(2.0)  # there and back cost 4


@pytest.mark.parametrize("label", LEARNERS)
def test_learners_take_every_kind_of_price(label: str) -> None:
    for price in (move_cost_for("", 5.0), MoveCost(up=5.0, down=0.0)):
        learner = LEARNERS[label](case("capacity"), price)
        assert learner.domain is case("capacity").domain
    assert SCREAM in LEARNERS
    assert isinstance(LEARNERS[SELF_TUNED](case("capacity"), MoveCost(5.0)), SelfTunedLearner)
