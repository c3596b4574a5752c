"""Threads that members are shared out to: compiled loops let go of the interpreter's lock."""

import contextlib
import itertools
import os
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from typing import Any

import numpy as np

from driftwise._validate import Indices

_POOLS: dict[int, ThreadPoolExecutor] = {}

if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_POOLS.clear)  # a child has none of its parent's threads


def usual_workers() -> int:
    """Return the number of processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def run_jobs(jobs: Sequence[Callable[[], Any]], workers: int) -> None:
    """Run jobs that do not depend on each other, on this many threads, and wait for all of them."""
    if workers == 1 or len(jobs) <= 1:
        for job in jobs:
            job()
        return
    pool = _POOLS.get(workers)
    if pool is None:
        pool = _POOLS[workers] = ThreadPoolExecutor(workers, thread_name_prefix="driftwise-fleet")
    futures = [pool.submit(job) for job in jobs]
    try:
        wait(futures)
    except BaseException:  # Ctrl-C: nothing may still be at work on what the caller is about to give up
        for future in futures:
            future.cancel()
        wait(futures)
        raise
    for future in futures:
        future.result()


def slices(count: int, most: int = 2048) -> list[slice]:
    """Return consecutive parts of `count` members: small enough for all workers to be busy to the end."""
    return [slice(start, min(start + most, count)) for start in range(0, count, most)]


def shares(lengths: Indices, most: int = 1 << 17) -> list[slice]:
    """Return consecutive parts of members that play so many rounds each, of about the same number of rounds."""
    number = np.cumsum(lengths) // most
    edges = [0, *(np.flatnonzero(np.diff(number)) + 1).tolist(), lengths.size]
    return [slice(first, last) for first, last in itertools.pairwise(edges) if last > first]


@contextlib.contextmanager
def undisturbed() -> Iterator[None]:
    """Put off Ctrl-C until what has begun is done, so that no round is half taken in."""
    usual = signal.getsignal(signal.SIGINT) if threading.current_thread() is threading.main_thread() else None
    if not callable(usual):
        yield
        return
    asked: list[Any] = []
    signal.signal(signal.SIGINT, lambda *given: asked.append(given))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, usual)
        if asked:
            usual(*asked[0])
