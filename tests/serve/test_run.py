"""A real process, a real client, and whatever ends the one while the other asks."""

import http.client
import os
import resource
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import numpy as np
import pytest

import driftwise as dw
from driftwise.cli.serve import learners
from driftwise.errors import OrderError, ParameterError, RunError, StorageError
from driftwise.serve import background, serve
from driftwise.serve.run import Server, is_loopback
from tests.serve.exposition import parse
from tests.serve.local import CAPACITY, HEADERS, TOKEN, machines
from tests.serve.process import OPTIONS, Patient, Running, without_notice

MAKE: Any = learners([0.0], [40.0], [6.0], [0.0], None, [10.0], 4, 0, True)
"""Makes the learners that a process with `OPTIONS` has."""


def demand(key: str, t: int) -> float:
    return float(18 + 9 * np.sin(t / 3 + len(key)) + (t + ord(key[0])) % 3)


def decisions(key: str, rounds: int) -> list[list[float]]:
    """Return what a learner decides that nothing ever happens to."""
    learner, found = MAKE(key), []
    for t in range(rounds):
        found.append(learner.act().tolist())
        learner.observe(dw.CapacityLoss([demand(key, t)], shortage=5.0)[0])
    return [*found, learner.act().tolist()]


def body(key: str, t: int) -> dict[str, Any]:
    return {"loss": {**CAPACITY, "demand": demand(key, t)}, "round": t}


def play(client: Patient, key: str, rounds: int, seen: list[Any]) -> None:
    """Play rounds of a key, and check that none of those that were acknowledged is ever taken back."""
    for t in range(rounds):
        answer = client.post(f"/learners/{key}/act", {})
        assert answer["round"] == t
        seen.append(answer["decision"])
        learnt = client.post(f"/learners/{key}/observe", body(key, t))
        assert (learnt["round"], learnt["rounds"]) == (t, t + 1)


def kill_and_go_on(state: Path, times: int, rounds: int, *options: str) -> int:
    """Kill a service again and again while six keys play, and compare all with learners that were left in peace.

    Returns how often a request had no answer.
    """
    keys, rng = ("a", "bb", "ccc", "d4", "e-5", "f_6"), np.random.default_rng(times)
    seen: dict[str, list[Any]] = {key: [] for key in keys}
    running = Running(state, "--checkpoint-every", "30", *options)
    with Patient() as client, ThreadPoolExecutor(len(keys)) as pool:
        try:
            client.url = running.url
            done = [pool.submit(play, client, key, rounds, seen[key]) for key in keys]
            for i in range(times):
                goal = (i + rng.uniform(0.6, 1.0)) * len(keys) * rounds / (times + 1)
                while sum(map(len, seen.values())) < goal and not any(one.done() for one in done):
                    time.sleep(0.001)
                running.kill()
                running = Running(state, "--checkpoint-every", "30", *options)
                client.url = running.url
            for one in done:
                one.result()
            for key in keys:
                last = client.post(f"/learners/{key}/act", {})
                assert last["round"] == rounds
                assert [*seen[key], last["decision"]] == decisions(key, rounds)
        finally:
            running.kill()
        return client.asked_again


def test_no_kill_takes_back_what_was_acknowledged(tmp_path: Path) -> None:
    assert kill_and_go_on(tmp_path, 3, 60) > 0
    numbers = [int(path.name.rpartition("-")[2]) for path in tmp_path.iterdir() if path.name.startswith("checkpoint")]
    assert max(numbers) >= 2


@pytest.mark.full
@pytest.mark.parametrize("options", [(), ("--no-sync",)], ids=["sync", "no-sync"])
def test_no_kill_of_many_takes_back_what_was_acknowledged(tmp_path: Path, options: tuple[str, ...]) -> None:
    assert kill_and_go_on(tmp_path, 25, 500, *options) > 0


