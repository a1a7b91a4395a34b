"""Character sets of HL7 v2 messages (MSH-18, table 0211)."""

from __future__ import annotations

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
# What stands for a character that can't be read.
REPLACEMENT = "\ufffd"
_UNDECLARED = ("utf-8", "cp1252")


class UnknownCharacterSet(Exception):
    """MSH-18 names a character set that we don't know, and the text needs it."""


def transcode_by_mark(content: bytes) -> bytes:
    """Return content as UTF-8 by its byte order mark. Raises: UnicodeError."""
    for mark, name in _MARKS:
        if content.startswith(mark):
            return content.decode(name).encode()
    return content


def decode_message(content: bytes, names: list[str]) -> tuple[str, str]:
    """Return a message's text and its character set.

    names: the repetitions of MSH-18; the first that fits is taken. Where none does,
    what can't be read of the text is REPLACEMENT. Raises: UnknownCharacterSet. Source:
    HL7 v2.5.1, 2.15.9.18; Ours: of a text in ASCII the name does not matter.
    """
    if content.isascii() and "\x1b" not in (text := content.decode("ascii")):
        return text, get_character_set(names) or "utf-8"
    found = [_CHARACTER_SETS.get(name) for name in names]
    if found[0] is None:
        raise UnknownCharacterSet
    candidates = [one for one in found if one]
    if not found[0]:
        candidates = [*_UNDECLARED, *candidates]
    for candidate in candidates:
        try:
            return content.decode(candidate), candidate
        except UnicodeError:
            continue
    return content.decode(candidates[0], "replace"), candidates[0]


def get_character_set(names: list[str]) -> str:
    """Return the first known character set of MSH-18; empty for none."""
    return next(filter(None, map(_CHARACTER_SETS.get, names)), "")
