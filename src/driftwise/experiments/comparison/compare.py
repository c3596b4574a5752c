"""The comparison itself: everyone on a user's own file, and what came out as a finding."""

from collections.abc import Callable, Sequence
from pathlib import Path

from driftwise._validate import checked
from driftwise.experiments.comparison import decisions, regression
from driftwise.experiments.comparison.options import REGRESSION, check_options, one_price
from driftwise.experiments.comparison.sheet import read_sheet
from driftwise.experiments.comparison.text import MAX_BYTES
from driftwise.experiments.findings.finding import Finding
from driftwise.movecost import MoveCost


@checked
def compare(
    data: str | Path,
    target: str,
    learners: Sequence[str] | None,
    switching_cost: float | MoveCost,
    *,
    problem: str = REGRESSION,
    mine: str | None = None,
    forecasts: Sequence[str] | None = None,
    shortage: float | None = None,
    idle: float | None = None,
    low: float | None = None,
    high: float | None = None,
    start: float | None = None,
    period: int | None = None,
    whole: bool = False,
    features: Sequence[str] | None = None,
    intercept: bool = False,
    standardise: bool = False,
    radius: float | None = None,
    hindsight: bool = True,
    max_bytes: int = MAX_BYTES,
    progress: Callable[[str], None] | None = None,
) -> Finding:
    r"""Play a file of yours, a row for each round, and say what everyone cost.

    In every row something is decided before the row is seen, then it costs something, and moving away from the last
    decision costs extra. There are four problems:

    - "regression": weights w of features x predict the target y; a row costs (w.x - y)^2 / 2. Learners play beside the
      best fixed weights, the hindsight optimum and weights of zero; they know the number of rows and the gradient bound
      beforehand (those without knobs make no use of it), and start from weights of zero.
    - "level": one number follows the target; a row costs half the square of its distance.
    - "capacity": one number is kept for a demand, the target; a row costs `idle` for every unit that is held and
      `shortage` for every unit that is not met.
    - "forecasts": weights of forecasts, at least 0 and 1 in all; a row costs half the square of the combined forecast's
      error.

    In the last three, our learner without knobs is held against what you did (`mine`), simple rules with the settings
    that people have, the same rules with the settings that were best on this file, the best fixed decision and the
    hindsight optimum.

    Parameters
    ----------
    data : str or Path
        A CSV file (.csv, .tsv, also with .gz) with the names of the columns in its first line, or a parquet file
        (.parquet, .pq). Every cell that is used must hold a number; true and false are 1 and 0.
    target : str
        The column to predict, to follow or to meet.
    learners : sequence of str or None
        Names from `CONTENDERS`; for decisions "learner" and "selftuned", of which the first is the one that the words
        are about. None for the usual ones.
    switching_cost : float or MoveCost
        lambda, the price of moving by one unit of Euclidean distance; prices up and down for all but regression.
    problem : {"regression", "level", "capacity", "forecasts"}, default "regression"
        What is decided.
    mine : str, optional
        The column of what you really did: levels or capacities; for forecasts the name of the one that you followed in
        each row, or the combined forecast as a number. Not for regression.
    forecasts : sequence of str, optional
        Columns of forecasts, each known before its row. For "forecasts" those to be weighed, all other columns when
        left out; for "level" and "capacity" our learner is given them as proposals.
    shortage : float, optional
        For "capacity": the cost of a unit of demand that is not met, above `idle`.
    idle : float, optional
        For "capacity": the cost of a unit that is held, needed or not; 1 when left out.
    low, high : float, optional
        Limits of a level or a capacity; taken from the range of the columns, with room, when left out.
    start : float, optional
        First level or capacity of our learners; where you began when left out, or else the first value of the column.
    period : int, optional
        Rows in a season of a level or a capacity, such as 24 or 7.
    whole : bool, default False
        Whether levels or capacities are whole numbers.
    features : sequence of str, optional
        For regression: the columns to predict from; all others when left out.
    intercept : bool, default False
        For regression: whether to add a constant feature of 1.
    standardise : bool, default False
        For regression: whether to scale features to mean 0 and standard deviation 1 over the whole file, which is
        hindsight.
    radius : float, optional
        For regression: the largest norm of the weights; twice that of the best fixed weights when left out.
    hindsight : bool, default True
        Whether to work out the hindsight optimum, which can take long on large files whose decisions drift much.
    max_bytes : int, default 2**29
        Largest file that is read, unpacked: a few bytes of a compressed file can stand for more than there is memory.
    progress : callable, optional
        Called with what is being played.

    Returns
    -------
    Finding
        Summary, tables, claims and panels.

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

    A level that was held at 1 all the time, where moves cost 2:

    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "held.csv"
    ...     _ = file.write_text("load,held\n" + "1,1\n" * 50 + "9,1\n" * 50)
    ...     finding = compare(file, "load", None, 2.0, problem="level", mine="held")
    >>> print(*finding.tables[0].rows[0][:5])
    You 1600 1600 0 0
    """
    say = progress or (lambda text: None)
    chosen = decisions.Options(mine, forecasts, shortage, idle, low, high, start, period, whole)
    wanted = regression.Options(features, intercept, standardise, radius)
    check_options(problem, {**vars(chosen), **vars(wanted)})
    if problem == REGRESSION:
        price, contenders = one_price(switching_cost), regression.choose(learners)
        made = regression.read_problem(read_sheet(data, max_bytes), target, price, wanted)
        return regression.conclude(regression.hold_contest(made, contenders, hindsight, say))
    names = decisions.choose(learners, regression.CONTENDERS)
    posed = decisions.READERS[problem](read_sheet(data, max_bytes), target, switching_cost, chosen)
    return decisions.conclude(decisions.hold_contest(posed, names, hindsight, say))
