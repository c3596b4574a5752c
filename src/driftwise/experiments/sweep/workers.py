"""Runs on this machine: in this process, or in workers beside it.

joblib loses a parallel call when one of its workers dies. Here the runs that were under way are started again in new
workers, with joblib's own process pool (loky).
"""

import contextlib
import copy
import os
import signal
import sys
import threading
import time
import warnings
from collections import Counter, deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Future, wait
from multiprocessing import resource_tracker
from typing import Any

from driftwise._extras import optional
from driftwise.experiments.sweep.result import Result
from driftwise.experiments.sweep.task import (
    Attempt,
    Configuration,
    attempt,
    attempt_packed,
    killers,
    libraries,
    pack,
)

Task = tuple[int, Configuration]
"""Place of a run among all of them, and its arguments."""
Attempts = Generator[tuple[int, Attempt], None, None]
"""Place and outcome of every run, in the order in which they finish."""

DEATHS = 3
"""How many times a run may be under way when workers die, before it is suspected to kill them."""


def here(function: Callable[..., Result], tasks: Iterable[Task]) -> Attempts:
    """Run one after the other in this process."""

    def with_copies(**configuration: Any) -> Result:
        # As a worker would have: a run that changes its arguments must not change those of the next.
        return function(**copy.deepcopy(configuration))

    # Given back at the end; a worker keeps the limit.
    with libraries(len(sys.modules)).limit(limits=1):
        for index, configuration in tasks:
            yield index, attempt(with_copies, configuration)


def beside(function: Callable[..., Result], tasks: Iterable[Task], workers: int) -> Attempts:
    """Run in worker processes, which stay for a minute in case there is more to do."""
    loky = optional("sweep", "joblib.externals.loky", "experiments")
    packed = pack(function, function)
    waiting, deaths = deque(tasks), Counter[int]()
    under_way: dict[Future[Attempt], Task] = {}
    pool = None
    with warnings.catch_warnings():
        # loky replaces a worker that has grown by 300 MB, which is no reason for alarm.
        warnings.filterwarnings("ignore", "A worker stopped while some jobs", UserWarning)
        try:
            while waiting or under_way:
                with _apart_from_the_terminal(loky), contextlib.suppress(BrokenExecutor):
                    # The pool of the last time, or a new one if that is broken.
                    pool = loky.get_reusable_executor(
                        workers, timeout=60, initializer=_leave_with_parent, initargs=(os.getpid(),)
                    )
                    # One run more than there are workers, so that none has to wait for this process.
                    while waiting and len(under_way) <= workers:
                        arguments = pack(function, dict(waiting[0][1]))
                        under_way[pool.submit(attempt_packed, packed, arguments)] = waiting[0]
                        waiting.popleft()
                lost: list[Task] = []
                done = wait(under_way, return_when=FIRST_COMPLETED).done
                # Those that failed come last: the caller stops there, and the others are to be kept.
                for future in sorted(done, key=_failed):
                    task = under_way.pop(future)
                    if isinstance(future.exception(), BrokenExecutor):
                        lost.append(task)
                    else:
                        yield task[0], future.result()
                waiting.extendleft(sorted(lost, reverse=True, key=lambda task: task[0]))
                deaths.update(index for index, _ in lost)
                suspects = [configuration for index, configuration in lost if deaths[index] >= DEATHS]
                if suspects:
                    raise killers(function, suspects)
        except BaseException:
            if pool is not None:
                _kill(pool, under_way)
            raise


def _failed(future: Future[Attempt]) -> bool:
    return future.exception() is not None or future.result().payload is None


@contextlib.contextmanager
def _apart_from_the_terminal(loky: Any) -> Iterator[None]:
    """Start workers that leave Ctrl-C to this process, which stops them.

    A process inherits the signals that its parent blocks; a handler of its own would come too late while it starts.
    """
    if sys.platform == "win32":
        yield
        return
    # These processes are started with the first worker, and unblock Ctrl-C: not here, where they run already.
    loky.backend.resource_tracker.ensure_running()
    resource_tracker.ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _kill(pool: Any, under_way: Iterable[Future[Attempt]]) -> None:
    """Stop the workers in the middle of what they do."""
    # loky's own thread trips over runs that it has not yet passed on to the workers: give it the moment it needs.
    deadline = time.monotonic() + 1.0
    while any(not (future.running() or future.done()) for future in under_way) and time.monotonic() < deadline:
        time.sleep(0.001)
    pool.shutdown(wait=True, kill_workers=True)


def _leave_with_parent(parent: int) -> None:
    """Watch over a worker: without its parent it would finish its run and then wait for more."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(1.0)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
