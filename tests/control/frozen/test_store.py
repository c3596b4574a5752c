import hashlib
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from driftwise.control.frozen import FrozenPolicy, store
from driftwise.control.frozen.store import FORMAT, MOST_BYTES, MOST_LISTS, VERSION
from driftwise.errors import InputError, StorageError
from tests.cases import check_refused
from tests.control.frozen.cases import KINDS, drawn, with_everything


def small() -> FrozenPolicy:
    return FrozenPolicy([[0.9]], [[1.0]], [[0.5]], [[[0.1]]], limits=[[-np.inf], [2.5]])


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "policy.json"


def forged(path: Path, **changes: Any) -> Callable[[], object]:
    """Write a small policy with some parts changed and a digest that fits, and return what loads it."""
    small().save(path)
    parts = {**json.loads(path.read_text()), **changes}
    head = f'"format": "{FORMAT}",\n"version": {VERSION}'
    for name in ("format", "version", "sha256"):
        parts.pop(name)
    lines = ",\n".join(f'"{name}": {json.dumps(value)}' for name, value in parts.items())
    digest = hashlib.sha256(f"{head}\n{lines}".encode()).hexdigest()
    path.write_text(f'{{\n{head},\n"sha256": "{digest}",\n{lines}\n}}\n')
    return lambda: FrozenPolicy.load(path)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(4))
def test_a_policy_comes_back_bit_for_bit(path: Path, kind: str, seed: int) -> None:
    for policy in (drawn(seed, kind), with_everything(seed, kind)):
        policy.act(None)
        policy.save(path)
        loaded = FrozenPolicy.load(path)
        assert loaded.round == 0
        assert loaded.states == policy.states
        for mine, other in zip(policy.law, loaded.law, strict=True):
            assert mine.shape == other.shape
            assert mine.tobytes() == other.tobytes()
        policy.reset()
        for row in np.random.default_rng(seed).standard_normal((20, policy.law.sides["width"])):
            assert loaded.act(row).tobytes() == policy.act(row).tobytes()


def test_extreme_numbers_come_back(path: Path) -> None:
    policy = FrozenPolicy([[5e-324]], [[-0.0]], [[1e100]], [[[np.nextafter(0.1, 1.0)]], [[-1e-300]]], rate=0.1 + 0.2)
    policy.save(path)
    for mine, other in zip(policy.law, FrozenPolicy.load(path).law, strict=True):
        assert mine.tobytes() == other.tobytes()


def test_the_file_is_plain_json_and_forging_it_takes_no_more_than_a_digest(path: Path) -> None:
    small().save(path)
    found = json.loads(path.read_text())
    assert (found["format"], found["version"], found["states"]) == (FORMAT, VERSION, 1)
    assert found["limits"] == [[None], [2.5]]
    assert forged(path, K=[[0.25]])().K[0, 0] == 0.25  # type: ignore[attr-defined]


@pytest.mark.parametrize("mask", [1, 2, 16, 32, 128])
def test_every_flipped_byte_is_found(path: Path, mask: int) -> None:
    small().save(path)
    whole = path.read_bytes()
    for k in range(len(whole)):
        path.write_bytes(whole[:k] + bytes([whole[k] ^ mask]) + whole[k + 1 :])
        check_refused(lambda: FrozenPolicy.load(path), "FrozenPolicy.load", kind=InputError)


def test_every_cut_is_found(path: Path) -> None:
    small().save(path)
    whole = path.read_bytes()
    for k in range(len(whole)):
        path.write_bytes(whole[:k])
        check_refused(lambda: FrozenPolicy.load(path), "FrozenPolicy.load", kind=InputError)
    path.write_bytes(whole + b" ")
    check_refused(lambda: FrozenPolicy.load(path), "damaged", kind=InputError)


