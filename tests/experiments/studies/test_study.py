"""The parts that studies are made of, and what all of them have in common."""

import numpy as np
import pytest

from driftwise.experiments.studies.catalogue import CATALOGUE
from driftwise.experiments.studies.study import Size, Study, exponent, group, within

STUDIES = [study for experiment in CATALOGUE.values() for study in experiment.studies]
EVERY = pytest.mark.parametrize("study", STUDIES, ids=lambda study: study.name)


def test_exponent_is_that_of_a_power_law() -> None:
    x = [1.0, 10.0, 500.0]
    assert exponent(x, [3.0 * value**0.75 for value in x]) == pytest.approx(0.75)


def test_where_there_are_no_logarithms_there_is_no_exponent() -> None:
    assert np.isnan(exponent([1.0, 2.0], [1.0, -1.0]))


def test_within_includes_the_edges() -> None:
    assert within(1.5, 1.0, 0.5)
    assert not within(1.6, 1.0, 0.5)


def test_group_keeps_the_order_of_keys() -> None:
    assert group("bab", [1, 2, 3]) == {"b": [1, 3], "a": [2]}
    assert list(group("ba", [1, 2])) == ["b", "a"]


@EVERY
def test_quick_is_smaller_and_tasks_differ(study: Study) -> None:
    full, quick = study.tasks(Size()), study.tasks(Size(quick=True, seeds=[0]))
    assert len(quick) <= len(full)
    assert len(set(full)) == len(full)
    assert len(set(quick)) == len(quick)
    assert quick != full


@EVERY
def test_a_task_gives_the_same_result_again(study: Study) -> None:
    task = study.tasks(Size(quick=True))[-1]
    np.testing.assert_equal(study.run(*task), study.run(*task))


@EVERY
def test_tasks_have_names_and_a_seed(study: Study) -> None:
    configuration = study.configurations(Size(quick=True))[0]
    assert "seed" in configuration
    assert tuple(configuration.values()) == study.tasks(Size(quick=True))[0]


@pytest.mark.parametrize("name", ["figure1", "figure2"])
def test_figures_take_the_seeds_given(name: str) -> None:
    (study,) = CATALOGUE[name].studies
    assert {each["seed"] for each in study.configurations(Size(seeds=range(7, 9)))} == {7, 8}
    assert {each["seed"] for each in study.configurations(Size(quick=True, seeds=range(7, 9)))} == {7, 8}


def test_names_are_folders_of_their_own() -> None:
    for experiment in CATALOGUE.values():
        names = [study.name for study in experiment.studies]
        assert len(set(names)) == len(names)
        assert all(name.isidentifier() for name in names)
