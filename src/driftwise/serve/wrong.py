"""What is wrong with a request, in words for whoever wrote it: what was expected in which field, and what was there."""

import json
from collections.abc import Sequence
from typing import Any, get_args

from driftwise._validate import describe
from driftwise.serve.shapes import Asked, Capacity, Huber, Linear, Quantile, Regression, Told, Tracking

EXAMPLE = '{"loss": {"kind": "capacity", "demand": 17}}'
LOSSES = (Capacity, Tracking, Linear, Regression, Huber, Quantile)
KINDS = {kind: shape for shape in LOSSES for kind in get_args(shape.model_fields["kind"].annotation)}
"""The shape of every kind of loss."""

MANY = "a number or a list of numbers, all of them finite and 10000 at most"
WORDS = {
    "proposal": "a number, a list, or an object of names, 16 at most, with a number or a list for each; all finite",
    "switching_cost": 'a finite number of at least 0, or both prices, as in {"up": 6, "down": 0}',
    "round": "a whole number of at least 0",
    "skip": "true, or left out",
    "loss": f"an object, as in {EXAMPLE}",
    "loss.delta": "a finite number",
    "loss.quantile": "a finite number",
    "key": "letters, digits, dots, dashes and underlines, of which the first is a letter or a digit; 64 at most",
    "limit": "a whole number from 1 to 1000",
    "after": "a key, of 64 letters at most",
}
"""What a field is to be; others are `MANY`."""


def explain(errors: Sequence[Any], body: Any) -> str:
    """Return what is wrong with a request, once for every field.

    Parameters
    ----------
    errors : sequence of dicts
        What pydantic says; the place of each begins with "body", "path" or "query".
    body : object
        The body as it was read.
    """
    said: list[str] = []
    for error in errors:
        text = _body(error, body) if error["loc"][0] == "body" else _other(error)
        if text not in said:
            said.append(text)
    return f"{'; '.join(said[:5])}."[:1000]


def _other(error: Any) -> str:
    name = error["loc"][1]
    return f"{name} must be {WORDS[name]}, got {describe(error.get('input'))}"


def _body(error: Any, body: Any) -> str:
    kind, place = error["type"], error["loc"][1:]
    if kind == "json_invalid":
        return f"body is no JSON: {error['ctx']['error']} at position {place[0]}"
    if kind == "value_error":
        return str(error["ctx"]["error"])
    if not place:
        return f"body must be an object, as in {EXAMPLE} for observe or {{}} for act, got {describe(body)}"
    name = place[0]
    given: Any = body.get(name) if isinstance(body, dict) else None
    if kind.startswith("union_tag"):
        had = "is missing" if "kind" not in given else f"cannot be {describe(given['kind'])}"
        return f"loss: its kind {had}; it is one of {', '.join(KINDS)}, as in {EXAMPLE}"
    if name == "loss" and len(place) > 2:  # the second is the kind
        tag, inner = place[1:3]
        if kind == "missing":
            return f"loss.{inner} is missing; {tag} takes {_fields(KINDS[tag])}"
        if kind == "extra_forbidden":
            return f"loss.{inner} is not known; {tag} takes {_fields(KINDS[tag])}"
        name, given = f"loss.{inner}", given.get(inner)
        if name == "loss.target" and tag != "tracking":
            return f"{name} must be a finite number, got {_shown(given)}"
    elif kind == "extra_forbidden":
        if name == "kind" or any(name in shape.model_fields for shape in LOSSES):
            return f'{name} belongs into "loss", as in {EXAMPLE}'
        return f"{name} is not known; act takes {_fields(Asked)}, and observe {_fields(Told)}"
    return f"{name} must be {WORDS.get(name, MANY)}, got {_shown(given)}"


def _fields(shape: Any) -> str:
    return ", ".join(name for name in shape.model_fields if name != "kind")


def _shown(value: Any) -> str:
    """Return a value as JSON, cut short."""
    text = json.dumps(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
