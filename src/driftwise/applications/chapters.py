"""From the name of an application to a chapter: load the series, let everyone play, conclude, keep what came out."""

import itertools
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from driftwise._validate import checked, number
from driftwise.applications.catalogue import APPLICATIONS, NAMES, POLICIES
from driftwise.applications.conclusion import conclude
from driftwise.applications.contest import CaseContest, hold_contests
from driftwise.applications.data import CATALOGUE, choose, load, missing
from driftwise.applications.figures import PROBLEM
from driftwise.applications.policies import which
from driftwise.errors import ParameterError, unknown_name
from driftwise.experiments.findings.finding import Chapter, Finding
from driftwise.experiments.findings.provenance import provenance

MOVE_COSTS = (0.5, 5.0, 20.0)
"""Prices of moving when none are given."""


class Applications:
    """Plays applications, and remembers what was played, so that "policies" need not play it again.

    Parameters
    ----------
    move_costs : sequence of float, default (0.5, 5.0, 20.0)
        Prices of moving, in the unit of each problem.
    data : str, optional
        The one series to play on; all that are there when left out.
    progress : callable, optional
        Called with what is being done.

    Examples
    --------
    >>> from driftwise.applications import Applications
    >>> settings = Applications(move_costs=[5.0], data="synthetic-prices")
    >>> settings.names("energy")
    ('synthetic-prices',)
    >>> settings.takes("energy"), settings.takes("capacity")
    (True, False)
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
            raise unknown_name("apply", "series", data, CATALOGUE)
        self.data = data
        self._able = [one for one in APPLICATIONS if data is None or data in APPLICATIONS[one].series]
        self._say = progress or (lambda text: None)
        self._played: dict[tuple[str, str], list[CaseContest]] = {}

    def takes(self, application: str) -> bool:
        """Tell whether an application can be played on the series that was asked for.

        Parameters
        ----------
        application : str
            A key of `APPLICATIONS`, or "policies".
        """
        return application in self._able or (application == POLICIES and bool(self._able))

    def names(self, application: str) -> tuple[str, ...]:
        """Return the series that an application is played on.

        Parameters
        ----------
        application : str
            A key of `APPLICATIONS`, or "policies".
        """
        if application == POLICIES:
            return tuple(dict.fromkeys(name for one in self._able for name in self.names(one)))
        chosen = APPLICATIONS[application]
        if self.data is None:
            return choose(chosen.real, chosen.made_up)
        if self.data not in chosen.series:
            raise ParameterError(
                f"apply: {application} cannot be played on {self.data!r}; it takes {', '.join(chosen.series)}."
            )
        if missing(self.data):
            load(self.data)  # raises, with the command
        return (self.data,)

    def contests(self, application: str, name: str) -> list[CaseContest]:
        """Return what came out on one series, a contest for every price of moving.

        Parameters
        ----------
        application : str
            A key of `APPLICATIONS`.
        name : str
            A series that it is played on; see `names`.
        """
        if (application, name) not in self._played:
            self._say(f"{application} on {name}")
            case = APPLICATIONS[application].make(load(name))
            self._played[application, name] = hold_contests(
                case, self.move_costs, lambda who: self._say(f"{application} on {name}: {who}")
            )
        return self._played[application, name]

    def findings(self, name: str) -> list[Finding]:
        """Return the findings of one application, or of "policies".

        Parameters
        ----------
        name : str
            A key of `APPLICATIONS`, or "policies".
        """
        if name != POLICIES:
            return [conclude(self.contests(name, series)) for series in self.names(name)]
        played = [self.contests(one, series) for one in self._able for series in self.names(one)]
        return [which(list(itertools.chain.from_iterable(played)))]


@checked
def apply(
    name: str,
    out: str | Path,
    *,
    applications: Applications | None = None,
    command: str = "driftwise.applications.apply",
) -> Chapter:
    """Play one application on its series, keep what was found in ``out/findings/NAME.json``, and return the chapter.

    Every case is played at several prices of moving by `SelfTunedLearner`, which is told the price and nothing else,
    and once more with a seasonal forecast where there is one; by `SelfTunedScream`, by the paper's `Scream`, and by
    committees of the rules that people use; and by those rules: the last value, the last value and 10 %, equal weights,
    a window rule such as that of an autoscaler with its default settings and with those that were best in hindsight.
    Beside them stand the best static level and the optimum in hindsight.

    Parameters
    ----------
    name : {"capacity", "forecasts", "energy", "policies"}
        The application; "policies" holds the committees of all the others against their best members.
    out : str or Path
        Folder; `driftwise.report.build` makes a page of it.
    applications : Applications, optional
        Prices of moving, and the series to play on; prices 0.5, 5 and 20 on every real series that is installed when
        left out, and on synthetic ones where none is.
    command : str, default "driftwise.applications.apply"
        The command that the report names as the origin of its numbers.

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
        raise unknown_name("apply", "application", name, NAMES)
    began = time.monotonic()
    chosen = applications or Applications()
    findings = chosen.findings(name)
    shown = [table for finding in findings for table in finding.tables if not table.detail]
    runs = sum(len(table.rows) for table in shown if table.title != PROBLEM)
    title = "Which of my policies" if name == POLICIES else APPLICATIONS[name].title
    chapter = Chapter(name, title, provenance(command, time.monotonic() - began, runs), findings)
    chapter.write(Path(out))
    return chapter
