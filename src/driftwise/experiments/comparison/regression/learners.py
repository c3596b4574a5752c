"""The learners that can be compared, by the names they have on the command line."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from driftwise.domains import Domain
from driftwise.errors import ParameterError, unknown_name
from driftwise.experiments.comparison import ours
from driftwise.learners import OGD, Ader, LazyScream, Learner, Scream, SelfTunedScream


class Setting(NamedTuple):
    """What a learner is told beforehand."""

    domain: Domain
    gradient_bound: float
    switching_cost: float
    horizon: int


class Contender(NamedTuple):
    """A learner that can be chosen.

    Attributes
    ----------
    label : str
        Name in tables and figures, which says which learning rate it has.
    make : callable
        Function that makes the learner for a setting: domain, gradient_bound, switching_cost and horizon.

    Examples
    --------
    >>> from driftwise.experiments.comparison import CONTENDERS
    >>> CONTENDERS["ader"].label
    'Ader, improved'
    """

    label: str
    make: Callable[[Setting], Learner]


def _contender(label: str, kind: Callable[..., Learner], *told: str, **chosen: str) -> Contender:
    """Return a contender that is told these parts of the setting, with these choices of its own."""
    return Contender(
        label, lambda setting: kind(setting.domain, **{part: getattr(setting, part) for part in told}, **chosen)
    )


PRICE, BOUND, ROUNDS = "switching_cost", "gradient_bound", "horizon"

CONTENDERS: dict[str, Contender] = {
    "learner": Contender(ours.LABEL, lambda setting: ours.build(setting.domain, setting.switching_cost)),
    "selftuned": _contender(ours.SCREAM, SelfTunedScream, PRICE),
    "ogd": _contender("OGD", OGD, BOUND, ROUNDS),
    "ogd-switching": _contender("OGD, switching-aware", OGD, BOUND, ROUNDS, PRICE),
    "ogd-no-horizon": _contender("OGD, no horizon", OGD, BOUND),
    "ader": _contender("Ader, improved", Ader, BOUND, ROUNDS),
    "ader-original": _contender("Ader, original", Ader, BOUND, ROUNDS, variant="original"),
    "scream": _contender("Scream, appendix", Scream, PRICE, BOUND, ROUNDS),
    "scream-theorem": _contender("Scream, theorem", Scream, PRICE, BOUND, ROUNDS, rate="theorem"),
    "scream-no-horizon": _contender("Scream, appendix, no horizon", Scream, PRICE, BOUND),
    "lazy-scream": _contender("Lazy Scream, appendix", LazyScream, PRICE, BOUND, ROUNDS),
    "lazy-scream-theorem": _contender("Lazy Scream, theorem", LazyScream, PRICE, BOUND, ROUNDS, rate="theorem"),
}
"""Learners by name."""

DEFAULT = ("learner", "selftuned", "scream", "lazy-scream", "ader", "ogd")
"""Names of those who play if nobody is named."""


def choose(names: Sequence[str] | None) -> list[Contender]:
    """Return the contenders of these names, each once; the usual ones for None.

    Examples
    --------
    >>> [contender.label for contender in choose(["scream", "ogd", "scream"])]
    ['Scream, appendix', 'OGD']
    """
    given = [names] if isinstance(names, str) else list(dict.fromkeys(DEFAULT if names is None else names))
    if not given:
        raise ParameterError(f"compare: choose at least one learner of {', '.join(CONTENDERS)}.")
    for name in given:
        if name not in CONTENDERS:
            raise unknown_name("compare", "learner", name, CONTENDERS)
    return [CONTENDERS[name] for name in given]
