"""Requests and answers, with an application in this process."""

import errno
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import driftwise as dw
from driftwise.errors import MissingExtraError, ParameterError
from driftwise.serve import make_app
from driftwise.serve.shapes import Decided, Gone, Keys, Learnt, State
from tests.serve.local import CAPACITY, Own, local, machines, tuned


def test_the_two_verbs_are_those_of_the_learner(tmp_path: Path) -> None:
    learner = tuned()
    with local(tmp_path, tuned()) as client:
        for t in range(10):
            decision = learner.act()
            answer = client.act("web", round=t)
            assert Decided.model_validate(answer).decision == decision.tolist()
            assert (answer["key"], answer["round"], answer["value"]) == ("web", t, decision[0])
            learnt = client.observe("web", loss={**CAPACITY, "demand": 10 + t % 4}, round=t)
            learner.observe(dw.CapacityLoss([10.0 + t % 4], shortage=5.0)[0])
            assert learnt == {"key": "web", "round": t, "rounds": t + 1, "repeated": False}
        assert client.entry("web").learner.to_bytes() == learner.to_bytes()


def test_keys_know_nothing_of_each_other(tmp_path: Path) -> None:
    keys = ["a", "b", "c-1", "D.2_"]
    twins = {key: tuned() for key in keys}
    rng = np.random.default_rng(0)
    with local(tmp_path, tuned()) as client:
        for _ in range(60):
            key = keys[int(rng.integers(4))]
            demand = float(rng.integers(20))
            decision = twins[key].act()
            assert client.act(key)["decision"] == decision.tolist()
            if rng.random() < 0.7:
                client.observe(key, loss={**CAPACITY, "demand": demand})
                twins[key].observe(dw.CapacityLoss([demand], shortage=5.0)[0])
        for key in keys:
            assert client.entry(key).learner.to_bytes() == twins[key].to_bytes()


def test_a_forecast_and_a_price_are_passed_on(tmp_path: Path) -> None:
    learner = tuned()
    with local(tmp_path, tuned()) as client:
        for t in range(5):
            cost = {"up": 3.0, "down": 1.0}
            answer = client.act("web", proposal={"mine": 12.0 + t}, switching_cost=cost)
            decision = learner.act(proposal={"mine": 12.0 + t}, switching_cost=dw.MoveCost(up=3.0, down=1.0))
            assert answer["decision"] == decision.tolist()
            client.observe("web", loss={**CAPACITY, "demand": 12 + t})
            learner.observe(dw.CapacityLoss([12.0 + t], shortage=5.0)[0])


def test_whoever_looks_changes_nothing(tmp_path: Path) -> None:
    with local(tmp_path, tuned()) as client:
        client.act()
        client.observe()
        client.act()
        before = client.known()
        files = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
        for _ in range(3):
            state = State.model_validate(client.get("/learners/web").json())
            for path in ("/metrics", "/healthz", "/learners", "/docs", "/openapi.json", "/learners/none"):
                client.get(path)
        assert client.known() == before
        assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == files
    assert (state.round, state.open, state.skipped, state.refused) == (1, True, 0, 0)
    assert state.paid.running > 0.0
    assert state.weights.count > 1
    assert 0.0 < state.weights.largest <= 1.0
    assert state.learner.startswith("SelfTunedLearner(Box(")


