"""The learners that can be compared, by the names they have on the command line."""

from collections.abc import Callable, Sequence
from difflib import get_close_matches
from typing import NamedTuple

from driftwise.domains import Domain
from driftwise.errors import ParameterError
from driftwise.learners import OGD, Ader, LazyScream, Learner, Scream, SelfTunedScream


class Setting(NamedTuple):
    """What a learner is told beforehand."""

    domain: Domain
    gradient_bound: float
    switching_cost: float
    horizon: int


class Contender(NamedTuple):
    """A learner that can be chosen."""

    label: str
    """Its name in tables and figures, which says which learning rate it has."""
    make: Callable[[Setting], Learner]


CONTENDERS: dict[str, Contender] = {
    "selftuned": Contender(
        "Self-tuned Scream",
        lambda s: SelfTunedScream(s.domain, switching_cost=s.switching_cost),
    ),
    "ogd": Contender(
        "OGD",
        lambda s: OGD(s.domain, gradient_bound=s.gradient_bound, horizon=s.horizon),
    ),
    "ogd-switching": Contender(
        "OGD, switching-aware",
        lambda s: OGD(s.domain, gradient_bound=s.gradient_bound, horizon=s.horizon, switching_cost=s.switching_cost),
    ),
    "ogd-no-horizon": Contender(
        "OGD, no horizon",
        lambda s: OGD(s.domain, gradient_bound=s.gradient_bound),
    ),
    "ader": Contender(
        "Ader, improved",
        lambda s: Ader(s.domain, gradient_bound=s.gradient_bound, horizon=s.horizon),
    ),
    "ader-original": Contender(
        "Ader, original",
        lambda s: Ader(s.domain, gradient_bound=s.gradient_bound, horizon=s.horizon, variant="original"),
    ),
    "scream": Contender(
        "Scream, appendix",
        lambda s: Scream(s.domain, switching_cost=s.switching_cost, gradient_bound=s.gradient_bound, horizon=s.horizon),
    ),
    "scream-theorem": Contender(
        "Scream, theorem",
        lambda s: Scream(
            s.domain,
            switching_cost=s.switching_cost,
            gradient_bound=s.gradient_bound,
            horizon=s.horizon,
            rate="theorem",
        ),
    ),
    "scream-no-horizon": Contender(
        "Scream, appendix, no horizon",
        lambda s: Scream(s.domain, switching_cost=s.switching_cost, gradient_bound=s.gradient_bound),
    ),
    "lazy-scream": Contender(
        "Lazy Scream, appendix",
        lambda s: LazyScream(
            s.domain, switching_cost=s.switching_cost, gradient_bound=s.gradient_bound, horizon=s.horizon
        ),
    ),
    "lazy-scream-theorem": Contender(
        "Lazy Scream, theorem",
        lambda s: LazyScream(
            s.domain,
            switching_cost=s.switching_cost,
            gradient_bound=s.gradient_bound,
            horizon=s.horizon,
            rate="theorem",
        ),
    ),
}
"""By name, in the order in which help lists them."""


def choose(names: Sequence[str]) -> list[Contender]:
    """Return the contenders of these names, each once.

    Examples
    --------
    >>> [contender.label for contender in choose(["scream", "ogd", "scream"])]
    ['Scream, appendix', 'OGD']
    """
    given = [names] if isinstance(names, str) else list(dict.fromkeys(names))
    if not given:
        raise ParameterError(f"compare: choose at least one learner of {', '.join(CONTENDERS)}.")
    for name in given:
        if name not in CONTENDERS:
            near = get_close_matches(str(name).lower(), CONTENDERS, 1)
            hint = f"; did you mean {near[0]}?" if near else "."
            raise ParameterError(f"compare: there is no learner {name!r}{hint} There are {', '.join(CONTENDERS)}.")
    return [CONTENDERS[name] for name in given]
