"""Runs to sweep over, in a module of their own so that workers can import them."""

import hashlib
import os
import signal
import time
from pathlib import Path
from typing import Any

import numpy as np


def solve(dim: int, seed: int) -> dict[str, Any]:
    """Give numbers that would change with the number of BLAS threads."""
    rng = np.random.default_rng(seed)
    A, b = rng.standard_normal((dim, dim)), rng.standard_normal(dim)
    x = np.linalg.solve(A @ A.T + np.eye(dim), b)
    return {"norm": np.linalg.norm(x), "solution": x, "seed of it": seed, "name": f"seed {seed}", "nothing": None}


def digest(results: Any) -> str:
    """Return a hash of results with every type and every byte in it."""
    return hashlib.sha256("\n".join(map(exact, results)).encode()).hexdigest()


def exact(result: Any) -> str:
    if isinstance(result, dict):
        return str([(key, exact(value)) for key, value in result.items()])
    if isinstance(result, np.ndarray):
        order = (result.flags.c_contiguous, result.flags.writeable)
        return f"{type(result)} {result.dtype.str} {result.shape} {order} {result.tobytes().hex()}"
    return f"{type(result)} {result!r}"


def marked(folder: str, seed: int, pause: float = 0.0) -> int:
    """Leave a mark of every run that is finished."""
    time.sleep(pause)
    with (Path(folder) / "marks").open("a") as file:
        file.write(f"{seed}\n")
    return seed * seed


def marks(folder: Path) -> list[int]:
    file = folder / "marks"
    return sorted(map(int, file.read_text().split())) if file.exists() else []


def killed_once(folder: str, seed: int) -> int:
    """Be killed in the middle, as if by somebody else, the first time that the seed is 3."""
    time.sleep(0.02)
    if seed == 3:
        try:
            (Path(folder) / "killed").touch(exist_ok=False)
        except FileExistsError:
            pass
        else:
            os.kill(os.getpid(), signal.SIGKILL)
    return marked(folder, seed)


def deadly(seed: int) -> int:
    if seed == 3:
        time.sleep(0.2)
        os.kill(os.getpid(), signal.SIGKILL)
    return seed


class Strange(Exception):
    """An error that cannot be sent between processes."""

    def __init__(self, one: str, two: str) -> None:
        super().__init__(f"{one} and {two}")


def failing(seed: int, kind: str) -> int:
    if seed == 2:
        raise Strange("this", "that") if kind == "strange" else ValueError("no good")
    return seed
