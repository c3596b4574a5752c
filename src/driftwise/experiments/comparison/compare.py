"""The comparison itself: learners on a user's own file, and what came out as a finding."""

from collections.abc import Callable, Sequence
from pathlib import Path

from driftwise._validate import checked
from driftwise.experiments.comparison.contest import Comparison, hold_contest
from driftwise.experiments.comparison.figures import cost_table, panels, problem_table
from driftwise.experiments.comparison.learners import choose
from driftwise.experiments.comparison.problem import Options, read_problem
from driftwise.experiments.comparison.sheet import read_sheet
from driftwise.experiments.comparison.words import notes, summarise
from driftwise.experiments.contests.outcome import HINDSIGHT, Outcome
from driftwise.experiments.contests.words import show
from driftwise.experiments.findings.finding import Claim, Finding
from driftwise.learners import SelfTunedScream
from driftwise.regret import certificate
from driftwise.trace import Trace


@checked
def compare(
    data: str | Path,
    target: str,
    learners: Sequence[str],
    switching_cost: float,
    *,
    features: Sequence[str] | None = None,
    intercept: bool = False,
    standardise: bool = False,
    radius: float | None = None,
    hindsight: bool = True,
    progress: Callable[[str], None] | None = None,
) -> Finding:
    r"""Play learners on a file of features and targets, and say what each of them cost.

    Row by row, in the order of the file, a learner decides on weights w, predicts w.x, sees the target y, pays
    (w.x - y)^2 / 2, and pays `switching_cost` for every unit that it moves its weights by. Beside the learners stand
    three references: the best fixed weights and the hindsight optimum, for which the whole file has to be known, and
    weights of zero that never move. The learners know the number of rows and the gradient bound beforehand, and start
    from weights of zero.

    Parameters
    ----------
    data : str or Path
        A CSV file (.csv, .tsv, also with .gz) with the names of the columns in its first line, or a parquet file
        (.parquet, .pq). Every cell that is used must hold a number; true and false are 1 and 0.
    target : str
        The column to predict.
    learners : sequence of str
        Names from `CONTENDERS`.
    switching_cost : float
        lambda, the price of moving the weights by one unit of Euclidean distance.
    features : sequence of str, optional
        The columns to predict from; all others when left out.
    intercept : bool, default False
        Whether to add a constant feature of 1.
    standardise : bool, default False
        Whether to scale features to mean 0 and standard deviation 1 over the whole file, which is hindsight.
    radius : float, optional
        The largest norm of the weights; twice that of the best fixed weights when left out.
    hindsight : bool, default True
        Whether to work out the hindsight optimum, which can take long on large files whose weights drift much.
    progress : callable, optional
        Called with the name of every learner before it plays, and with "Hindsight optimum" before that is worked out.

    Returns
    -------
    Finding
        Summary, tables, claims (each learner's regret is within its theorem's bound) and panels.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "steps.csv"
    ...     _ = file.write_text("x,y\n" + "1,2\n" * 300 + "1,-1\n" * 300)
    ...     finding = compare(file, "y", ["ogd", "scream"], switching_cost=1.0)
    >>> for row in finding.tables[0].rows:
    ...     print(f"{row[0]:<20}{row[1]:>8}{row[4]:>8}")
    Scream, appendix       195.1    1.28
    OGD                    205.6    1.35
    Hindsight optimum        152       1
    Best fixed weights       675    4.44
    Weights of zero          750    4.93
    Repeat the last value       -       -
    """
    say = progress or (lambda text: None)
    contenders = choose(learners)
    problem = read_problem(read_sheet(data), target, switching_cost, Options(features, intercept, standardise, radius))
    contest = hold_contest(problem, contenders, hindsight, say)
    return Finding(
        f"Learners on {problem.sheet.file}: {problem.target}, switching cost {show(problem.setting.switching_cost)}",
        summarise(contest),
        [cost_table(contest), problem_table(contest), notes(contest)],
        _claims(contest),
        panels(contest),
        columns=2,
    )


def _claims(contest: Comparison) -> list[Claim]:
    """Check the regret of every learner against its theorem, if it has one, and the optimum against its certificate."""
    claims = [
        _within_bound(outcome.name, outcome.trace, contest.references)
        for outcome in contest.learners
        if outcome.trace and not isinstance(outcome.trace.learner, SelfTunedScream)
    ]
    if contest.solution:
        claims.append(Claim("The hindsight optimum is certified", contest.solution.optimal, contest.solution.status))
    return claims


def _within_bound(name: str, trace: Trace, references: list[Outcome]) -> Claim:
    """Say whether the regret of a learner is within its theorem's bound, against every reference in hindsight."""
    found = {
        f"the {reference.label.lower()}": certificate(trace, reference.decisions)
        for reference in references
        if reference.kind == HINDSIGHT and reference.decisions is not None
    }
    first = next(iter(found.values()))
    unmet = [assumption.text for assumption in first.assumptions if assumption.holds is not True]
    measured = [f"{show(one.measured)} of {show(one.bound)} against {whom}" for whom, one in found.items()]
    holds = None if unmet else all(one.within for one in found.values())
    moves = ", moves not counted," if "not counted" in first.measure else ""
    text = f"Regret of {name}{moves} within its bound"
    return Claim(text, holds, "; ".join([*measured, first.theorem, *unmet]))
