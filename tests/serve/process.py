"""A service in a process of its own, which can be killed; and a client that goes on asking until it is answered."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, Self

import httpx

OPTIONS = ("--low", "0", "--high", "40", "--up", "6", "--down", "0", "--start", "10", "--period", "4", "--whole")
"""What is decided: as many machines as an operator would have."""


def without_notice(said: str) -> str:
    """Return what a process has said, but that it compiles, which depends on what is kept on disk."""
    return "".join(line for line in said.splitlines(True) if not line.startswith("driftwise: compiling"))


class Running:
    """A process of `driftwise serve` on a port that was free."""

    def __init__(self, state: Path, *options: str, **environment: str) -> None:
        command = [sys.executable, "-m", "driftwise", "serve", "--state", str(state), "--port", "0", *OPTIONS, *options]
        self.process = subprocess.Popen(
            command, env={**os.environ, **environment}, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line.startswith("Ready: "):
            raise AssertionError(self.process.communicate()[1])
        self.url = line.removeprefix("Ready: ").strip()

    def kill(self) -> None:
        """End it as nothing else does: at once."""
        self.process.kill()
        self.process.communicate()

    def end(self, by: int = signal.SIGTERM) -> tuple[int, str]:
        """End it in order, and return its code and what it has said."""
        self.process.send_signal(by)
        _, said = self.process.communicate(timeout=30)
        return self.process.returncode, without_notice(said)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        if self.process.poll() is None:
            self.kill()


class Patient:
    """A client that repeats a request, word for word, until the service that is running now has answered it."""

    def __init__(self) -> None:
        self.url = ""
        self._client = httpx.Client(timeout=20.0)
        self.asked_again = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._client.close()

    def post(self, path: str, body: dict[str, Any]) -> Any:
        deadline = time.monotonic() + 60.0
        while time.monotonic() < deadline:
            try:
                answer = self._client.post(f"{self.url}{path}", json=body)
            except httpx.TransportError:
                self.asked_again += 1
                time.sleep(0.02)
                continue
            assert answer.status_code == 200, answer.text
            return answer.json()
        raise AssertionError("the service does not come back")
