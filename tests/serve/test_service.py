"""What is there again in the next process, whatever happened to the last one."""

import asyncio
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import driftwise as dw
from driftwise.errors import CheckpointError, ParameterError, StorageError
from driftwise.serve.begin import Rounding
from driftwise.serve.records import BEGINNING, frame, read
from driftwise.serve.service import Service
from driftwise.serve.shapes import Asked, Told
from tests.serve.local import CAPACITY, Own, local, machines, tuned


def service(folder: Path, learner: Any = None, **options: Any) -> Service:
    """Return a service that does not wait for the disk."""
    usual: dict[str, Any] = {"max_learners": 50, "every": 1000, "sync": False, "classes": ()}
    return Service(machines() if learner is None else learner, folder, **(usual | options))


def known(one: Service) -> dict[str, Any]:
    return {key: entry.saved() for key, entry in one.entries.items()}


def found_in(folder: Path, learner: Any = None) -> dict[str, Any]:
    """Return what the next process knows."""
    one = service(folder, learner)
    one.open()
    found = known(one)
    one.close()
    return found


class Driver:
    """Does things to a service, at random."""

    def __init__(self, one: Service, seed: int) -> None:
        self.service, self.rng = one, np.random.default_rng(seed)

    async def step(self) -> None:
        key, choice = "abcdefgh"[int(self.rng.integers(8))], self.rng.random()
        entry = self.service.entries.get(key)
        if choice < 0.06 and entry is not None:
            await self.service.forget(key)
        elif entry is None or entry.asked is None:
            proposal = float(self.rng.integers(40)) if choice < 0.5 and isinstance(entry, object) else None
            takes = entry is not None and isinstance(entry.learner, dw.SelfTunedLearner)
            await self.service.act(key, Asked(proposal=proposal if takes else None))
        elif choice < 0.2:
            await self.service.observe(key, Told(skip=True, round=entry.learner.round))
        elif choice < 0.3:
            await self.service.observe(key, Told(gradient=-1.5))
        else:
            loss = {**CAPACITY, "demand": float(self.rng.integers(40))}
            await self.service.observe(key, Told.model_validate({"loss": loss}))


@pytest.mark.parametrize("learner", [machines(), tuned(), dw.rounded(tuned(), seed=1)], ids=["ogd", "tuned", "rounded"])
def test_events_are_taken_in_again_bit_for_bit(tmp_path: Path, learner: dw.Learner) -> None:
    one = service(tmp_path, learner)
    one.open()
    driver = Driver(one, seed=0)
    for i in range(150):
        asyncio.run(driver.step())
        if i % 30 == 29:
            shutil.copytree(tmp_path, tmp_path.with_name(f"{tmp_path.name}-{i}"))
            assert found_in(tmp_path.with_name(f"{tmp_path.name}-{i}"), learner) == known(one)
    assert max(entry.learner.round for entry in one.entries.values()) > 3
    one.close()


def test_a_crash_at_any_moment_of_a_checkpoint_changes_no_learner(tmp_path: Path) -> None:
    one = service(tmp_path / "state")
    one.open()
    driver = Driver(one, seed=1)
    copies: list[dict[str, Any]] = []

    async def busy() -> None:
        for _ in range(40):
            await driver.step()
        for _ in range(6):
            task = asyncio.create_task(one.checkpoint())
            while not task.done():
                await driver.step()
                shutil.copytree(tmp_path / "state", tmp_path / f"{len(copies)}")
                copies.append(known(one))
                await asyncio.sleep(0)
            await task

    asyncio.run(busy())
    one.close()
    assert len(copies) > 40
    for i, expected in enumerate(copies):
        assert found_in(tmp_path / f"{i}") == expected


def test_the_end_in_order_writes_everything_in_one_place(tmp_path: Path) -> None:
    with local(tmp_path, tuned()) as client:
        for key in ("a", "b"):
            client.act(key)
            client.observe(key)
        before = client.known()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["checkpoint-1", "journal-1", "lock"]
    assert len(list(read(tmp_path / "journal-1", may_be_cut=False))) == 1  # its head
    with local(tmp_path, tuned()) as client:
        assert client.known() == before
    assert (tmp_path / "checkpoint-1").exists()  # nothing was done: nothing is written


def test_the_end_in_order_makes_the_checkpoint_that_was_interrupted(tmp_path: Path) -> None:
    one = service(tmp_path)

    async def run() -> None:
        one.open()
        for key in ("a", "b"):
            await one.act(key, Asked())
            await one.observe(key, Told(gradient=1.0))
        interrupted = asyncio.create_task(one.checkpoint())
        while not (tmp_path / "journal-1").exists():
            await asyncio.sleep(0)
        interrupted.cancel()
        await asyncio.gather(interrupted, return_exceptions=True)
        assert not (tmp_path / "checkpoint-1").exists()
        assert one.store.events == 6  # each begins, acts and observes
        await one.finish()

    asyncio.run(run())
    assert sorted(path.name for path in tmp_path.iterdir()) == ["checkpoint-2", "journal-2", "lock"]
    assert found_in(tmp_path) == known(one)


