"""How a controller for an estimate is made and shown what went before, whatever its kind."""

import functools
import inspect
from collections.abc import Callable
from typing import Any

from driftwise.control.controllers.base import Controller
from driftwise.control.identification.past import Past
from driftwise.control.plants import System
from driftwise.errors import ParameterError


def read_maker(owner: str, make: Any, examples: str) -> Callable[..., Controller]:
    """Return what makes a controller: a class of controllers, or another function."""
    kind = make.func if isinstance(make, functools.partial) else make
    if not callable(make) or (isinstance(kind, type) and not issubclass(kind, Controller)):
        raise ParameterError(f"{owner}: controller must make a controller, such as {examples}, got {make!r}.")
    return make  # type: ignore[no-any-return]


def made(make: Callable[..., Controller], system: System, options: dict[str, Any]) -> Controller:
    """Return a controller, made with those of the keywords that are taken; `cost` only if it is named."""
    taken = inspect.signature(make).parameters
    if isinstance(make, functools.partial):  # what was set stays
        options = {name: value for name, value in options.items() if name not in make.keywords}
    if any(each.kind is inspect.Parameter.VAR_KEYWORD for each in taken.values()):
        options = {name: value for name, value in options.items() if name != "cost" or name in taken}
    else:
        options = {name: value for name, value in options.items() if name in taken}
    return make(system, **options)


def replay(controller: Controller, past: Past) -> None:
    """Show a controller rounds that went before."""
    for x, applied, cost in zip(past.states[:-1], past.inputs, past.costs, strict=True):
        controller.act(x)
        controller.observe(cost, applied=applied)
