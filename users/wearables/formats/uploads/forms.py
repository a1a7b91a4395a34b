"""Forms of files: what a head of one looks like, and how its rows become ours.

A form is one kind of file of a vendor. A table of columns or keys tells it; nothing of
a file's values is needed, and its name only where two kinds have the same columns.
"""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import IO, TYPE_CHECKING, Any

import ijson

from users.states.imports import DropReason, ImportFormat
from users.wearables.formats.rows import Origin, Row, SampleRow, SkippedRows, SummaryRow
from users.wearables.formats.units import find_conversion_to_resource_unit
from users.wearables.formats.uploads.heads import HeaderLine, number_repeated
from users.wearables.formats.uploads.heads import normalize_column as _normalized
from users.wearables.formats.uploads.values import add_seconds
from users.wearables.timeseries import TIMESERIES

if TYPE_CHECKING:
    from users.wearables.formats.uploads.heads import Head
    from users.wearables.formats.uploads.members import Member
    from users.wearables.readings import Context

# Ours: a row of a vendor with all its lists of a night is a tenth of that.
_LINE_MAX = 2 * 1024**2
_CELL_MAX = 1024**2
_ITEM_MAX = 16 * 1024**2
# Ours: no export nests a tenth as deep, and the parser's time grows with its square.
_DEPTH_MAX = 500
_JSON_CHUNK = 8 * 1024
csv.field_size_limit(_CELL_MAX)


@dataclass(slots=True)
class Reading:
    """What is known of an upload while it is read; `kept` is the vendor's own.

    `counts` has the rows read by form, for the report. `provider` names the source of
    rows where the vendor is none.
    """

    context: Context
    provider: str
    kept: dict[str, Any] = field(default_factory=dict)
    counts: Counter[str] = field(default_factory=Counter)


Reads = Callable[["Member", "Head", Reading], Iterator[Row]]


@dataclass(frozen=True, slots=True)
class Form:
    """A kind of file; `name` is what people call it.

    `columns` are header cells that a CSV must all have, each with its translations
    after a bar; `keys` those of JSON below a prefix of ijson; `root` an XML document's
    element; `file` a pattern of the file's name where content cannot tell.
    """

    name: str
    format: ImportFormat
    read: Reads
    kind: str = "text"
    columns: tuple[str, ...] = ()
    keys: tuple[tuple[str, tuple[str, ...]], ...] = ()
    root: str = ""
    file: str = ""
    marker: str = ""

    def matches(self, head: Head) -> bool:
        """Return whether a head is of this form."""
        if head.kind != self.kind:
            return False
        if self.file and not re.search(self.file, head.name, re.IGNORECASE):
            return False
        if self.marker and not re.match(self.marker, head.text[:200]):
            return False
        if self.columns and find_header(head, self.columns) is None:
            return False
        if self.root and head.root != self.root:
            return False
        return all(
            set(names) <= set(head.keys.get(prefix, ())) for prefix, names in self.keys
        )


def find_header(head: Head, columns: tuple[str, ...]) -> HeaderLine | None:
    """Return the first line that has all of these columns."""
    for line in head.headers:
        have = set(line.columns)
        if all(have.intersection(each.split("|")) for each in columns):
            return line
    return None


class Cells(dict[str, str]):
    """A row by its normalized columns; an absent or blank cell is an empty text."""

    def first(self, *names: str) -> str:
        """Return the first of these cells that is not blank."""
        for name in names:
            value = self.get(name, "").strip()
            if value:
                return value
        return ""


def iterate_cells(
    member: Member, head: Head, columns: tuple[str, ...], *, prefix: bool = False
) -> Iterator[Cells | SkippedRows]:
    """Yield the rows of a CSV below the header that has `columns`.

    With `prefix`, a column's dotted prefix goes. A row of another length is skipped,
    but one that ends with a delimiter more, as Samsung writes them.
    """
    line = find_header(head, columns)
    if line is None:
        return
    with member.open() as opened:
        lines = _iterate_lines(opened, head.encoding)
        reader = csv.reader(lines, delimiter=line.delimiter)
        names: list[str] | None = None
        while True:
            try:
                cells = next(reader, None)
            except csv.Error:
                yield SkippedRows(DropReason.BAD_ROW, member_kind(member.name))
                continue
            if cells is None:
                return
            if names is None:
                found = number_repeated(_normalized(each) for each in cells)
                if found == line.columns:
                    names = found
                    if prefix:
                        names = [each.rpartition(".")[2] for each in names]
                continue
            if not any(cells):
                continue
            extra = cells[len(names) :]
            if (len(cells) < len(names) - 1 and len(cells) < 2) or any(extra):
                yield SkippedRows(DropReason.BAD_ROW, member_kind(member.name))
                continue
            yield Cells(zip(names, cells, strict=False))