@pytest.mark.parametrize(
    ("call", "body", "status", "kind", "said"),
    [
        ("GET /learners/none", None, 404, "UnknownKey", "There is no learner 'none'; POST /learners/none/act"),
        ("POST /learners/none/observe", {"skip": True}, 404, "UnknownKey", "no learner 'none'"),
        ("DELETE /learners/none", None, 404, "UnknownKey", "no learner 'none'"),
        ("GET /elsewhere", None, 404, "NotFound", "Not Found"),
        ("PUT /learners/web", None, 405, "MethodNotAllowed", "Method Not Allowed"),
        ("POST /learners/web/observe", None, 422, "InputError", "Content-Type: application/json, not nothing"),
        ("POST /learners/web/observe", {}, 422, "InputError", 'give one of "loss", "gradient" and "skip": true'),
        ("POST /learners/web/observe", b"{", 422, "InputError", "no JSON: Expecting property name"),
        ("POST /learners/web/observe", b"[" * 60_000, 422, "InputError", "parsing the body"),
        ("POST /learners/web/observe", b"\xff\xfe", 422, "InputError", "body is no JSON: "),
        ("POST /learners/web/observe", b'{"gradient": NaN}', 422, "InputError", "finite and 10000 at most, got NaN."),
        ("POST /learners/web/observe", b'{"gradient": [-Infinity]}', 422, "InputError", "got [-Infinity]."),
        ("POST /learners/web/observe", b'{"gradient": 1e999}', 422, "InputError", "got Infinity."),
        ("POST /learners/web/observe", b'{"gradient": 1' + b"0" * 400 + b"}", 422, "InputError", "gradient must be"),
        ("POST /learners/web/observe", b'{"gradient": 1' + b"0" * 5000 + b"}", 422, "InputError", "parsing the body"),
        ("POST /learners/web/observe", {"gradient": 1e101}, 422, "InputError", "at most 1e+100 in size"),
        ("POST /learners/web/observe", {"gradient": [1, 2]}, 422, "InputError", "shape (1,)"),
        ("POST /learners/web/observe", {"loss": {"kind": "capacity", "demand": [1, 2]}}, 422, "InputError",
         "the loss is one of 2 numbers, and a decision of this key has 1"),
        ("POST /learners/web/observe", {"gradient": "1"}, 422, "InputError", 'at most, got "1".'),
        ("POST /learners/web/observe", {"gradient": 1, "round": 7}, 409, "OrderError", "0; POST /learners/web/act"),
        ("POST /learners/web/act", {"proposal": 3}, 422, "ParameterError", "makes no use of a proposal"),
        ("POST /learners/web/act", {"round": 3}, 409, "OrderError", "act is for round 3, and this is round 0"),
        ("POST /learners/web/act", [1], 422, "InputError", "body must be an object"),
        ("POST /learners/-web/act", None, 422, "InputError", "of which the first is a letter or a digit"),
        ("POST /learners/web%0a/act", None, 422, "InputError", "of which the first is a letter or a digit"),
        ("POST /learners/w%20b/act", None, 422, "InputError", "of which the first is a letter or a digit"),
        ("POST /learners/..%2f..%2fetc/act", None, 404, "NotFound", "Not Found"),
        (f"POST /learners/{'x' * 65}/act", None, 422, "InputError", "of which the first is a letter or a digit"),
        ("GET /learners?limit=0", None, 422, "InputError", "limit must be a whole number from 1 to 1000, got '0'"),
        ("POST /learners/web/act?round=77", None, 422, "InputError", "not known: round; it takes none"),
        ("POST /learners/new/act?round=77", None, 422, "InputError", "not known: round; it takes none"),
        ("POST /learners/web/observe?round=0", {"skip": True}, 422, "InputError", "not known: round"),
        ("DELETE /learners/web?b=1&a", None, 422, "InputError", "not known: a, b"),
        ("GET /learners/web?x=1", None, 422, "InputError", "not known: x"),
        ("GET /learners?limit=2&lmit=2", None, 422, "InputError", "not known: lmit; it takes after and limit."),
        ("GET /metrics?x=1", None, 422, "InputError", "not known: x"),
        ("GET /healthz?x=1", None, 422, "InputError", "not known: x"),
        ("GET /docs?x=1", None, 422, "InputError", "not known: x"),
        ("GET /openapi.json?x=1", None, 422, "InputError", "not known: x"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_and_changes_nothing(
    tmp_path: Path, call: str, body: Any, status: int, kind: str, said: str
) -> None:
    method, _, path = call.partition(" ")
    with local(tmp_path) as client:
        client.act()
        if path.endswith("web/act") and body != [1]:
            client.observe("web", skip=True)
            client.entry("web").learner.restore(machines())
        before, journal = client.known(), (tmp_path / "journal-0").read_bytes()
        request: dict[str, Any] = {"json": body}
        if body is None:
            request = {}
        elif isinstance(body, bytes):
            request = {"content": body, "headers": {"Content-Type": "application/json"}}
        answer = client.send(method, path, **request)
        assert (answer.status_code, answer.json()["kind"]) == (status, kind)
        assert set(answer.json()) == {"error", "kind"}
        assert said in answer.json()["error"]
        assert client.known() == before
        assert (tmp_path / "journal-0").read_bytes() == journal


def test_the_wrong_order_is_a_conflict(tmp_path: Path) -> None:
    with local(tmp_path) as client:
        client.act()
        client.observe("web", gradient=-3.0, round=0)
        for told, said in (
            ({"gradient": -3.0}, "round 1 is not open; POST /learners/web/act first, which opens round 1."),
            ({"gradient": -2.0, "round": 0}, "this key takes feedback for the round that is open only (--late"),
            ({"skip": True}, "round 1 is not open; POST /learners/web/act first"),
            ({"skip": True, "round": 0}, "round 0 is over"),
        ):
            answer = client.post("/learners/web/observe", told)
            assert (answer.status_code, answer.json()["kind"]) == (409, "OrderError")
            assert said in answer.json()["error"]
        assert client.entry("web").learner.round == 1


def test_late_feedback_is_taken_once(tmp_path: Path) -> None:
    with local(tmp_path, machines(late=2)) as client:
        for _ in range(4):
            client.act()
            client.observe("web", skip=True)
        client.observe("web", gradient=-1.0, round=2)
        client.act()
        for k, said in ((2, "round 2 has had its feedback"), (1, "for the last 2 rounds that were skipped")):
            answer = client.post("/learners/web/observe", {"gradient": -2.0, "round": k})
            assert (answer.status_code, answer.json()["kind"]) == (409, "OrderError")
            assert said in answer.json()["error"]
            assert "skip()" not in answer.text


def test_a_request_that_is_repeated_is_done_once(tmp_path: Path) -> None:
    with local(tmp_path, tuned()) as client:
        first = client.act("web", proposal=12.0, round=0)
        assert client.act("web", proposal=12.0, round=0) == client.act("web") == first
        told = {"loss": CAPACITY, "round": 0}
        assert client.observe("web", **told)["repeated"] is False
        before, journal = client.known(), (tmp_path / "journal-0").read_bytes()
        for _ in range(3):
            assert client.observe("web", **told) == {"key": "web", "round": 0, "rounds": 1, "repeated": True}
        assert client.known() == before
        assert (tmp_path / "journal-0").read_bytes() == journal
        client.act()
        assert client.observe("web", **told)["repeated"] is True  # somebody has acted meanwhile: the same
        assert client.entry("web").learner.round == 1


def test_there_are_so_many_learners_and_no_more(tmp_path: Path) -> None:
    with local(tmp_path, max_learners=2) as client:
        client.act("a")
        client.act("b")
        answer = client.post("/learners/c/act")
        assert (answer.status_code, answer.json()["kind"]) == (429, "TooManyLearners")
        assert sorted(client.service.entries) == ["a", "b"]
        client.act("a")
        gone = client.send("DELETE", "/learners/a")
        assert Gone.model_validate(gone.json()) == Gone(key="a", rounds=0)
        client.act("c")
        assert client.get("/learners/a").status_code == 404


def test_keys_can_be_gone_through(tmp_path: Path) -> None:
    with local(tmp_path) as client:
        for key in "dbace":
            client.act(key)
        found, after = [], ""
        while page := Keys.model_validate(client.get("/learners", params={"limit": 2, "after": after}).json()).keys:
            assert len(page) <= 2
            found += page
            after = page[-1]
        assert found == list("abcde")
        assert client.get("/learners").json()["count"] == 5


def test_a_learner_that_is_refused_when_it_begins_is_not_there(tmp_path: Path) -> None:
    with local(tmp_path) as client:
        assert client.post("/learners/web/act", {"proposal": 1.0}).status_code == 422
        assert client.service.entries == {}
    with local(tmp_path) as client:
        assert client.service.entries == {}


def test_a_horizon_that_is_over_is_a_conflict(tmp_path: Path) -> None:
    with local(tmp_path, dw.OGD(dw.Box([0.0], [9.0]), gradient_bound=1.0, horizon=1)) as client:
        client.act()
        client.observe("web", gradient=1.0)
        answer = client.post("/learners/web/act")
        assert (answer.status_code, answer.json()["kind"]) == (409, "HorizonError")


class Broken:
    """A file that cannot be written to."""

    def __init__(self, file: Any, number: int) -> None:
        self.file, self.number = file, number

    def write(self, data: memoryview) -> int:
        raise OSError(self.number, os.strerror(self.number))

    def __getattr__(self, name: str) -> Any:
        return getattr(self.file, name)


@pytest.mark.parametrize(("number", "status"), [(errno.ENOSPC, 507), (errno.EDQUOT, 507), (errno.EROFS, 503)])
def test_what_cannot_be_written_has_not_happened(tmp_path: Path, number: int, status: int) -> None:
    with local(tmp_path, tuned()) as client:
        client.act()
        store = client.service.store
        before, real = client.known(), store._file
        store._file = Broken(real, number)
        for path, body in (("web/observe", {"loss": CAPACITY}), ("new/act", {})):
            answer = client.post(f"/learners/{path}", body)
            assert (answer.status_code, answer.json()["kind"]) == (status, "StorageError")
        assert client.send("DELETE", "/learners/web").status_code == status
        assert client.get("/learners/web").status_code == 200
        assert client.known() == before
        store._file = real
        client.observe()
        client.act("new")
        after = client.known()
    with local(tmp_path, tuned()) as client:
        assert client.known() == after


def test_a_disk_that_fails_ends_the_service_and_loses_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(handle: int) -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    with local(tmp_path) as client:
        client.act()
        client.observe("web", gradient=-2.0, round=0)
        monkeypatch.setattr(os, "fsync", broken)
        assert client.post("/learners/web/act").status_code == 503
        monkeypatch.undo()
        for call in ("POST /learners/web/act", "POST /learners/other/act", "GET /healthz"):
            answer = client.send(*call.split())
            assert (answer.status_code, answer.json()["kind"]) == (503, "StorageError")
        assert "driftwise_failed 1.0" in client.get("/metrics").text
    with local(tmp_path) as client:
        assert client.get("/learners/web").json()["round"] == 1
        assert client.act()["value"] == 2


def test_an_error_of_a_learner_is_not_shown_and_is_not_lived_with(tmp_path: Path) -> None:
    own = Own(dw.Box([0.0], [9.0]))
    with local(tmp_path, own, classes=[Own]) as client:
        client.act()
        client.observe("web", gradient=-3.0)
        client.act()
        answer = client.post("/learners/web/observe", {"gradient": 13.0})
        assert answer.status_code == 500
        assert answer.json()["kind"] == "InternalError"
        assert "ZeroDivision" not in answer.text
        assert "Traceback" not in answer.text
        assert client.get("/healthz").status_code == 503
    with local(tmp_path, own, classes=[Own]) as client:
        assert client.act()["value"] == 3  # as before the error, with the round open


def resolve(document: Any, reference: str) -> Any:
    for part in reference.removeprefix("#/").split("/"):
        document = document[part]
    return document


def references(part: Any) -> list[str]:
    if isinstance(part, list):
        return [one for entry in part for one in references(entry)]
    if isinstance(part, dict):
        return [part["$ref"]] if "$ref" in part else references(list(part.values()))
    return []


def test_the_document_describes_all_of_it(tmp_path: Path) -> None:
    document = make_app(machines(), tmp_path).openapi()
    assert document["openapi"].startswith("3.1")
    found = references(document)
    assert len(found) > 20
    assert all(isinstance(resolve(document, one), dict) for one in found)
    operations = {f"{method} {path}": what for path, some in document["paths"].items() for method, what in some.items()}
    assert sorted(operations) == [
        "delete /learners/{key}",
        "get /healthz",
        "get /learners",
        "get /learners/{key}",
        "get /metrics",
        "post /learners/{key}/act",
        "post /learners/{key}/observe",
    ]
    for name, what in operations.items():
        assert what["description"], name
        assert ("security" in what) == (name != "get /healthz")
        answers = {int(status): answer["content"] for status, answer in what["responses"].items()}
        for status, content in answers.items():
            assert ("text/plain" in content) == (name == "get /metrics" and status == 200)
            if status >= 400:
                assert content["application/json"]["schema"] == {"$ref": "#/components/schemas/Problem"}
        guarded = name != "get /healthz"
        assert ({401, 403} <= answers.keys()) == guarded
        assert ({408, 413} <= answers.keys()) == name.startswith("post")
    assert "HTTPValidationError" not in document["components"]["schemas"]
    kinds = resolve(document, "#/components/schemas/Told")["properties"]["loss"]["anyOf"][0]["discriminator"]["mapping"]
    assert sorted(kinds) == [
        "absolute", "capacity", "huber", "linear", "logistic", "quantile", "squared", "tracking",
    ]  # fmt: skip


def test_answers_are_what_the_document_says(tmp_path: Path) -> None:
    with local(tmp_path) as client:
        assert Decided.model_validate(client.act()).round == 0
        assert Learnt.model_validate(client.observe()).rounds == 1
        assert State.model_validate(client.get("/learners/web").json()).open is False
        assert client.get("/healthz").json() == {"status": "ok"}


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"token": "short"}, "token must have at least 16 characters"),
        ({"token": " " * 20}, "token must have at least 16 characters"),
        ({"token": "x" * 15 + "\n"}, "at least 16"),
        ({"token": "x" * 8 + "\n" + "x" * 8}, "printable"),
        ({"token": "x" * 15 + "\xe9"}, "ASCII"),
        ({"token": "x" * 16, "no_token": True}, "leave one of them out"),
        ({"max_body": 0}, "max_body must be a whole number of at least 1"),
        ({"max_learners": 0}, "max_learners must be"),
        ({"every": 0}, "every must be"),
        ({"sync": 1}, "sync must be a bool"),
        ({"learner": 3}, "learner must be a Learner, or a function"),
    ],
)
def test_wrong_options_are_refused(tmp_path: Path, options: dict[str, Any], said: str) -> None:
    with pytest.raises(ParameterError, match=said):
        make_app(**{"learner": machines(), "state": tmp_path, **options})


def test_a_function_that_makes_no_learner_is_refused(tmp_path: Path) -> None:
    with local(tmp_path, lambda key: key) as client:
        answer = client.post("/learners/web/act")
        assert answer.status_code == 422
        assert "the function made 'web' for key 'web', which is no Learner" in answer.json()["error"]


def test_nothing_of_the_web_is_imported_before_it_is_asked_for() -> None:
    code = (
        "import sys, driftwise, driftwise.serve, driftwise.cli\n"
        "print(sorted({'fastapi', 'starlette', 'pydantic', 'uvicorn', 'asyncio'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_what_is_missing_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "fastapi", None)
    with pytest.raises(MissingExtraError, match="serve needs fastapi, which the extra 'serve' brings"):
        make_app(machines(), tmp_path)
