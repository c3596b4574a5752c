"""Who is let in, and with how much."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from driftwise.serve.app import build
from driftwise.serve.gate import Gate, Message, Receive, Scope, Send, Traffic
from driftwise.serve.service import Service
from tests.serve.local import HEADERS, TOKEN, Local, local, machines


@pytest.mark.parametrize(
    "header",
    [
        None,
        "",
        "Bearer",
        "Bearer ",
        f"Bearer {TOKEN[:-1]}",
        f"Bearer {TOKEN}x",
        f"Basic {TOKEN}",
        TOKEN,
        "Bearer \xe4\xf6\xfc",
    ],
)
@pytest.mark.parametrize("call", ["POST /learners/web/act", "GET /learners/web", "GET /metrics", "GET /nothing"])
def test_without_the_token_there_is_nothing(tmp_path: Path, header: str | None, call: str) -> None:
    method, _, path = call.partition(" ")
    with local(tmp_path, token=TOKEN) as client:
        headers = {} if header is None else {b"authorization": header.encode("latin-1")}
        answer = client.send(method, path, headers=headers)
        assert answer.status_code == 401
        assert answer.headers["www-authenticate"] == "Bearer"
        assert answer.json() == {"error": "Give the token: Authorization: Bearer TOKEN.", "kind": "Unauthorized"}
        assert client.service.entries == {}


def test_with_the_token_there_is_everything(tmp_path: Path) -> None:
    with local(tmp_path, token=TOKEN) as client:
        for scheme in ("Bearer", "bearer", "BEARER"):
            answer = client.post("/learners/web/act", headers={"Authorization": f"{scheme} {TOKEN}"})
            assert answer.status_code == 200


def test_what_has_no_state_in_it_needs_no_token(tmp_path: Path) -> None:
    with local(tmp_path, token=TOKEN) as client:
        for path in ("/healthz", "/docs", "/openapi.json"):
            assert client.get(path).status_code == 200


@pytest.mark.parametrize(
    ("host", "headers", "status"),
    [
        ("127.0.0.1", {}, 200),
        ("::1", {}, 200),
        ("127.0.0.1", {"Host": "localhost:8000"}, 200),
        ("127.0.0.1", {"Host": "[::1]:8000"}, 200),
        ("10.0.0.7", {}, 403),
        ("127.0.0.1", {"Host": "service.example"}, 403),
        ("127.0.0.1", {"Host": "127.0.0.1.example"}, 403),
        ("127.0.0.1", {"Host": "["}, 403),
        ("127.0.0.1", {"Origin": "http://page.example"}, 403),
        ("127.0.0.1", {"Origin": "null"}, 403),
        ("somewhere", {}, 403),
    ],
)
def test_without_a_token_only_programs_on_this_machine_are_answered(
    tmp_path: Path, host: str, headers: dict[str, str], status: int
) -> None:
    client = local(tmp_path)
    client.client = httpx.AsyncClient(
        transport=httpx.ASGITransport(client.app, client=(host, 1)), base_url="http://127.0.0.1"
    )
    with client:
        assert client.post("/learners/web/act", headers=headers).status_code == status
        assert len(client.service.entries) == (status == 200)


def test_everybody_is_answered_if_that_is_said(tmp_path: Path) -> None:
    with local(tmp_path, no_token=True) as client:
        headers = {"Host": "service.example", "Origin": "http://page.example"}
        assert client.post("/learners/web/act", headers=headers).status_code == 200


def test_a_body_of_any_kind_has_a_limit(tmp_path: Path) -> None:
    def pieces() -> Iterator[bytes]:
        for _ in range(20):
            yield b'{"skip": true}' + b" " * 50

    async def streamed() -> Any:
        for piece in pieces():
            yield piece

    with local(tmp_path, max_body=1000) as client:
        client.act()
        for content in (b" " * 1001, streamed()):
            headers = {"Content-Type": "application/json"}
            answer = client.send("POST", "/learners/web/observe", content=content, headers=headers)
            assert answer.status_code == 413
            assert answer.json() == {"error": "A body may have 1000 bytes.", "kind": "TooLarge"}
            assert answer.headers["connection"] == "close"
        fits = b'{"skip": true}' + b" " * (1000 - 14)
        assert client.entry("web").learner.round == 0
        assert client.send("POST", "/learners/web/observe", content=fits, headers=headers).status_code == 200


def drive(gate: Gate, messages: list[Message | float], headers: list[tuple[bytes, bytes]] | None = None) -> list[Any]:
    """Send messages through a gate, waiting where there are numbers, and return what comes back."""
    sent: list[Any] = []

    async def receive() -> Message:
        what = messages.pop(0)
        while isinstance(what, float):
            await asyncio.sleep(what)
            what = messages.pop(0)
        return what

    async def send(message: Message) -> None:
        sent.append(message)

    scope: Scope = {"type": "http", "method": "POST", "path": "/x", "headers": headers or []}
    asyncio.run(gate(scope, receive, send))
    return sent


async def echo(scope: Scope, receive: Receive, send: Send) -> None:
    message = await receive()
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": message["body"]})


def gate(patience: float = 20.0) -> Gate:
    return Gate(echo, token=None, no_token=True, max_body=9, patience=patience, traffic=Traffic())


def piece(body: bytes, more: bool) -> Message:
    return {"type": "http.request", "body": body, "more_body": more}


def test_pieces_are_put_together() -> None:
    assert drive(gate(), [piece(b"one", True), piece(b"two", False)])[1]["body"] == b"onetwo"


def test_a_body_that_does_not_come_is_not_waited_for() -> None:
    sent = drive(gate(patience=0.05), [piece(b"one", True), 30.0])
    assert sent[0]["status"] == 408


def test_a_body_that_is_cut_short_is_not_taken_for_a_whole_one() -> None:
    sent = drive(gate(), [piece(b"one", True), {"type": "http.disconnect"}])
    assert sent[0]["status"] == 400


@pytest.mark.parametrize("length", [b"10", b"9" * 400, b"-1", b"x"])
def test_a_length_that_is_too_much_is_refused_at_once(length: bytes) -> None:
    assert drive(gate(), [], [(b"content-length", length)])[0]["status"] == 413


def test_other_protocols_are_not_passed_on() -> None:
    passed_on = []

    async def behind(scope: Scope, receive: Receive, send: Send) -> None:
        passed_on.append(scope)

    one = Gate(behind, token=None, no_token=True, max_body=9, patience=1.0, traffic=Traffic())
    asyncio.run(one({"type": "websocket", "path": "/x", "headers": []}, None, None))  # type: ignore[arg-type]
    assert passed_on == []


def test_the_token_is_compared_in_one_time_for_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sizes = []

    def compare(one: bytes, other: bytes) -> bool:
        sizes.append((len(one), len(other)))
        return one == other

    monkeypatch.setattr("hmac.compare_digest", compare)
    service = Service(machines(), tmp_path, max_learners=9, every=9, sync=False, classes=())
    app = build(service, token=TOKEN, no_token=False, max_body=99, patience=1.0)
    with Local(app, HEADERS) as client:
        client.act()
        client.get("/metrics", headers={"Authorization": "Bearer x"})
    assert sizes == [(32, 32)] * 2
