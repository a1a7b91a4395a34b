"""HL7 v2 text: parse files into messages, segments and fields, and write them.

The `hl7` library splits a message. Its unescaping is not used: it logs field contents,
which are health data, drops unknown sequences and ignores the character set. hl7apy,
which validates the structures of v2.5.1, was tried too: it took 40 times as long, drops
segments outside a structure, and cannot separate the orders of an OML.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import hl7

from labs.gateways.hl7.characters import (
    REPLACEMENT,
    UnknownCharacterSet,
    decode_message,
    get_character_set,
    transcode_by_mark,
)
from labs.gateways.hl7.escapes import (
    CONTROL_CHARACTERS,
    Delimiters,
    escape_hl7_text,
    unescape_hl7_text,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

MAX_FILE_BYTES = 10 * 1024 * 1024
MAX_MESSAGES = 1_000
# A part is a field, repetition, component or subcomponent; each costs half a kilobyte.
MAX_PARTS = 200_000
MAX_HEADER_FIELDS = 100

# Table 0357.
SEQUENCE_ERROR = "100"
REQUIRED_MISSING = "101"
DATA_TYPE_ERROR = "102"
UNKNOWN_VALUE = "103"
UNSUPPORTED_TYPE = "200"
UNSUPPORTED_EVENT = "201"
UNSUPPORTED_PROCESSING = "202"
UNSUPPORTED_VERSION = "203"

_LINE_END = re.compile(rb"\r\n|\n")
_START = re.compile(rb"(?:^|(?<=\r))MSH")
_BATCH_START = re.compile(rb"(?:^|\r)[FB]HS")
_BATCH_END = re.compile(rb"\r[FB]TS")
_ENVELOPE = {b"FHS", b"BHS", b"BTS", b"FTS"}
_SEGMENT_NAME = re.compile(r"[A-Z][A-Z0-9]{2}")
# A file's padding, and the end-of-file mark of old systems.
_PADDING = "".join(map(chr, range(33)))


class Repetitions(tuple["str | Sequence[str]", ...]):
    """The repetitions of a field to write."""


class Subcomponents(tuple[str, ...]):
    """The subcomponents of a component to write."""


FieldValue: TypeAlias = "str | Sequence[str | Subcomponents] | Repetitions"


class MalformedMessage(Exception):
    """A message that can't be processed; answered by AE, or AR from code 200 on.

    `code` is of table 0357, `place` a segment with its field (`OBX-3`), `says` one
    sentence without health data.
    """

    def __init__(self, code: str, place: str, says: str) -> None:
        super().__init__(code)
        self.code = code
        self.place = place
        self.says = says


@dataclass(frozen=True, slots=True)
class Segment:
    """One segment; fields, repetitions, components and subcomponents count from 1.

    `line` is as it came, `number` counts the message's segments of this name from 1.
    """

    name: str
    line: str
    number: int
    held: hl7.Segment
    delimiters: Delimiters
    character_set: str

    @property
    def is_damaged(self) -> bool:
        """Return whether it has characters that could not be read."""
        return REPLACEMENT in self.line

    @property
    def is_broken(self) -> bool:
        """Return whether a line break splits it."""
        return "\r" in self.line

    def text(
        self, field: int, component: int = 1, sub: int = 1, *, repeat: int = 1
    ) -> str:
        """Return a part's text, unescaped and stripped; empty where missing.

        HL7's explicit nothing (`""`) is empty as well.
        """
        if field >= len(self.held):
            return ""
        part: object = self.held[field]
        for number in (repeat, component, sub):
            part = _pad_part(part, number)
        raw = part if isinstance(part, str) else str(part)
        return "" if raw == '""' else self._unescape(raw).strip()

    def repeats(self, field: int) -> int:
        """Return how many repetitions a field has; 0 if it is empty."""
        if field >= len(self.held) or not str(self.held[field]):
            return 0
        return len(self.held[field])

    def components(self, field: int, *, repeat: int = 1) -> list[str]:
        """Return the texts of all components without trailing empty ones."""
        if field >= len(self.held):
            return []
        whole = _pad_part(self.held[field], repeat)
        number = len(whole) if isinstance(whole, list) else 1
        texts = [self.text(field, n, repeat=repeat) for n in range(1, number + 1)]
        while texts and not texts[-1]:
            texts.pop()
        return texts

    def whole(self, field: int, *, repeat: int = 1) -> str:
        """Return a repetition's text with the delimiters in it.

        Of a type without components: the lab did not escape them.
        """
        if field >= len(self.held):
            return ""
        raw = str(_pad_part(self.held[field], repeat))
        return "" if raw == '""' else self._unescape(raw).strip()

    def raw(self, field: int) -> str:
        """Return a field unparsed, with its delimiters."""
        return str(self.held[field]) if field < len(self.held) else ""

    def has_parts(self, field: int) -> bool:
        """Return whether a field has repetitions, components or subcomponents."""
        raw, marks = self.raw(field), self.delimiters
        return any(
            mark in raw
            for mark in (marks.component, marks.repetition, marks.subcomponent)
        )

    def _unescape(self, raw: str) -> str:
        return unescape_hl7_text(
            raw, delimiters=self.delimiters, character_set=self.character_set
        )


@dataclass(frozen=True, slots=True)
class Message:
    """A message's segments in order, with its header first."""

    segments: tuple[Segment, ...]

    @property
    def header(self) -> Segment:
        """Return MSH."""
        return self.segments[0]

    @property
    def control_id(self) -> str:
        """Return MSH-10, which acknowledgements repeat."""
        return self.header.text(10)

    @property
    def kind(self) -> str:
        """Return MSH-9 as `ORU^R01`."""
        return "^".join(self.header.components(9)[:2])


