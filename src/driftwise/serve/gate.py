"""What every request passes before the service sees it: who asks, how much, how long; and what is counted of it."""

import asyncio
import hashlib
import hmac
import ipaddress
import time
from collections import defaultdict
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any
from urllib.parse import urlsplit

from starlette.responses import JSONResponse

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

OPEN = frozenset({"/healthz", "/docs", "/openapi.json"})
"""Paths that need no token: there is no state in what they answer."""

METHODS = frozenset({"GET", "POST", "DELETE", "HEAD", "OPTIONS", "PUT", "PATCH"})


class Traffic:
    """How many requests there were, and how long they took, by route."""

    def __init__(self) -> None:
        self.requests: dict[tuple[str, str, int], int] = defaultdict(int)
        self.seconds: dict[tuple[str, str], float] = defaultdict(float)
        self.began = time.time()

    def count(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count a request."""
        method = method if method in METHODS else "other"
        self.requests[method, route, status] += 1
        self.seconds[method, route] += seconds


class Gate:
    """ASGI middleware: a token, a limit on bodies of any kind, and a limit on how long one may take to come.

    Parameters
    ----------
    app : ASGI application
        What is behind it.
    token : str, optional
        Who knows it is let in. Without one, only requests from this machine that name it as their host, and that no
        page in a browser has sent, unless `no_token` is set.
    no_token : bool
        Let everybody in.
    max_body : int
        Largest body, in bytes.
    patience : float
        Most seconds that a body may take to come.
    traffic : Traffic
        What counts the requests.
    """

    def __init__(
        self, app: App, *, token: str | None, no_token: bool, max_body: int, patience: float, traffic: Traffic
    ) -> None:
        self._app, self._no_token, self._most, self._patience = app, no_token, max_body, patience
        self._token = None if token is None else _digest(token.encode())
        self._traffic = traffic

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on one request, or answer it."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self._app(scope, receive, send)
            return
        began, status = time.perf_counter(), 500

        async def answer(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            body = self._stranger(scope) or await self._body(scope, receive)
            if isinstance(body, JSONResponse):
                await body(scope, receive, answer)
            else:
                await self._app(scope, _once(body, receive), answer)
        finally:
            route = getattr(scope.get("route"), "path", "other")
            self._traffic.count(scope["method"], route, status, time.perf_counter() - began)

    def _stranger(self, scope: Scope) -> JSONResponse | None:
        """Return the answer to those who are not let in."""
        if scope["path"] in OPEN or (self._no_token and self._token is None):
            return None
        headers = dict(scope["headers"])
        if self._token is None:
            if _is_local(headers.get(b"host", b"").decode("latin-1"), scope.get("client")) and b"origin" not in headers:
                return None
            return _problem(403, "Forbidden", "Without a token, only programs on this machine are answered.")
        scheme, _, token = headers.get(b"authorization", b"").partition(b" ")
        if scheme.lower() == b"bearer" and hmac.compare_digest(_digest(token.strip()), self._token):
            return None
        return _problem(401, "Unauthorized", "Give the token: Authorization: Bearer TOKEN.")

    async def _body(self, scope: Scope, receive: Receive) -> bytes | JSONResponse:
        """Return the whole body, in however many pieces it comes, or the answer to one that is too much."""
        most = f"A body may have {self._most} bytes."
        length = dict(scope["headers"]).get(b"content-length", b"0")
        if not length.isdigit() or int(length[:20]) > self._most:
            return _problem(413, "TooLarge", most)
        body = b""
        try:
            async with asyncio.timeout(self._patience):
                while True:
                    message = await receive()
                    if message["type"] == "http.disconnect":
                        return _problem(400, "InputError", "The body was cut short.")
                    piece: bytes = message.get("body", b"")
                    body += piece
                    if len(body) > self._most:
                        return _problem(413, "TooLarge", most)
                    if not message.get("more_body"):
                        return body
        except TimeoutError:
            return _problem(408, "TooSlow", f"A body has {self._patience:g} seconds to come.")


def _digest(token: bytes) -> bytes:
    """Return something of one length for every token, so that comparing takes one time."""
    return hashlib.sha256(token).digest()


def _is_local(host: str, client: Any) -> bool:
    """Tell whether a request comes from this machine, and was meant for it."""
    try:
        name = urlsplit(f"//{host}").hostname or ""
        named = name == "localhost" or ipaddress.ip_address(name).is_loopback
        return named and bool(client) and ipaddress.ip_address(client[0]).is_loopback
    except ValueError:
        return False


def _problem(status: int, kind: str, text: str) -> JSONResponse:
    headers = {"connection": "close"}  # what is left of the body is not read
    if status == 401:
        headers["www-authenticate"] = "Bearer"
    return JSONResponse({"error": text, "kind": kind}, status, headers)


def _once(body: bytes, receive: Receive) -> Receive:
    """Return a `receive` that gives a body that is there already."""
    given = False

    async def again() -> Message:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return again
