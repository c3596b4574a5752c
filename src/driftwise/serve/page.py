"""A page about the API, made of its OpenAPI document; it loads nothing from anywhere."""

import html
import json
from typing import Any

POLICY = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'"

STYLE = (
    "body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}"
    "h2{font:600 1.1rem ui-monospace,monospace;border-top:1px solid #ccc;padding-top:1rem}"
    "pre{background:#f4f4f4;padding:.7rem;overflow:auto;font-size:.85rem}td{padding:.1rem 1rem .1rem 0}"
)


def page(document: dict[str, Any]) -> str:
    """Return the page."""
    parts = [f"<h1>{_text(document['info']['title'])}</h1><p>{_text(document['info']['description'])}</p>"]
    parts.append('<p>As a document for tools: <a href="openapi.json">openapi.json</a></p>')
    for path, methods in document["paths"].items():
        for method, what in methods.items():
            parts.append(f"<h2>{method.upper()} {_text(path)}</h2><p>{_text(what.get('description', ''))}</p>")
            body = what.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema")
            if body:
                parts.append(f"<p>Body: {_names(body)}</p>")
            rows = "".join(
                f"<tr><td>{status}</td><td>{_text(answer['description'])}</td><td>{_answered(answer)}</td></tr>"
                for status, answer in what["responses"].items()
            )
            parts.append(f"<table>{rows}</table>")
    parts.append("<h1>Shapes</h1>")
    for name, schema in document["components"]["schemas"].items():
        parts.append(f'<h2 id="{_text(name)}">{_text(name)}</h2><pre>{_text(json.dumps(schema, indent=1))}</pre>')
    head = f"<!doctype html><html lang=en><meta charset=utf-8><title>{_text(document['info']['title'])}</title>"
    return f"{head}<style>{STYLE}</style><body>{''.join(parts)}</body></html>"


def _answered(answer: dict[str, Any]) -> str:
    return "".join(_names(content.get("schema", {})) for content in answer.get("content", {}).values())


def _names(schema: dict[str, Any]) -> str:
    """Return links to the shapes that a schema names."""
    found = [schema, *schema.get("anyOf", [])]
    names = [_text(one["$ref"].rpartition("/")[2]) for one in found if "$ref" in one]
    return ", ".join(f'<a href="#{name}">{name}</a>' for name in names)


def _text(text: str) -> str:
    return html.escape(str(text))
