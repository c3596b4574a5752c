"""A client of an application in this process, with its lifespan and without a socket; and learners to serve."""

import asyncio
from pathlib import Path
from typing import Any, Self

import httpx
from fastapi import FastAPI

import driftwise as dw
from driftwise._validate import Array
from driftwise.serve import make_app
from driftwise.serve.entry import Entry
from driftwise.serve.service import Service

TOKEN = "not a secret, in a test"
HEADERS = {"Authorization": f"Bearer {TOKEN}"}
CAPACITY = {"kind": "capacity", "demand": 17, "shortage": 5}


def machines(**options: Any) -> dw.OGD:
    """Return a learner of one number, quick to make."""
    return dw.OGD(dw.Box([0.0], [40.0]), step=1.0, **options)


def tuned() -> dw.SelfTunedLearner:
    """Return the learner that operators get."""
    return dw.SelfTunedLearner(
        dw.Box([0.0], [40.0]), switching_cost=dw.MoveCost(up=6.0, down=0.0), start=[10.0], period=4
    )


class Own(dw.Learner):
    """A learner that is not driftwise's, and knows no price."""

    state_names = ("point",)

    def __init__(self, domain: dw.Box) -> None:
        super().__init__(domain)
        self.point = domain.low

    def _decide(self) -> Array:
        return self.point.copy()

    def _learn(self, gradient: Array) -> None:
        if gradient[0] == 13.0:
            raise ZeroDivisionError("an error of its own")
        self.point = self.domain.project(self.point - gradient)


class Local:
    """A client that speaks to an application directly."""

    def __init__(self, app: FastAPI, headers: dict[str, str] | None = None, host: str = "127.0.0.1") -> None:
        self.app = app
        self._lifespan = app.router.lifespan_context(app)
        transport = httpx.ASGITransport(app, raise_app_exceptions=False, client=(host, 50000))
        self.client = httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1", headers=headers)

    @property
    def service(self) -> Service:
        found: Service = self.app.state.service
        return found

    def entry(self, key: str) -> Entry:
        return self.service.entries[key]

    def __enter__(self) -> Self:
        self.loop = asyncio.new_event_loop()
        try:
            self.loop.run_until_complete(self._lifespan.__aenter__())
        except BaseException:
            self.loop.close()
            raise
        return self

    def __exit__(self, *error: object) -> None:
        self.loop.run_until_complete(self.client.aclose())
        self.loop.run_until_complete(self._lifespan.__aexit__(None, None, None))
        self.loop.run_until_complete(self.loop.shutdown_default_executor())
        self.loop.close()

    def send(self, method: str, path: str, **request: Any) -> httpx.Response:
        return self.loop.run_until_complete(self.client.request(method, path, **request))

    def get(self, path: str, **request: Any) -> httpx.Response:
        return self.send("GET", path, **request)

    def post(self, path: str, json: Any = None, **request: Any) -> httpx.Response:
        return self.send("POST", path, **({} if json is None else {"json": json}), **request)

    def act(self, key: str = "web", **asked: Any) -> Any:
        """Return the decision of a round, which must be given."""
        response = self.post(f"/learners/{key}/act", asked or None)
        assert response.status_code == 200, response.text
        return response.json()

    def observe(self, key: str = "web", **told: Any) -> Any:
        """Tell what a round has cost, which must be taken in."""
        response = self.post(f"/learners/{key}/observe", told or {"loss": CAPACITY})
        assert response.status_code == 200, response.text
        return response.json()

    def known(self) -> dict[str, bytes]:
        """Return all that is known of every key."""
        return {key: repr(entry.saved()).encode() for key, entry in self.service.entries.items()}


def local(state: Path, learner: Any = None, **options: Any) -> Local:
    """Return a client of an application for a folder."""
    return Local(make_app(machines() if learner is None else learner, state, **options))