def test_a_checkpoint_that_failed_is_tried_again_without_another_event(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = service(tmp_path, every=1)
    tries = []

    async def run() -> None:
        one.open()
        whole = one.store.checkpoint

        async def fails_once(learners: Any) -> None:
            tries.append(one.store.events)
            if len(tries) == 1:
                one.store._begin(one.store.generation + 1)  # as far as a full disk lets it come
                raise StorageError("there is no room")
            await whole(learners)

        monkeypatch.setattr(one.store, "checkpoint", fails_once)
        for _ in range(3):
            await one.act("web", Asked())
            await one.observe("web", Told(gradient=1.0))
        keeping = asyncio.create_task(one.keep())
        while not (tmp_path / "checkpoint-2").exists():
            await asyncio.sleep(0.05)
        keeping.cancel()

    asyncio.run(asyncio.wait_for(run(), 30.0))
    assert tries == [7, 7]
    one.close()
    assert found_in(tmp_path) == known(one)


def test_checkpoints_are_made_when_they_are_due(tmp_path: Path) -> None:
    one = service(tmp_path, every=10)

    async def run() -> None:
        one.open()
        keeping = asyncio.create_task(one.keep())
        for _ in range(12):
            await one.act("web", Asked())
            await one.observe("web", Told(gradient=1.0))
        while not (tmp_path / "checkpoint-1").exists():
            await asyncio.sleep(0.05)
        keeping.cancel()

    asyncio.run(asyncio.wait_for(run(), 30.0))
    expected = known(one)
    one.close()
    assert found_in(tmp_path) == expected


@pytest.mark.parametrize("error", [StorageError("there is no room"), ValueError("a learner cannot be saved")])
def test_a_checkpoint_that_fails_is_counted_and_loses_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], error: Exception
) -> None:
    one = service(tmp_path, every=1)

    def fails(*_: object) -> None:
        raise error

    async def run() -> None:
        one.open()
        monkeypatch.setattr(one.store, "checkpoint", fails)
        keeping = asyncio.create_task(one.keep())
        for _ in range(3):
            await one.act("web", Asked())
            await one.observe("web", Told(gradient=1.0))
        while not one.counts["checkpoint_failures"]:
            await asyncio.sleep(0.05)
        keeping.cancel()

    asyncio.run(run())
    expected = known(one)
    asyncio.run(one.finish())
    assert one.counts["checkpoint_failures"] == 2
    assert capsys.readouterr().err == f"driftwise: {type(error).__name__}: {error}\n" * 2
    assert found_in(tmp_path) == expected


def test_keys_keep_the_learner_that_they_have(tmp_path: Path) -> None:
    with local(tmp_path) as client:
        client.act("old")
        client.observe("old", gradient=-2.0)
    with local(tmp_path, dw.OGD(dw.Box([0.0], [7.0]), step=1.0)) as client:
        client.act("new")
        assert "high=[40.]" in client.get("/learners/old").json()["learner"]
        assert "high=[7.]" in client.get("/learners/new").json()["learner"]
        assert client.act("old")["value"] == 2


SETTINGS: dict[str, Any] = {"switching_cost": dw.MoveCost(up=6.0, down=0.0), "start": [10.0], "period": 4}


