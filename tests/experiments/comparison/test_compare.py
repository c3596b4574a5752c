"""Whole comparisons: the numbers are the library's, and the words say what they say."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import driftwise as dw
from driftwise.errors import ArgumentError, ParameterError
from driftwise.experiments.comparison import CONTENDERS, compare
from driftwise.experiments.comparison.regression import contest
from driftwise.experiments.contests.words import show
from driftwise.experiments.findings.finding import Chapter, Finding, Provenance, read_chapters
from tests.experiments.comparison.files import drifting, write

REFERENCES = ["Hindsight optimum", "Best fixed weights", "Weights of zero"]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    drifting().write_csv(tmp_path / "d.csv")
    return tmp_path / "d.csv"


def cells(finding: Finding, column: str) -> dict[str, str]:
    table = finding.tables[0]
    return {row[0]: row[table.header.index(column)] for row in table.rows}


def said(finding: Finding) -> str:
    """Return the summary, which is short, and the notes, which have the rest."""
    notes = finding.tables[-1]
    assert notes.detail
    return "\n".join([*finding.bullets, *(row[1] for row in notes.rows)])


def check_shape(finding: Finding) -> None:
    assert 3 <= len(finding.bullets) <= 6
    assert all(len(bullet) < 240 for bullet in finding.bullets)
    for table in finding.tables:
        assert all(len(row) == len(table.header) for row in table.rows)
        assert all(isinstance(cell, str) for row in table.rows for cell in row)
    assert [len(panel.series) > 0 for panel in finding.panels] == [True] * 4
    for panel in finding.panels:
        for series in panel.series:
            assert len(series.x) == len(series.y) <= 200
            assert np.all(np.isfinite(series.y))


def test_the_numbers_are_those_of_the_library(file: Path) -> None:
    finding = compare(file, "power", list(CONTENDERS), 0.3)
    frame = drifting()
    losses = dw.SquaredLoss(frame.select("wind", "sun").to_numpy(), frame["power"].to_numpy())
    domain = dw.Ball(2, 2.0 * float(np.linalg.norm(dw.regret.best_fixed(losses, dw.Ball(2, 100.0)))))
    common: dict[str, Any] = {"gradient_bound": losses.gradient_bound(domain), "horizon": 400}
    for label, learner in {
        "OGD": dw.OGD(domain, **common),
        "Ader, original": dw.Ader(domain, variant="original", **common),
        "Scream, appendix": dw.Scream(domain, switching_cost=0.3, **common),
        "Lazy Scream, theorem": dw.LazyScream(domain, switching_cost=0.3, rate="theorem", **common),
    }.items():
        trace = dw.play(learner, losses, 0.3)
        assert cells(finding, "overall")[label] == show(trace.total)
        assert cells(finding, "loss")[label] == show(trace.total_loss)
        assert cells(finding, "switching")[label] == show(trace.total_switching)
        assert cells(finding, "RMSE")[label] == show(float(np.sqrt(2.0 * trace.losses.mean())))
        assert cells(finding, "moves")[label] == str(np.count_nonzero(trace.moves))
        curve = next(series for series in finding.panels[0].series if series.name == label)
        assert (curve.x[-1], curve.style) == (400.0, "line")
        assert curve.y[-1] == pytest.approx(trace.total, rel=1e-9)
    optimum = dw.regret.hindsight_optimum(losses, domain, 0.3)
    assert cells(finding, "overall")["Hindsight optimum"] == show(optimum.total)
    assert float(cells(finding, "times optimum")["OGD"]) == pytest.approx(
        float(cells(finding, "overall")["OGD"]) / optimum.total, rel=1e-2
    )
    still = 0.5 * float((frame["power"] ** 2).sum())
    assert cells(finding, "overall")["Weights of zero"] == show(still)
    check_shape(finding)


def test_learners_are_sorted_by_cost_and_references_stand_below(file: Path) -> None:
    finding = compare(file, "power", list(CONTENDERS), 0.3)
    names = [row[0] for row in finding.tables[0].rows]
    assert names[-4:] == [*REFERENCES, "Repeat the last value"]
    assert sorted(names[:-4]) == sorted(contender.label for contender in CONTENDERS.values())
    costs = [float(row[1]) for row in finding.tables[0].rows[:-4]]
    assert costs == sorted(costs)


def test_every_bound_that_applies_is_kept(file: Path) -> None:
    claims = compare(file, "power", list(CONTENDERS), 0.3).claims
    verdicts = {claim.text: claim.holds for claim in claims}
    assert set(verdicts.values()) == {True}
    assert "Regret of Scream (appendix, no horizon) within its bound" in verdicts
    assert len(claims) == len(CONTENDERS)  # one for the optimum, none for SelfTunedLearner
    assert any("moves not counted" in claim.text for claim in claims)
    assert "certified by duality" in claims[-1].measured


def test_csv_and_parquet_give_the_same_finding(tmp_path: Path) -> None:
    frame = drifting().with_columns(pl.Series("weekend", [i % 7 > 4 for i in range(400)]), pl.lit(3).alias("three"))
    frame.write_csv(tmp_path / "d.csv")
    frame.write_parquet(tmp_path / "d.parquet")
    one, other = (compare(tmp_path / f"d.{kind}", "power", ["ogd", "scream"], 0.3) for kind in ("csv", "parquet"))

    def anonymous(finding: Finding, name: str) -> Finding:
        tables = [
            table._replace(rows=[[cell.replace(name, "FILE") for cell in row] for row in table.rows])
            for table in finding.tables
        ]
        title, summary = finding.title.replace(name, "FILE"), str(finding.summary).replace(name, "FILE")
        return replace(finding, title=title, summary=summary, tables=tables)

    assert anonymous(one, "d.csv") == anonymous(other, "d.parquet")


def test_the_same_again(file: Path) -> None:
    first, second = (compare(file, "power", ["ader", "lazy-scream"], 1.0) for _ in range(2))
    assert first == second


def test_a_finding_survives_the_disk(file: Path, tmp_path: Path) -> None:
    finding = compare(file, "power", ["ogd"], 1.0)
    Chapter("compare", "Compare", Provenance("", {}, "", "", 0.0, 1), [finding]).write(tmp_path)
    assert read_chapters(tmp_path)[0].findings[0].summary == finding.summary


def test_without_hindsight_costs_are_held_against_the_best_fixed_weights(file: Path) -> None:
    finding = compare(file, "power", ["ogd"], 1.0, hindsight=False)
    assert "Hindsight optimum" not in cells(finding, "overall")
    assert cells(finding, "times best fixed")["Best fixed weights"] == "1"
    assert "The hindsight optimum was left out" in finding.summary
    assert len(finding.claims) == 1
    check_shape(finding)


def test_an_optimum_that_is_not_certified_is_called_so(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def unsure(*args: Any) -> dw.regret.HindsightOptimum:
        return replace(dw.regret.hindsight_optimum(*args), optimal=False, status="Not certified as optimal.")

    monkeypatch.setattr(contest, "hindsight_optimum", unsure)
    finding = compare(file, "power", ["ogd"], 1.0)
    assert "as far as it could be found (it is not certified)" in finding.summary
    assert str(finding.claims[-1]) == ("The hindsight optimum is certified: does not hold (Not certified as optimal.)")


def test_progress_is_told_who_is_next(file: Path) -> None:
    said: list[str] = []
    compare(file, "power", ["scream", "ogd"], 1.0, progress=said.append)
    assert said == ["Scream, appendix", "OGD", "Hindsight optimum"]


def test_learners_that_win_are_said_to_win(file: Path) -> None:
    finding = compare(file, "power", ["ader", "scream"], 0.0)
    summary = said(finding)
    assert summary.startswith("On 400 rows of d.csv, ")
    assert "as moving is free" in summary
    assert "beat them by" in summary
    assert "more than every learner." in summary
    assert "Moving ate" not in summary


def test_learners_that_lose_are_shown_losing(tmp_path: Path) -> None:
    """Noise, and moves that are dear: those who move pay, and nobody gains."""
    rng = np.random.default_rng(0)
    pl.DataFrame({"x": rng.normal(size=300), "y": rng.normal(size=300)}).write_csv(tmp_path / "d.csv")
    finding = compare(tmp_path / "d.csv", "y", ["ader", "ogd"], 50.0, radius=1.0)
    costs = {name: float(cost) for name, cost in cells(finding, "overall").items() if cost != "-"}
    assert costs["Ader, improved"] > costs["OGD"] > costs["Weights of zero"] >= costs["Best fixed weights"]
    assert "was not beaten by any learner: at this price, learning does not pay" in finding.summary
    assert "and beat every learner, as OGD cost" in finding.summary


def test_moving_that_eats_the_gain_is_named(file: Path) -> None:
    finding = compare(file, "power", ["ader", "ogd", "scream", "lazy-scream"], 10.0)
    loss, overall = cells(finding, "loss"), cells(finding, "overall")
    assert finding.tables[0].rows[0][0] == "Lazy Scream, appendix"
    assert f"Moving ate the gain of Ader (improved): its loss, {loss['Ader, improved']}, was below" in said(finding)
    assert "The same goes for Scream (appendix) and OGD." in said(finding)
    assert float(overall["Lazy Scream, appendix"]) > float(overall["Best fixed weights"])
    assert "Moving ate the gain of Lazy Scream (appendix)" in said(finding)
    assert "below that of the best fixed weights" in said(finding)


def test_moving_that_hardly_matters_is_said_to(file: Path) -> None:
    assert "moving hardly matters" in said(compare(file, "power", ["ogd", "ader"], 1e-4))


def test_a_row_that_rules_the_gradient_bound_is_pointed_out(tmp_path: Path) -> None:
    frame = drifting().with_columns(pl.when(pl.int_range(400) == 122).then(100.0).otherwise("wind").alias("wind"))
    frame.write_csv(tmp_path / "d.csv")
    finding = compare(tmp_path / "d.csv", "power", ["ogd"], 1.0, hindsight=False)
    assert "One row rules the bound on gradients: row 123 makes it" in finding.summary
    bound = next(row for row in finding.tables[1].rows if row[0] == "Gradient bound G")
    assert "row 123;" in bound[2]


def test_what_was_taken_from_the_data_is_said(file: Path) -> None:
    finding = compare(file, "power", ["ogd"], 1.0, standardise=True, intercept=True)
    assert "twice the norm of the best fixed weights, so taken from the file" in said(finding)
    assert "standardised with means and deviations of the whole file, which is hindsight" in said(finding)
    weights = next(row for row in finding.tables[1].rows if row[0] == "Weights d")
    assert weights[1:] == [
        "3",
        "all other columns: 'wind', 'sun'; scaled to mean 0 and standard deviation 1 over the whole file; a constant "
        "1, the intercept",
    ]
    chosen = compare(file, "power", ["ogd"], 1.0, radius=2.0)
    assert "twice the norm" not in said(chosen)


def test_eight_weights_are_drawn(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(900, 12))
    frame = pl.DataFrame({f"f{i}": x[:, i] for i in range(12)} | {"y": x @ np.arange(12.0)})
    frame.write_csv(tmp_path / "d.csv")
    weights = compare(tmp_path / "d.csv", "y", ["ogd"], 0.1, hindsight=False).panels[-1]
    assert weights.title == "Weights of OGD, the 8 largest of 12"
    assert weights.series[0].name == "f11"
    assert [len(series.x) for series in weights.series] == [200] * 8


@pytest.mark.parametrize(
    "content", ["x,y\n1,2\n", "x,y\n1,0\n", "x,y\n1,0\n2,0\n", "x,y\n1,2\n2,4\n", "x,y\n1,1\n-1,1\n"]
)
@pytest.mark.parametrize("price", [0.0, 1.0])
def test_the_smallest_files(tmp_path: Path, content: str, price: float) -> None:
    finding = compare(write(tmp_path / "d.csv", content), "y", list(CONTENDERS), price)
    check_shape(finding)
    assert not any(word in said(finding) for word in ("nan", "inf "))


def test_wrong_calls(file: Path) -> None:
    with pytest.raises(ParameterError, match="did you mean scream"):
        compare(file, "power", ["screan"], 1.0)
    with pytest.raises(ArgumentError, match="Did you mean intercept"):
        compare(file, "power", ["ogd"], 1.0, intercep=True)  # type: ignore[call-arg]


@pytest.mark.parametrize(("step", "words"), [(0.001, "less than any learner"), (5.0, "more than every learner")])
def test_repeating_the_last_value_is_shown(tmp_path: Path, step: float, words: str) -> None:
    """A slow walk is best foretold by where it was; an alternating target is not."""
    t = np.arange(400)
    y = 3.0 + step * t if step < 1.0 else 3.0 + step * (-1.0) ** t
    pl.DataFrame({"x": np.sin(t), "y": y}).write_csv(tmp_path / "d.csv")
    finding = compare(tmp_path / "d.csv", "y", ["ader", "ogd"], 0.1, intercept=True)
    error = float(np.sqrt(np.mean(np.diff(y) ** 2)))
    assert float(cells(finding, "RMSE")["Repeat the last value"]) == pytest.approx(error, rel=1e-3)
    assert f"Repeating the last 'y', without weights, would have been off by {error:.4g}, {words}" in said(finding)


@pytest.mark.parametrize(("level", "pointed_out"), [(1000.0, True), (0.0, False)])
def test_a_dear_beginning_is_pointed_out(tmp_path: Path, level: float, pointed_out: bool) -> None:
    """A target far from 0 is far from weights of 0, and getting there is what costs."""
    y = level + np.random.default_rng(0).normal(size=600)
    pl.DataFrame({"y": y}).write_csv(tmp_path / "d.csv")
    finding = compare(tmp_path / "d.csv", "y", ["ader", "scream"], 0.1, intercept=True)
    assert ("fell in the first 60 rows, on the way from weights of 0." in str(finding.summary)) == pointed_out


SERIES = np.repeat([20.0, 50.0, 30.0], 12) + np.random.default_rng(0).normal(0.0, 1.0, 36).round(2)
DECISIONS: dict[str, dict[str, Any]] = {
    "level": {"period": 6, "forecasts": ["a"]},
    "capacity": {"shortage": 5.0, "idle": 2.0, "low": 0.0, "high": 90.0, "start": 30.0},
    "forecasts": {"forecasts": ["a", "b"]},
}


@pytest.fixture
def table(tmp_path: Path) -> Path:
    pl.DataFrame({"y": SERIES, "a": SERIES + 1.0, "b": SERIES - 2.0, "did": np.full(36, 33.0)}).write_csv(
        tmp_path / "d.csv"
    )
    return tmp_path / "d.csv"


@pytest.mark.parametrize("problem", DECISIONS)
@pytest.mark.parametrize("price", [0.0, 3.0, dw.MoveCost(up=6.0, down=0.0)])
def test_decisions_of_every_kind_at_every_price(table: Path, problem: str, price: Any) -> None:
    finding = compare(table, "y", None, price, problem=problem, mine="did", **DECISIONS[problem])
    names = [row[0] for row in finding.tables[0].rows]
    assert names[0] == "You"
    assert {"Self-tuned learner", "Self-tuned Scream", "Hindsight optimum"} <= set(names)
    assert finding.bullets[0].startswith("You paid ")
    assert 3 <= len(finding.bullets) <= 6
    assert all(len(bullet) < 240 for bullet in finding.bullets)
    assert finding.claims[-1].holds
    assert not any(word in said(finding) for word in ("nan", "inf "))
    for panel in finding.panels:
        for series in panel.series:
            assert len(series.x) == len(series.y) <= 200
            assert np.all(np.isfinite(series.y))


@pytest.mark.parametrize("problem", ["level", "capacity", "forecasts"])
@pytest.mark.parametrize("rows", [1, 2, 3])
def test_the_smallest_files_of_decisions(tmp_path: Path, problem: str, rows: int) -> None:
    options: dict[str, Any] = {"shortage": 5.0} if problem == "capacity" else {}
    for values in ([1.0, 2.0, 4.0], [3.0, 3.0, 3.0], [0.0, 0.0, 0.0]):
        y = np.array(values[:rows])
        pl.DataFrame({"y": y, "a": y, "b": y + 1.0, "did": y}).write_csv(tmp_path / "d.csv")
        for mine in (None, "did"):
            finding = compare(tmp_path / "d.csv", "y", None, 1.0, problem=problem, mine=mine, **options)
            assert not any(word in said(finding) for word in ("nan", "inf "))


def test_decisions_say_what_they_do(table: Path) -> None:
    steps: list[str] = []
    compare(table, "y", ["learner"], 1.0, problem="level", progress=steps.append)
    assert steps == ["Self-tuned learner", "simple rules", "Hindsight optimum"]


def test_options_of_another_problem_are_refused_before_the_file_is_read(tmp_path: Path) -> None:
    cases: list[tuple[dict[str, Any], str]] = [
        ({"shortage": 5.0}, "--shortage goes with the problem capacity, and this one is regression"),
        (
            {"problem": "level", "intercept": True},
            "--intercept goes with the problem regression, and this one is level",
        ),
        ({"problem": "levels"}, "problem must be one of 'regression', 'level', 'capacity', 'forecasts'"),
    ]
    for options, message in cases:
        with pytest.raises(ParameterError, match=message):
            compare(tmp_path / "no.csv", "y", None, 1.0, **options)
    with pytest.raises(ParameterError, match="a regression takes one --switching-cost"):
        compare(tmp_path / "no.csv", "y", None, dw.MoveCost(up=1.0, down=0.0))