def test_two_thousand_requests_over_four_connections(tmp_path: Path) -> None:
    """Every connection has a key of its own and one that all of them ask for."""

    def requests(url: str, key: str) -> list[list[float]]:
        found = []
        with httpx.Client(base_url=url, headers=HEADERS) as client:
            for t in range(166):
                answer = client.post(f"/learners/{key}/act")
                assert answer.status_code == 200, answer.text
                found.append(answer.json()["decision"])
                answer = client.post(f"/learners/{key}/observe", json=body(key, t))
                assert answer.status_code == 200, answer.text
                assert client.post("/learners/shared/act").status_code == 200
        return found

    with Running(tmp_path, "--no-sync", DRIFTWISE_TOKEN=TOKEN, WEB_CONCURRENCY="3") as running:
        with ThreadPoolExecutor(4) as pool:
            keys = [f"k{i}" for i in range(4)]
            for key, found in zip(keys, pool.map(lambda key: requests(running.url, key), keys), strict=True):
                assert found == decisions(key, 166)[:-1]
        series = parse(httpx.get(f"{running.url}/metrics", headers=HEADERS).text)
        code, said = running.end()
    counted = {dict(labels)["status"]: 0.0 for name, labels in series if name == "driftwise_requests_total"}
    for (name, labels), number in series.items():
        if name == "driftwise_requests_total":
            counted[dict(labels)["status"]] += number
    assert counted == {"200": 4 * 166 * 3.0}
    assert series["driftwise_rounds_total", ()] == 4 * 166.0
    assert series["driftwise_learners", ()] == 5.0
    assert (code, said) == (143, f"Stopped. Everything is in {tmp_path}.\n")
    assert sorted(path.name for path in tmp_path.iterdir())[0].startswith("checkpoint")


def test_a_process_is_as_careful_as_the_application(tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text(f"{TOKEN}\n")
    state = tmp_path / "state"
    with Running(state, "--max-body", "500", "--token-file", str(token), "--host", "0.0.0.0") as running:
        url = running.url.replace("0.0.0.0", "127.0.0.1")
        with httpx.Client(base_url=url, headers=HEADERS) as client:
            assert client.post("/learners/web/act").status_code == 200
            stranger = client.post("/learners/web/act", headers={"Authorization": "Bearer x"})
            assert (stranger.status_code, stranger.headers["www-authenticate"]) == (401, "Bearer")
            assert "server" not in client.get("/healthz").headers
            large = client.post("/learners/web/observe", content=iter([b"{" * 400] * 9))
            assert (large.status_code, large.json()["kind"]) == (413, "TooLarge")
            assert client.get("/learners/web").json()["round"] == 0
        raw = http.client.HTTPConnection(urlsplit(url).netloc)
        raw.request("POST", "/learners/web/observe", iter([b"x" * 300] * 4), HEADERS, encode_chunked=True)
        assert raw.getresponse().status == 413
        raw.close()
        other = subprocess.run(
            [sys.executable, "-m", "driftwise", "serve", "--state", str(state), "--port", "0", *OPTIONS],
            capture_output=True,
            text=True,
        )
        assert other.returncode == 1
        said = without_notice(other.stderr)
        assert said.startswith("driftwise: serve: another process serves")
        assert said.count("\n") == 1


def test_the_end_in_order_is_a_checkpoint(tmp_path: Path) -> None:
    with Patient() as client, Running(tmp_path) as running:
        client.url = running.url
        play(client, "web", 5, [])
        assert running.end() == (143, f"Stopped. Everything is in {tmp_path}.\n")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["checkpoint-1", "journal-1", "lock"]
    with Patient() as client, Running(tmp_path) as running:
        client.url = running.url
        assert client.post("/learners/web/act", {})["decision"] == decisions("web", 5)[-1]
        assert running.end(signal.SIGINT) == (130, f"Stopped. Everything is in {tmp_path}.\n")


@pytest.mark.skipif(not hasattr(resource, "prlimit"), reason="limits of another process can be set on Linux only")
def test_a_disk_without_room_is_said_and_survived(tmp_path: Path) -> None:
    with Patient() as client, Running(tmp_path) as running, httpx.Client(base_url=running.url) as plain:
        client.url, pid = running.url, running.process.pid
        play(client, "web", 5, [])
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (1000, resource.RLIM_INFINITY))  # no file may grow beyond it
        for _ in range(3):
            answer = plain.post("/learners/web/act")
            assert (answer.status_code, answer.json()["kind"]) == (507, "StorageError")
            assert "There is no room left" in answer.json()["error"]
        assert plain.get("/learners/web").json()["open"] is False
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        assert client.post("/learners/web/act", {})["decision"] == decisions("web", 5)[-1]
        running.kill()
    with Patient() as client, Running(tmp_path) as running:
        client.url = running.url
        learnt = client.post("/learners/web/observe", body("web", 5))
        assert learnt["rounds"] == 6
        assert client.post("/learners/web/act", {})["decision"] == decisions("web", 6)[-1]


