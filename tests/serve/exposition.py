"""A strict reader of the Prometheus text format, version 0.0.4: whatever is not in it is an error."""

import re

NAME = r"[a-zA-Z_:][a-zA-Z0-9_:]*"
LABEL = r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)"'
SAMPLE = re.compile(rf"({NAME})(?:\{{({LABEL}(?:,{LABEL})*)\}})? (\S+)")

Series = dict[tuple[str, tuple[tuple[str, str], ...]], float]


def parse(text: str) -> Series:
    """Return the series of a page of metrics."""
    assert text.endswith("\n")
    found: Series = {}
    kinds: dict[str, str] = {}
    helped: set[str] = set()
    current = ""
    for line in text.splitlines():
        if match := re.fullmatch(rf"# HELP ({NAME}) (.+)", line):
            assert match[1] not in helped
            helped.add(match[1])
            current = match[1]
        elif match := re.fullmatch(rf"# TYPE ({NAME}) (counter|gauge|summary)", line):
            assert match[1] == current
            assert match[1] not in kinds
            kinds[match[1]] = match[2]
        else:
            sample = SAMPLE.fullmatch(line)
            assert sample, line
            name = sample[1]
            if kinds[current] == "summary":
                assert name in (f"{current}_sum", f"{current}_count")
            else:
                assert name == current
            if kinds[current] == "counter":
                assert name.endswith("_total")
                assert float(sample.groups()[-1]) >= 0.0
            labels = tuple(re.findall(LABEL, sample[2] or ""))
            assert len({label for label, _ in labels}) == len(labels)
            assert (name, labels) not in found
            found[name, labels] = float(sample.groups()[-1])
    assert set(kinds) == helped
    return found
