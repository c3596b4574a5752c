"""Who is in charge, and why; and the inequality that is proved, with its numbers."""

import re

import numpy as np
import pytest

import driftwise as dw
from driftwise.errors import OrderError, ParameterError
from driftwise.learners.self_tuned.explanation import SHOWN
from tests.cases import PRICES, by_hand, check_refused, every_pair, self_tuned, squared, stream
from tests.pairs.accounts import by_account

ROUNDS = 30
BALL = dw.Ball(3)


def test_before_the_first_round_there_is_nothing_to_say() -> None:
    learner = self_tuned(BALL)
    assert "Nothing has been observed yet" in str(learner.explain())
    assert learner.explain().rounds == 0
    check_refused(learner.certificate, "before the first round", kind=OrderError)


@pytest.mark.parametrize("kind", ["squared", "capacity", "linear"])
def test_it_names_the_heaviest_first(kind: str) -> None:
    learner = self_tuned(BALL)
    by_hand(learner, stream(kind, 3, ROUNDS))
    told = learner.explain()
    assert sorted(told.members) == sorted(learner.members)
    assert np.all(np.diff(told.weights) <= 0.0)
    assert told.weights.sum() == pytest.approx(1.0)
    by_name = dict(zip(learner.members, learner.weights, strict=True))
    assert all(by_name[name] == weight for name, weight in zip(told.members, told.weights, strict=True))
    lines = str(told).splitlines()
    assert lines[0].startswith(f"After {ROUNDS} rounds, which cost ")
    assert "The cheapest so far is" in lines[-1] or "clipped" in lines[-1]


@pytest.mark.parametrize("kind", ["squared", "capacity", "linear"])
def test_everybody_is_shown_or_counted(kind: str) -> None:
    learner = self_tuned(BALL)
    by_hand(learner, stream(kind, 3, ROUNDS))
    text = str(learner.explain())
    shown = re.findall(r"^ +([\d.]+)%  (.*): would have cost", text, re.MULTILINE)
    ((rest, others),) = re.findall(r"^ +([\d.]+)%  (\d+) others", text, re.MULTILINE)
    assert len(shown) <= SHOWN
    assert len(shown) + int(others) == len(learner.members)
    assert sum(float(weight) for weight, _ in shown) + float(rest) == pytest.approx(100.0, abs=0.1 * (len(shown) + 1))


@pytest.mark.parametrize("kind", ["squared", "capacity"])
def test_costs_are_true(kind: str) -> None:
    learner = self_tuned(BALL, "l2")
    counted, told = by_account(learner, stream(kind, 3, ROUNDS)), learner.explain()
    assert told.cost == pytest.approx(counted.own)
    by_name = dict(zip(learner.members, counted.pairs, strict=True))
    for name, cost in zip(told.members, told.costs, strict=True):
        assert cost == pytest.approx(by_name[name])


def test_clipped_rounds_are_counted() -> None:
    targets = squared(3, ROUNDS).data.targets.copy()
    targets[-1] = 1e6
    learner = self_tuned(BALL)
    by_hand(learner, dw.SquaredLoss(squared(3, ROUNDS).data.features, targets))
    assert learner.explain().clipped >= 1
    assert re.search(r"In (one round|\d+ rounds) something was too far out", str(learner.explain()))


def test_it_is_drawn() -> None:
    learner = self_tuned(BALL)
    by_hand(learner, squared(3, ROUNDS))
    ax = learner.explain().plot()
    labels = [label.get_text() for label in ax.get_yticklabels()]
    assert labels[0] == learner.explain().members[0]
    assert f"after {ROUNDS} rounds" in ax.get_title()
    ax.figure.clf()


@every_pair(kind=["squared", "absolute", "tracking", "capacity", "linear"], price=PRICES)
def test_the_certificate_holds_for_every_pair(kind: str, price: str) -> None:
    learner = self_tuned(BALL, price)
    by_hand(learner, stream(kind, 3, ROUNDS))
    certificate, told = learner.certificate(), learner.explain()
    assert certificate.rounds == ROUNDS
    assert certificate.cost == pytest.approx(told.cost)
    assert certificate.overhead == learner.overhead
    bounds = []
    for name in learner.members[:: len(learner.members) // 9]:
        one = learner.certificate(name)
        assert one.pair == name
        assert one.within
        assert one.cost <= one.bound + 1e-9
        assert one.bound == pytest.approx(one.pair_cost + one.multiple * one.overhead + one.clipping)
        bounds.append(one.bound)
    assert certificate.within
    assert certificate.bound <= min(bounds) + 1e-12
    assert certificate.linearised == (kind == "linear")
    assert f"after {ROUNDS} rounds" in str(certificate)
    assert certificate.pair in str(certificate)


def test_the_multiple_is_that_of_the_prior() -> None:
    learner = self_tuned(BALL)
    by_hand(learner, squared(3, ROUNDS))
    assert learner.certificate("stay").multiple == pytest.approx(3.0)  # 1 + 2 ln(n) / ln(n)
    gradients = self_tuned(BALL)
    by_hand(gradients, stream("linear", 3, ROUNDS))
    n = len(gradients.members)
    followed = gradients.certificate("Scream, follow")
    assert followed.multiple == pytest.approx(1.0 + 2.0 * np.log(1.0 / 0.9) / np.log(n))


def test_a_pair_that_is_not_there_is_refused() -> None:
    learner = self_tuned(BALL)
    by_hand(learner, squared(3, 3))
    check_refused(lambda: learner.certificate("stays"), "stays", "did you mean stay", kind=ParameterError)


def test_a_wrong_inequality_is_noticed() -> None:
    from dataclasses import replace

    learner = self_tuned(BALL)
    by_hand(learner, squared(3, ROUNDS))
    certificate = learner.certificate()
    assert not replace(certificate, cost=certificate.bound + 1e-3).within
