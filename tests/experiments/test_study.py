"""The parts that studies are made of."""

import pytest

from driftwise.experiments import control, theory
from driftwise.experiments.study import Claim, Finding, Study, conclude, exponent, group, within


def test_exponent_is_that_of_a_power_law() -> None:
    x = [1.0, 10.0, 500.0]
    assert exponent(x, [3.0 * value**0.75 for value in x]) == pytest.approx(0.75)


def test_within_includes_the_edges() -> None:
    assert within(1.5, 1.0, 0.5)
    assert not within(1.6, 1.0, 0.5)


def test_group_keeps_the_order_of_keys() -> None:
    assert group("bab", [1, 2, 3]) == {"b": [1, 3], "a": [2]}
    assert list(group("ba", [1, 2])) == ["b", "a"]


def test_conclude_runs_every_task_once_and_says_so() -> None:
    ticks: list[int] = []
    study = Study(
        "squares",
        lambda quick: [(k,) for k in range(2 if quick else 5)],
        lambda k: k * k,
        lambda tasks, results: Finding(["sum"], [[str(sum(results))]], []),
    )
    assert conclude(study, progress=lambda: ticks.append(1)).rows == [["30"]]
    assert len(ticks) == 5
    assert conclude(study, quick=True).rows == [["1"]]


def test_a_claim_says_whether_it_holds() -> None:
    assert str(Claim("2 is even", True, "2 / 2 = 1")) == "2 is even: holds (2 / 2 = 1)"
    assert "does not hold" in str(Claim("2 is odd", False, "no"))


@pytest.mark.parametrize("study", [*theory.STUDIES, *control.STUDIES], ids=lambda study: study.title)
def test_quick_is_smaller_and_tasks_differ(study: Study) -> None:
    full, quick = study.tasks(False), study.tasks(True)
    assert len(quick) <= len(full)
    assert len(set(full)) == len(full)
    assert len(set(quick)) == len(quick)
    assert quick != full


@pytest.mark.parametrize("study", [*theory.STUDIES, *control.STUDIES], ids=lambda study: study.title)
def test_a_task_gives_the_same_result_again(study: Study) -> None:
    task = study.tasks(True)[0]
    assert study.run(*task) == study.run(*task)