def refused(arguments: list[str], **environment: str) -> tuple[int, str]:
    """Return how a service ends that does not begin."""
    command = [sys.executable, "-m", "driftwise", "serve", *OPTIONS, *arguments]
    done = subprocess.run(command, env={**os.environ, **environment}, capture_output=True, text=True, timeout=60)
    assert done.stdout == ""
    return done.returncode, without_notice(done.stderr)


def test_a_shell_that_passes_over_ctrl_c_sees_the_end_too(tmp_path: Path) -> None:
    usual = signal.signal(signal.SIGINT, signal.SIG_IGN)  # what a process behind "&" is begun with
    try:
        running = Running(tmp_path)
    finally:
        signal.signal(signal.SIGINT, usual)
    with running:
        assert running.end(signal.SIGINT) == (0, f"Stopped. Everything is in {tmp_path}.\n")


def test_who_waits_for_compilation_is_told(tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    cache.mkdir()
    command = [sys.executable, "-m", "driftwise", "serve", "--state", str(tmp_path / "state"), "--port", "0", *OPTIONS]
    environment = {**os.environ, "DRIFTWISE_CACHE_DIR": str(cache)}
    with subprocess.Popen(
        command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    ) as one:
        assert one.stderr is not None
        assert one.stderr.readline().startswith("driftwise: compiling for this machine, which takes seconds")
        one.kill()


def test_damage_is_one_line(tmp_path: Path) -> None:
    with background(machines(), tmp_path) as url:
        httpx.post(f"{url}/learners/web/act").raise_for_status()
    path = tmp_path / "checkpoint-1"
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    code, said = refused(["--state", str(tmp_path), "--port", "0"])
    assert code == 2
    assert said.startswith(f"driftwise: serve: {path} is damaged at byte ")
    assert said.count("\n") == 1


def test_a_thread_of_this_process_serves_too(tmp_path: Path) -> None:
    with background(machines(), tmp_path, token=TOKEN) as url:
        assert url.startswith("http://127.0.0.1:")
        assert httpx.post(f"{url}/learners/web/act", headers=HEADERS).json()["value"] == 0
        with pytest.raises(StorageError, match="another process serves"), background(machines(), tmp_path):
            pass
        port = int(url.rpartition(":")[2])
        with (
            pytest.raises(StorageError, match=f"cannot listen on 127.0.0.1:{port}"),
            background(machines(), tmp_path / "other", port=port),
        ):
            pass
    with pytest.raises(httpx.TransportError):
        httpx.get(f"{url}/healthz")
    with background(machines(), tmp_path) as url:
        assert httpx.get(f"{url}/learners/web").json()["open"] is True
    assert threading.active_count() < 10


def test_a_service_is_begun_once(tmp_path: Path) -> None:
    service = background(machines(), tmp_path)
    with service as url:
        with pytest.raises(OrderError, match="has been begun before; call background again"), service:
            pass
        assert httpx.get(f"{url}/healthz").status_code == 200
        assert (httpx.head(f"{url}/healthz").status_code, httpx.head(f"{url}/healthz").content) == (200, b"")
    with pytest.raises(OrderError, match="has been begun before; call background again"), service:
        pass


def test_a_thread_that_ends_before_it_answers_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Server, "run", lambda self, sockets: None)
    with pytest.raises(RunError, match="the server has ended before it answered"), background(machines(), tmp_path):
        pass
    monkeypatch.undo()
    with background(machines(), tmp_path):  # the folder is free again
        pass


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "10.1.2.3", "example.org"])
def test_other_machines_need_a_token(tmp_path: Path, host: str) -> None:
    with pytest.raises(ParameterError, match="can be reached from other machines, and there is no token"):
        serve(machines(), tmp_path, host=host)
    assert not is_loopback(host)


def test_this_machine_is_known() -> None:
    assert all(map(is_loopback, ("127.0.0.1", "::1", "localhost", "127.9.9.9")))


def test_a_service_that_is_not_open_has_no_folder(tmp_path: Path) -> None:
    from driftwise.serve.service import Service

    with pytest.raises(OrderError, match="is not open"):
        _ = Service(machines(), tmp_path, max_learners=1, every=1, sync=True, classes=()).store
