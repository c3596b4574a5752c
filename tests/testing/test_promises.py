"""What the checks have in common: sentences about what is broken, copies, good and bad input."""

import functools
import pickle
import random
from typing import Any

import numpy as np
import pytest

import driftwise as dw
from driftwise.errors import InputError, OrderError
from driftwise.testing import promises

GOOD = np.array([0.5, -0.25])


def learner() -> dw.OGD:
    return dw.OGD(dw.Ball(2), step=0.1)


def broken(call: Any) -> str:
    with pytest.raises(AssertionError) as caught:
        call()
    return str(caught.value)


def test_a_promise_that_is_kept_says_nothing_and_reads_no_values() -> None:
    read: list[str] = []

    class Value:
        def __format__(self, how: str) -> str:
            read.append(how)
            return "seven"

    promises.promise(True, learner(), "is broken: {}", Value())
    assert read == []
    assert broken(lambda: promises.promise(False, learner(), "is broken: {}", Value())) == "OGD is broken: seven."
    assert read == [""]


def test_an_actor_is_called_by_its_class_and_others_by_what_they_show() -> None:
    assert broken(lambda: promises.promise(False, learner(), "is {loose}")) == "OGD is {loose}."
    assert (
        broken(lambda: promises.promise(0, dw.Ball(2), "has {:g} of {}", 0.5, 3)) == "Ball(2, radius=1) has 0.5 of 3."
    )


def test_same_is_to_the_bit() -> None:
    assert promises.same(GOOD, GOOD.copy())
    assert not promises.same(np.array([0.0]), np.array([-0.0]))
    assert not promises.same(GOOD, GOOD[:, None])


def test_the_first_row_that_differs_is_named() -> None:
    other = np.tile(GOOD, (4, 1))
    other[2:] += [[0.0, 0.5], [0.25, 0.0]]
    found = broken(lambda: promises.check_alike(learner(), np.tile(GOOD, (4, 1)), other, "wanders"))
    assert found == "OGD wanders: they differ by up to 0.5, first at index 2."
    assert "up to inf" in broken(lambda: promises.check_alike(learner(), other, other[1:], "wanders"))


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ([0.0, 0.0], "did not act with a float64 array of shape (2,) now but with [0.0, 0.0]"),
        (np.zeros(3), "shape (2,)"),
        (np.zeros(2, np.float32), "float64"),
        (np.zeros(2), "gave an input now that can be written to"),
        (np.array([np.nan, 0.0]), "gave the input [nan  0.] now, which is not finite"),
    ],
)
def test_a_vector_is_frozen_finite_and_of_its_shape(given: Any, words: str) -> None:
    if isinstance(given, np.ndarray) and "written" not in words:
        given.setflags(write=False)
    check = functools.partial(promises.check_vector, learner(), given, 2, "now")
    assert words in broken(lambda: check(("act with", "an input", "gave the input")))


def test_an_error_must_be_raised_be_the_right_one_and_change_nothing() -> None:
    pupil = learner()
    promises.check_error(OrderError, pupil, lambda: pupil.observe(GOOD), "now", to_the_bit=True)
    late = functools.partial(promises.check_error, OrderError, pupil)
    assert broken(lambda: late(lambda: 3, "now")) == "OGD should raise OrderError now, but returned 3."
    assert "now, but raised KeyError: 'a'." in broken(lambda: late(lambda: dict[str, int]()["a"], "now"))

    def counts(moved: str) -> None:
        setattr(pupil, moved, 1)
        raise OrderError

    assert broken(lambda: late(lambda: counts("_round"), "now")).startswith("OGD went from round 0 to 1 now")
    assert "not left unchanged" in broken(lambda: late(lambda: counts("_note"), "now", to_the_bit=True))


def test_the_global_random_state_is_watched() -> None:
    before = promises.global_random_state()
    np.random.default_rng(0).random()
    promises.check_random_state(learner(), before)
    for use in (random.random, np.random.random):
        before = promises.global_random_state()
        use()
        assert "global random state" in broken(functools.partial(promises.check_random_state, learner(), before))


def test_copies_are_independent_and_what_cannot_be_pickled_is_cloned() -> None:
    class Local(dw.OGD):
        pass

    for original in (learner(), Local(dw.Ball(2), step=0.1)):
        original.act()
        for way in promises.copies(original).values():
            twin = way(original)
            twin.observe(GOOD)
            assert type(twin) is type(original)
            assert (twin.round, original.round) == (1, 0)
    assert promises.saved(Local(dw.Ball(2), step=0.1)) is None
    assert pickle.loads(promises.saved(learner()) or b"").round == 0


def test_forms_are_the_same_numbers_and_are_spoilt_once_used() -> None:
    values = np.array([0.1, 0.2])
    given = promises.forms(values)
    for form in given.values():
        np.testing.assert_array_equal(np.asarray(form, np.float64), values.astype(np.float32).astype(np.float64))
        promises.check_untouched(learner(), form, values, "was modified")
    assert [name for name, form in given.items() if np.all(np.asarray(form) == 7.0)] == [
        "an array",
        "a float32 array",
        "a strided array",
    ]
    assert broken(lambda: promises.check_untouched(learner(), given["an array"], values, "was modified"))


@pytest.mark.parametrize("good", [GOOD, np.stack([GOOD, GOOD])], ids=["one", "rows"])
def test_bad_rows_are_all_refused_by_a_domain(good: Any) -> None:
    kept = good.copy()
    cases = promises.bad_rows(good)
    assert len({name for name, _ in cases}) == len(cases)
    promises.refused(dw.Ball(2), "project", dw.Ball(2).project, cases)
    np.testing.assert_array_equal(good, kept)


def test_what_is_refused_may_not_be_modified() -> None:
    def spoil(given: Any) -> None:
        if isinstance(given, np.ndarray) and given.size and given.dtype == np.float64 and given.ndim:
            given[...] = 0.0
        raise InputError

    found = broken(lambda: promises.refused(dw.Ball(2), "project", spoil, promises.bad_rows(GOOD)))
    assert found == "Ball(2, radius=1) should not modify what project is given, but changed NaN."
