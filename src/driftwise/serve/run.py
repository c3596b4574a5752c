"""Listening: one process, one event loop, and no port before everything is compiled and brought back."""

import contextlib
import ipaddress
import os
import socket
import threading
from collections.abc import Callable, Iterator
from typing import Any

import uvicorn
from fastapi import FastAPI

from driftwise._compile import say_in_logs
from driftwise.errors import OrderError, RunError, StorageError
from driftwise.serve.service import Service

CONNECTIONS = 512
"""Most connections at once; others are answered with 503."""

GRACE = 10
"""Seconds that requests have to end after SIGTERM."""


class Server(uvicorn.Server):
    """A server that says when it answers."""

    say: Callable[[], Any]

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to listen."""
        await super().startup(sockets)
        if self.started:
            self.say()


def run(app: FastAPI, host: str, port: int, ready: Callable[[str], Any]) -> None:
    """Serve an application until a signal ends it."""
    say_in_logs()
    with _listening(app, host, port) as (server, socket_, url):
        server.say = lambda: ready(f"Ready: {url}")
        server.run([socket_])


class InThread(contextlib.AbstractContextManager[str]):
    """Serve an application in a thread while the context lasts; once.

    Parameters
    ----------
    app : FastAPI
        The application.
    host : str
        Address to listen on.
    port : int
        Port to listen on.
    """

    def __init__(self, app: FastAPI, host: str, port: int) -> None:
        self._inner, self._begun = _in_thread(app, host, port), False

    def __enter__(self) -> str:
        if self._begun:
            raise OrderError("serve: this service has been begun before; call background again for another one.")
        self._begun = True
        return self._inner.__enter__()

    def __exit__(self, *error: Any) -> bool | None:
        return self._inner.__exit__(*error)


@contextlib.contextmanager
def _in_thread(app: FastAPI, host: str, port: int) -> Iterator[str]:
    answering = threading.Event()
    with _listening(app, host, port) as (server, socket_, url):
        server.say = answering.set
        thread = threading.Thread(target=server.run, args=([socket_],), name="driftwise serve", daemon=True)
        thread.start()
        try:
            while not answering.wait(0.1):
                if not thread.is_alive():
                    raise RunError("serve: the server has ended before it answered; the log says why.")
            yield url
        finally:
            server.should_exit = True
            thread.join()


@contextlib.contextmanager
def _listening(app: FastAPI, host: str, port: int) -> Iterator[tuple[Server, socket.socket, str]]:
    """Open the service, bind a socket, and give a server for them and its address."""
    service: Service = app.state.service
    service.open()  # here, so that what is wrong is raised to the caller
    try:
        with _bound(host, port) as bound:
            name, number = bound.getsockname()[:2]
            config = uvicorn.Config(
                app,
                http="h11",
                ws="none",
                lifespan="on",
                log_level="warning",
                access_log=False,
                proxy_headers=False,
                server_header=False,
                limit_concurrency=CONNECTIONS,
                timeout_graceful_shutdown=GRACE,
            )
            yield Server(config), bound, f"http://{f'[{name}]' if ':' in name else name}:{number}"
    finally:
        service.close()


def is_loopback(host: str) -> bool:
    """Tell whether only this machine can reach an address."""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _bound(host: str, port: int) -> socket.socket:
    """Return a socket that is bound and does not listen yet.

    It names its protocol: only then does asyncio send answers at once, and not when more of them have gathered.
    """
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        bound = socket.socket(family, kind, protocol)
        try:
            if os.name == "posix":  # elsewhere it would let two servers have one port
                bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            bound.bind(address)
        except BaseException:
            bound.close()
            raise
    except OSError as error:
        raise StorageError(f"serve: cannot listen on {host}:{port}: {error.strerror or error}.") from None
    return bound
