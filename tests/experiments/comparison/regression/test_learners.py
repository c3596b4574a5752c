"""The choice of learners."""

import pytest

from driftwise.domains import Ball
from driftwise.errors import ParameterError
from driftwise.experiments.comparison.regression.learners import CONTENDERS, DEFAULT, Setting, choose
from driftwise.learners import OGD, Ader, LazyScream, Scream, SelfTunedScream

SETTING = Setting(Ball(2), gradient_bound=3.0, switching_cost=5.0, horizon=70)


def test_an_unknown_learner_is_answered_with_all_of_them() -> None:
    with pytest.raises(
        ParameterError,
        match=r"there is no learner 'Screem'; did you mean scream\? There are learner, selftuned, ogd, .*",
    ):
        choose(["ogd", "Screem"])
    with pytest.raises(ParameterError, match="choose at least one learner of learner, selftuned, ogd, "):
        choose([])


def test_labels_are_unique_and_every_learner_knows_its_setting() -> None:
    assert len({contender.label for contender in CONTENDERS.values()}) == len(CONTENDERS)
    for name, contender in CONTENDERS.items():
        learner = contender.make(SETTING)
        assert learner.domain is SETTING.domain
        free = name in ("learner", "selftuned")
        assert learner.horizon == (None if "no-horizon" in name or free else 70)
        if not free:
            assert getattr(learner, "gradient_bound") == 3.0  # noqa: B009
        if isinstance(learner, SelfTunedScream):
            assert learner.switching_cost == 5.0
        if isinstance(learner, Scream | LazyScream):
            assert learner.switching_cost == 5.0
            assert learner.rate in contender.label


def test_names_make_what_they_say() -> None:
    kinds = {"ogd": OGD, "ader": Ader, "scream": Scream, "lazy-scream": LazyScream}
    assert {name: type(CONTENDERS[name].make(SETTING)) for name in kinds} == kinds
    plain, aware = (CONTENDERS[name].make(SETTING) for name in ("ogd", "ogd-switching"))
    assert aware.step_sizes[0] < plain.step_sizes[0]
    original, improved = (CONTENDERS[name].make(SETTING) for name in ("ader-original", "ader"))
    assert isinstance(original, Ader)
    assert isinstance(improved, Ader)
    assert (original.variant, improved.variant) == ("original", "improved")


def test_scream_is_the_librarys_default() -> None:
    learner = CONTENDERS["scream"].make(SETTING)
    assert isinstance(learner, Scream)
    assert learner.rate == Scream(Ball(2), switching_cost=1.0, gradient_bound=1.0).rate == "appendix"


def test_without_names_the_usual_ones_play() -> None:
    assert [contender.label for contender in choose(None)] == [CONTENDERS[name].label for name in DEFAULT]
    assert choose(None)[0].label == "Self-tuned learner"
