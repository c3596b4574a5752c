"""The HTTP application: routes, and what their errors look like."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import Annotated, Any

from fastapi import APIRouter, Depends, FastAPI, Path, Query, Request, Response, Security
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, JSONResponse
from fastapi.security import HTTPBearer
from starlette.exceptions import HTTPException

from driftwise._files import FULL
from driftwise.errors import DriftwiseError, HorizonError, OrderError, StorageError
from driftwise.serve.gate import Gate, Traffic
from driftwise.serve.metrics import CONTENT_TYPE, render
from driftwise.serve.page import POLICY, page
from driftwise.serve.service import Refusal, Service
from driftwise.serve.shapes import KEY, Asked, Decided, Gone, Health, Keys, Learnt, Problem, State, Told
from driftwise.serve.wrong import WORDS, explain

ABOUT = (
    "Learners by key, each with two verbs: act returns the decision of its round, observe ends the round with what the "
    "decision has cost. What was acknowledged survives the process. Every error is a Problem, and leaves everything as "
    "it was."
)

WRONG = {
    401: "No token, or a wrong one.",
    403: "There is no token, and the request does not come from a program on this machine.",
    404: "There is no such learner.",
    408: "The body was too slow.",
    409: "Out of order: the round is not open, is over, or was opened otherwise.",
    413: "The body is too large.",
    422: "Not JSON, not of this shape, not finite, or refused by the learner.",
    429: "There are as many learners as may be.",
    503: "Nothing can be written to the disk.",
    507: "The disk is full.",
}


def _problems(*statuses: int) -> dict[int | str, dict[str, Any]]:
    return {status: {"model": Problem, "description": WRONG[status]} for status in statuses}


async def _known(request: Request) -> None:
    """Refuse what a route does not know in its query: a round in it would be passed over."""
    if request.url.query:
        known = [one.alias for one in request.scope["route"].dependant.query_params]
        unknown = sorted(set(request.query_params) - set(known))
        if unknown:
            said = f"it takes {' and '.join(known)}" if known else "it takes none; what a request says is in its body"
            raise Refusal(
                422, "InputError", f"The query has parameters that are not known: {', '.join(unknown)}; {said}."
            )


Key = Annotated[str, Path(pattern=KEY, description=f"{WORDS['key']}.".capitalize())]
TOKEN = Security(HTTPBearer(auto_error=False, description="The token of the service; `Gate` checks it."))


def build(service: Service, *, token: str | None, no_token: bool, max_body: int, patience: float) -> FastAPI:
    """Return the application of a service."""
    from driftwise import __version__

    traffic = Traffic()

    @contextlib.asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        service.open()
        keeping = asyncio.create_task(service.keep())
        try:
            yield
        finally:
            keeping.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await keeping
            await service.finish()

    app = FastAPI(
        title="driftwise serve",
        description=ABOUT,
        version=__version__,
        lifespan=lifespan,
        dependencies=[Depends(_known)],
        openapi_url=None,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
    )
    app.add_middleware(Gate, token=token, no_token=no_token, max_body=max_body, patience=patience, traffic=traffic)
    _say_errors(app)
    app.state.service = service

    inside = APIRouter(dependencies=[TOKEN])

    @inside.post("/learners/{key}/act", responses=_problems(401, 403, 408, 409, 413, 422, 429, 503, 507))
    async def act(key: Key, asked: Asked | None = None) -> Decided:
        """Return the decision of the key's round; the same until `observe`, however often it is asked for.

        A new key gets a learner. Whoever asks again with another proposal, hint or price is refused.
        """
        return await service.act(key, asked or Asked())

    @inside.post("/learners/{key}/observe", responses=_problems(401, 403, 404, 408, 409, 413, 422, 503, 507))
    async def observe(key: Key, told: Told) -> Learnt:
        """End the key's round: a loss, its gradient at the decision, or "skip" if nobody knows.

        With "round", it may be sent again if no answer came: the same feedback for the same round is taken in once.
        """
        return await service.observe(key, told)

    @inside.get("/learners/{key}", responses=_problems(401, 403, 404, 422))
    async def look(key: Key) -> State:
        """Return the latest decision, and what has become of the key so far; changes nothing."""
        return service.state(key)

    @inside.delete("/learners/{key}", responses=_problems(401, 403, 404, 422, 503, 507))
    async def forget(key: Key) -> Gone:
        """Forget the key and all that its learner knows."""
        return Gone(key=key, rounds=await service.forget(key))

    @inside.get("/learners", responses=_problems(401, 403, 422))
    async def keys(
        after: Annotated[str, Query(max_length=64)] = "",
        limit: Annotated[int, Query(ge=1, le=1000)] = 100,
    ) -> Keys:
        """Return keys in order, from the one after a given one on."""
        some = sorted(key for key in service.entries if key > after)[:limit]
        return Keys(count=len(service.entries), keys=some)

    @inside.get(
        "/metrics",
        response_class=Response,
        responses={200: {"content": {"text/plain": {}}}, **_problems(401, 403, 422)},
    )
    async def metrics() -> Response:
        """Return counts and latest decisions as Prometheus reads them."""
        return Response(render(service, traffic), media_type=CONTENT_TYPE)

    app.include_router(inside)

    @app.head("/healthz", include_in_schema=False)
    @app.get("/healthz", responses=_problems(422, 503))
    async def healthz() -> Health:
        """Tell whether requests are taken; needs no token."""
        if service.store.failed:
            raise Refusal(503, "StorageError", service.store.failed)
        return Health(status="ok")

    @app.get("/docs", include_in_schema=False)
    async def docs() -> HTMLResponse:
        return HTMLResponse(page(app.openapi()), headers={"content-security-policy": POLICY})

    @app.get("/openapi.json", include_in_schema=False)
    async def document() -> JSONResponse:
        return JSONResponse(app.openapi())

    return app


def _say_errors(app: FastAPI) -> None:
    """Make every error JSON of one shape, without a trace."""

    def answer(status: int, kind: str, text: str) -> JSONResponse:
        return JSONResponse({"error": text, "kind": kind}, status)

    @app.exception_handler(Refusal)
    async def refused(request: Request, error: Refusal) -> JSONResponse:
        return answer(error.status, error.kind, str(error))

    @app.exception_handler(DriftwiseError)
    async def ours(request: Request, error: DriftwiseError) -> JSONResponse:
        status = 409 if isinstance(error, OrderError | HorizonError) else 422
        if isinstance(error, StorageError):
            status = 507 if error.errno in FULL else 503
        return answer(status, type(error).__name__, str(error))

    @app.exception_handler(RequestValidationError)
    async def misshapen(request: Request, error: RequestValidationError) -> JSONResponse:
        kind = request.headers.get("content-type", "nothing")
        if error.errors()[0]["loc"] == ("body",) and "json" not in kind:
            return answer(
                422, "InputError", f"The body must be JSON and say so: Content-Type: application/json, not {kind}."
            )
        return answer(422, "InputError", explain(error.errors(), error.body))

    @app.exception_handler(HTTPException)
    async def usual(request: Request, error: HTTPException) -> JSONResponse:
        kinds = {404: "NotFound", 405: "MethodNotAllowed", 400: "InputError"}
        status = 422 if error.status_code == 400 else error.status_code
        response = answer(status, kinds.get(error.status_code, "HTTPError"), str(error.detail))
        response.headers.update(error.headers or {})
        return response

    @app.exception_handler(Exception)
    async def ours_to_mend(request: Request, error: Exception) -> JSONResponse:
        return answer(500, "InternalError", "An error in driftwise or in the learner; the log of the service has it.")
