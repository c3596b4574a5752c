"""A small HTTP service that holds a learner for every key: `driftwise serve`.

The packages that it needs come with the extra ``serve``, and are imported when one of its functions is called.
"""

import os
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

from driftwise._extras import optional
from driftwise._validate import checked, whole
from driftwise.adapters.keyed import Maker
from driftwise.errors import ParameterError

if TYPE_CHECKING:
    from fastapi import FastAPI

__all__ = ["background", "make_app", "serve"]

OWNER = "serve"
MAX_BODY, MAX_LEARNERS, EVERY, PATIENCE = 2**16, 10_000, 10_000, 20.0


@checked
def make_app(
    learner: Maker,
    state: "str | os.PathLike[str]",
    *,
    token: str | None = None,
    no_token: bool = False,
    max_body: int = MAX_BODY,
    max_learners: int = MAX_LEARNERS,
    every: int = EVERY,
    sync: bool = True,
    classes: Sequence[type] = (),
) -> "FastAPI":
    """Return the ASGI application of `serve`, for a server or a test client of your own.

    The folder is taken when the application starts up, and let go when it shuts down, so whoever runs it must run its
    lifespan, and in one process: a second one is refused.

    Parameters
    ----------
    learner : Learner or callable
        What the learner of a new key begins as; or a function of the key that makes it, called when a key begins. What
        such a function raises as a `LookupError` is answered with 404, and as a `DriftwiseError` with 422; the first
        request may have to wait for compilation then. Of any kind that can be saved. Keys that exist already keep the
        learner that they have.
    state : str or path
        Folder that the learners are kept in; made if it is not there.
    token : str, optional
        Requests must have it, as ``Authorization: Bearer TOKEN``; at least 16 characters. Without one, only requests
        from programs on the same machine are answered.
    no_token : bool, default False
        Answer everybody. For networks in which somebody else checks who asks.
    max_body : int, default 65536
        Largest body of a request, in bytes.
    max_learners : int, default 10000
        Most keys.
    every : int, default 10000
        Events after which all learners are written anew, so that the journal stays short; at least four for each.
    sync : bool, default True
        Whether what is acknowledged is on the disk. Without, it survives the process, but not a loss of power.
    classes : sequence of types, optional
        Classes of learners that are not driftwise's own, as for `load`.

    Returns
    -------
    fastapi.FastAPI
        The application.

    Examples
    --------
    >>> import tempfile
    >>> import driftwise as dw
    >>> from driftwise.serve import make_app
    >>> app = make_app(dw.OGD(dw.Box([0.0], [40.0]), step=1.0), tempfile.mkdtemp(), token="a token of your own")
    >>> for path, methods in app.openapi()["paths"].items():
    ...     print(path, *methods)
    /learners/{key}/act post
    /learners/{key}/observe post
    /learners/{key} get delete
    /learners get
    /metrics get
    /healthz get
    """
    optional(OWNER, "fastapi", "serve")
    from driftwise.serve.app import build
    from driftwise.serve.service import Service

    service = Service(learner, state, max_learners=max_learners, every=every, sync=sync, classes=classes)
    return build(
        service,
        token=_read_token(token, no_token),
        no_token=no_token,
        max_body=whole(OWNER, "max_body", max_body),
        patience=PATIENCE,
    )


@checked
def serve(
    learner: Maker,
    state: "str | os.PathLike[str]",
    *,
    host: str = "127.0.0.1",
    port: int = 8000,
    token: str | None = None,
    no_token: bool = False,
    max_body: int = MAX_BODY,
    max_learners: int = MAX_LEARNERS,
    every: int = EVERY,
    sync: bool = True,
    classes: Sequence[type] = (),
    ready: Callable[[str], Any] = print,
) -> None:
    """Serve a learner for every key over HTTP, until SIGTERM or Ctrl-C.

    Parameters
    ----------
    learner, state, token, no_token, max_body, max_learners, every, sync, classes
        As in `make_app`.
    host : str, default "127.0.0.1"
        Address to listen on. One that other machines can reach needs a token, or `no_token`.
    port : int, default 8000
        Port to listen on; 0 for any that is free.
    ready : callable, default print
        Called with a line that says where, once requests are answered.

    Examples
    --------
    >>> import driftwise as dw
    >>> from driftwise.serve import serve
    >>> serve(dw.OGD(dw.Box([0.0], [40.0]), step=1.0), "state", host="0.0.0.0")
    Traceback (most recent call last):
        ...
    driftwise.errors.ParameterError: serve: host '0.0.0.0' can be reached from other machines, and there is no token:
    give one, or say no_token (--no-token) if somebody else checks who asks.
    """
    optional(OWNER, "fastapi", "serve")
    optional(OWNER, "uvicorn", "serve")
    from driftwise.serve.run import is_loopback, run

    port = whole(OWNER, "port", port, low=0, high=65535)
    if token is None and not no_token and not is_loopback(host):
        raise ParameterError(
            f"serve: host {host!r} can be reached from other machines, and there is no token: give one, or say "
            "no_token (--no-token) if somebody else checks who asks."
        )
    app = make_app(
        learner,
        state,
        token=token,
        no_token=no_token,
        max_body=max_body,
        max_learners=max_learners,
        every=every,
        sync=sync,
        classes=classes,
    )
    run(app, host, port, ready)


@checked
def background(
    learner: Maker, state: "str | os.PathLike[str]", *, port: int = 0, **options: Any
) -> AbstractContextManager[str]:
    """Serve in a thread of this process, for a notebook or a test: a context with the address as its value.

    It can be entered once; call it again for the same folder to go on.

    Parameters
    ----------
    learner, state
        As in `make_app`.
    port : int, default 0
        Port to listen on; 0 for any that is free.
    **options
        As in `make_app`.

    Examples
    --------
    >>> import tempfile
    >>> import httpx
    >>> import driftwise as dw
    >>> from driftwise.serve import background
    >>> machines = dw.OGD(dw.Box([0.0], [40.0]), step=1.0)
    >>> told = {"loss": {"kind": "capacity", "demand": 17, "shortage": 5}, "round": 0}
    >>> with background(machines, tempfile.mkdtemp()) as url, httpx.Client(base_url=url) as client:
    ...     first = client.post("/learners/web/act").json()
    ...     learnt = client.post("/learners/web/observe", json=told).json()
    ...     client.post("/learners/web/act").json()
    {'key': 'web', 'round': 1, 'decision': [4.0], 'value': 4}
    """
    app = make_app(learner, state, **options)
    optional(OWNER, "uvicorn", "serve")
    from driftwise.serve.run import InThread

    return InThread(app, "127.0.0.1", whole(OWNER, "port", port, low=0, high=65535))


def _read_token(token: str | None, no_token: bool) -> str | None:
    """Return a token that a header can hold and nobody guesses."""
    if token is None:
        return None
    if no_token:
        raise ParameterError("serve: there is a token, and no_token; leave one of them out.")
    token = token.strip() if isinstance(token, str) else ""
    if len(token) < 16 or not token.isascii() or not token.isprintable():
        raise ParameterError("serve: token must have at least 16 characters, all of them printable ASCII.")
    return token
