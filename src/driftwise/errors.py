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
    """Parent of every error in this package.

    Examples
    --------
    >>> import driftwise as dw
    >>> from driftwise.errors import DriftwiseError
    >>> try:
    ...     dw.Ball(2, radius=-1.0)
    ... except DriftwiseError as error:
    ...     print(type(error).__name__)
    ParameterError
    """


class ParameterError(DriftwiseError, ValueError):
    """A constructor or function was given a value it cannot work with.

    Examples
    --------
    >>> import driftwise as dw
    >>> dw.Ball(2, radius=-1.0)
    Traceback (most recent call last):
        ...
    driftwise.errors.ParameterError: Ball: radius must be a number that is above 0 and at most 1e+100 in size, got
    -1.0.
    """


class ArgumentError(DriftwiseError, TypeError):
    """A call had an unknown keyword, a missing argument or one too many.

    Examples
    --------
    >>> import driftwise as dw
    >>> dw.Ball(2, raduis=1.0)
    Traceback (most recent call last):
        ...
    driftwise.errors.ArgumentError: Ball: got an unexpected keyword argument 'raduis'; the call is Ball(dim,
    radius=1.0, center=None). Did you mean radius?
    """


class InputError(DriftwiseError, ValueError):
    """Data of the wrong shape or type, NaN or infinity; nothing was changed by the call.

    Examples
    --------
    >>> import driftwise as dw
    >>> learner = dw.OGD(dw.Ball(2), step=0.5)
    >>> w = learner.act()
    >>> learner.observe([1.0, float("nan")])
    Traceback (most recent call last):
        ...
    driftwise.errors.InputError: OGD.observe: gradient must be finite real numbers of shape (2,), at most 1e+100 in
    size, got nan at [1].
    """


class StabilityError(ParameterError):
    """A system cannot be stabilised, or a gain does not stabilise it; the message names the eigenvalue.

    Examples
    --------
    >>> import driftwise as dw
    >>> dw.control.certify(dw.control.LinearSystem(2.0, 1.0), 0.5)
    Traceback (most recent call last):
        ...
    driftwise.errors.StabilityError: certify: K does not stabilise the system, since A - B K has the eigenvalue 1.5,
    of size 1.5, which is not below 1. The gain acts as u = -K x; lqr(system) gives one that stabilises, if there is
    one.
    """


class RoundIndexError(InputError, IndexError):
    """A loss stream was asked for a round that it does not have.

    Examples
    --------
    >>> import driftwise as dw
    >>> dw.TrackingLoss([[1.0], [3.0]])[2]
    Traceback (most recent call last):
        ...
    driftwise.errors.RoundIndexError: TrackingLoss: round must be a whole number from 0 to 1, got 2.
    """


class OrderError(DriftwiseError, RuntimeError):
    """`act` and `observe` were called out of order; nothing was changed by the call.

    Examples
    --------
    >>> import driftwise as dw
    >>> dw.OGD(dw.Ball(2), step=0.5).observe([1.0, 0.0])
    Traceback (most recent call last):
        ...
    driftwise.errors.OrderError: OGD: observe was called before act in round 0; call act() first, once a round.
    """


class FrozenError(DriftwiseError, AttributeError):
    """A setting of a finished learner, committee or controller was assigned, or a name that it does not have.

    Nothing was changed.

    Examples
    --------
    >>> import driftwise as dw
    >>> learner = dw.OGD(dw.Ball(2), step=0.5)
    >>> learner.domain = dw.Ball(3)
    Traceback (most recent call last):
        ...
    driftwise.errors.FrozenError: OGD: domain is fixed when a OGD is built, and cannot be changed afterwards; build
    a new one with the domain that you want.
    """


class HorizonError(DriftwiseError, RuntimeError):
    """A learner was asked to play more rounds than the horizon it was built for.

    Examples
    --------
    >>> import driftwise as dw
    >>> learner = dw.OGD(dw.Ball(1), gradient_bound=1.0, horizon=1)
    >>> w = learner.act()
    >>> learner.observe([1.0])
    >>> learner.act()
    Traceback (most recent call last):
        ...
    driftwise.errors.HorizonError: OGD: all 1 rounds of its horizon have been played; build it with a larger
    horizon, or with horizon=None for any number of rounds.
    """


class ConvergenceError(DriftwiseError, RuntimeError):
    """A solver ended before its answer was certain enough to be given.

    Examples
    --------
    It is rare; this is how to be ready for it:

    >>> import driftwise as dw
    >>> from driftwise.errors import ConvergenceError
    >>> losses = dw.TrackingLoss([[1.0], [3.0]])
    >>> try:
    ...     best = dw.regret.best_fixed(losses, dw.Box([0.0], [9.0]))
    ... except ConvergenceError:
    ...     best = None
    >>> best
    array([2.])
    """


class MissingExtraError(DriftwiseError, ImportError):
    """An optional dependency is needed here and is not installed.

    Examples
    --------
    >>> from driftwise.errors import MissingExtraError
    >>> from driftwise.report import require
    >>> try:
    ...     require()
    ... except MissingExtraError as error:
    ...     print(error)  # names the extra, and the command that installs it
    """


class RunError(DriftwiseError, RuntimeError):
    """A run of a sweep failed, or could not be started; the runs that had finished are kept.

    Examples
    --------
    >>> from driftwise.experiments import sweep
    >>> sweep(lambda step, seed: 1.0 / step, {"step": [0.0]}, seeds=1, workers=1)
    Traceback (most recent call last):
        ...
    driftwise.errors.RunError: <lambda>(step=0.0, seed=0) failed: ZeroDivisionError: float division by zero
    """


class CheckpointError(DriftwiseError, ValueError):
    """What should be a saved state is not one, is damaged or truncated, or belongs to something else.

    Nothing was loaded; objects that existed before are as they were.

    Examples
    --------
    >>> import driftwise as dw
    >>> dw.from_bytes(b"not a state")
    Traceback (most recent call last):
        ...
    driftwise.errors.CheckpointError: from_bytes: these 11 bytes are not a checkpoint of driftwise, or they are
    damaged or cut short: the digest at their end is not that of what stands before it. Use an earlier copy.
    """


class StorageError(DriftwiseError, OSError):
    """A file or folder cannot be read or written: the disk is full, or it is read-only; what was there is intact.

    Examples
    --------
    >>> import driftwise as dw
    >>> dw.load("no such folder/learner.dw")
    Traceback (most recent call last):
        ...
    driftwise.errors.StorageError: load: no such folder/learner.dw cannot be read: No such file or directory. Give a
    file that exists and that you may read.
    """


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
