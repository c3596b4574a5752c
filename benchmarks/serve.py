"""Measure the service over loopback: requests a second and how long they take, beside an empty FastAPI endpoint.

Run with ``python benchmarks/serve.py``. Service and endpoint are processes of their own with the same server; the
client is http.client, one thread for each connection, and takes a part of the same cores. A round is two requests, act
and observe, of a self-tuned learner of one number; every connection has keys of its own. The disk is that of the
temporary folder (TMPDIR); beside it, what one fsync of a hundred bytes takes there. At the end, a service with many
learners is killed, and it is measured how long the next one takes to answer, and how long a checkpoint keeps others
waiting.
"""

import argparse
import asyncio
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from http.client import HTTPConnection
from pathlib import Path

import numpy as np

from driftwise.cli import serve as cli
from driftwise.serve.service import Service
from driftwise.serve.shapes import Asked, Told

EMPTY = """
import socket, sys
import uvicorn
from fastapi import FastAPI
from driftwise.serve.shapes import Learnt, Told

app = FastAPI()

@app.post("/learners/{key}/observe")
async def observe(key: str, told: Told) -> Learnt:
    return Learnt(key=key, round=0, rounds=1, repeated=False)

bound = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
bound.bind(("127.0.0.1", 0))
bound.listen()
print("Ready: http://127.0.0.1:%d" % bound.getsockname()[1], flush=True)
uvicorn.Server(uvicorn.Config(app, http="h11", log_level="warning", access_log=False)).run([bound])
"""

SERVE = ["-m", "driftwise", "serve", "--low", "0", "--high", "40", "--up", "6", "--down", "0", "--period", "24"]

JSON = {"Content-Type": "application/json"}


