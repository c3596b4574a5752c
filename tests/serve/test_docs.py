"""What stands in docs/serve.rst about Kubernetes, curl and the API is true."""

import datetime
import math
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest
import yaml

from driftwise.cli import app
from driftwise.cli.warmup import FAMILIES
from driftwise.serve import background, make_app
from tests.cli.small import RUNNER
from tests.serve.exposition import parse
from tests.serve.local import HEADERS, TOKEN, local, machines
from tests.test_documents import blocks_of

PAGE = (Path(__file__).parents[2] / "docs" / "serve.rst").read_text()
DOCUMENTS = [document for block in blocks_of("serve", "yaml") for document in yaml.safe_load_all(block)]


def kind(name: str) -> dict[str, Any]:
    (found,) = [document for document in DOCUMENTS if document.get("kind") == name]
    assert isinstance(found, dict)
    return found


def gjson(document: Any, path: str) -> Any:
    """Return what a path of names and numbers leads to, as KEDA reads it."""
    for part in path.split("."):
        document = document[int(part)] if isinstance(document, list) else document[part]
    return document


def test_every_block_is_something() -> None:
    kinds = [document.get("kind") for document in DOCUMENTS]
    assert kinds == [
        "CronJob", "PersistentVolumeClaim", "Deployment", "Service", "TriggerAuthentication", "ScaledObject", None,
    ]  # fmt: skip


def test_a_poll_of_keda_finds_a_number_and_changes_nothing(tmp_path: Path) -> None:
    (trigger,) = kind("ScaledObject")["spec"]["triggers"]
    metadata, url = trigger["metadata"], urlsplit(trigger["metadata"]["url"])
    assert (trigger["type"], metadata["authMode"]) == ("metrics-api", "bearer")
    with local(tmp_path, token=TOKEN) as client:
        assert client.get(url.path, headers=HEADERS).status_code == 404  # KEDA's fallback
        client.client.headers.update(HEADERS)
        client.act("web")
        client.observe("web", gradient=-7.5, round=0)
        client.act("web")
        before = client.known()
        files = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
        for _ in range(5):
            answer = client.get(url.path)
            value = gjson(answer.json(), metadata["valueLocation"])
            assert type(value) in (int, float)
            assert gjson(answer.json(), "decision.0") == value
            assert math.ceil(value / float(metadata["targetValue"])) == 8
        assert client.known() == before
        assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == files


def test_the_token_is_one_secret_everywhere() -> None:
    (reference,) = kind("TriggerAuthentication")["spec"]["secretTargetRef"]
    assert reference == {"parameter": "token", "name": "driftwise", "key": "token"}
    (trigger,) = kind("ScaledObject")["spec"]["triggers"]
    assert trigger["authenticationRef"]["name"] == kind("TriggerAuthentication")["metadata"]["name"]
    cron = kind("CronJob")["spec"]["jobTemplate"]["spec"]["template"]["spec"]
    for pod in (kind("Deployment")["spec"]["template"]["spec"], cron):
        (variable,) = pod["containers"][0]["env"]
        assert variable == {
            "name": "DRIFTWISE_TOKEN",
            "valueFrom": {"secretKeyRef": {"name": "driftwise", "key": "token"}},
        }
    assert "create secret generic driftwise --from-literal=token=" in PAGE