def split_hl7_messages(content: bytes) -> list[bytes]:
    """Split a file into messages, each with `\r` after its segments.

    Takes frames of MLLP off, and the headers and trailers of batches. What stands
    before the first header is a message of its own, which can't be read. Raises:
    MalformedMessage, for a file that is too large, holds no message, or was cut off
    before its batch's trailer.
    """
    if len(content) > MAX_FILE_BYTES:
        raise MalformedMessage(DATA_TYPE_ERROR, "", "The file is larger than 10 MB.")
    try:
        content = transcode_by_mark(content)
    except UnicodeError:
        raise MalformedMessage(
            DATA_TYPE_ERROR,
            "",
            "The file is not in the character set of its byte order mark.",
        ) from None
    content = _LINE_END.sub(b"\r", content.replace(b"\x0b", b"\r"))
    content = content.replace(b"\x1c", b"\r").strip()
    starts = [found.start() for found in _START.finditer(content)]
    if not starts:
        raise MalformedMessage(SEQUENCE_ERROR, "MSH", "The file has no HL7 message.")
    if len(starts) > MAX_MESSAGES:
        raise MalformedMessage(
            DATA_TYPE_ERROR, "", f"The file has more than {MAX_MESSAGES} messages."
        )
    if len(_BATCH_START.findall(content)) != len(_BATCH_END.findall(content)):
        raise MalformedMessage(
            SEQUENCE_ERROR,
            "BTS",
            "The batch has no trailer (BTS or FTS). It may be incomplete.",
        )
    bounds = zip([0, *starts], [*starts, len(content)], strict=True)
    parts = (_strip_envelope(content[start:end]) for start, end in bounds)
    return [part for part in parts if part]


def parse_hl7_message(raw: bytes) -> Message:
    """Parse a message into segments.

    A line that doesn't begin with a segment's name belongs to the segment before it.
    Raises: MalformedMessage, for delimiters or a character set that can't be, or more
    parts than a message of results has.
    """
    delimiters = _read_delimiters(raw[:9].decode("latin-1"))
    names = _read_character_sets(raw.partition(b"\r")[0].decode("latin-1"), delimiters)
    try:
        text, character_set = decode_message(raw, names)
    except UnknownCharacterSet:
        raise MalformedMessage(
            UNKNOWN_VALUE, "MSH-18", "MSH-18 has an unknown character set."
        ) from None
    return _parse_segments(text, delimiters, character_set)


def parse_hl7_message_text(text: str) -> Message:
    """Parse a message that is already decoded. Raises: MalformedMessage."""
    delimiters = _read_delimiters(text[:9])
    names = _read_character_sets(text.partition("\r")[0], delimiters)
    return _parse_segments(text, delimiters, get_character_set(names) or "utf-8")


