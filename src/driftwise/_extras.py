"""Packages that are optional: each comes with an extra of driftwise."""

from importlib import import_module
from typing import Any

from driftwise.errors import MissingExtraError


def optional(asker: str, module: str, extra: str) -> Any:
    """Import a module, or say who needs it and which extra brings it."""
    try:
        return import_module(module)
    except ImportError:
        raise MissingExtraError(
            f"{asker} needs {module.partition('.')[0]}, which the extra '{extra}' brings: "
            f"pip install 'driftwise[{extra}]'."
        ) from None
