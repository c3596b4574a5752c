"""`driftwise serve`: learners by key, over HTTP."""

import os
import signal
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from driftwise._extras import optional
from driftwise._files import read_limited
from driftwise.errors import InputError, ParameterError

if TYPE_CHECKING:
    from driftwise.adapters.keyed import Maker

ENVIRONMENT = "DRIFTWISE_TOKEN"

State = Annotated[Path, typer.Option(metavar="DIR", help="Folder that everything is kept in; made if it is not there.")]
Low = Annotated[
    list[float], typer.Option(metavar="NUMBER", help="Least decision; repeatable, once for each coordinate.")
]
High = Annotated[list[float], typer.Option(metavar="NUMBER", help="Largest decision; as often as --low.")]
Up = Annotated[
    list[float] | None,
    typer.Option(metavar="PRICE", help="What a unit up costs; once, or for each coordinate.", min=0.0),
]
Down = Annotated[list[float] | None, typer.Option(metavar="PRICE", help="What a unit down costs; as --up.", min=0.0)]
Price = Annotated[
    float | None, typer.Option(metavar="PRICE", help="What a unit of distance costs; in place of both.", min=0.0)
]
Start = Annotated[list[float] | None, typer.Option(metavar="NUMBER", help="What is in force now; for each coordinate.")]
Period = Annotated[int | None, typer.Option(metavar="ROUNDS", help="Rounds in a season, such as 24 or 7.")]
Late = Annotated[int, typer.Option(metavar="ROUNDS", help="How many rounds late feedback may come.", min=0)]
Whole = Annotated[bool, typer.Option("--whole", help="Decide on whole numbers.")]
Host = Annotated[str, typer.Option(metavar="ADDRESS", help="Address to listen on; 0.0.0.0 for all machines.")]
Port = Annotated[int, typer.Option(metavar="NUMBER", help="Port to listen on; 0 for any.", min=0, max=65535)]
TokenFile = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help=f"File with the token that requests must have. Or set {ENVIRONMENT}."),
]
NoToken = Annotated[bool, typer.Option("--no-token", help="Answer everybody; where others check who asks.")]
MaxBody = Annotated[int, typer.Option(metavar="BYTES", help="Largest body of a request.", min=1)]
MaxLearners = Annotated[int, typer.Option(metavar="NUMBER", help="Most keys.", min=1)]
Every = Annotated[int, typer.Option(metavar="EVENTS", help="Events after which all learners are written.", min=1)]
Sync = Annotated[
    bool, typer.Option(help="Bring what is acknowledged to the disk first. Without, only a loss of power loses it.")
]


def serve(
    *,
    state: State,
    low: Low,
    high: High,
    up: Up = None,
    down: Down = None,
    switching_cost: Price = None,
    start: Start = None,
    period: Period = None,
    late: Late = 0,
    whole: Whole = False,
    host: Host = "127.0.0.1",
    port: Port = 8000,
    token_file: TokenFile = None,
    no_token: NoToken = False,
    max_body: MaxBody = 2**16,
    max_learners: MaxLearners = 10_000,
    checkpoint_every: Every = 10_000,
    sync: Sync = True,
) -> None:
    """Serve decisions over HTTP: a self-tuned learner for every key that is asked for.

    POST /learners/KEY/act gives the decision of a round, POST /learners/KEY/observe takes what it has cost, GET
    /learners/KEY shows it to people and autoscalers, /metrics to Prometheus, /docs describes the rest.

    What was acknowledged survives kill -9 and a loss of power; SIGTERM and Ctrl-C end it in order, with exit codes 143
    and 130. The options from --low to --whole are those of keys that are new: others keep theirs.

    For example: driftwise serve --state state --low 0 --high 40 --up 6 --down 0 --period 24 --whole
    """
    from driftwise.serve import serve as run

    optional("serve", "fastapi", "serve")
    usual = signal.signal(signal.SIGTERM, _end)  # the server has its own while it runs, and then calls this one
    try:
        run(
            learners(low, high, up, down, switching_cost, start, period, late, whole),
            state,
            host=host,
            port=port,
            token=read_token(token_file),
            no_token=no_token,
            max_body=max_body,
            max_learners=max_learners,
            every=checkpoint_every,
            sync=sync,
            ready=lambda line: typer.echo(line),
        )
        code = 0  # a signal that this process was begun to pass over, as a shell does behind "&"
    except KeyboardInterrupt:
        code = 130
    except Terminated:
        code = 143
    finally:
        signal.signal(signal.SIGTERM, usual)
    typer.echo(f"Stopped. Everything is in {state}.", err=True)
    raise typer.Exit(code)


class Terminated(BaseException):
    """SIGTERM has come."""


def _end(*_: object) -> None:
    raise Terminated


def read_token(file: Path | None) -> str | None:
    """Return the token of a file, or of the environment."""
    if file is None:
        return os.environ.get(ENVIRONMENT) or None
    try:
        token = read_limited("serve", file, 4096).decode("ascii").strip()
    except UnicodeDecodeError:
        token = ""
    if not token:
        raise InputError(f"serve: {file} must hold a token: a line of printable ASCII.")
    return token


def learners(
    low: list[float],
    high: list[float],
    up: list[float] | None,
    down: list[float] | None,
    price: float | None,
    start: list[float] | None,
    period: int | None,
    late: int,
    whole: bool,
) -> "Maker":
    """Return what the learner of a new key begins as, or what makes it."""
    import driftwise as dw
    from driftwise.serve.begin import Rounding

    if price is not None and not (up is None and down is None):
        raise ParameterError("serve: give --switching-cost, or --up and --down, not both.")
    if (up is None) != (down is None) or (up is None) == (price is None):
        raise ParameterError(
            "serve: say what a move costs, with --up PRICE and --down PRICE (0 for a side that is free), or with "
            "--switching-cost PRICE."
        )
    cost: float | dw.MoveCost
    if up is not None and down is not None:
        cost = dw.MoveCost(up=_one_or_each(up), down=_one_or_each(down))
    else:
        assert price is not None
        cost = price
    if whole and any(not number.is_integer() for number in start or ()):
        raise ParameterError("serve: --start must be a whole number where there is --whole, as it is in force now.")
    first = dw.SelfTunedLearner(dw.Box(low, high), switching_cost=cost, start=start, period=period, late=late)
    return Rounding(first) if whole else first


def _one_or_each(prices: list[float]) -> float | list[float]:
    return prices[0] if len(prices) == 1 else prices
