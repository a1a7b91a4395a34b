"""Parsed values: build the types of the parser from JSON, and refuse any other shape.

Answers of the child process go through here, and what rows store of them.
"""

from __future__ import annotations

import dataclasses
import math
from enum import StrEnum
from functools import cache
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Any, Union, get_args, get_origin, get_type_hints

from reports.parser.report import Metadata

if TYPE_CHECKING:
    from reports.models import ParsingJob


@cache
def _type_hints(kind: type) -> dict[str, Any]:
    return get_type_hints(kind)


def build_parsed_value_from_json(kind: Any, value: Any) -> Any:
    """Build a value of a type of reports.parser.report from JSON, refusing other input.

    Raises ValueError or TypeError. NUL is dropped: PostgreSQL takes no text with it.
    Source: Ours: what a stranger's file made is checked like any input.
    """
    arguments = get_args(kind)
    if get_origin(kind) in {Union, UnionType}:
        (inner,) = [part for part in arguments if part is not NoneType]
        return None if value is None else build_parsed_value_from_json(inner, value)
    if get_origin(kind) is tuple:
        return tuple(
            build_parsed_value_from_json(arguments[0], item)
            for item in exactly(list, value)
        )
    if dataclasses.is_dataclass(kind):
        given, hints = exactly(dict, value), _type_hints(kind)  # type: ignore[arg-type]  # a class
        if given.keys() != hints.keys():
            raise ValueError(kind)
        return kind(
            **{
                name: build_parsed_value_from_json(hints[name], given[name])
                for name in hints
            }
        )  # type: ignore[operator]  # as above
    if issubclass(kind, tuple):
        parts = zip(_type_hints(kind).values(), exactly(list, value), strict=True)
        return kind(*(build_parsed_value_from_json(hint, item) for hint, item in parts))
    if issubclass(kind, StrEnum):
        return kind(value)
    if kind is float:
        number = float(exactly(int, value) if type(value) is int else value)
        if type(value) not in {int, float} or not math.isfinite(number):
            raise ValueError(kind)
        return number
    found = exactly(kind, value)
    return found.replace("\0", "") if kind is str else found


def exactly(kind: type, value: Any) -> Any:
    """Return the value if its type is `kind` itself. Raises: TypeError."""
    if type(value) is not kind:
        raise TypeError(kind)
    return value


def build_stored_header(job: ParsingJob) -> Metadata:
    """Return the stored header of a report; empty before it was read."""
    known = job.metadata or {}
    names = Metadata.__dataclass_fields__
    return Metadata(**{name: known[name] for name in names if name in known})
