"""What Prometheus reads."""

from pathlib import Path

import pytest

from driftwise.serve.metrics import MOST_KEYS, family
from tests.serve.exposition import parse
from tests.serve.local import local


def test_they_count_what_was_done(tmp_path: Path) -> None:
    with local(tmp_path) as client:
        for key in ("web", "mail"):
            client.act(key)
        client.observe("web", gradient=-3.0, round=0)
        client.observe("web", gradient=-3.0, round=0)
        client.observe("mail", skip=True)
        client.act("web")
        assert client.post("/learners/mail/observe", {"gradient": 1.0}).status_code == 409
        assert client.get("/nothing/at/all").status_code == 404
        answer = client.get("/metrics")
    assert answer.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
    series = parse(answer.text)
    plain = {name: number for (name, labels), number in series.items() if not labels}
    expected = {
        "learners": 2,
        "rounds_total": 2,
        "skipped_rounds_total": 1,
        "repeated_feedback_total": 1,
        "refused_requests_total": 2,
        "learners_begun_total": 2,
        "journal_events": 7,
        "failed": 0,
    }
    assert {name: plain[f"driftwise_{name}"] for name in expected} == expected
    assert series["driftwise_decision", (("key", "web"), ("coordinate", "0"))] == 3.0
    act = (("method", "POST"), ("route", "/learners/{key}/act"))
    assert series["driftwise_requests_total", (*act, ("status", "200"))] == 3.0
    assert series["driftwise_request_seconds_count", act] == 3.0
    assert series["driftwise_request_seconds_sum", act] > 0.0
    assert series["driftwise_requests_total", (("method", "GET"), ("route", "other"), ("status", "404"))] == 1.0


def test_there_are_never_too_many_series(tmp_path: Path) -> None:
    with local(tmp_path) as client:
        for i in range(MOST_KEYS + 20):
            client.act(f"k{i}")
            client.get(f"/nothing/{i}")
            client.send(f"VERB{i}", "/metrics")
        series = parse(client.get("/metrics").text)
    assert sum(name == "driftwise_decision" for name, _ in series) == MOST_KEYS
    assert sum(name == "driftwise_requests_total" for name, _ in series) < 6
    assert series["driftwise_learners", ()] == MOST_KEYS + 20


def test_whatever_stands_in_a_label_can_be_read() -> None:
    series = parse(family("d", "gauge", 'Days\\of "a"\nweek.', [("", {"of": 'a "b"\\\n', "to": ""}, 2.5)]))
    assert series == {("d", (("of", 'a \\"b\\"\\\\\\n'), ("to", ""))): 2.5}


@pytest.mark.parametrize(
    "text", ["d 1", "# HELP d D.\n# TYPE d gauge\nd 1\nd 2\n", '# HELP d D.\n# TYPE d gauge\nd{a="\n"} 1\n']
)
def test_the_reader_is_strict(text: str) -> None:
    with pytest.raises((AssertionError, KeyError)):
        parse(text)
