"""Parse an HTTP/1.1 response to a POST from its bytes as they arrive. Pure.

Of RFC 9112 it is what a client needs that wants a status, the headers and the start of
a body, and that must never take one answer for the next.
"""

from __future__ import annotations

import re
from enum import Enum, auto

BODY_MAX = 16 * 1024
HEAD_MAX = 32 * 1024
CHUNK_LINE_MAX = 1024
INTERIM_MAX = 10
_START = b"HTTP/1."
# A line may end in a bare LF, as lax servers send it (RFC 9112 2.2).
_HEAD_END = re.compile(rb"\r?\n\r?\n")
_STATUS_LINE = re.compile(r"HTTP/1\.([01]) ([1-9][0-9]{2})(?: .*)?")
_HEADER_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
_LENGTH = re.compile(r"[0-9]{1,15}")
_CHUNK_SIZE = re.compile(rb"([0-9A-Fa-f]{1,12})[ \t]*(?:;.*)?")
_SWITCHING_PROTOCOLS = 101
_WITHOUT_BODY = (_SWITCHING_PROTOCOLS, 204, 304)


class AnswerInvalid(ValueError):
    """The response is not HTTP/1; quotes nothing of it."""


class _Framing(Enum):
    """How the end of a body is known."""

    LENGTH = auto()
    CHUNKS = auto()
    CLOSE = auto()


class _Expected(Enum):
    """What comes next in a chunked body."""

    SIZE = auto()
    DATA = auto()
    DATA_END = auto()
    TRAILER = auto()


