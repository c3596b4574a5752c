"""Which streams there are: those whose packages are installed."""

from collections.abc import Callable, Iterable, Mapping
from typing import TypeVar

from driftwise.errors import MissingExtraError
from driftwise.experiments.contests.words import joined
from driftwise.experiments.studies.decisions.data.recordings import STREAMS, missing

Spec = TypeVar("Spec")

FEW = 8
"""Number of names that are listed; of more, only their number is given."""


def there(asker: str, specs: Mapping[str, Spec], recordings: Callable[[Spec], Iterable[str]]) -> list[str]:
    """Return the names of those whose recordings are all installed.

    Raises
    ------
    MissingExtraError
        If there are none; the message has the command.
    """
    found = [name for name, spec in specs.items() if not missing(recordings(spec))]
    if not found:
        raise MissingExtraError(f"{asker} plays recordings that packages ship, and none is installed: {STREAMS}")
    return found


def left_out(specs: Mapping[str, Spec], recordings: Callable[[Spec], Iterable[str]]) -> list[str]:
    """Return a sentence that says which are not played for want of a package, and the commands; none if all are."""
    lacking = {name: commands for name, spec in specs.items() if (commands := missing(recordings(spec)))}
    if not lacking:
        return []
    ways = joined(list(dict.fromkeys(f"`{command}`" for commands in lacking.values() for command in commands.values())))
    names = joined(list(lacking)) if len(lacking) <= FEW else f"{len(lacking)} of {len(specs)}"
    return [f"Left out, as packages that ship them are not installed: {names}; they come with {ways}."]
