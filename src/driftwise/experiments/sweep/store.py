"""Finished runs in a folder: one `.npz` file each, and a manifest that says what it is and how it was made."""

import hashlib
import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from driftwise import __version__
from driftwise._files import append_durably, make_folder, read_limited, write_atomically
from driftwise._validate import describe
from driftwise.errors import InputError, ParameterError, StorageError
from driftwise.experiments.sweep.fingerprint import fingerprint, full_name, package_digest
from driftwise.experiments.sweep.result import Result, decode

MAX_BYTES = 2**31
"""Largest file of a run, and largest manifest, that is read."""


class Store:
    """The finished runs of one function in a folder, which may hold those of others as well.

    A run is kept in two steps: its file is put in place whole, then a line is added to ``manifest.jsonl``. A run
    counts as kept when its last line in the manifest matches and its file has the digest of that line, so that
    whatever was cut short or damaged is simply run again.
    """

    def __init__(self, folder: Path, function: Callable[..., Result]) -> None:
        self.folder = folder
        self._manifest = folder / "manifest.jsonl"
        make_folder("sweep", folder)
        # A link that leads nowhere is there as well, and cannot be read: whoever put it there is told.
        there = os.path.lexists(self._manifest)
        written = read_limited("sweep", self._manifest, MAX_BYTES) if there else b""
        # A line that was cut short has no end: the next one must not continue it.
        self._cut = bool(written) and not written.endswith(b"\n")
        self._lines = _parse(written)
        self._maker = {
            "function": full_name(function),
            "version": __version__,
            "package": package_digest(),
            "source": fingerprint(function),
        }
        self.outdated = 0
        """How many runs were found that another function, or another driftwise, has made."""
        self.damaged = 0
        """How many runs were found that are not as they were written: cut short, changed, or made up."""

    def find(self, configuration: Mapping[str, Any]) -> Result | None:
        """Return the result of a run that is kept unharmed, or None."""
        text = self.text_of(configuration)
        path = self._path(text)
        line = self._lines.get(path.name)
        if line is None:
            return None
        try:
            # Compared as text, in which NaN equals itself and 1 differs from 1.0.
            known = json.dumps(line.get("configuration"), sort_keys=True) == text
        except (TypeError, ValueError, RecursionError):
            known = False
        if not known:
            self.damaged += 1
            return None
        if any(line.get(key) != value for key, value in self._maker.items()):
            self.outdated += 1
            return None
        try:
            data = read_limited("sweep", path, MAX_BYTES)
            if _digest(data) != line.get("digest"):
                raise InputError("The digest is another.")
            return decode(data)
        except (StorageError, InputError):
            self.damaged += 1
            return None

    def keep(self, configuration: Mapping[str, Any], payload: bytes, seconds: float) -> None:
        """Write the encoded result of a run, and then its line in the manifest."""
        text = self.text_of(configuration)
        path = self._path(text)
        write_atomically("sweep", path, payload)
        settings = json.loads(text)
        what = {"file": path.name, "configuration": settings, "seed": settings.get("seed")}
        line = {**what, **self._maker, "digest": _digest(payload), "seconds": round(seconds, 4)}
        append_durably("sweep", self._manifest, b"\n" * self._cut + json.dumps(line).encode() + b"\n")
        self._cut = False

    def text_of(self, configuration: Mapping[str, Any]) -> str:
        """Return a configuration as JSON, the same for equal ones, or say why it has none."""
        try:
            return json.dumps(dict(configuration), sort_keys=True, default=_unwrap)
        except (TypeError, ValueError, RecursionError):
            raise ParameterError(
                "To keep runs in a folder, configurations must be made of numbers, texts, True, False, None and "
                f"lists of those; got {describe(configuration)}."
            ) from None

    def _path(self, text: str) -> Path:
        return self.folder / (_digest(f"{self._maker['function']} {text}".encode())[:16] + ".npz")


def _parse(written: bytes) -> dict[str, dict[str, Any]]:
    """Return the manifest's last line for every file; lines that were cut short are left out."""
    lines = {}
    for text in written.splitlines():
        try:
            line = json.loads(text)
            lines[line["file"]] = dict(line)
        except (ValueError, KeyError, TypeError, RecursionError):
            continue
    return lines


def _unwrap(value: object) -> Any:
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
