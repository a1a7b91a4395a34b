"""HL7 v2 text: parse files into messages, segments and fields, and write them.

The `hl7` library splits a message. Its unescaping is not used: it logs field contents,
which are health data, drops unknown sequences and ignores the character set. hl7apy,
which validates the structures of v2.5.1, was tried too: it took 40 times as long, drops
segments outside a structure, and cannot separate the orders of an OML.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import hl7

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

# Table 0211, and the names that are met instead. An empty MSH-18 means ASCII; labs
# write UTF-8 or the Western code page of Windows then.
_CHARACTER_SETS = {
    "": "",
    "ASCII": "",
    "8859/15": "iso8859-15",
    **{f"8859/{part}": f"iso8859-{part}" for part in range(1, 10)},
    **{f"ISO-8859-{part}": f"iso8859-{part}" for part in (*range(1, 10), 15)},
    "ISO IR14": "iso2022_jp",
    "ISO IR87": "iso2022_jp",
    "ISO IR159": "iso2022_jp_1",
    "GB 18030-2000": "gb18030",
    "KS X 1001": "euc_kr",
    "BIG-5": "big5",
    "WINDOWS-1252": "cp1252",
    "UNICODE": "utf-8",
    "UNICODE UTF-8": "utf-8",
    "UTF-8": "utf-8",
    # Such a file has become UTF-8 by its mark before it is split.
    "UNICODE UTF-16": "utf-8",
    "UNICODE UTF-32": "utf-8",
}
_MARKS = (
    (b"\xff\xfe\x00\x00", "utf-32"),
    (b"\x00\x00\xfe\xff", "utf-32"),
    (b"\xff\xfe", "utf-16"),
    (b"\xfe\xff", "utf-16"),
    (b"\xef\xbb\xbf", "utf-8-sig"),
)
_LINE_END = re.compile(rb"\r\n|\n")
_START = re.compile(rb"(?:^|(?<=\r))MSH")
_BATCH_START = re.compile(rb"(?:^|\r)[FB]HS")
_BATCH_END = re.compile(rb"\r[FB]TS")
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_SPACES_MAX = 200
_ESCAPED = {
    "\\": "\\E\\",
    "|": "\\F\\",
    "^": "\\S\\",
    "~": "\\R\\",
    "&": "\\T\\",
    "\n": "\\.br\\",
}


class Repetitions(tuple["str | Sequence[str]", ...]):
    """The repetitions of a field to write."""


FieldValue: TypeAlias = "str | Sequence[str] | Repetitions"


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
class Delimiters:
    """The characters of MSH-1 and MSH-2."""

    field: str = "|"
    component: str = "^"
    repetition: str = "~"
    escape: str = "\\"
    subcomponent: str = "&"

    @property
    def encoding(self) -> str:
        """Return MSH-2."""
        return self.component + self.repetition + self.escape + self.subcomponent


@dataclass(frozen=True, slots=True)
class Segment:
    """One segment; fields, repetitions, components and subcomponents count from 1."""

    name: str
    line: str
    held: hl7.Segment
    delimiters: Delimiters
    character_set: str

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

    def raw(self, field: int) -> str:
        """Return a field unparsed, with its delimiters."""
        return str(self.held[field]) if field < len(self.held) else ""

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

    Takes frames of MLLP off, and the headers and trailers of batches. Raises:
    Malformed, for a file that is too large, holds no message, or was cut off before
    its batch's trailer.
    """
    if len(content) > MAX_FILE_BYTES:
        raise MalformedMessage(DATA_TYPE_ERROR, "", "The file is larger than 10 MB.")
    for mark, name in _MARKS:
        if content.startswith(mark):
            content = _transcode_to_utf8(content, name)
            break
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
    ends = [*starts[1:], len(content)]
    return [
        _strip_envelope(content[start:end])
        for start, end in zip(starts, ends, strict=True)
    ]


def parse_hl7_message(raw: bytes) -> Message:
    """Parse a message into segments.

    Raises: Malformed, for delimiters or a character set that can't be, text that is
    not in it, or more parts than a message of results has.
    """
    delimiters = _read_delimiters(raw[:9].decode("latin-1"))
    text, character_set = _decode_message(raw, delimiters)
    return _parse_segments(text, delimiters, character_set)


def parse_hl7_message_text(text: str) -> Message:
    """Parse a message that is already decoded. Raises: MalformedMessage."""
    delimiters = _read_delimiters(text[:9])
    character_set = _read_character_set(text.partition("\r")[0], delimiters)
    return _parse_segments(text, delimiters, character_set or "utf-8")


