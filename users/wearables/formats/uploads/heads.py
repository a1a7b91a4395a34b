"""The first bytes of a file: its kind, and the words that show its form.

Nothing but the head is looked at. The words are header cells, keys and the root element
of the outermost levels, never values.
"""

from __future__ import annotations

import csv
import io
import re
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import ijson

if TYPE_CHECKING:
    from collections.abc import Iterable

HEAD_BYTES = 64 * 1024
_BOM8 = b"\xef\xbb\xbf"
_SQLITE = b"SQLite format 3\0"
_DELIMITERS = (",", ";", "\t")
_HEADER_LINES = 4
_LINE_MAX = 32 * 1024
_COLUMNS_MAX = 500
_KEYS_MAX = 400
_EVENTS_MAX = 4000
_PARSED_AT_ONCE = (
    1024  # bytes: events come with a path that is as long as they are deep
)
_DOCTYPE = re.compile(r"<!DOCTYPE[^\[>]*\[.*?\]\s*>", re.DOTALL)
_SPACE = re.compile(r"\s+")
_ROOT = re.compile(r"<(?![?!])(?:[\w.-]+:)?([\w.-]+)")
# Other bytes that tell a kind of document: magic numbers of their specifications.
_MAGIC = (
    (b"%PDF-", "pdf"),
    (b"\x89PNG", "picture"),
    (b"\xff\xd8\xff", "picture"),
    (b"GIF8", "picture"),
    (b"7z\xbc\xaf\x27\x1c", "7z"),
    (b"Rar!", "rar"),
    (b"\xd0\xcf\x11\xe0", "office"),
    (b"bplist00", "plist"),
    (b"PAR1", "parquet"),
)


class HeaderLine(NamedTuple):
    """A line of a CSV that can be its header: cells normalized, in order."""

    line: int
    delimiter: str
    columns: list[str]


class Head:
    """The head of a file or member, looked at only as far as asked."""

    def __init__(self, content: bytes, name: str = "") -> None:
        self.content = content
        self.name = name

    @cached_property
    def encoding(self) -> str:
        """Return the encoding by its mark or pattern of NUL; else UTF-8."""
        start = self.content[:400]
        if start.startswith(_BOM8):
            return "utf-8-sig"
        if start.startswith((b"\xff\xfe", b"\xfe\xff")):
            return "utf-16"
        half = max(len(start) // 2, 1)
        if start[1::2].count(0) > 0.8 * half and start[::2].count(0) < 0.1 * half:
            return "utf-16-le"
        if start[::2].count(0) > 0.8 * half and start[1::2].count(0) < 0.1 * half:
            return "utf-16-be"
        try:
            # A character may be cut at the end.
            self.content[:-4].decode() if len(self.content) > 8 else None
        except UnicodeDecodeError as error:
            if error.start < len(self.content) - 8:
                return "cp1252"
        return "utf-8"

    @cached_property
    def text(self) -> str:
        """Return the head as text without its mark."""
        return self.content.decode(self.encoding, "replace").removeprefix("\ufeff")

    @cached_property
    def kind(self) -> str:
        """Return the kind: empty, zip, gzip, fit, sqlite, xml, json, text, binary, …"""
        content = self.content
        if not content.strip(_BOM8 + b" \t\r\n"):
            return "empty"
        if content.startswith((b"PK\x03\x04", b"PK\x05\x06")):
            return "zip"
        if content.startswith(b"\x1f\x8b"):
            return "gzip"
        if content[8:12] == b".FIT":
            return "fit"
        if content.startswith(_SQLITE):
            return "sqlite"
        for magic, kind in _MAGIC:
            if content.startswith(magic):
                return kind
        if "\0" in self.text:
            return "binary"
        start = self.text.lstrip()
        if start.startswith("<"):
            return "xml"
        return "json" if start.startswith(("{", "[")) else "text"

    @cached_property
    def headers(self) -> list[HeaderLine]:
        """Return the first lines that could be the header of a CSV."""
        if self.kind != "text":
            return []
        found = []
        lines = self.text.splitlines()[:_HEADER_LINES]
        for number, line in enumerate(lines):
            if len(line) > _LINE_MAX:
                break
            delimiter = max(_DELIMITERS, key=line.count)
            try:
                cells = next(csv.reader([line], delimiter=delimiter), [])
            except csv.Error:
                continue
            if 1 < len(cells) <= _COLUMNS_MAX:
                columns = number_repeated(normalize_column(each) for each in cells)
                found.append(HeaderLine(number, delimiter, columns))
        return found

    @cached_property
    def root(self) -> str:
        """Return the name of the root element, without prefix; empty if none."""
        if self.kind != "xml":
            return ""
        found = _ROOT.search(_DOCTYPE.sub("", self.text))
        return found[1] if found else ""

    @cached_property
    def keys(self) -> dict[str, list[str]]:
        """Return the keys of the outermost objects of JSON, by their ijson prefix."""
        found: dict[str, list[str]] = {}
        if self.kind != "json":
            return found
        content = self.text.encode()
        try:
            events = ijson.parse(
                io.BytesIO(content),
                multiple_values=True,
                use_float=True,
                buf_size=_PARSED_AT_ONCE,
            )
            for number, (prefix, event, value) in enumerate(events):
                if number > _EVENTS_MAX:
                    break
                if event == "map_key" and prefix.count(".") <= 2:
                    keys = found.setdefault(prefix, [])
                    if len(keys) < _KEYS_MAX and value not in keys:
                        keys.append(value)
        except (ijson.JSONError, ValueError):
            pass  # the head ends within the document
        return found


def normalize_column(cell: str) -> str:
    """Return a header cell in lower case, without marks and repeated spaces."""
    return _SPACE.sub(" ", cell.replace("\ufeff", "").strip(' "\t')).lower()


def number_repeated(columns: Iterable[str]) -> list[str]:
    """Return names with a number behind each that was there before."""
    seen: dict[str, int] = {}
    numbered = []
    for name in columns:
        seen[name] = seen.get(name, 0) + 1
        numbered.append(name if seen[name] == 1 else f"{name}#{seen[name]}")
    return numbered
