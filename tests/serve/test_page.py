"""The page about the API."""

import re
from pathlib import Path

from driftwise.serve.page import page
from tests.serve.local import local


def test_it_shows_every_operation_and_loads_nothing(tmp_path: Path) -> None:
    with local(tmp_path) as client:
        answer = client.get("/docs")
        document = client.get("/openapi.json").json()
    assert answer.headers["content-type"].startswith("text/html")
    assert "default-src 'none'" in answer.headers["content-security-policy"]
    for path, methods in document["paths"].items():
        for method in methods:
            assert f"<h2>{method.upper()} {path}</h2>" in answer.text
    names = set(re.findall(r'href="#(\w+)"', answer.text))
    assert {"Asked", "Told", "State", "Problem"} <= names
    assert names <= set(re.findall(r'id="(\w+)"', answer.text))
    assert "http://" not in answer.text
    assert "https://" not in answer.text
    assert "<script" not in answer.text


def test_what_stands_in_the_document_is_no_html() -> None:
    info = {"title": "<b>", "description": '"&"'}
    shown = page({"info": info, "paths": {}, "components": {"schemas": {"A": {"x": "<i>"}}}})
    assert "<b>" not in shown
    assert "<i>" not in shown
    assert "&lt;b&gt;" in shown
