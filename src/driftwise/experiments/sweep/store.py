"""Finished runs in a folder: one `.npz` file each, and a manifest that says what it is and how it was made."""

import hashlib
import json
import os
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from driftwise import __version__
from driftwise._validate import describe
from driftwise.errors import ParameterError
from driftwise.experiments.sweep.fingerprint import fingerprint, full_name, package_digest
from driftwise.experiments.sweep.result import Result, decode


class Store:
    """The finished runs of one function in a folder, which may hold those of others as well.

    A run is kept in two steps: its file is put in place whole, then a line is added to ``manifest.jsonl``. A run
    counts as kept when its last line in the manifest matches and its file has the digest of that line, so that
    whatever was cut short or damaged is simply run again.
    """

    def __init__(self, folder: Path, function: Callable[..., Result]) -> None:
        self.folder = folder
        self._manifest = folder / "manifest.jsonl"
        try:
            folder.mkdir(parents=True, exist_ok=True)
            written = self._manifest.read_bytes() if self._manifest.exists() else b""
        except OSError as error:
            raise ParameterError(
                f"out must be a folder to keep runs in, and {folder} cannot be one: {error}."
            ) from None
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

    def find(self, configuration: Mapping[str, Any]) -> Result | None:
        """Return the result of a run that is kept unharmed, or None."""
        text = self.text_of(configuration)
        line = self._lines.get(self._path(text).name, {})
        # Compared as text, in which NaN equals itself and 1 differs from 1.0.
        if json.dumps(line.get("configuration"), sort_keys=True) != text:
            return None
        if any(line.get(key) != value for key, value in self._maker.items()):
            self.outdated += 1
            return None
        try:
            data = self._path(text).read_bytes()
            return decode(data) if _digest(data) == line["digest"] else None
        except (OSError, ValueError, KeyError, zipfile.BadZipFile):
            return None

    def keep(self, configuration: Mapping[str, Any], payload: bytes, seconds: float) -> None:
        """Write the encoded result of a run, and then its line in the manifest."""
        text = self.text_of(configuration)
        path = self._path(text)
        unfinished = path.with_name(f".{path.name}.{os.getpid()}.part")
        try:
            with unfinished.open("wb") as file:
                _write(file, payload)
            unfinished.replace(path)
        except BaseException:
            unfinished.unlink(missing_ok=True)
            raise
        settings = json.loads(text)
        what = {"file": path.name, "configuration": settings, "seed": settings.get("seed")}
        line = {**what, **self._maker, "digest": _digest(payload), "seconds": round(seconds, 4)}
        with self._manifest.open("ab") as file:
            _write(file, b"\n" * self._cut + json.dumps(line).encode() + b"\n")
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
        except (ValueError, KeyError, TypeError):
            continue
    return lines


def _unwrap(value: object) -> Any:
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError


def _write(file: Any, data: bytes) -> None:
    file.write(data)
    file.flush()
    os.fsync(file.fileno())


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