@contextmanager
def running(arguments: list[str]) -> Iterator[str]:
    """Run a server while the context lasts, and give its address."""
    process = subprocess.Popen([sys.executable, *arguments], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        yield process.stdout.readline().strip().removeprefix("Ready: http://")
    finally:
        process.kill()
        process.communicate()


def send(connection: HTTPConnection, method: str, path: str, body: bytes | None = None) -> float:
    """Send a request, and return how many seconds its answer took."""
    began = time.perf_counter()
    connection.request(method, path, body, JSON if body else {})
    answer = connection.getresponse()
    answer.read()
    if answer.status != 200:
        raise SystemExit(f"{method} {path}: {answer.status}")
    return time.perf_counter() - began


def told(t: int) -> bytes:
    loss = {"kind": "capacity", "demand": 17 + t % 9, "shortage": 5}
    return json.dumps({"loss": loss, "round": t}).encode()


Session = Callable[[HTTPConnection, int, int], list[float]]


def empty(connection: HTTPConnection, number: int, requests: int) -> list[float]:
    return [send(connection, "POST", f"/learners/k{number}/observe", told(t)) for t in range(requests)]


def rounds(connection: HTTPConnection, number: int, requests: int) -> list[float]:
    took = []
    for t in range(requests // 2):
        took.append(send(connection, "POST", f"/learners/k{number}/act"))
        took.append(send(connection, "POST", f"/learners/k{number}/observe", told(t)))
    return took


def polls(connection: HTTPConnection, number: int, requests: int) -> list[float]:
    send(connection, "POST", f"/learners/p{number}/act")
    return [send(connection, "GET", f"/learners/p{number}") for _ in range(requests)]


def measure(address: str, session: Session, connections: int, requests: int, first: int) -> tuple[float, np.ndarray]:
    """Return requests a second, and the milliseconds that they took."""

    def run(i: int) -> list[float]:
        connection = HTTPConnection(address)
        took = session(connection, first + i, requests // connections)
        connection.close()
        return took

    began = time.perf_counter()
    with ThreadPoolExecutor(connections) as pool:
        every = 1e3 * np.concatenate(list(pool.map(run, range(connections))))
    return every.size / (time.perf_counter() - began), every


def fsyncs(folder: Path, times: int = 200) -> float:
    """Return the median of the milliseconds that appending a hundred bytes takes, down to the disk."""
    took = []
    with open(folder / "file", "ab", buffering=0) as file:
        for _ in range(times):
            began = time.perf_counter()
            file.write(b"x" * 100)
            os.fsync(file.fileno())
            took.append(time.perf_counter() - began)
    return 1e3 * float(np.median(took))


def restart(folder: Path, learners: int) -> tuple[float, float, float]:
    """Return seconds to an answer without and with many learners that were killed, and the size of the folder in MB."""
    starts = []
    state = ["--state", str(folder), "--port", "0", "--no-sync", "--checkpoint-every", str(3 * learners)]
    for again in range(2):
        began = time.perf_counter()
        with running([*SERVE, *state]) as address:
            connection = HTTPConnection(address)
            send(connection, "GET", "/healthz")
            starts.append(time.perf_counter() - began)
            for i in range(0 if again else learners):
                rounds(connection, i, 4)
            connection.close()
    return starts[0], starts[1], sum(path.stat().st_size for path in folder.iterdir()) / 1e6


def pauses(folder: Path, learners: int) -> tuple[float, float]:
    """Return how many seconds a checkpoint takes, and the longest that it keeps requests waiting, in milliseconds."""
    make = cli.learners([0.0], [40.0], [6.0], [0.0], None, None, 24, 0, False)
    service = Service(make, folder, max_learners=learners, every=10**9, sync=False, classes=())
    service.open()

    async def run() -> tuple[float, float]:
        for i in range(learners):
            await service.act(f"k{i}", Asked())
            await service.observe(f"k{i}", Told.model_validate_json(told(0)))
        writing, longest = asyncio.create_task(service.checkpoint()), 0.0
        began = last = time.perf_counter()
        while not writing.done():
            await asyncio.sleep(0)
            now = time.perf_counter()
            longest, last = max(longest, now - last), now
        return last - began, 1e3 * longest

    found = asyncio.run(run())
    service.close()
    return found


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--requests", type=int, default=3000, help="requests of a row, each time")
    parser.add_argument("--repeats", type=int, default=5, help="times, all rows in turn; the median is printed")
    parser.add_argument("--connections", type=int, nargs="+", default=[1, 8])
    parser.add_argument("--learners", type=int, default=1000, help="learners of the service that is killed")
    given = parser.parse_args(arguments)
    print(f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        print(f"an fsync of 100 bytes: {fsyncs(folder):.2f} ms (median)\n")
        rows: list[tuple[str, list[str], Session]] = [
            ("empty endpoint", ["-c", EMPTY], empty),
            ("act + observe, no fsync", [*SERVE, "--state", f"{name}/a", "--port", "0", "--no-sync"], rounds),
            ("act + observe, fsync", [*SERVE, "--state", f"{name}/b", "--port", "0"], rounds),
            ("GET of a learner", [*SERVE, "--state", f"{name}/c", "--port", "0", "--no-sync"], polls),
        ]
        found: dict[tuple[str, int], list[tuple[float, np.ndarray]]] = {}
        with ExitStack() as servers:
            places = [servers.enter_context(running(command)) for _, command, _ in rows]
            for place, (_, _, session) in zip(places, rows, strict=True):
                measure(place, session, 1, 200, 10_000)  # what is slow the first time
            for again in range(given.repeats):
                for connections in given.connections:
                    for place, (label, _, session) in zip(places, rows, strict=True):
                        one = measure(place, session, connections, given.requests, 1000 * again + 50 * connections)
                        found.setdefault((label, connections), []).append(one)
        print(f"{'':<26}{'connections':>12}{'requests/s':>12}{'x empty':>9}{'p50 ms':>9}{'p99 ms':>9}")
        for (label, connections), runs in found.items():
            ratios = [
                rate / beside for (rate, _), (beside, _) in zip(runs, found[rows[0][0], connections], strict=True)
            ]
            p50, p99 = np.percentile(np.concatenate([took for _, took in runs]), [50, 99])
            rate, ratio = np.median([rate for rate, _ in runs]), np.median(ratios)
            print(f"{label:<26}{connections:>12}{rate:>12.0f}{ratio:>9.2f}{p50:>9.2f}{p99:>9.2f}")
        first, second, size = restart(folder / "many", given.learners)
        print(f"\nfrom the command to an answer: {first:.1f} s with an empty folder,")
        print(f"{second:.1f} s after kill -9 with {given.learners} learners ({size:.1f} MB in the folder)")
        seconds, longest = pauses(folder / "checkpoint", given.learners)
        checkpoint = f"a checkpoint of {given.learners} learners: {seconds:.2f} s"
        print(f"{checkpoint}; none waited longer for it than {longest:.1f} ms")


if __name__ == "__main__":
    main()