def test_line_ends_of_another_system_do_no_harm(path: Path) -> None:
    small().save(path)
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    assert FrozenPolicy.load(path).K[0, 0] == 0.5


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"[]",
        b"null",
        b"{}",
        b"\xff\xfe\x00",
        b"\x80\x04\x95\x05\x00\x00\x00\x00\x00\x00\x00K\x01.",
        b"[" * 100_000,
        b'{"format": "driftwise.FrozenPolicy", "version": 1, "A": ' + b"[" * 50_000 + b"]" * 50_000 + b"}",
        b'{"A": [' + b"[]," * MOST_LISTS + b"[]]}",
        b'{"format": "something else", "version": 1}',
        b'{"format": "driftwise.FrozenPolicy", "version": 1}',
        b'{"format": "driftwise.FrozenPolicy", "version": 1' + b"0" * 5000 + b"}",
        b'{"format": ["driftwise.FrozenPolicy"], "version": 1}',
    ],
    ids=lambda content: str(content[:24]),
)
def test_alien_files_are_refused(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    check_refused(lambda: FrozenPolicy.load(path), "FrozenPolicy.load", str(path), kind=InputError)


def test_another_version_is_named(path: Path) -> None:
    path.write_text('{"format": "driftwise.FrozenPolicy", "version": 7}')
    check_refused(lambda: FrozenPolicy.load(path), "version 7", "save the policy again", kind=InputError)


@pytest.mark.parametrize(
    "changes",
    [
        {"K": [[0.5, 0.5]]},
        {"K": [[float("nan")]]},
        {"K": [[float("inf")]]},
        {"K": [[None]]},
        {"K": [["0.5"]]},
        {"K": [[True]]},
        {"K": [[1]]},
        {"K": 0.5},
        {"K": {}},
        {"M": []},
        {"M": [[[0.1], [0.2]]]},
        {"A": [[0.9], [0.1, 0.2]]},
        {"limits": [[None]]},
        {"limits": [[3.0], [2.5]]},
        {"limits": None},
        {"rate": [-1.0]},
        {"rate": [[None]]},
        {"states": 10**12},
        {"states": 1.0},
        {"states": None},
        {"C": [[1.0]]},
        {"origin": [1e200]},
        {"extra": 1},
    ],
    ids=str,
)
def test_what_cannot_be_a_policy_is_refused_even_with_a_digest(path: Path, changes: dict[str, Any]) -> None:
    check_refused(forged(path, **changes), "FrozenPolicy.load", kind=InputError)


def test_names_that_come_twice_are_refused(path: Path) -> None:
    small().save(path)
    path.write_text(path.read_text().replace('"K": [[0.5]]', '"K": [[9.5]],\n"K": [[0.5]]'))
    check_refused(lambda: FrozenPolicy.load(path), "damaged", kind=InputError)


def test_a_huge_file_is_not_read(path: Path) -> None:
    with open(path, "wb") as file:
        file.truncate(MOST_BYTES + 1)
    check_refused(lambda: FrozenPolicy.load(path), str(MOST_BYTES), kind=InputError)


def test_what_is_not_a_file_is_refused(tmp_path: Path) -> None:
    check_refused(lambda: FrozenPolicy.load(tmp_path), "is not a file", kind=InputError)
    check_refused(lambda: FrozenPolicy.load(tmp_path / "none.json"), "cannot be read", kind=StorageError)
    check_refused(lambda: FrozenPolicy.load("a\0b"), "name of a file", kind=InputError)
    check_refused(lambda: FrozenPolicy.load(3), "name of a file", kind=InputError)  # type: ignore[arg-type]
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "pipe")
        check_refused(lambda: FrozenPolicy.load(tmp_path / "pipe"), "is not a file", kind=InputError)


def test_what_cannot_be_written_is_said(tmp_path: Path) -> None:
    check_refused(lambda: small().save(tmp_path / "none" / "policy.json"), "cannot be written", kind=StorageError)
    check_refused(lambda: small().save(""), "name of a file", kind=InputError)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("limit", "most"), [("MOST_BYTES", 400), ("MOST_LISTS", 20)])
def test_what_could_not_be_read_back_is_not_written(
    path: Path, monkeypatch: pytest.MonkeyPatch, limit: str, most: int
) -> None:
    monkeypatch.setattr(store, limit, most)
    check_refused(lambda: drawn(0, "observer").save(path), str(most), "shorter memory", kind=InputError)
    assert not path.exists()


@pytest.mark.parametrize("failing", ["replace", "fsync"])
@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()], ids=type)
def test_a_save_that_fails_leaves_the_old_file(
    path: Path, monkeypatch: pytest.MonkeyPatch, failing: str, error: BaseException
) -> None:
    small().save(path)
    before = path.read_bytes()

    def fail(*args: object) -> None:
        raise error

    monkeypatch.setattr(os, failing, fail)
    with pytest.raises((StorageError, KeyboardInterrupt)) as caught:
        small().scaled(0.5).save(path)
    assert isinstance(caught.value, KeyboardInterrupt) or "No space left" in str(caught.value)
    monkeypatch.undo()
    assert path.read_bytes() == before
    assert [one.name for one in path.parent.iterdir()] == [path.name]
    small().scaled(0.5).save(path)
    assert FrozenPolicy.load(path).M[0, 0, 0] == 0.05
