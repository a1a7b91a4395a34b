"""Readers of CSV and NDJSON: one sample per row, with a resource column.

Both have the names of a push (contract 5.4): `resource`, `timestamp` or `start` and
`end`, `value`, and where they tell something `unit`, `type`, `timezone_offset`,
`source_type`, `app_id`, `device_id`, `workout_id`, `sport` and what the resource has
besides. The explorer's own files of every record have `series` and `extra` instead, and
are taken as well.
"""

from __future__ import annotations

import csv
import io
import re
from typing import TYPE_CHECKING, Any
from uuid import UUID

import ijson
import orjson

from users.states import SourceType
from users.states.imports import DropReason, ImportRefusal
from users.wearables.formats.refusals import FileRefused
from users.wearables.formats.rows import Origin, Row, SampleRow, SkippedRows
from users.wearables.formats.units import find_conversion_to_resource_unit
from users.wearables.formats.uploads.forms import iterate_items
from users.wearables.formats.uploads.heads import HEAD_BYTES, Head
from users.wearables.formats.uploads.members import (
    Budget,
    MemberDamaged,
    iterate_upload_members,
)
from users.wearables.timeseries import TIMESERIES

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from users.wearables.readings import Context
    from users.wearables.timeseries import TimeseriesResource

# Ours: a note has 2000 signs; a longer line is no sample.
_LINE_MAX = 64 * 1024
_COLUMNS_MAX = 100
_DELIMITERS = (",", ";", "\t")
_WHOLE = re.compile(r"[+-]?\d{1,15}", re.ASCII)
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,3})?", re.ASCII)
_DECIMAL_COMMA = re.compile(r"[+-]?\d{1,15},\d{1,15}", re.ASCII)
_TEXTS = {
    *("resource", "timestamp", "start", "end", "unit", "type", "sport"),
    *("source_type", "app_id", "device_id", "workout_id", "provider"),
    *("series", "extra", "id"),
}
# What a row says of where it comes from, not of what was measured.
_ABOUT = frozenset(
    {
        *("resource", "series", "extra", "id"),
        *("provider", "source_type", "app_id", "device_id"),
    }
)
_BY_NAME: dict[str, TimeseriesResource] = {
    **{resource.event_resource: resource for resource in TIMESERIES.values()},
    **TIMESERIES,
}


class _TableReader:
    """Base of line-based readers with bounded memory."""

    def __init__(self, path: Path, context: Context, file_name: str) -> None:
        self.provider = context.provider
        self.bytes_total = path.stat().st_size
        self.bytes_read = 0
        self._path = path
        self._name = file_name
        with path.open("rb") as opened:
            self.head = Head(opened.read(HEAD_BYTES), file_name)

    def lines(self) -> Iterator[str]:
        """Yield lines without byte order mark. Raises: FileRefused."""
        with self._path.open("rb") as opened:
            text = io.TextIOWrapper(opened, self.head.encoding, newline="")
            try:
                for line in iter(lambda: text.readline(_LINE_MAX), ""):
                    self.bytes_read += len(line)
                    if len(line) >= _LINE_MAX:
                        raise FileRefused(ImportRefusal.DAMAGED)
                    if "\0" in line:
                        raise FileRefused(ImportRefusal.UNSUPPORTED)
                    yield line.removeprefix("\ufeff")
            except UnicodeDecodeError:
                raise FileRefused(ImportRefusal.DAMAGED) from None


class NdjsonReader(_TableReader):
    """A reader of JSON: one object per line, one after the other, or in a list."""

    def rows(self) -> Iterator[Row]:
        """Yield all rows. Raises: FileRefused."""
        first = self.head.text.lstrip().split("\n", 1)[0].rstrip()
        if first.startswith("[") or first == "{":
            yield from self._documents()
        else:
            yield from self._lines()

    def _lines(self) -> Iterator[Row]:
        for line in self.lines():
            if not line.strip():
                continue
            try:
                read = orjson.loads(line)
            except orjson.JSONDecodeError:
                # A download that was cut short ends within a line.
                if self.bytes_read >= self.bytes_total and not line.endswith("\n"):
                    raise FileRefused(ImportRefusal.DAMAGED) from None
                read = None
            if isinstance(read, dict):
                yield parse_health_data_row(read)
            else:
                yield SkippedRows(DropReason.BAD_ROW, "")

    def _documents(self) -> Iterator[Row]:
        """Yield rows of JSON written for people, over many lines."""
        is_list = self.head.text.lstrip().startswith("[")
        budget = Budget(self.bytes_total)

        def count(number: int) -> None:
            self.bytes_read += number

        (member,) = iterate_upload_members(self._path, self._name, budget, count)
        try:
            for read in iterate_items(member, "item" if is_list else ""):
                if isinstance(read, dict):
                    yield parse_health_data_row(read)
                else:
                    yield SkippedRows(DropReason.BAD_ROW, "")
        except (ijson.JSONError, ValueError, MemberDamaged):
            raise FileRefused(ImportRefusal.DAMAGED, "a JSON file") from None