def _parse_segments(text: str, delimiters: Delimiters, character_set: str) -> Message:
    if _CONTROL.search(text):
        raise MalformedMessage(
            DATA_TYPE_ERROR, "", "The message has control characters."
        )
    if sum(map(text.count, delimiters.encoding + delimiters.field)) > MAX_PARTS:
        raise MalformedMessage(DATA_TYPE_ERROR, "", "The message has too many parts.")
    lines = [line for line in text.split("\r") if line.strip()]
    # Without its blank lines, or the library would number segments that are none.
    held = hl7.parse("\r".join(lines))
    return Message(
        tuple(
            Segment(line[:3], line, segment, delimiters, character_set)
            for line, segment in zip(lines, held, strict=True)
        )
    )


def unescape_hl7_text(raw: str, *, delimiters: Delimiters, character_set: str) -> str:
    """Replace escape sequences; keep unknown ones unchanged.

    Highlighting is taken off. Source: HL7 v2.5.1, 2.7.
    """
    mark = delimiters.escape
    if mark not in raw:
        return raw
    pattern = re.escape(mark) + f"([^{re.escape(mark)}]*)" + re.escape(mark)

    def replace(found: re.Match[str]) -> str:
        meant = _unescape_sequence(found[1], delimiters, character_set)
        return found[0] if meant is None else meant

    return re.sub(pattern, replace, raw)


def escape_hl7_text(text: str) -> str:
    """Escape any text for use in a part of a message."""
    plain = _CONTROL.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))
    return "".join(_ESCAPED.get(character, character) for character in plain)


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
    return "^".join(map(escape_hl7_text, value)).rstrip("^")


def _pad_part(part: object, number: int) -> object:
    """Return a part as a list; the parser leaves undivided parts bare."""
    if isinstance(part, list):
        return part[number - 1] if number <= len(part) else ""
    return part if number == 1 else ""


def _transcode_to_utf8(content: bytes, name: str) -> bytes:
    try:
        return content.decode(name).encode()
    except UnicodeError:
        raise MalformedMessage(
            DATA_TYPE_ERROR,
            "",
            "The file is not in the character set of its byte order mark.",
        ) from None


def _strip_envelope(raw: bytes) -> bytes:
    lines = raw.split(b"\r")
    segments = [
        line for line in lines if line[:3] not in {b"FHS", b"BHS", b"BTS", b"FTS"}
    ]
    return b"\r".join(line for line in segments if line.strip()) + b"\r"


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


def _decode_message(raw: bytes, delimiters: Delimiters) -> tuple[str, str]:
    header = raw.partition(b"\r")[0].decode("latin-1")
    character_set = _read_character_set(header, delimiters)
    for one in (character_set,) if character_set else ("utf-8", "cp1252"):
        try:
            return raw.decode(one), one
        except UnicodeError:
            continue
    raise MalformedMessage(
        DATA_TYPE_ERROR, "MSH-18", "The text is not in the character set of MSH-18."
    )


def _read_character_set(header: str, delimiters: Delimiters) -> str:
    """Return the first character set of MSH-18, empty where missing."""
    fields = header.split(delimiters.field, MAX_HEADER_FIELDS)
    character_sets = fields[17] if len(fields) > 17 else ""
    name = character_sets.partition(delimiters.repetition)[0].strip().upper()
    if name not in _CHARACTER_SETS:
        raise MalformedMessage(
            UNKNOWN_VALUE, "MSH-18", "MSH-18 has an unknown character set."
        )
    return _CHARACTER_SETS[name]


def _unescape_sequence(
    name: str, delimiters: Delimiters, character_set: str
) -> str | None:
    """Return the text of an escape sequence, None for an unknown one."""
    plain = {
        "F": delimiters.field,
        "S": delimiters.component,
        "T": delimiters.subcomponent,
        "R": delimiters.repetition,
        "E": delimiters.escape,
        "H": "",
        "N": "",
        ".nf": "",
        ".fi": "",
        ".ce": "\n",
    }
    if name in plain:
        return plain[name]
    if name.startswith("X"):
        return _decode_hexadecimal(name[1:], character_set)
    command, count = name[:3], name[3:].lstrip("+") or "1"
    sign = {".br": "\n", ".sp": "\n", ".sk": " ", ".in": "", ".ti": ""}.get(command)
    if sign is None or not count.isdecimal() or not count.isascii():
        return None
    # Far more digits than a number of blanks has are no number to us.
    return sign * min(int(count[:4]), _SPACES_MAX)


def _decode_hexadecimal(digits: str, character_set: str) -> str | None:
    try:
        text = bytes.fromhex(digits).decode(character_set)
    except ValueError:
        return None
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    return None if _CONTROL.search(text) else text
