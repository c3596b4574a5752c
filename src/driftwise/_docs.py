"""Documentation that several public names share, written once."""

import inspect
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


def section(thing: object, name: str) -> str:
    """Return a section of a numpydoc docstring, heading included; nothing under python -OO, where there is none."""
    _, heading, rest = (inspect.getdoc(thing) or "").partition(f"{name}\n{'-' * len(name)}\n")
    return heading + rest.partition("\n\n")[0]


def documented(**shared: str) -> Callable[[T], T]:
    """Fill ``{name}`` in the docstring of a function or class with the text given under that name."""

    def fill(thing: T) -> T:
        if thing.__doc__ is not None:
            text = inspect.cleandoc(thing.__doc__)
            for name, entry in shared.items():
                text = text.replace(f"{{{name}}}", inspect.cleandoc(entry))
            thing.__doc__ = text
        return thing

    return fill
