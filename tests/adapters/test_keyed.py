"""Learners by key are those that they would be alone."""

from typing import Any

import numpy as np
import pytest

import driftwise as dw
from driftwise.adapters.keyed import Keyed
from driftwise.errors import CheckpointError, InputError, ParameterError


def learner() -> dw.Learner:
    return dw.Scream(dw.Ball(2), switching_cost=0.5, gradient_bound=4.0, horizon=1000)


def events(count: int, keys: int = 7) -> list[tuple[str, Any]]:
    rng = np.random.default_rng(5)
    return list(zip([f"k{key}" for key in rng.integers(0, keys, count)], rng.normal(size=(count, 2)), strict=True))


def test_every_key_has_the_decisions_of_a_learner_of_its_own() -> None:
    keyed, alone, found = Keyed(learner()), dict[str, dw.Learner](), list[tuple[str, Any]]()
    given = events(300)
    for start in range(0, 300, 37):
        found += keyed.play(given[start : start + 37])
    for (key, gradient), (name, decision) in zip(given, found, strict=True):
        one = alone.setdefault(key, learner())
        one.act()
        one.observe(gradient)
        assert name == key
        np.testing.assert_array_equal(decision, one.act())
    assert len(keyed) == len(alone) == 7
    for key, one in alone.items():
        assert keyed.learner(key).round == one.round


def test_how_events_are_batched_does_not_matter() -> None:
    given = events(200, keys=90)
    one, other = Keyed(learner()), Keyed(learner())
    singly = [decided for event in given for decided in one.play([event])]
    together = other.play(given)
    assert [key for key, _ in singly] == [key for key, _ in together]
    np.testing.assert_array_equal([w for _, w in singly], [w for _, w in together])


def test_what_is_saved_goes_on_and_takes_new_keys() -> None:
    given = events(400, keys=60)
    keyed = Keyed(learner())
    keyed.play(given[:200])
    again = Keyed(learner()).resume(keyed.to_bytes())
    assert list(again.places) == list(keyed.places)
    for (key, mine), (name, theirs) in zip(keyed.play(given[200:]), again.play(given[200:]), strict=True):
        assert key == name
        np.testing.assert_array_equal(mine, theirs)
    assert len(Keyed(learner()).resume(Keyed(learner()).to_bytes())) == 0


def test_learners_may_differ_by_key() -> None:
    keyed = Keyed(lambda key: dw.OGD(dw.Box([-9.0], [9.0]), step=float(key)))
    assert [float(w[0]) for _, w in keyed.play([("1", 1.0), ("3", 1.0), ("2", 1.0), ("1", 1.0)])] == [-1, -3, -2, -2]


def test_a_value_may_be_a_loss_or_be_read() -> None:
    series = dw.TrackingLoss([[1.0], [2.0]])
    make = dw.SelfTunedLearner(dw.Box([-9.0], [9.0]), switching_cost=1.0)
    read = Keyed(make, lambda w, t: None if t < 0 else series[t])
    given = Keyed(make)
    alone = make.clone()
    for t in (0, 1):
        alone.act()
        alone.observe(series[t])
        ((_, mine),), ((_, theirs),) = given.play([("a", series[t])]), read.play([("a", t)])
        np.testing.assert_array_equal(mine, alone.act())
        np.testing.assert_array_equal(theirs, alone.act())
    assert read.play([("a", -1), ("a", None)])[1][1] == alone.act()
    assert read.learner("a").round == 2


@pytest.mark.parametrize("value", [[1.0], "much", [np.nan, 1.0], [1.0, np.inf], [1e200, 0.0]])
def test_bad_feedback_is_named_by_key_or_passed_over(value: Any) -> None:
    with pytest.raises(InputError, match="key 'b'"):
        Keyed(learner()).play([("a", [1.0, 2.0]), ("b", value)])
    keyed = Keyed(learner(), on_bad_input="skip")
    keyed.play([("a", [1.0, 2.0]), ("b", [1.0, 2.0])])
    before = keyed.play([("b", None)])[0][1]
    np.testing.assert_array_equal(keyed.play([("a", [1.0, 2.0]), ("b", value)])[1][1], before)


def test_what_cannot_be_is_refused() -> None:
    with pytest.raises(ParameterError, match="a function of the key"):
        Keyed(3)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="which is no Learner"):
        Keyed(lambda key: key).play([("a", None)])  # type: ignore[arg-type, return-value]
    with pytest.raises(InputError, match="no event of key 'a'"):
        Keyed(learner()).learner("a")
    with pytest.raises(CheckpointError, match="not learners by key"):
        Keyed(learner()).resume(learner().to_bytes())
    saved = Keyed(learner())
    saved.play(events(9))
    data = bytearray(saved.to_bytes())
    data[len(data) // 2] ^= 1
    with pytest.raises(CheckpointError, match="damaged"):
        Keyed(learner()).resume(bytes(data))
