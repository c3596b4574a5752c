"""From the name of an application to a chapter: load the series, let everyone play, conclude, keep what came out."""

import itertools
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from driftwise._validate import checked, number
from driftwise.applications.catalogue import APPLICATIONS, MADE_UP, NAMES, POLICIES, PORTFOLIOS, UNIVERSES
from driftwise.applications.conclusion import conclude
from driftwise.applications.contest import CaseContest, hold_contests
from driftwise.applications.data import CATALOGUE, choose, load, missing
from driftwise.applications.figures import PROBLEM
from driftwise.applications.policies import which
from driftwise.applications.portfolios import COSTS, Universe, hold_universe, overall
from driftwise.applications.portfolios import conclude as conclude_universe
from driftwise.errors import ParameterError, unknown_name
from driftwise.experiments.findings.finding import Chapter, Finding
from driftwise.experiments.findings.provenance import provenance

MOVE_COSTS = (0.5, 5.0, 20.0)
"""Prices of moving when none are given."""

TRADED = 0.5
"""Costs of trading are shares of what is traded, below this."""


class Applications:
    """Plays applications, and remembers what was played, so that "policies" need not play it again.

    Parameters
    ----------
    move_costs : sequence of float, optional
        Prices of moving, in the unit of each problem: 0.5, 5 and 20 when left out; for portfolios, shares of what is
        traded: 0, 0.001 and 0.005.
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
        move_costs: Sequence[float] | None = None,
        data: str | None = None,
        progress: Callable[[str], None] | None = None,
    ) -> None:
        given = MOVE_COSTS if move_costs is None else move_costs
        if not given:
            raise ParameterError("apply: there must be at least one move cost.")
        self.move_costs = sorted({number("apply", "move cost", cost, low=0.0) for cost in given})
        self.trading_costs = list(COSTS) if move_costs is None else self.move_costs
        if data is not None and data not in CATALOGUE:
            raise unknown_name("apply", "series", data, CATALOGUE)
        self.data = data
        self._able = [one for one in APPLICATIONS if data is None or data in APPLICATIONS[one].series]
        self._say = progress or (lambda text: None)
        self._played: dict[tuple[str, str], list[CaseContest]] = {}
        self._universes: dict[str, Universe] = {}

    def takes(self, application: str) -> bool:
        """Tell whether an application can be played on the series that was asked for.

        Parameters
        ----------
        application : str
            A key of `APPLICATIONS`, "policies" or "portfolios".
        """
        if application == PORTFOLIOS:
            fits = self.data is None or self.data in (*UNIVERSES, MADE_UP)
            return fits and self.trading_costs[-1] < TRADED
        return application in self._able or (application == POLICIES and bool(self._able))

    def names(self, application: str) -> tuple[str, ...]:
        """Return the series that an application is played on.

        Parameters
        ----------
        application : str
            A key of `APPLICATIONS`, "policies" or "portfolios".
        """
        if application == POLICIES:
            return tuple(dict.fromkeys(name for one in self._able for name in self.names(one)))
        real: tuple[str, ...]
        series: tuple[str, ...]
        if application == PORTFOLIOS:
            real, made_up, series = UNIVERSES, MADE_UP, (*UNIVERSES, MADE_UP)
            if self.trading_costs[-1] >= TRADED:
                raise ParameterError(
                    "apply: for portfolios a move cost is a share of what is traded, such as 0.001, got "
                    f"{self.trading_costs[-1]:g}."
                )
        else:
            chosen = APPLICATIONS[application]
            real, made_up, series = chosen.real, chosen.made_up, chosen.series
        if self.data is None:
            return choose(real, made_up)
        if self.data not in series:
            raise ParameterError(
                f"apply: {application} cannot be played on {self.data!r}; it takes {', '.join(series)}."
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

    def universe(self, name: str) -> Universe:
        """Return what came out for portfolios in one universe, at every cost of trading.

        Parameters
        ----------
        name : str
            A universe; see `names`.
        """
        if name not in self._universes:
            self._say(f"{PORTFOLIOS} on {name}")
            self._universes[name] = hold_universe(
                load(name), self.trading_costs, lambda who: self._say(f"{PORTFOLIOS} on {name}: {who}")
            )
        return self._universes[name]

    def findings(self, name: str) -> list[Finding]:
        """Return the findings of one application, of "policies", or of "portfolios".

        Parameters
        ----------
        name : str
            A key of `APPLICATIONS`, "policies" or "portfolios".
        """
        if name == PORTFOLIOS:
            universes = [self.universe(one) for one in self.names(name)]
            return [overall(universes), *map(conclude_universe, universes)]
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
    name : {"capacity", "forecasts", "energy", "policies", "portfolios"}
        The application; "policies" holds the committees of all the others against their best members, and "portfolios"
        is about wealth: `driftwise.adapters.portfolio` beside the rules of that field.
    out : str or Path
        Folder; `driftwise.report.build` makes a page of it.
    applications : Applications, optional
        Prices of moving, and the series to play on; the usual prices on every real series that is installed when left
        out, and on synthetic ones where none is.
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
    apart = {POLICIES: "Which of my policies", PORTFOLIOS: "Portfolios"}
    title = apart[name] if name in apart else APPLICATIONS[name].title
    chapter = Chapter(name, title, provenance(command, time.monotonic() - began, runs), findings)
    chapter.write(Path(out))
    return chapter
