"""Who is in charge of a self-tuned learner, and the inequality that is proved of it."""

import numpy as np
import pytest

import driftwise as dw
from driftwise import estimators
from driftwise.errors import InputError, OrderError, ParameterError

BOX = dw.Box([0.0], [10.0])


def played(proposal: object = None, rounds: int = 40) -> dw.SelfTunedLearner:
    """Return a learner that has tracked a level of 7 with noise."""
    learner, rng = dw.SelfTunedLearner(BOX, switching_cost=0.2), np.random.default_rng(0)
    for _ in range(rounds):
        learner.act(proposal=proposal)  # type: ignore[arg-type]
        learner.observe(dw.TrackingLoss([7.0 + 0.3 * rng.standard_normal()])[0])
    return learner


def test_before_the_first_round_there_is_only_the_start() -> None:
    learner = dw.SelfTunedLearner(BOX, switching_cost=1.0)
    assert str(learner.explain()) == "Nothing has been observed yet: it plays the start."
    assert learner.members == ["stay"]
    with pytest.raises(OrderError, match="nothing to certify before the first round"):
        learner.certificate()


def test_the_heaviest_come_first_and_the_others_are_counted() -> None:
    said = played().explain()
    assert np.all(np.diff(said.weights) <= 0.0)
    assert said.weights.sum() == pytest.approx(1.0)
    text = str(said)
    assert text.startswith(f"After 40 rounds, which cost {said.cost:.6g} with moves:")
    shown = sum(": would have cost" in line for line in text.splitlines())
    assert f"{len(said.members) - shown} others" in text
    assert f"standing still would have cost {said.costs[said.members.index('stay')]:.6g}" in text


def test_it_says_what_proposals_are_worth() -> None:
    said = played({"right": 7.0, "wrong": [1.0]}).explain()
    assert set(said.given) == {"right", "wrong"}
    assert said.given["right"] < said.given["wrong"]
    assert said.given["right"] == min(
        cost for name, cost in zip(said.members, said.costs, strict=True) if "right" in name
    )
    assert "Your proposal 'wrong' would have cost" in str(said)


def test_the_plot_shows_the_heaviest() -> None:
    pytest.importorskip("matplotlib").use("Agg")
    said = played().explain()
    ax = said.plot()
    assert [label.get_text() for label in ax.get_yticklabels()] == said.members[:12]
    assert "after 40 rounds" in ax.get_title()


def test_a_certificate_holds_against_every_pair() -> None:
    learner = played({"right": 7.0})
    for pair in learner.members:
        found = learner.certificate(pair)
        assert found.pair == pair
        assert found.within, str(found)
    best = learner.certificate()
    assert best.bound == min(learner.certificate(pair).bound for pair in learner.members)
    assert "the overhead of mixing" in str(best)
    with pytest.raises(ParameterError, match="stay"):
        learner.certificate("stya")


def test_what_is_paid_is_what_was_paid() -> None:
    learner = dw.SelfTunedLearner(BOX, switching_cost=0.5)
    levels = 5.0 + np.sin(np.arange(60.0))
    levels[30] = 1e6
    trace = dw.play(learner, dw.TrackingLoss(levels), switching_cost=0.5)
    assert learner.certificate().cost == pytest.approx(trace.total)
    assert learner.explain().clipped >= 1


def test_whole_numbers_are_explained_by_the_learner_inside() -> None:
    whole = dw.rounded(dw.SelfTunedLearner(BOX, switching_cost=0.2))
    for level in (3.0, 4.0, 3.5):
        whole.act(proposal=level)
        whole.observe(dw.TrackingLoss([level])[0])
    assert "After 3 rounds" in str(whole.explain())
    assert whole.certificate().within
    with pytest.raises(ParameterError, match="nothing to explain"):
        dw.rounded(dw.OGD(BOX, step=0.1)).explain()


def test_nan_is_told_to_be_none_and_changes_nothing() -> None:
    learner = played()
    before = learner.clone()
    for bad in (float("nan"), [float("nan")]):
        with pytest.raises(InputError, match="give None in a round in which there is no proposal"):
            learner.act(proposal=bad)
    np.testing.assert_array_equal(learner.act(), before.act())


def test_an_estimator_of_an_unknown_form_is_refused() -> None:
    class Odd(estimators.Smoothing):
        forms = ("level",)  # type: ignore[assignment]

    with pytest.raises(ParameterError, match="must be some of SCORE, EACH and GRADIENT"):
        dw.SelfTunedLearner(BOX, switching_cost=1.0, estimators=[Odd()])