def _parse_segments(text: str, delimiters: Delimiters, character_set: str) -> Message:
    if sum(map(text.count, delimiters.encoding + delimiters.field)) > MAX_PARTS:
        raise MalformedMessage(DATA_TYPE_ERROR, "", "The message has too many parts.")
    lines = _split_segments(text, delimiters)
    # The library splits at every line end: one within a segment is escaped.
    line_break = f"{delimiters.escape}.br{delimiters.escape}"
    parsed = hl7.parse("\r".join(line.replace("\r", line_break) for line in lines))
    counts: Counter[str] = Counter()
    segments = []
    for line, held in zip(lines, parsed, strict=True):
        name = line[:3]
        counts[name] += 1
        segments.append(
            Segment(name, line, counts[name], held, delimiters, character_set)
        )
    return Message(tuple(segments))


def _split_segments(text: str, delimiters: Delimiters) -> list[str]:
    """Return the lines of segments, one broken by a line end with that in it."""
    lines: list[str] = []
    for part in text.rstrip(_PADDING).split("\r"):
        line = CONTROL_CHARACTERS.sub(REPLACEMENT, part)
        begun = line.lstrip(" \t")
        if _SEGMENT_NAME.match(begun) and begun[3:4] in {"", delimiters.field}:
            lines.append(begun)
        elif begun:
            lines[-1] += f"\r{line}"
    return lines


def build_hl7_segment(name: str, fields: Mapping[int, FieldValue]) -> str:
    """Write a segment from its fields by number.

    A field is a text, a sequence of components, or repetitions of either.

    Every text is escaped; empty ends are left out. MSH gets its delimiters by itself.
    """
    last = max((number for number, value in fields.items() if value), default=0)
    first = 3 if name == "MSH" else 1
    head = ("MSH", Delimiters().encoding) if name == "MSH" else (name,)
    written = (
        _format_field(fields.get(number, "")) for number in range(first, last + 1)
    )
    return "|".join((*head, *written))


def build_hl7_message(segments: Sequence[str]) -> bytes:
    """Write segments as a UTF-8 message, which its MSH-18 must name."""
    return "".join(f"{segment}\r" for segment in segments).encode()


def _format_field(value: FieldValue) -> str:
    if isinstance(value, Repetitions):
        return "~".join(map(_format_field, value))
    if isinstance(value, str):
        return escape_hl7_text(value)
    return "^".join(map(_format_component, value)).rstrip("^")


def _format_component(value: object) -> str:
    if isinstance(value, Subcomponents):
        return "&".join(map(escape_hl7_text, value)).rstrip("&")
    return escape_hl7_text(str(value))


def _pad_part(part: object, number: int) -> object:
    """Return a part as a list; the parser leaves undivided parts bare."""
    if isinstance(part, list):
        return part[number - 1] if number <= len(part) else ""
    return part if number == 1 else ""


def _strip_envelope(raw: bytes) -> bytes:
    lines = raw.split(b"\r")
    return b"".join(
        line + b"\r" for line in lines if line.strip() and line[:3] not in _ENVELOPE
    )


def _read_delimiters(start: str) -> Delimiters:
    head = start[3:]
    characters = head[:1] + head[1:].partition(head[:1])[0] if head else ""
    fits = (
        start[:3] == "MSH"
        and len(characters) in {5, 6}  # the sixth, for cut texts, is of v2.7
        and len(set(characters)) == len(characters)
        and all("!" <= one <= "~" and not one.isalnum() for one in characters)
    )
    if not fits:
        raise MalformedMessage(
            SEQUENCE_ERROR, "MSH-2", "MSH-1 and MSH-2 do not define the delimiters."
        )
    return Delimiters(*characters[:5])


def _read_character_sets(header: str, delimiters: Delimiters) -> list[str]:
    """Return the character sets of MSH-18 in capitals; one empty where missing."""
    fields = header.split(delimiters.field, MAX_HEADER_FIELDS)
    names = fields[17] if len(fields) > 17 else ""
    return [name.strip().upper() for name in names.split(delimiters.repetition)]
