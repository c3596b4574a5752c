"""Errors, and the one for a name that does not exist."""

import pytest

from driftwise import errors
from driftwise.errors import DriftwiseError, ParameterError, unknown_name


@pytest.mark.parametrize("name", errors.__all__)
def test_every_error_is_ours_and_a_built_in_one(name: str) -> None:
    kind = getattr(errors, name)
    assert issubclass(kind, DriftwiseError)
    assert kind is DriftwiseError or len([base for base in kind.mro() if base.__module__ == "builtins"]) > 3


@pytest.mark.parametrize("given", ["figur1", "FIGURE1", "figure11"])
def test_a_name_that_was_probably_meant_is_suggested(given: str) -> None:
    error = unknown_name("reproduce", "experiment", given, ["theory", "figure1"])
    assert isinstance(error, ParameterError)
    assert str(error) == (
        f"reproduce: there is no experiment {given!r}; did you mean figure1? There are theory, figure1."
    )


def test_without_a_near_name_all_of_them_are_listed() -> None:
    assert str(unknown_name("apply", "application", "xyz", {"energy": 1, "capacity": 2})) == (
        "apply: there is no application 'xyz'. There are energy, capacity."
    )