def test_the_deployment_starts_and_is_one(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    found: dict[str, Any] = {}
    monkeypatch.setattr("driftwise.serve.serve", lambda learner, state, **options: found.update(options, state=state))
    monkeypatch.setenv("DRIFTWISE_TOKEN", TOKEN)
    spec = kind("Deployment")["spec"]
    assert (spec["replicas"], spec["strategy"]) == (1, {"type": "Recreate"})
    (container,) = spec["template"]["spec"]["containers"]
    result = RUNNER.invoke(app, container["args"])
    assert result.exit_code == 0, result.output
    assert found["token"] == TOKEN
    assert str(found["state"]) == container["volumeMounts"][0]["mountPath"]
    assert found["port"] == container["ports"][0]["containerPort"]
    service = kind("Service")
    host = urlsplit(kind("ScaledObject")["spec"]["triggers"][0]["metadata"]["url"])
    assert (host.hostname, host.port) == (service["metadata"]["name"], service["spec"]["ports"][0]["port"])
    assert service["spec"]["selector"] == spec["template"]["metadata"]["labels"]
    with local(tmp_path, token=TOKEN) as client:
        for probe in ("startupProbe", "livenessProbe", "readinessProbe"):
            assert client.get(container[probe]["httpGet"]["path"]).status_code == 200
    low, high = (next(arg for arg in container["args"] if arg.startswith(name)) for name in ("--low", "--high"))
    scaled = kind("ScaledObject")["spec"]
    assert [f"--low={scaled['minReplicaCount']}", f"--high={scaled['maxReplicaCount']}"] == [low, high]


def test_prometheus_finds_what_the_alarms_are_about(tmp_path: Path) -> None:
    (job,) = DOCUMENTS[-1]["scrape_configs"]
    assert job["authorization"]["type"] == "Bearer"
    with local(tmp_path, token=TOKEN) as client:
        names = {name for name, _ in parse(client.get("/metrics", headers=HEADERS).text)}
    quoted = set(re.findall(r"driftwise_[a-z_]+", PAGE)) - {"driftwise_decision"}
    assert len(quoted) == 3
    assert quoted <= names


def test_the_image_compiles_families_that_there_are() -> None:
    (block,) = blocks_of("serve", "dockerfile")
    named = re.findall(r"--family (\S+)", block)
    assert {"self-tuned-learner", "losses"} <= set(named) <= set(FAMILIES)


def curls() -> Iterator[tuple[str, str, bytes | None]]:
    """Yield the requests that the page makes with curl."""
    for block in blocks_of("serve", "sh"):
        for line in block.splitlines():
            if line.startswith("curl "):
                words = shlex.split(line)[1:]
                body = words[words.index("--json") + 1].encode() if "--json" in words else None
                method = words[words.index("-X") + 1] if "-X" in words else "GET" if body is None else "POST"
                yield method, urlsplit(words[-1]).path, body


def test_what_curl_is_told_to_send_is_answered(tmp_path: Path) -> None:
    found = list(curls())
    assert [method for method, _, _ in found] == ["POST", "POST", "GET"]
    with local(tmp_path, machines()) as client:
        for method, path, body in found:
            headers = {} if body is None else {"Content-Type": "application/json"}
            answer = client.send(method, path, content=body, headers=headers)
            assert answer.status_code == 200, answer.text
        assert answer.json()["round"] == 1


def test_the_command_of_the_page_is_understood(monkeypatch: pytest.MonkeyPatch) -> None:
    called: list[Any] = []
    monkeypatch.setattr("driftwise.serve.serve", lambda learner, state, **options: called.append(learner("web").act()))
    (line,) = [
        line for block in blocks_of("serve", "sh") for line in block.splitlines() if line.startswith("driftwise")
    ]
    result = RUNNER.invoke(app, shlex.split(line)[1:])
    assert result.exit_code == 0, result.output
    shown = re.search(r'``\{"key":"web","round":0,"decision":\[([\d.]+)\],"value":(\d+)\}``', PAGE)
    assert shown
    assert called == [float(shown[1])] == [float(shown[2])]


def test_the_table_has_every_route(tmp_path: Path) -> None:
    said = set(re.findall(r"``(GET|POST|DELETE) (/\S*?)``", PAGE))
    paths = make_app(machines(), tmp_path).openapi()["paths"]
    assert said == {(method.upper(), path) for path, some in paths.items() for method in some} | {("GET", "/docs")}


def names_of_the_page(monkeypatch: pytest.MonkeyPatch, folder: Path) -> dict[str, Any]:
    """Return what the code of the page makes, which sets DRIFTWISE_TOKEN."""
    monkeypatch.chdir(folder)
    monkeypatch.setenv("DRIFTWISE_TOKEN", "")  # the page sets it
    names: dict[str, Any] = {"__name__": "page"}
    for block in blocks_of("serve", "python"):
        exec(block, names)
    return names


def test_a_job_that_dies_anywhere_is_caught_up_with(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = names_of_the_page(monkeypatch, tmp_path)
    call, catch_up, first = names["call"], names["catch_up"], names["first"]
    calls: list[int] = []

    def dies(*arguments: Any) -> Any:
        calls.append(1)
        if len(calls) % 5 == 0:
            raise ConnectionError
        answer = call(*arguments)
        if len(calls) % 7 == 0:  # it was taken in, and the answer is lost
            raise ConnectionError
        return answer

    found = []
    for broken in (False, True):
        monkeypatch.setitem(names, "call", dies if broken else call)
        with background(names["learner"], tmp_path / str(broken), token="a token of your own") as url:
            for _ in range(100):
                try:
                    catch_up(url, "web", first, first + datetime.timedelta(25))
                    break
                except ConnectionError:
                    continue
            found.append(call(url, "/learners/web"))
    assert len(calls) > 60
    assert found[0] == found[1]
    assert found[0]["round"] == 25


def test_the_script_of_the_page_is_whole(tmp_path: Path) -> None:
    """It is run as cron runs it: in a process of its own, from a file with nothing else in it."""
    (script,) = [block for block in blocks_of("serve", "python") if "catch_up.py" in block]
    (tmp_path / "catch_up.py").write_text(script)
    (line,) = [block for block in blocks_of("serve", "text") if "catch_up.py" in block]
    words = line.split()
    container = kind("CronJob")["spec"]["jobTemplate"]["spec"]["template"]["spec"]["containers"][0]
    assert words[-3:] == ["http://127.0.0.1:8000", *container["command"][-2:]]
    assert words[6].partition("=")[0] == container["env"][0]["name"] == "DRIFTWISE_TOKEN"

    def run(*arguments: str, token: str = TOKEN) -> tuple[int, str, str]:
        command = [sys.executable, "-I", "catch_up.py", *arguments]
        environment = {**os.environ, "DRIFTWISE_TOKEN": token}
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=60)
        return done.returncode, done.stdout, done.stderr

    before = datetime.datetime.now(datetime.UTC).date() - datetime.timedelta(9)
    with background(machines(), tmp_path / "state", token=TOKEN) as url:
        first, again = (run(url, "web", before.isoformat()) for _ in range(2))
        assert first == again
        assert first[0] == 0, first
        state = httpx.get(f"{url}/learners/web", headers=HEADERS).json()
        assert state["round"] in (9, 10)  # midnight may have passed
        assert float(first[1]) == state["value"] > 0.0
        assert run(url, "web")[0] == 1
        assert "catch_up.py URL KEY FIRST_DAY" in run(url, "web")[2]
        code, _, said = run(url, "web", (before + datetime.timedelta(2)).isoformat())
        assert (code, "act is for round" in said) == (1, True)
        assert "401" in run(url, "web", before.isoformat(), token="another one altogether")[2]