class Answer:
    """An answer as far as it came; `code` is 0 until its head is whole.

    `headers` are pairs in their order. `body` holds the first BODY_MAX bytes, still
    encoded, and `is_cut` says that there were more. `keeps_open`: whether another
    message may follow on the connection.
    """

    __slots__ = (
        "_expected",
        "_framing",
        "_held",
        "_interim",
        "_left",
        "_stays",
        "body",
        "code",
        "headers",
        "is_cut",
        "keeps_open",
    )

    def __init__(self) -> None:
        self.code = 0
        self.headers: list[tuple[str, str]] = []
        self.body = bytearray()
        self.is_cut = False
        self.keeps_open = False
        self._framing = _Framing.LENGTH
        self._expected = _Expected.SIZE
        self._left = 0  # of the body or of a chunk, bytes
        self._stays = False
        self._interim = 0
        self._held = b""

    def feed(self, data: bytes) -> bool:
        """Take what came; whether nothing more is wanted.

        So it is once the answer is whole, or its body longer than what is kept.
        Raises: AnswerInvalid.
        """
        if not self.code:
            rest = self._read_heads(data)
            if rest is None:
                return False
            data = rest
        beyond = self._read_body(data)
        if beyond is None:
            return self.is_cut
        self.keeps_open = self._stays and not beyond
        return True

    def header(self, name: str) -> str:
        """Return the first header of this name in lower case, or nothing."""
        return next((v for k, v in self.headers if k.lower() == name), "")

    def _read_heads(self, data: bytes) -> bytes | None:
        """Read up to the final head; what follows it, or None while it is not whole."""
        data = self._held + data
        while True:
            if not data.startswith(_START[: len(data)]):
                raise AnswerInvalid("it does not start as HTTP/1")
            end = _HEAD_END.search(data)
            if end is None:
                if len(data) > HEAD_MAX:
                    raise AnswerInvalid("its head is too long")
                self._held = data
                return None
            lines = data[: end.start()].decode("utf-8", "replace").split("\n")
            data = data[end.end() :]
            status = _STATUS_LINE.fullmatch(lines[0].rstrip("\r"))
            if status is None:
                raise AnswerInvalid("its first line holds no status")
            code = int(status[2])
            if 100 <= code < 200 and code != _SWITCHING_PROTOCOLS:
                # It says only that an answer follows.
                self._interim += 1
                if self._interim > INTERIM_MAX:
                    raise AnswerInvalid("no answer follows")
                continue
            self._held = b""
            self.headers = _read_headers(lines[1:])
            self._frame(code, is_old=status[1] == "0")
            self.code = code
            return data

    def _frame(self, code: int, *, is_old: bool) -> None:
        """How the body ends, and whether the connection stays (RFC 9112 6.3, 9.3)."""
        named: dict[str, str] = {}
        for name, value in self.headers:
            key = name.lower()
            named[key] = f"{named[key]},{value}" if key in named else value
        coding, length = named.get("transfer-encoding"), named.get("content-length")
        wishes = {
            wish.strip() for wish in named.get("connection", "").lower().split(",")
        }
        self._stays = "keep-alive" in wishes if is_old else "close" not in wishes
        if code in _WITHOUT_BODY:
            # With a body all the same, where the next answer starts can't be known.
            is_odd = coding is not None or length not in (None, "0")
            self._stays &= code != _SWITCHING_PROTOCOLS and not is_odd
        elif coding is not None:
            is_chunked = coding.rpartition(",")[2].strip().lower() == "chunked"
            self._framing = _Framing.CHUNKS if is_chunked else _Framing.CLOSE
            self._stays &= length is None
        elif length is not None:
            lengths = {each.strip() for each in length.split(",")}
            only = lengths.pop()
            if lengths or not _LENGTH.fullmatch(only):
                raise AnswerInvalid("its length is no number")
            self._left = int(only)
        else:
            self._framing = _Framing.CLOSE

    def _read_body(self, data: bytes) -> int | None:
        """How many bytes follow the answer; None while it is not whole."""
        if self._framing is _Framing.CHUNKS:
            return self._read_chunks(data)
        if self._framing is _Framing.CLOSE:
            self._keep(data)
            return None
        self._keep(data[: self._left])
        self._left -= len(data)
        return -self._left if self._left <= 0 else None

    def _read_chunks(self, data: bytes) -> int | None:
        data = self._held + data
        self._held = b""
        at = 0
        while not self.is_cut:
            if self._expected is _Expected.DATA:
                chunk = data[at : at + self._left]
                self._keep(chunk)
                self._left -= len(chunk)
                at += len(chunk)
                if self._left:
                    return None
                self._expected = _Expected.DATA_END
            end = data.find(b"\n", at)
            if end < 0:
                if len(data) - at > CHUNK_LINE_MAX:
                    raise AnswerInvalid("a line of its chunks is too long")
                self._held = data[at:]
                return None
            line = data[at:end].removesuffix(b"\r")
            at = end + 1
            if self._expected is _Expected.TRAILER:
                if not line:
                    return len(data) - at
            elif self._expected is _Expected.DATA_END:
                if line:
                    raise AnswerInvalid("a chunk is longer than it says")
                self._expected = _Expected.SIZE
            else:
                size = _CHUNK_SIZE.fullmatch(line)
                if size is None:
                    raise AnswerInvalid("a chunk has no size")
                self._left = int(size[1], 16)
                self._expected = _Expected.DATA if self._left else _Expected.TRAILER
        return None

    def _keep(self, data: bytes) -> None:
        room = BODY_MAX - len(self.body)
        self.body += data[:room]
        if len(data) > room:
            self.is_cut = True


def _read_headers(lines: list[str]) -> list[tuple[str, str]]:
    headers: list[tuple[str, str]] = []
    for line in lines:
        if line.startswith((" ", "\t")) and headers:  # a folded value (RFC 9112 5.2)
            name, value = headers[-1]
            headers[-1] = (name, f"{value} {line.strip()}".strip())
            continue
        name, colon, value = line.partition(":")
        if not colon or not _HEADER_NAME.fullmatch(name):
            raise AnswerInvalid("a header has no name")
        headers.append((name, value.strip(" \t\r")))
    return headers
