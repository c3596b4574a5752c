"""Estimators of one's own: in a pool they are as good as compiled ones, and what they return is checked."""

from typing import Any

import numpy as np
import pytest

import driftwise as dw
from driftwise import movers
from driftwise._validate import Array
from driftwise.errors import ArgumentError, InputError
from driftwise.estimators import EACH, GRADIENT, SCORE, Estimator, Kalman, Kind, Seen, SelfTunedScream, Smoothing, Trend
from driftwise.testing import check_learner
from tests.cases import by_hand, check_refused, stream
from tests.estimators.agreement import problem


class Own(Estimator):
    """An estimator of this package, stated in NumPy, as a user would write it."""

    def __init__(self, inner: Estimator) -> None:
        self.inner, self.name = inner, f"own {inner.name}"

    def suits(self, kind: Kind) -> bool:
        return self.inner.suits(kind)

    def begin(self, point: Array, domain: dw.Domain) -> None:
        self.inner.begin(point, domain)

    def learn(self, seen: Seen) -> None:
        self.inner.learn(seen)

    def propose(self) -> Array | None:
        return self.inner.propose()


class Given(Estimator):
    """Proposes whatever it is told to."""

    forms = (SCORE, EACH, GRADIENT)

    def __init__(self, proposal: Any) -> None:
        self.proposal = proposal

    def begin(self, point: Array, domain: dw.Domain) -> None:
        pass

    def learn(self, seen: Seen) -> None:
        pass

    def propose(self) -> Array | None:
        return self.proposal  # type: ignore[no-any-return]


@pytest.mark.parametrize("one", [Kalman(), Smoothing(), Trend()], ids=lambda one: one.name)
@pytest.mark.parametrize("kind", ["squared", "huber", "tracking"])
def test_one_in_python_decides_as_one_that_is_compiled(one: Estimator, kind: str) -> None:
    domain, losses = problem(kind, 3)
    ways = [movers.Follow(), movers.Prox(16.0), movers.SkiRental()]
    compiled = dw.SelfTunedLearner(domain, switching_cost=0.2, estimators=[one], movers=ways)
    plain = dw.SelfTunedLearner(domain, switching_cost=0.2, estimators=[Own(one)], movers=ways)
    np.testing.assert_allclose(by_hand(plain, losses), by_hand(compiled, losses), rtol=0.0, atol=1e-7)
    assert [name.removeprefix("own ") for name in plain.members] == compiled.members


@pytest.mark.parametrize("kind", ["squared", "capacity", "linear"])
def test_with_one_in_python_a_learner_keeps_its_promises(kind: str) -> None:
    losses = stream(kind, 3, 12)

    def make() -> dw.Learner:
        some = [Own(SelfTunedScream()), Own(Smoothing()), Given(None), Kalman()]
        return dw.SelfTunedLearner(dw.Ball(3), switching_cost=0.3, estimators=some, movers=[movers.Follow()])

    check_learner(make, losses)


def test_two_learners_made_of_the_same_list_do_not_share_what_they_know() -> None:
    some = [Own(Smoothing(0.5))]
    domain, losses = problem("tracking", 3)
    one, other = (dw.SelfTunedLearner(domain, switching_cost=0.1, estimators=some) for _ in range(2))
    together = np.empty((2, len(losses), 3))
    for t in range(len(losses)):
        together[:, t] = one.act(), other.act()
        one.observe(losses[t])
        other.observe(losses[t])
    alone = by_hand(dw.SelfTunedLearner(domain, switching_cost=0.1, estimators=some), losses)
    np.testing.assert_array_equal(together, [alone, alone])


def test_no_opinion_is_no_move() -> None:
    learner = dw.SelfTunedLearner(dw.Ball(3), switching_cost=0.1, estimators=[Given(None)])
    assert not by_hand(learner, problem("squared", 3)[1]).any()


def test_a_proposal_is_put_into_the_domain() -> None:
    learner = dw.SelfTunedLearner(
        dw.Ball(2), switching_cost=0.0, estimators=[Given([30.0, 40.0])], movers=[movers.Follow()]
    )
    losses = dw.TrackingLoss(np.full((60, 2), [0.6, 0.8]))
    np.testing.assert_allclose(by_hand(learner, losses)[-1], [0.6, 0.8], atol=0.05)


@pytest.mark.parametrize(
    ("proposal", "words"),
    [
        (np.zeros(2), "shape (3,), got an array of shape (2,)"),
        (np.array([0.0, np.nan, 0.0]), "finite"),
        ("there", "got 'there'"),
        (3.0, "got 3.0"),
    ],
    ids=["shape", "nan", "word", "number"],
)
def test_a_proposal_that_is_none_is_refused(proposal: Any, words: str) -> None:
    learner = dw.SelfTunedLearner(dw.Ball(3), switching_cost=0.1, estimators=[Given(proposal)])
    learner.act()
    _, losses = problem("squared", 3)
    check_refused(lambda: learner.observe(losses[0]), "Given.propose: what it returns must be", words, kind=InputError)


def test_all_three_methods_are_needed() -> None:
    class Half(Estimator):
        def begin(self, point: Array, domain: dw.Domain) -> None:
            pass

    with pytest.raises(TypeError, match="abstract"):
        Half()  # type: ignore[abstract]
    check_refused(lambda: Kalman(drifft=1.0), "Kalman", "Did you mean drift", kind=ArgumentError)  # type: ignore[call-arg]


def test_those_that_do_not_suit_the_losses_are_not_in_the_pool() -> None:
    learner = dw.SelfTunedLearner(dw.Ball(3), switching_cost=0.1, estimators=[Own(Kalman()), Smoothing()])
    by_hand(learner, stream("linear", 3, 3))
    assert learner.members == ["stay"]
