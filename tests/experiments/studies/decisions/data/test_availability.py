"""What is there and what is not."""

import pytest

from driftwise.errors import MissingExtraError
from driftwise.experiments.studies.decisions.data.availability import left_out, there
from driftwise.experiments.studies.decisions.data.problems import recordings
from driftwise.experiments.studies.decisions.data.streams import EVERY


@pytest.mark.usefixtures("stand_ins")
def test_when_all_are_there_nothing_is_said() -> None:
    assert there("x", EVERY, recordings) == list(EVERY)
    assert left_out(EVERY, recordings) == []


@pytest.mark.usefixtures("river_only")
def test_what_is_not_there_is_left_out_with_a_word() -> None:
    assert there("x", EVERY, recordings) == ["approval from five polls", "water flow from its past", "water flow"]
    (sentence,) = left_out(EVERY, recordings)
    assert f"{len(EVERY) - 3} of {len(EVERY)}" in sentence
    assert "`pip install 'driftwise[streams]'`" in sentence
    few = {name: EVERY[name] for name in ("water flow", "unemployment", "births")}
    assert "not installed: unemployment and births; they" in left_out(few, recordings)[0]


@pytest.mark.usefixtures("nothing")
def test_when_none_is_there_the_extra_is_named() -> None:
    with pytest.raises(MissingExtraError, match=r"reproduce plays recordings.*pip install 'driftwise\[streams\]'"):
        there("reproduce", EVERY, recordings)