class CsvReader(_TableReader):
    """A reader of CSV with a header; separated by comma, semicolon or tab.

    A comma within a number is its decimal mark where a comma separates no cells.
    """

    def rows(self) -> Iterator[Row]:
        """Yield all rows. Raises: FileRefused."""
        lines = self.lines()
        header = next(lines, "")
        delimiter = max(_DELIMITERS, key=header.count)
        (names,) = csv.reader([header], delimiter=delimiter)
        names = [name.strip().lower() for name in names]
        known = {name for name in names if name}
        if not (known & {"resource", "series"} and known & {"timestamp", "start"}):
            raise FileRefused(ImportRefusal.UNSUPPORTED)
        if len(names) > _COLUMNS_MAX or len(names) != len(set(names)):
            raise FileRefused(ImportRefusal.UNSUPPORTED)
        try:
            for cells in csv.reader(lines, delimiter=delimiter, strict=True):
                if not any(cells):
                    continue
                if len(cells) != len(names):
                    yield SkippedRows(DropReason.BAD_ROW, "")
                    continue
                yield parse_health_data_row(
                    {
                        name: _cell(name, cell, has_decimal_comma=delimiter != ",")
                        for name, cell in zip(names, cells, strict=True)
                        if cell.strip()
                    }
                )
        except csv.Error:
            raise FileRefused(ImportRefusal.DAMAGED) from None


def parse_health_data_row(given: dict[str, Any]) -> Row:
    """Parse a row, with its value in the resource's unit."""
    named = given.get("resource", given.get("series"))
    resource = _BY_NAME.get(named) if isinstance(named, str) else None
    if resource is None:
        return SkippedRows(
            DropReason.UNKNOWN_KIND, named if isinstance(named, str) else ""
        )
    origin = _origin(given)
    if origin is None:
        return SkippedRows(DropReason.BAD_ROW, resource.slug)
    element = {name: each for name, each in given.items() if name not in _ABOUT}
    element |= _extra(given.get("extra"))
    unit = element.get("unit")
    value_key = resource.value_key
    if isinstance(unit, str) and unit != resource.unit and value_key is not None:
        type_ = element.get("type")
        conversion = find_conversion_to_resource_unit(
            resource, unit, type_=type_ if isinstance(type_, str) else None
        )
        if conversion is None:
            return SkippedRows(DropReason.UNKNOWN_UNIT, f"{resource.slug} {unit}")
        for name in (value_key, *_same_unit(resource)):
            if type(element.get(name)) in (int, float):
                element[name] = conversion.apply(element[name])
        del element["unit"]
    if value_key is None and type(element.get("value")) in (int, float):
        element["value"] = str(element["value"])
    # What is exported names the value by both of its keys.
    if value_key not in (None, "value") and value_key not in element:
        element[str(value_key)] = element.get("value")
    return SampleRow(resource.slug, origin, element)


def _extra(value: Any) -> dict[str, Any]:
    """Return the extra fields of a row, an object or its JSON."""
    if isinstance(value, str):
        try:
            value = orjson.loads(value)
        except orjson.JSONDecodeError:
            return {}
    return value if isinstance(value, dict) else {}


def _same_unit(resource: TimeseriesResource) -> tuple[str, ...]:
    """Return the keys besides the value that are in its unit."""
    return ("diastolic", "value") if resource.slug == "blood_pressure" else ()


def _origin(fields: dict[str, Any]) -> Origin | None:
    """Return the origin of a row; None if invalid."""
    source_type = fields.get("source_type") or SourceType.UNKNOWN.value
    known = SourceType.read(source_type) if isinstance(source_type, str) else None
    app_id = fields.get("app_id")
    device_id = fields.get("device_id")
    if known is None or not isinstance(app_id, str | None):
        return None
    if app_id is not None and (not 0 < len(app_id) <= 255 or "\0" in app_id):
        return None
    try:
        device = UUID(device_id) if device_id else None
    except (ValueError, AttributeError, TypeError):
        return None
    return Origin(str(known), app_id, device)


def _cell(name: str, cell: str, *, has_decimal_comma: bool) -> Any:
    """Convert a cell: numbers, except in text columns."""
    cell = cell.strip()
    if name in _TEXTS:
        return cell
    if has_decimal_comma and _DECIMAL_COMMA.fullmatch(cell):
        cell = cell.replace(",", ".")
    if _WHOLE.fullmatch(cell):
        return int(cell)
    if _NUMBER.fullmatch(cell):
        return float(cell)
    if name == "tags":
        return [tag.strip() for tag in cell.split("|") if tag.strip()]
    return cell
