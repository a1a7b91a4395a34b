"""The typed client that the contract follows: which model of it an answer must fit.

Its calls are told by the text of its modules, so that a process builds the models of
those it meets alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import EnumType
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, get_args

import junction
from junction.core.pydantic_utilities import parse_obj_as

_CALL = re.compile(
    r"\) -> HttpResponse\[(?P<answer>[^\n]+)\]:\n(?:(?!-> HttpResponse).)*?"
    r"\.request\(\s*f?\"(?P<path>[^\"]+)\",\s*method=\"(?P<method>[A-Z]+)\"",
    re.DOTALL,
)
_PARAMETER = re.compile(r"\{[^}]+\}")


@cache
def calls() -> dict[tuple[str, str], tuple[str, str]]:
    """Module and type of the answer by method and path, its parameters as {}."""
    return dict(_calls())


def _calls() -> Iterator[tuple[tuple[str, str], tuple[str, str]]]:
    for file in Path(junction.__path__[0]).glob("*/raw_client.py"):
        text = file.read_text().partition("class AsyncRaw")[0]
        for found in _CALL.finditer(text):
            path = "/" + _PARAMETER.sub("{}", found["path"]).rstrip("/")
            module = f"junction.{file.parent.name}.raw_client"
            yield (found["method"], path), (module, found["answer"])


@cache
def answer_of(method: str, path: str) -> Any:
    """The type that the client reads a call's answer as; None where it reads none.

    `path` is a published one, or one of those that it stands for.
    """
    wanted = method.upper(), _PARAMETER.sub("{}", path).rstrip("/")
    if wanted not in calls():
        return None
    module, answer = calls()[wanted]
    return eval(answer, vars(import_module(module)))  # noqa: S307


def read_as_client(body: Any, method: str, path: str) -> None:
    """Read an answer as the client would. Raises: pydantic.ValidationError."""
    answer = answer_of(method, path)
    if answer is not None:
        parse_obj_as(answer, body)


@cache
def events() -> dict[str, Any]:
    """Models of events by their type."""
    found: dict[str, Any] = {}
    for file in Path(junction.__path__[0], "types").glob("client_facing_*.py"):
        text = file.read_text()
        if "    event_type: " not in text:
            continue
        model = getattr(junction, re.search(r"^class (\w+)", text, re.MULTILINE)[1])
        kind = model.model_fields["event_type"].annotation
        names = kind if isinstance(kind, EnumType) else get_args(kind)
        found |= {str(name): model for name in names}
    return found
