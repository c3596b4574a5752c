"""Every number in the configurations of checkpoints made huge, under a limit on memory: what comes of it, counted.

``python -m tests.claimed`` prints how many were refused and loaded, and then every one that did something else.
"""

import resource
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import driftwise as dw
from driftwise import control
from driftwise._container import pack, unpack
from driftwise.errors import CheckpointError

PLANT = control.double_integrator()
MADE: dict[str, Callable[[], Any]] = {
    "horizon": lambda: dw.Scream(dw.Ball(2), switching_cost=1.0, gradient_bound=1.0, horizon=100),
    "lazy": lambda: dw.LazyScream(dw.Ball(2), switching_cost=3.0, gradient_bound=1.0, horizon=100),
    "adaptive": lambda: dw.StronglyAdaptive(dw.Ball(2), switching_cost=1.0, gradient_bound=1.0),
    "period": lambda: dw.SelfTunedLearner(dw.Ball(2), switching_cost=1.0, period=7),
    "spectral": lambda: dw.OGD(dw.SpectralBalls((3, 1, 2), 0.8), step=0.02),
    "Hedge": lambda: dw.Hedge(4, loss_bound=2.0),
    "simplex": lambda: dw.OGD(dw.Simplex(4), step=0.1),
    "committee": lambda: dw.Committee(3, switching_cost=1.0),
    "movers": lambda: dw.Committee(2, switching_cost=1.0, movers=True),
    "controller": lambda: control.ScreamController(PLANT, memory=3),
    "policies": lambda: control.DisturbanceActionController(PLANT, dw.OGD(dw.SpectralBalls((3, 1, 2), 0.8), step=0.02)),
    "self-tuned": lambda: control.SelfTunedController(PLANT, memory=3),
}
HUGE = (10**5, 10**7, 10**9, 10**12, 10**30, -1, 1e300)
ROOM = 300_000_000


def places(tree: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Return where the numbers in a tree are."""
    if isinstance(tree, dict | list):
        for key, part in tree.items() if isinstance(tree, dict) else enumerate(tree):
            yield from places(part, (*path, key))
    elif isinstance(tree, int | float) and not isinstance(tree, bool):
        yield path


def claiming(data: bytes, path: tuple[Any, ...], number: float) -> bytes:
    """Return a checkpoint with another number at a place, and a digest that fits."""
    header, arrays = unpack("test", data)
    at = header["what"]
    for key in path[:-1]:
        at = at[key]
    at[path[-1]] = number
    return b"".join(pack(header, arrays))


def main() -> None:
    """Print what came of it."""
    saved = {name: make().to_bytes() for name, make in MADE.items()}
    for data in saved.values():
        dw.from_bytes(data)
    now = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (now + ROOM, now + ROOM))
    refused = loaded = 0
    for name, data in saved.items():
        for path in places(unpack("test", data)[0]["what"]):
            for number in HUGE:
                try:
                    dw.from_bytes(claiming(data, path, number))
                    loaded += 1
                except CheckpointError:
                    refused += 1
                except Exception as error:
                    print(name, path, number, type(error).__name__, str(error)[:80])
    print(refused, loaded)


if __name__ == "__main__":
    main()