def _iterate_lines(opened: IO[bytes], encoding: str) -> Iterator[str]:
    text = io.TextIOWrapper(opened, encoding, errors="replace", newline="")
    for line in iter(lambda: text.readline(_LINE_MAX), ""):
        # Neither PostgreSQL nor csv keeps NUL.
        yield line.replace("\0", "")


def iterate_items(member: Member, *prefixes: str) -> Iterator[Any]:
    """Yield the JSON values at a prefix of ijson, of one document or one a line.

    Raises: ijson.JSONError, where the document ends or breaks; FileRefused.
    """
    for prefix in prefixes:
        with member.open() as opened:
            guarded = _Guarded(opened)
            for item in ijson.items(
                guarded,
                prefix,
                use_float=True,
                multiple_values=True,
                buf_size=_JSON_CHUNK,
            ):
                guarded.mark()
                yield item


class _Guarded:
    """A stream of JSON whose single values stay bounded. Raises: ijson.JSONError."""

    def __init__(self, raw: IO[bytes]) -> None:
        self._raw = raw
        self._since = 0
        self._depth = 0

    def mark(self) -> None:
        """Mark a value as read and released."""
        self._since = self._depth = 0

    def read(self, size: int = -1) -> bytes:
        chunk = self._raw.read(size)
        self._since += len(chunk)
        # Signs within texts count too: of one value they are few.
        self._depth += sum(map(chunk.count, (b"[", b"{")))
        self._depth -= sum(map(chunk.count, (b"]", b"}")))
        if self._since > _ITEM_MAX or self._depth > _DEPTH_MAX:
            raise ijson.JSONError
        return chunk


def member_kind(name: str) -> str:
    """Return a member's name without folders and numbers, so that alike count as one.

    Numbers of dates and people go: a report needs the kind alone.
    """
    last = name.rsplit("/", 1)[-1]
    return re.sub(r"[0-9a-f]{8}-[0-9a-f-]{27}|\d+([-_.]\d+)*", "#", last)[:60]


def make_sample(
    slug: str,
    origin: Origin,
    value: float | None,
    start: str | None,
    end: str | None = None,
    *,
    unit: str = "",
    what: str = "",
    **keys: Any,
) -> Row:
    """Return a sample in the resource's unit, or the reason why it is none."""
    resource = TIMESERIES[slug]
    what = what or slug
    if value is None:
        return SkippedRows(DropReason.NO_VALUE, what)
    if start is None:
        return SkippedRows(DropReason.BAD_TIME, what)
    if unit and unit != resource.unit:
        conversion = find_conversion_to_resource_unit(resource, unit)
        if conversion is None:
            return SkippedRows(DropReason.UNKNOWN_UNIT, f"{what} {unit}")
        value = conversion.apply(value)
    element: dict[str, Any] = {
        "value": round(value) if resource.is_whole else value,
        **{name: each for name, each in keys.items() if each is not None},
    }
    if resource.value_key not in ("value", None):
        element[str(resource.value_key)] = element["value"]
    if not resource.is_interval:
        return SampleRow(slug, origin, element | {"timestamp": start})
    if end is None or end == start:
        end = add_seconds(start, 1)
    return SampleRow(slug, origin, element | {"start": start, "end": end})


def make_note(text: str, origin: Origin, start: str | None) -> Row:
    """Return what a person or sensor said in words at a time."""
    text = text.strip()[:2000]
    if start is None or not text:
        return SkippedRows(DropReason.BAD_TIME if text else DropReason.NO_VALUE, "note")
    return SampleRow(
        "note", origin, {"value": text, "start": start, "end": add_seconds(start, 1)}
    )


def make_summary(
    resource: str, origin: Origin, element: dict[str, Any], rows: int = 1
) -> SummaryRow:
    """Return a summary with the fields that have a value."""
    kept = {
        name: {key: one for key, one in each.items() if one is not None}
        if isinstance(each, dict)
        else each
        for name, each in element.items()
        if each not in (None, "", {})
    }
    return SummaryRow(resource, origin, kept, rows)


def make_sport(name: str) -> dict[str, Any]:
    """Return a sport by its vendor's name; 0 is its number as with other sources."""
    words = re.sub(r"[_\s]+", " ", re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name)).strip()
    words = (words or "Other")[:100]
    return {
        "id": 0,
        "name": words[:1].upper() + words[1:].lower(),
        "slug": re.sub(r"\W+", "_", words.lower()).strip("_") or "other",
    }
