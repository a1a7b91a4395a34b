"""The published OpenAPI document, and the schema it gives for one answer."""

from __future__ import annotations

from functools import cache
from http import HTTPStatus
from pathlib import Path
from typing import Any

import yaml
from jsonschema import Draft202012Validator, FormatChecker

from tests.contract.typed_client import read_as_client

SNAPSHOT = Path(__file__).parent / "openapi.yaml"


@cache
def document() -> dict[str, Any]:
    # In C where the parser is built so, at a fifth of the time.
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    found: dict[str, Any] = yaml.load(SNAPSHOT.read_text(), Loader=loader)  # noqa: S506
    return found


def check_answer(reply: Any, method: str, path: str) -> None:
    """Fail unless the published schema has this answer, with no key unlisted.

    Nor if the typed client calls this path and can't read what is answered.
    """
    answers = document()["paths"][path][method]["responses"]
    published = answers[str(reply.status_code)]
    if "content" not in published:
        assert reply.content == b""
        return
    schema = {
        **published["content"]["application/json"]["schema"],
        "components": closed_components(),
    }
    validator = Draft202012Validator(schema, format_checker=FormatChecker())
    faults = [fault.message for fault in validator.iter_errors(reply.json())]
    assert faults == []
    if reply.status_code == HTTPStatus.OK:
        if "{resource}" in path:
            resource = reply.resolver_match.kwargs["resource"]
            path = path.replace("{resource}", resource)
        read_as_client(reply.json(), method, path)


@cache
def closed_components() -> Any:
    return closed(document()["components"])


def closed(schema: Any) -> Any:
    """The same schemas, objects with named properties refusing any other."""
    if isinstance(schema, list):
        return [closed(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    inner = {name: closed(each) for name, each in schema.items()}
    if isinstance(schema.get("properties"), dict) and schema.get("type") == "object":
        inner.setdefault("additionalProperties", False)
    return inner
