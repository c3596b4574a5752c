"""Costs in words: numbers with about four digits, and by how much one of two costs more."""

import math
from collections.abc import Sequence


def show(value: float) -> str:
    """Return a number with four digits, or without decimals if it is large.

    Examples
    --------
    >>> [show(value) for value in (0.0, 0.01234567, 12.34567, 123456.7, 1.5e9, 3e-7)]
    ['0', '0.01235', '12.35', '123457', '1.5e+09', '3e-07']
    """
    return f"{value:.0f}" if 1e4 <= abs(value) < 1e7 else f"{value:.4g}"


def percent(part: float) -> str:
    """Return a share in per cent: whole from 10 on, two digits below.

    Examples
    --------
    >>> [percent(part) for part in (0.0, 0.0123, 0.25, 3.0, 0.00004)]
    ['0 %', '1.2 %', '25 %', '300 %', 'less than 0.1 %']
    """
    if 0.0 < part < 1e-3:
        return "less than 0.1 %"
    return f"{100.0 * part:.0f} %" if part >= 0.0995 or part == 0.0 else f"{100.0 * part:.1f} %"


def times(multiple: float) -> str:
    """Return a multiple with three digits, or a dash where there is none.

    Examples
    --------
    >>> times(1.2345), times(12345.6), times(math.nan)
    ('1.23', '12346', '-')
    """
    if math.isnan(multiple):
        return "-"
    return f"{multiple:.3g}" if multiple < 1000.0 else show(multiple)


def more(cost: float, than: float) -> str:
    """Return by how much a cost is above another.

    Examples
    --------
    >>> more(5.0, 4.0), more(4.0, 4.0), more(32.0, 4.0), more(4.0, 0.0)
    ('25 % more', 'the same', '8 times as much', '4')
    """
    if cost == than:
        return "the same"
    if not than:
        return show(cost)
    extra = cost / than - 1.0
    return f"{percent(extra)} more" if extra < 1.0 else f"{extra + 1.0:.3g} times as much"


def beside(cost: float, other: float) -> str:
    """Return how a cost stands to another: less, the same or more.

    Examples
    --------
    >>> beside(3.0, 4.0), beside(4.0, 4.0), beside(5.0, 4.0)
    ('25 % less', 'the same', '25 % more')
    """
    if cost < other:
        return f"{percent(1.0 - cost / other)} less" if other > 0.0 else f"{show(other - cost)} less"
    return more(cost, other)


def spoken(label: str) -> str:
    """Return a label in the form it has in a sentence.

    Examples
    --------
    >>> spoken("Scream, appendix")
    'Scream (appendix)'
    """
    first, comma, rest = label.partition(", ")
    return f"{first} ({rest})" if comma else first


def joined(names: Sequence[str]) -> str:
    """Return names joined by commas and "and".

    Examples
    --------
    >>> joined(["OGD"]), joined(["OGD", "Ader", "Scream"])
    ('OGD', 'OGD, Ader and Scream')
    """
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def counted(number: int, what: str) -> str:
    """Return a number with its noun, in the plural if it is not 1.

    Examples
    --------
    >>> counted(1, "row"), counted(3, "row")
    ('1 row', '3 rows')
    """
    return f"{number} {what}{'' if number == 1 else 's'}"
