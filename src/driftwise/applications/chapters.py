"""From the name of an application to a chapter: load the series, let everyone play, conclude, keep what came out."""

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from driftwise._validate import checked, number
from driftwise.applications.capacity import capacity
from driftwise.applications.case import Case
from driftwise.applications.contest import Books, Contest, hold_contest
from driftwise.applications.data import CATALOGUE, Dataset, choose, load, missing
from driftwise.applications.energy import energy
from driftwise.applications.figures import PROBLEM, cost_table, panels, problem_table, settings_table
from driftwise.applications.forecasts import forecasts
from driftwise.applications.ours import SELF_TUNED
from driftwise.applications.policies import which
from driftwise.applications.words import setting, summarise
from driftwise.errors import ParameterError
from driftwise.experiments.comparison.words import show
from driftwise.experiments.finding import Chapter, Claim, Finding
from driftwise.experiments.provenance import provenance

MOVE_COSTS = (0.5, 5.0, 20.0)
"""Prices of moving when none are given."""


class Application(NamedTuple):
    """A problem that people have, and the series that we have for it."""

    title: str
    make: Callable[[Dataset], Case]
    real: tuple[str, ...]
    """Series that are used when they are there."""
    made_up: str
    """The series that is used when none of them is."""
    more: tuple[str, ...] = ()
    """Further series that can be asked for."""

    @property
    def series(self) -> tuple[str, ...]:
        """Every series that it can be played on."""
        return (*self.real, *self.more, self.made_up)


APPLICATIONS = {
    "capacity": Application(
        "Right-sizing capacity", capacity, ("traffic", "pageviews", "water"), "synthetic-traffic", ("peyton",)
    ),
    "forecasts": Application(
        "Combining forecasts", forecasts, ("polls", "traffic"), "synthetic-polls", ("pageviews", "water")
    ),
    "energy": Application("A set-point with a ramp", energy, ("prices",), "synthetic-prices"),
}

POLICIES = "policies"
NAMES = (*APPLICATIONS, POLICIES)


class Applications:
    """Plays applications, and remembers what was played, so that "policies" need not play it again.

    Parameters
    ----------
    move_costs : sequence of float
        Prices of moving, in the unit of each problem.
    data : str, optional
        The one series to play on; all that are there when left out.
    progress : callable, optional
        Called with what is being done.
    """

    def __init__(
        self,
        move_costs: Sequence[float] = MOVE_COSTS,
        data: str | None = None,
        progress: Callable[[str], None] | None = None,
    ) -> None:
        if not move_costs:
            raise ParameterError("apply: there must be at least one move cost.")
        self.move_costs = sorted({number("apply", "move cost", cost, low=0.0) for cost in move_costs})
        if data is not None and data not in CATALOGUE:
            raise ParameterError(
                f"apply: there is no series {data!r}; there are {', '.join(CATALOGUE)} (see driftwise apply --list)."
            )
        self.data = data
        self._say = progress or (lambda text: None)
        self._played: dict[tuple[str, str], list[Contest]] = {}

    def takes(self, application: str) -> bool:
        """Tell whether an application can be played on the series that was asked for."""
        able = NAMES if self.data is None else [one for one in APPLICATIONS if self.data in APPLICATIONS[one].series]
        return application in able or (application == POLICIES and bool(able))

    def names(self, application: str) -> tuple[str, ...]:
        """Return the series that an application is played on."""
        if application == POLICIES:
            played = [one for one in APPLICATIONS if self.takes(one)]
            return tuple(dict.fromkeys(name for one in played for name in self.names(one)))
        chosen = APPLICATIONS[application]
        if self.data is None:
            return choose(chosen.real, chosen.made_up)
        if self.data not in chosen.series:
            raise ParameterError(
                f"apply: {application} cannot be played on {self.data!r}; it takes {', '.join(chosen.series)}."
            )
        command = missing(self.data)
        if command:
            load(self.data)  # raises, with the command
        return (self.data,)

    def contests(self, application: str, name: str) -> list[Contest]:
        """Return what came out on one series, a contest for every price of moving."""
        if (application, name) not in self._played:
            self._say(f"{application} on {name}")
            case = APPLICATIONS[application].make(load(name))
            books = Books(case)
            self._played[application, name] = [
                hold_contest(case, cost, books, lambda who: self._say(f"{application} on {name}: {who}"))
                for cost in self.move_costs
            ]
        return self._played[application, name]

    def findings(self, name: str) -> list[Finding]:
        """Return the findings of one application, or of "policies"."""
        if name != POLICIES:
            return [conclude(self.contests(name, series)) for series in self.names(name)]
        played = [(one, series) for one in APPLICATIONS if self.takes(one) for series in self.names(one)]
        return [which([contest for one, series in played for contest in self.contests(one, series)])]


