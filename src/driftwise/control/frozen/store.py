"""Frozen policies on disk: one JSON text with a digest, read back bit for bit, without pickle.

Numbers are written as Python's `repr` has them, which is exact; an infinite limit is null. A file is taken for what it
claims to be only if writing what was read from it gives the same text again: so every changed digit is found by the
digest, and every other change by the comparison.
"""

import hashlib
import json
import math
from typing import Any

import numpy as np

from driftwise._validate import Array
from driftwise.control.frozen.files import read_text, write_text
from driftwise.control.frozen.law import Law, read_law
from driftwise.errors import DriftwiseError, InputError

FORMAT, VERSION = "driftwise.FrozenPolicy", 1

MOST_BYTES, MOST_LISTS = 2**24, 2**18
"""Largest file that is read, and the number of lists in it: what is parsed takes at most some 30 times as much."""


def _plain(values: Array) -> Any:
    """Return an array as nested lists of numbers, with None for infinities."""
    if values.ndim > 1:
        return [_plain(row) for row in values]
    return [value if math.isfinite(value) else None for value in values.tolist()]


def render(law: Law) -> str:
    """Return the text of a law: a line for each part, and the digest of all of them."""
    parts = {name: _plain(values) for name, values in law._asdict().items()} | {"states": law.sides["n"]}
    lines = ",\n".join(f'"{name}": {json.dumps(value, allow_nan=False)}' for name, value in parts.items())
    head = f'"format": "{FORMAT}",\n"version": {VERSION}'
    digest = hashlib.sha256(f"{head}\n{lines}".encode()).hexdigest()
    return f'{{\n{head},\n"sha256": "{digest}",\n{lines}\n}}\n'


def write_policy(owner: str, law: Law, path: object) -> None:
    """Write a law to a file."""
    text = render(law)
    if len(text) > MOST_BYTES or text.count("[") > MOST_LISTS:
        raise InputError(
            f"{owner}: the policy takes {len(text)} bytes and {text.count('[')} rows as text, and {MOST_BYTES} and "
            f"{MOST_LISTS} is the most that is read back; give it a shorter memory."
        )
    write_text(owner, path, text)


def _parse(owner: str, where: str, text: str) -> dict[str, Any]:
    """Return the object in a text, if it is one of ours."""

    def alien(why: str) -> InputError:
        return InputError(
            f"{owner}: {where} {why}. Give a file that FrozenPolicy.save has written, or save the policy again."
        )

    if text.count("[") > MOST_LISTS or text.count('"') > 100 or text.count("{") != 1:
        raise alien("is no saved policy")
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        raise alien("is cut short or damaged, or no saved policy") from None
    if not isinstance(found, dict) or found.get("format") != FORMAT:
        raise alien("is no saved policy")
    if found.get("version") != VERSION:
        raise alien(f"is of version {found.get('version')!r:.20}, and version {VERSION} is what this driftwise reads")
    return found


def _bounds(values: Any, infinite: float) -> Any:
    return [infinite if value is None else value for value in values]


def read_policy(owner: str, path: object) -> Law:
    """Return the law in a file."""
    where, text = str(path), read_text(owner, path, MOST_BYTES).replace("\r\n", "\n")
    found = _parse(owner, where, text)
    damaged = InputError(
        f"{owner}: {where} is damaged: its numbers do not fit its digest or each other. Take a copy that is whole, or "
        "save the policy again."
    )
    try:
        given = {name: found[name] for name in (*Law._fields, "states")}
        low, high = given["limits"]
        given["limits"] = [_bounds(low, -math.inf), _bounds(high, math.inf)]
        given["rate"] = _bounds(given["rate"], math.inf)
        if not given["C"]:
            given |= {"C": None, "L": None}
        for value in given.values():
            if isinstance(value, list) and np.asarray(value).dtype.kind != "f":
                raise damaged
        law = read_law(owner, **given)
    except (DriftwiseError, KeyError, TypeError, ValueError, OverflowError, RecursionError):
        raise damaged from None
    if render(law) != text:
        raise damaged
    return law