@pytest.mark.parametrize(
    "changed",
    [
        {"switching_cost": 6.0}, {"switching_cost": dw.MoveCost(up=6.0, down=1.0)}, {"period": 5}, {"late": 1},
        {"high": 41.0}, {"whole": True}, {"start": [11.0]}, {},
    ],
    ids=repr,
)  # fmt: skip
def test_other_settings_than_those_of_old_keys_are_said(
    tmp_path: Path, changed: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    def made(high: float = 40.0, whole: bool = False, **options: Any) -> Any:
        learner = dw.SelfTunedLearner(dw.Box([0.0], [high]), **{**SETTINGS, **options})
        return Rounding(learner) if whole else learner

    with local(tmp_path, made()) as client:
        for key in ("b", "a"):
            client.act(key)
    with local(tmp_path, made()):
        pass
    assert capsys.readouterr().err == ""
    with local(tmp_path, made(**changed)) as client:
        said = capsys.readouterr().err
        client.act("new")
        settings = {key: client.get(f"/learners/{key}").json()["settings"] for key in ("a", "new")}
    differs = bool(changed) and "start" not in changed  # what is in force is not a setting
    assert ("2 of 2 learners" in said and "among them 'a'" in said) == differs
    assert (settings["a"] != settings["new"]) == differs
    assert settings["a"] == {
        "low": [0.0], "high": [40.0], "switching_cost": {"up": 6.0, "down": 0.0}, "period": 4, "late": 0,
        "whole": False,
    }  # fmt: skip
    with local(tmp_path, made(**changed)):
        assert ("2 of 3 learners" in capsys.readouterr().err) == differs


def test_a_learner_that_knows_no_bounds_and_no_season_has_none(tmp_path: Path) -> None:
    with local(tmp_path, dw.OGD(dw.Ball(2), step=1.0)) as client:
        client.act()
        settings = client.get("/learners/web").json()["settings"]
    assert settings == {
        "low": None, "high": None, "switching_cost": 0.0, "period": None, "late": 0, "whole": False,
    }  # fmt: skip


def test_learners_may_be_made_by_a_function_of_the_key(tmp_path: Path) -> None:
    asked = []

    def make(key: str) -> dw.Learner:
        asked.append(key)
        return dw.OGD(dw.Box([0.0], [float(len(key))]), step=1.0)

    with local(tmp_path, make) as client:
        for key in ("a", "bcd", "a"):
            client.act(key)
        assert "high=[3.]" in client.get("/learners/bcd").json()["learner"]
    assert asked == ["a", "bcd"]
    with local(tmp_path, make) as client:
        assert client.act("a")["value"] == 0
    assert asked == ["a", "bcd"]


def test_a_function_that_knows_no_such_key_is_quoted(tmp_path: Path) -> None:
    def make(key: str) -> dw.Learner:
        if key == "bad":
            raise ParameterError("it has no bounds.")
        return dw.OGD(dw.Box([0.0], [{"web": 40.0}[key]]), step=1.0)

    with local(tmp_path, make) as client:
        client.act("web")
        for key, status, kind, said in (
            ("other", 404, "UnknownKey", "There is no learner for 'other': other"),
            ("bad", 422, "ParameterError", "it has no bounds."),
        ):
            answer = client.post(f"/learners/{key}/act")
            assert (answer.status_code, answer.json()) == (status, {"error": said, "kind": kind})
        assert sorted(client.service.entries) == ["web"]
        assert client.act("web")["value"] == 0


def test_a_class_of_your_own_must_be_named(tmp_path: Path) -> None:
    own = Own(dw.Box([0.0], [9.0]))
    with local(tmp_path, own, classes=[Own]) as client:
        client.act()
        client.observe("web", gradient=-3.0)
    with pytest.raises(CheckpointError, match="Own"):
        local(tmp_path, own).__enter__()
    with local(tmp_path, own, classes=[Own]) as client:
        assert client.act()["value"] == 3


def test_a_learner_that_cannot_be_saved_is_refused_at_once(tmp_path: Path) -> None:
    class Forgets(Own):
        state_names = None  # type: ignore[assignment]

    with pytest.raises(CheckpointError, match="state_names"):
        local(tmp_path, Forgets(dw.Box([0.0], [9.0]))).__enter__()


def rewritten(path: Path, change: Any) -> None:
    """Write a journal anew, with digests that fit."""
    records = [(dict(record.what), record.blob) for record in read(path, may_be_cut=False)]
    change(records)
    digest, data = BEGINNING, b""
    for what, blob in records:
        piece, digest = frame(digest, what, blob)
        data += piece
    path.write_bytes(data)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda records: records[3][0].update(decision=[5.0]), "had decided [5.0]. After a crash, start with the vers"),
        (lambda records: records[3][0].update(do="dance"), "is 'dance', which this version does not know"),
        (lambda records: records[3][0].update(told={"gradient": "x"}), "is none of this version's"),
        (lambda records: records[3][0].pop("told"), "is none of this version's"),
        (lambda records: records[2][0].update(key="other"), "is about key 'other', which there is not"),
        (lambda records: records.pop(2), "has event 3 after 1"),
    ],
)
def test_a_journal_that_does_not_fit_is_refused(tmp_path: Path, change: Any, said: str) -> None:
    with local(tmp_path) as client:
        client.act()
        client.observe()
        client.act()
        shutil.copytree(tmp_path, tmp_path / "copy")
    rewritten(tmp_path / "copy" / "journal-0", change)
    with pytest.raises(CheckpointError) as error:
        found_in(tmp_path / "copy")
    assert said in str(error.value)


def test_a_journal_that_has_lost_what_the_checkpoint_knows_is_refused(tmp_path: Path) -> None:
    one = service(tmp_path)
    one.open()

    async def run() -> None:
        await one.act("web", Asked())
        task = asyncio.create_task(one.checkpoint())
        await one.act("other", Asked())
        await asyncio.sleep(0)
        await one.observe("web", Told(gradient=1.0))  # before or after it was written
        await task

    asyncio.run(run())
    one.entries["web"].event = 9
    asyncio.run(one.checkpoint())
    one.close()
    with pytest.raises(CheckpointError, match="have lost events that the checkpoint knows"):
        found_in(tmp_path)
