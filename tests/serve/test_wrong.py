"""What a request is told that was written in a hurry."""

from pathlib import Path
from typing import Any

import pytest

from driftwise.serve.shapes import Asked, Told
from driftwise.serve.wrong import KINDS, MANY, WORDS
from tests.serve.local import local, tuned


@pytest.mark.parametrize(
    ("verb", "body", "said"),
    [
        ("observe", {"demand": 17}, 'demand belongs into "loss", as in {"loss": {"kind": "capacity", "demand": 17}}.'),
        ("observe", {"kind": "capacity", "loss": {"kind": "capacity", "demand": 1}}, 'kind belongs into "loss"'),
        ("observe", {"loss": {"demand": 17}}, "loss: its kind is missing; it is one of capacity, tracking, linear, "),
        ("observe", {"loss": {"kind": "capasity"}}, "loss: its kind cannot be 'capasity'; it is one of capacity, "),
        ("observe", {"loss": {"kind": ["capacity"]}}, "loss: its kind cannot be ['capacity']; it is one of"),
        ("observe", {"loss": 17}, 'loss must be an object, as in {"loss": {"kind": "capacity", "demand": 1'),
        ("observe", {"loss": {"kind": "capacity"}}, "loss.demand is missing; capacity takes demand, shortage, price."),
        ("observe", {"loss": {"kind": "capacity", "demand": 1, "idle": 1}}, "loss.idle is not known; capacity takes "),
        ("observe", {"loss": {"kind": "capacity", "demand": "17"}}, f'loss.demand must be {MANY}, got "17".'),
        ("observe", {"loss": {"kind": "huber", "target": [1]}}, "loss.target must be a finite number, got [1]."),
        ("observe", {"loss": {"kind": "huber", "target": 1, "delta": "x"}}, "loss.delta must be a finite number, got"),
        ("observe", {"gradient": ["1", "2"]}, f'gradient must be {MANY}, got ["1", "2"].'),
        ("observe", {"skip": False}, "skip must be true, or left out, got false."),
        ("observe", {"gradient": 1, "rounds": 2}, "rounds is not known; act takes proposal, hint, switching_cost, "),
        ("observe", {"gradient": 1, "round": 1.5}, "round must be a whole number of at least 0, got 1.5."),
        ("act", {"proposal": {"a": "x"}}, 'proposal must be a number, a list, or an object of names, 16 at most, with'),
        ("act", {"proposal": {"a": {"b": 1}}}, 'proposal must be a number, a list, or an object of names'),
        ("act", {"switching_cost": {"up": 1}}, 'both prices, as in {"up": 6, "down": 0}, got {"up": 1}.'),
        ("act", {"hint": {}, "round": "1"}, f'hint must be {MANY}, got {{}}; round must be a whole number'),
        ("act", {"hint": ["x"] * 500}, '"x", "x", "x", "....'),
    ],
)  # fmt: skip
def test_a_field_that_is_wrong_is_told_what_it_should_be(tmp_path: Path, verb: str, body: Any, said: str) -> None:
    with local(tmp_path, tuned()) as client:
        client.act()
        before = client.known()
        answer = client.post(f"/learners/web/{verb}", body)
        assert (answer.status_code, answer.json()["kind"]) == (422, "InputError")
        assert said in answer.json()["error"]
        assert len(answer.json()["error"]) < 400
        assert client.known() == before


def test_every_field_has_its_words() -> None:
    fields = {*Asked.model_fields, *Told.model_fields}
    inner = {f"loss.{name}" for shape in KINDS.values() for name in shape.model_fields}
    assert set(WORDS) - fields - inner == {"key", "limit", "after"}
    assert sorted((fields | inner) - set(WORDS)) == [
        "gradient", "hint", "loss.demand", "loss.features", "loss.kind", "loss.price", "loss.shortage", "loss.target",
        "loss.vector",
    ]  # fmt: skip


@pytest.mark.parametrize("key", ["_x", ".x", "-x", "x y", "x" * 65])
def test_a_key_that_is_wrong_is_told_what_keys_are(tmp_path: Path, key: str) -> None:
    with local(tmp_path) as client:
        answer = client.post(f"/learners/{key}/act")
        assert answer.status_code == 422
        assert answer.json()["error"].startswith(f"key must be {WORDS['key']}, got '{key[:5]}")


def test_the_head_of_healthz_is_answered(tmp_path: Path) -> None:
    with local(tmp_path) as client:
        assert client.send("HEAD", "/healthz").status_code == 200
        assert client.send("HEAD", "/learners/web").status_code == 405
