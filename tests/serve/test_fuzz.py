"""Garbage and good requests in any order: what is refused changes nothing, nothing breaks, and all of it comes back."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import driftwise as dw
from driftwise.serve.entry import Entry
from tests.serve.local import Local, local, machines, tuned

ODD: list[Any] = [
    *(None, True, False, 0, -1, 1.5, 17, 1e99, 1e101, -1e308, 10**30, 10**400, 2**53 + 1, float("nan"), float("inf")),
    *("", "1", "NaN", "\x00", "x" * 300, [], [1], [1, 2], [[1]], [None], ["1"], {}, {"": 1}, {"a": None}, {"up": 1}),
    *([0.5] * 11_000, {"up": 1, "down": [1, 2]}, {"kind": "capacity"}, {"kind": []}, {"kind": "tracking", "target": 3}),
]
FIELDS = ("loss", "gradient", "skip", "round", "proposal", "hint", "switching_cost", "kind", "demand", "nonsense")
KINDS = ("capacity", "tracking", "linear", "squared", "absolute", "logistic", "huber", "quantile", "no such loss")
NUMBERS = ("demand", "shortage", "price", "target", "vector", "features", "delta", "quantile")


def odd(rng: np.random.Generator) -> bytes:
    """Return a body that may be anything."""

    def any_of(values: Any) -> Any:
        return values[int(rng.integers(len(values)))]

    def value() -> Any:
        return int(rng.integers(20)) if rng.random() < 0.6 else any_of(ODD)

    choice = rng.random()
    if choice < 0.1:
        return bytes(rng.integers(0, 256, int(rng.integers(40)), dtype=np.uint8))
    body: Any = {any_of(FIELDS): value() for _ in range(int(rng.integers(3)))}
    if choice < 0.6:
        body = {"loss": {"kind": any_of(KINDS), **{any_of(NUMBERS): value() for _ in range(2)}}}
    text = json.dumps(any_of(ODD) if choice > 0.95 else body)
    return text[: len(text) // 2].encode() if rng.random() < 0.05 else text.encode()


def send(client: Local, rng: np.random.Generator) -> int:
    """Send a request that may be anything, and check that it is either taken in or has not happened."""
    key = ("a", "b", "-", "c" * 80, "..", "%00", "d\u00e9")[int(rng.integers(7))] if rng.random() < 0.3 else "a"
    verb = ("act", "observe", "", "dance")[int(rng.choice(4, p=[0.4, 0.5, 0.05, 0.05]))]
    method = "POST" if rng.random() < 0.95 else str(rng.choice(["PUT", "PATCH", "HEAD", "OPTIONS"]))
    headers = {"Content-Type": "application/json" if rng.random() < 0.95 else "text/plain"}
    before = client.known()
    answer = client.send(method, f"/learners/{key}/{verb}", content=odd(rng), headers=headers)
    assert answer.status_code in (200, 404, 405, 409, 413, 422), answer.text
    if answer.status_code != 200:
        assert client.known() == before
        if method != "HEAD":
            assert set(answer.json()) == {"error", "kind"}
    return answer.status_code


def settled(client: Local) -> dict[str, str]:
    """Return what is known of every key, after saving and loading it: that drops numbers that nobody reads any more."""
    return {key: repr(Entry.loaded(*entry.saved(), ()).saved()) for key, entry in client.service.entries.items()}


@pytest.mark.parametrize("seed", [*range(3), *(pytest.param(seed, marks=pytest.mark.full) for seed in range(3, 60))])
def test_any_order_of_anything(tmp_path: Path, seed: int) -> None:
    rng, statuses = np.random.default_rng(seed), []
    learner = (machines(late=3), tuned(), dw.rounded(tuned(), seed=1))[seed % 3]
    with local(tmp_path, learner) as client:
        for _ in range(150):
            statuses.append(send(client, rng))
            if rng.random() < 0.3:
                client.act("a")
                client.observe("a", gradient=float(rng.normal()))
        before, size = settled(client), client.service.store.size
        assert (tmp_path / "journal-0").stat().st_size == size
    assert {404, 422} <= set(statuses)
    with local(tmp_path, learner) as client:
        assert settled(client) == before