@checked
def apply(
    name: str,
    out: str | Path,
    *,
    applications: Applications | None = None,
    command: str = "driftwise.applications.apply",
    found: Callable[[Finding], None] = lambda finding: None,
) -> Chapter:
    """Play one application on its series, keep what was found in ``out/findings/NAME.json``, and return the chapter.

    Every case is played at several prices of moving by `SelfTunedScream`, which is told the price and nothing else, by
    the paper's `Scream`, by committees of the rules that people use, and by those rules: the last value, the last value
    and 10 %, equal weights, a window rule such as that of an autoscaler with its default settings and with those that
    were best in hindsight. Beside them stand the best static level and the optimum in hindsight.

    Parameters
    ----------
    name : {"capacity", "forecasts", "energy", "policies"}
        The application; "policies" holds the committees of all the others against their best members.
    out : str or Path
        Folder; `driftwise.report.build` makes a page of it.
    applications : Applications, optional
        Prices of moving, and the series to play on; prices 0.5, 5 and 20 on every real series that is installed when
        left out, and on synthetic ones where none is.
    command : str
        The command that the report names as the origin of its numbers.
    found : callable
        Called with every finding.

    Returns
    -------
    Chapter
        A finding for each series, and where the numbers come from.

    Examples
    --------
    The settings decide what is played; here, what takes prices that are made up:

    >>> settings = Applications(move_costs=[5.0, 0.5], data="synthetic-prices")
    >>> settings.move_costs, [name for name in NAMES if settings.takes(name)]
    ([0.5, 5.0], ['energy', 'policies'])
    """
    if name not in NAMES:
        raise ParameterError(f"apply: there is no application {name!r}; there are {', '.join(NAMES)}.")
    began = time.monotonic()
    chosen = applications or Applications()
    findings = chosen.findings(name)
    for finding in findings:
        found(finding)
    shown = [table for finding in findings for table in finding.tables if not table.detail]
    runs = sum(len(table.rows) for table in shown if table.title != PROBLEM)
    title = "Which of my policies" if name == POLICIES else APPLICATIONS[name].title
    chapter = Chapter(name, title, provenance(command, time.monotonic() - began, runs), findings)
    chapter.write(Path(out))
    return chapter


def conclude(contests: Sequence[Contest]) -> Finding:
    """Say what came out of a case: a table for every price, what was claimed, and words."""
    case = contests[0].case
    return Finding(
        setting(case),
        summarise(contests),
        [*(cost_table(contest) for contest in contests), problem_table(case), settings_table(contests)],
        _claims(contests),
        panels(contests),
        columns=2,
    )


def _claims(contests: Sequence[Contest]) -> list[Claim]:
    """Hold ours against the rule with default settings, and the optimum against its certificate."""
    default = next(label for label in contests[0].case.rules if "default" in label)
    ratios = [contest[SELF_TUNED].overall / contest[default].overall for contest in contests]
    measured = ", ".join(
        f"{ratio:.3f} at {show(contest.move_cost)}" for ratio, contest in zip(ratios, contests, strict=True)
    )
    gaps = max(contest.solution.gap for contest in contests)
    return [
        Claim(f"{SELF_TUNED} costs less than {_settings(default)}", max(ratios) < 1.0, f"{measured}, as a ratio"),
        Claim(
            "The hindsight optimum is certified",
            all(contest.solution.optimal for contest in contests),
            f"relative gap at most {gaps:.1e}",
        ),
    ]


def _settings(default: str) -> str:
    return "the " + default.replace(", default", " with default settings").lower()


def listing() -> list[list[str]]:
    """Return every application with every series, and whether that is there or which command brings it."""
    rows = []
    for name, application in APPLICATIONS.items():
        for series in application.series:
            state = missing(series) or ("installed" if CATALOGUE[series].package else "built in")
            rows.append([name, series, CATALOGUE[series].title, state])
    return [*rows, [POLICIES, "all of these", "Committees of the rules of all the others", ""]]
