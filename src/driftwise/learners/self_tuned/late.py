"""The loss of one round by itself, so that it can be kept, and saved, until it is learnt."""

import inspect
from typing import Any

from driftwise._saving import Given
from driftwise.losses import LossStream, RoundLoss
from driftwise.losses.base import DataLoss


def alone(loss: RoundLoss) -> LossStream | RoundLoss:
    """Return a stream of this round only, which can be saved; the loss itself if nothing is known of its class.

    Examples
    --------
    >>> import driftwise as dw
    >>> alone(dw.HuberLoss([[1.0], [2.0]], [0.5, 1.5], delta=0.3)[1])
    HuberLoss(rounds=1, dim=1, memory=0)
    """
    stream, rounds = loss._stream, slice(loss._t, loss._t + 1)
    assert isinstance(stream, DataLoss)
    data = stream.data
    known: dict[str, Any] = {
        "features": data.features[rounds],
        "targets": data.features[rounds] if stream.each else data.targets[rounds],
        "demands": data.features[rounds],
        "vectors": data.features[rounds],
        "relatives": data.features[rounds],
        "taps": data.taps,
        "price": stream.shape[0] if len(stream.shape) else 1.0,
        "shortage": stream.shape[-1] if len(stream.shape) else 1.0,
    }
    names = inspect.signature(type(stream)).parameters
    try:
        given = {name: known[name] if name in known else getattr(stream, name) for name in names}
        kind: Any = type(stream)
        one: DataLoss = kind(**given)
    except (AttributeError, TypeError, ValueError):  # a class of the user's own, which only it can build
        return loss
    one.__dict__["_arguments"] = Given(given)
    return one
