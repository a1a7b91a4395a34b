"""Delimiters and escape sequences of HL7 v2 text."""

from __future__ import annotations

import re
from dataclasses import dataclass

# No text of a message has these, but for the end of a segment.
CONTROL_CHARACTERS = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_SPACES_MAX = 200
_ESCAPED = {
    "\\": "\\E\\",
    "|": "\\F\\",
    "^": "\\S\\",
    "~": "\\R\\",
    "&": "\\T\\",
    "\n": "\\.br\\",
}


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
    plain = CONTROL_CHARACTERS.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))
    return "".join(_ESCAPED.get(character, character) for character in plain)


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
    return None if CONTROL_CHARACTERS.search(text) else text
