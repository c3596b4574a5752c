"""The state of a service as Prometheus reads it, text format 0.0.4."""

import time
from collections.abc import Iterable

from driftwise.serve.gate import Traffic
from driftwise.serve.service import Service

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
MOST_KEYS = 100
"""Keys whose decisions are shown, the first that there were; every other one would be a series too many."""
MOST_COORDINATES = 8

Sample = tuple[dict[str, str], float]


def family(name: str, kind: str, about: str, samples: Iterable[tuple[str, dict[str, str], float]]) -> str:
    r"""Return the lines of one metric; a sample is a suffix to the name, labels, and the number.

    Examples
    --------
    >>> print(family("d_total", "counter", "Days.", [("", {"of": 'a "b"'}, 2.0)]), end="")
    # HELP d_total Days.
    # TYPE d_total counter
    d_total{of="a \"b\""} 2.0
    """
    lines = [f"# HELP {name} {_escaped(about)}", f"# TYPE {name} {kind}"]
    for suffix, labels, number in samples:
        shown = ",".join(f'{label}="{_escaped(value, quotes=True)}"' for label, value in labels.items())
        lines.append(f"{name}{suffix}{f'{{{shown}}}' if shown else ''} {float(number)!r}")
    return "\n".join(lines) + "\n"


def _escaped(text: str, quotes: bool = False) -> str:
    text = text.replace("\\", "\\\\").replace("\n", "\\n")
    return text.replace('"', '\\"') if quotes else text


def render(service: Service, traffic: Traffic) -> str:
    """Return all metrics of a service."""
    from driftwise import __version__

    counts, store = service.counts, service.store
    shown = [entry for entry in list(service.entries.values())[:MOST_KEYS] if entry.decision is not None]
    decisions = [
        ("", {"key": entry.key, "coordinate": str(i)}, number)
        for entry in shown
        if entry.decision is not None
        for i, number in enumerate(entry.decision[:MOST_COORDINATES].tolist())
    ]
    requests = [
        ("", {"method": method, "route": route, "status": str(status)}, float(number))
        for (method, route, status), number in traffic.requests.items()
    ]
    seconds = []
    for (method, route), total in traffic.seconds.items():
        labels = {"method": method, "route": route}
        number = sum(n for (m, r, _), n in traffic.requests.items() if (m, r) == (method, route))
        seconds += [("_sum", labels, float(total)), ("_count", labels, float(number))]
    refused = sum(number for (_, _, status), number in traffic.requests.items() if 400 <= status < 500)

    def one(name: str, kind: str, about: str, number: float) -> str:
        return family(f"driftwise_{name}", kind, about, [("", {}, number)])

    return "".join(
        [
            family("driftwise_build_info", "gauge", "Always 1.", [("", {"version": __version__}, 1.0)]),
            one("start_time_seconds", "gauge", "When it was started, in seconds since 1970.", traffic.began),
            one("learners", "gauge", "Keys that have a learner.", len(service.entries)),
            one("learners_limit", "gauge", "Keys that may have one.", service.max_learners),
            one("rounds_total", "counter", "Feedback taken in, rounds that were skipped included.", counts["rounds"]),
            one("skipped_rounds_total", "counter", "Rounds ended without feedback.", counts["skipped"]),
            one("repeated_feedback_total", "counter", "Feedback that had been taken in before.", counts["repeated"]),
            one("refused_requests_total", "counter", "Requests answered with a status from 400 to 499.", refused),
            one("learners_begun_total", "counter", "Learners made for new keys.", counts["begun"]),
            one("learners_forgotten_total", "counter", "Learners deleted.", counts["forgotten"]),
            one("journal_events", "gauge", "Events that the next start would have to play.", store.events),
            one("journal_bytes", "gauge", "Size of the journal.", store.size),
            one("checkpoint_age_seconds", "gauge", "Age of the last checkpoint.", time.time() - store.checkpointed),
            one("checkpoint_failures_total", "counter", "Failed checkpoints.", counts["checkpoint_failures"]),
            one("failed", "gauge", "1 if the disk failed and nothing is taken in any more.", bool(store.failed)),
            family("driftwise_decision", "gauge", f"Decisions of the first {MOST_KEYS} keys.", decisions),
            family("driftwise_requests_total", "counter", "Requests answered.", requests),
            family("driftwise_request_seconds", "summary", "Time from a request to its answer.", seconds),
        ]
    )
