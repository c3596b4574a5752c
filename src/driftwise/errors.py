"""Every error that driftwise raises on purpose.

All of them derive from `DriftwiseError`, and each also derives from the built-in error that a
Python user would expect in its place, so ``except ValueError`` keeps working.
"""

from collections.abc import Iterable
from difflib import get_close_matches

__all__ = [
    "ArgumentError",
    "CheckpointError",
    "ConvergenceError",
    "DriftwiseError",
    "FrozenError",
    "HorizonError",
    "InputError",
    "MissingExtraError",
    "OrderError",
    "ParameterError",
    "RoundIndexError",
    "RunError",
    "StabilityError",
    "StorageError",
]


class DriftwiseError(Exception):
    """Parent of every error in this package."""


class ParameterError(DriftwiseError, ValueError):
    """A constructor or function was given a value it cannot work with."""


class ArgumentError(DriftwiseError, TypeError):
    """A call had an unknown keyword, a missing argument or one too many."""


class InputError(DriftwiseError, ValueError):
    """Data of the wrong shape or type, NaN or infinity; nothing was changed by the call."""


class StabilityError(ParameterError):
    """A system cannot be stabilised, or a gain does not stabilise it; the message names the eigenvalue."""


class RoundIndexError(InputError, IndexError):
    """A loss stream was asked for a round that it does not have."""


class OrderError(DriftwiseError, RuntimeError):
    """`act` and `observe` were called out of order; nothing was changed by the call."""


class FrozenError(DriftwiseError, AttributeError):
    """A setting of a finished learner, committee or controller was assigned, or a name that it does not have.

    Nothing was changed.
    """


class HorizonError(DriftwiseError, RuntimeError):
    """A learner was asked to play more rounds than the horizon it was built for."""


class ConvergenceError(DriftwiseError, RuntimeError):
    """A solver ended before its answer was certain enough to be given."""


class MissingExtraError(DriftwiseError, ImportError):
    """An optional dependency is needed here and is not installed."""


class RunError(DriftwiseError, RuntimeError):
    """A run of a sweep failed, or could not be started; the runs that had finished are kept."""


class CheckpointError(DriftwiseError, ValueError):
    """What should be a saved state is not one, is damaged or truncated, or belongs to something else.

    Nothing was loaded; objects that existed before are as they were.
    """


class StorageError(DriftwiseError, OSError):
    """A file or folder cannot be read or written: the disk is full, or it is read-only; what was there is intact."""


def unknown_name(owner: str, kind: str, name: str, known: Iterable[str]) -> ParameterError:
    """Return the error to raise for a name that does not exist, with the one that was probably meant.

    Examples
    --------
    >>> print(unknown_name("compare", "learner", "Screem", ["ogd", "scream"]))
    compare: there is no learner 'Screem'; did you mean scream? There are ogd, scream.
    """
    names = list(known)
    near = get_close_matches(str(name).lower(), names, 1)
    hint = f"; did you mean {near[0]}?" if near else "."
    return ParameterError(f"{owner}: there is no {kind} {name!r}{hint} There are {', '.join(names)}.")
