"""What a committee is given: every form of losses, and what is refused, which leaves it as it was."""

import math
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import driftwise as dw
from driftwise.errors import InputError, OrderError, ParameterError
from tests.cases import check_refused

N = 5


def test_all_forms_of_losses_say_the_same() -> None:
    stream = dw.TrackingLoss(np.sin(np.arange(20.0))[:, None] * [1.0, -1.0])
    proposals = np.random.default_rng(0).normal(size=(20, N, 2))
    values = [[stream[t].value(w) for w in proposals[t]] for t in range(20)]
    forms: dict[str, Callable[[int], Any]] = {
        "a list": lambda t: values[t],
        "an array": lambda t: np.array(values[t]),
        "a loss": lambda t: stream[t],
        "the stream": lambda t: stream,
        "a function": lambda t: stream[t].value,
    }
    found = []
    for form in forms.values():
        committee = dw.Committee(N, 1.0)
        for t in range(20):
            committee.act(proposals[t])
            committee.observe(form(t))
        found.append(committee.weights)
    assert all(np.array_equal(found[0], other) for other in found)


def test_a_loss_of_one_coordinate_is_asked_at_numbers() -> None:
    stream = dw.TrackingLoss([[1.0], [2.0]])
    committee = dw.Committee(2)
    committee.act([1.0, 3.0])
    committee.observe(stream)
    assert committee.weights[0] > 0.6


def _saved(committee: dw.Committee) -> bytes:
    return pickle.dumps(committee)


BAD_PROPOSALS: dict[str, Any] = {
    "too few": [1.0, 2.0],
    "NaN": [1.0, math.nan, 2.0],
    "infinity": [1.0, None, math.inf],
    "1e200": [1.0, 1e200, 2.0],
    "all asleep": [None, None, None],
    "another shape": [[1.0, 2.0]] * 3,
    "mixed shapes": [[1.0, 2.0], 1.0, None],
    "four axes": np.zeros((3, 1, 1, 1)),
    "strings": ["a", "b", "c"],
    "complex": [1j, 0.0, 0.0],
    "a number": 1.0,
    "text": "abc",
    "None": None,
}


BAD_LOSSES: dict[str, Any] = {
    "too many": [1.0, 2.0, 3.0, 4.0],
    "NaN": [1.0, math.nan, 2.0],
    "None for who was awake": [1.0, None, 2.0],
    "infinity": np.array([1.0, math.inf, 2.0]),
    "1e200": [1.0, 1e200, 2.0],
    "a matrix": np.zeros((3, 1)),
    "strings": ["a", "b", "c"],
    "a number": 1.0,
    "a function that gives NaN": lambda x: math.nan,
    "a function that gives a vector": lambda x: [x, x],
    "a loss of two coordinates": dw.TrackingLoss([[1.0, 2.0]])[0],
    "a stream that is over": dw.TrackingLoss([[1.0]]),
}


@pytest.mark.parametrize("mode", ["mix", "follow"])
def test_bad_input_leaves_the_state_as_it_was(mode: str) -> None:
    committee = dw.Committee(3, 1.0, mode=mode)

    def check_unchanged(verb: Callable[[Any], object], cases: dict[str, Any], not_at_first: str) -> None:
        for name, bad in cases.items():
            if committee.round > 0 or name != not_at_first:
                before = _saved(committee)
                with pytest.raises(InputError):
                    verb(bad)
                assert _saved(committee) == before, name

    for _ in range(2):
        check_unchanged(committee.act, BAD_PROPOSALS, not_at_first="another shape")
        committee.act([1.0, 2.0, 4.0])
        check_unchanged(committee.observe, BAD_LOSSES, not_at_first="a stream that is over")
        committee.observe([3.0, 2.0, 1.0])
    assert committee.round == 2


def test_errors_say_what_to_do() -> None:
    committee = dw.Committee(2, 1.0)
    check_refused(lambda: committee.observe([1.0, 2.0]), "round 0", "call act(proposals) first", kind=OrderError)
    check_refused(lambda: committee.act([None, None]), "all 2 members sleep", "always has a proposal", kind=InputError)
    committee.act([1.0, None])
    check_refused(lambda: committee.act([1.0, 2.0]), "again before observe", kind=OrderError)
    check_refused(lambda: committee.observe([None, 1.0]), "member 0 was awake", kind=InputError)
    committee.observe([1.0, None])
    check_refused(lambda: committee.observe([1.0, 2.0]), "round 1", kind=OrderError)
    check_refused(lambda: committee.act([[1.0, 2.0]] * 2), "shape (2,)", kind=InputError)
    three = dw.Committee(2, dw.MoveCost([1.0, 1.0, 1.0]))
    check_refused(lambda: three.act([[1.0, 2.0]] * 2), "3 coordinates", kind=ParameterError)
    huge = dw.Committee(2, dw.MoveCost(up=[1e100] * 2))
    huge.act([[0.0, 0.0]] * 2)
    assert huge.round == 0
