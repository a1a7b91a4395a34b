"""Documents in observations: files of type ED, and pointers to files of type RP.

What a file really is says its content, which is opened elsewhere. A pointer is text: it
is never followed.
"""

from __future__ import annotations

import binascii
from base64 import b64decode
from dataclasses import dataclass
from itertools import count, takewhile
from typing import TYPE_CHECKING

from labs.gateways.hl7.values import parse_hl7_coded_identifier

if TYPE_CHECKING:
    from labs.gateways.hl7.messages import Segment

FILE, POINTER = "ED", "RP"
DOCUMENT_TYPES = frozenset({FILE, POINTER})
# OBX-11: deleted, posted as wrong, or never to be had.
_WITHDRAWN = {"D", "W", "X"}
_AWAITED = {"I", "N", "O"}
_PDF = {"pdf", "application/pdf", "x-pdf"}
# Tables 0191 and 0291 and the media types that are met in their place: no PDF.
_OTHER_TYPES = {
    "basic",
    "dicom",
    "gif",
    "html",
    "jpeg",
    "jpg",
    "msword",
    "png",
    "postscript",
    "rtf",
    "tiff",
    "x-hl7-cda-level-one",
    "xml",
}
_ENCODINGS = {"a", "hex", "base64"}  # table 0299
_FILE_COMPONENT = 4  # from 0


class DocumentUndecodable(Exception):
    """The text of a file is not in the encoding that it names."""


@dataclass(frozen=True, slots=True)
class AttachedDocument:
    """One file or pointer of an OBX.

    `code` and `name` are of OBX-3, `sub_id` is OBX-4. `data` is a file's encoded text
    or the pointer's text; `declared` are the type, subtype and encoding, lower case.
    """

    kind: str
    code: str
    name: str
    sub_id: str
    status: str
    declared: tuple[str, ...]
    data: str

    @property
    def is_pointer(self) -> bool:
        """Return whether only the place of a file is given."""
        return self.kind == POINTER

    @property
    def is_withdrawn(self) -> bool:
        """Return whether the lab takes the document back."""
        return self.status in _WITHDRAWN

    @property
    def is_awaited(self) -> bool:
        """Return whether the document is still to come."""
        return not self.data and self.status in _AWAITED

    @property
    def is_declared_as_other_type(self) -> bool:
        """Return whether the lab names a type that is no PDF."""
        named = set(self.declared)
        return bool(named & _OTHER_TYPES) and not named & _PDF


def parse_hl7_attached_documents(segment: Segment) -> list[AttachedDocument]:
    """Return the documents of an OBX, one for each repetition of its value.

    Source: HL7 v2.5.1, 2.A.24 (ED) and 2.A.65 (RP).
    """
    code, name, loinc = parse_hl7_coded_identifier(segment, 3)
    kind = segment.text(2)
    found = []
    for repeat in range(1, max(1, segment.repeats(5)) + 1):
        parts = segment.components(5, repeat=repeat)
        # Some labs leave out components before the file, or the file.
        at = min(_FILE_COMPONENT, max(0, len(parts) - 1))
        if parts and parts[at].lower() in _ENCODINGS:
            at += 1
        found.append(
            AttachedDocument(
                kind=kind,
                code=code or loinc,
                name=name or code or loinc,
                sub_id=segment.text(4),
                status=segment.text(11),
                declared=tuple(
                    part.lower()
                    for part in parts[at == _FILE_COMPONENT : at]  # 0: who sent it
                    if part
                ),
                data=_join_subcomponents(segment, repeat)
                if kind == POINTER
                else "".join(parts[at : at + 1]),
            )
        )
    return found


def _join_subcomponents(segment: Segment, repeat: int) -> str:
    """Return a pointer whole: addresses have `&` in them, which labs don't escape."""
    texts = (segment.text(5, 1, sub, repeat=repeat) for sub in count(1))
    return "&".join(takewhile(bool, texts))


def decode_hl7_document(document: AttachedDocument) -> bytes:
    """Decode a file's text: Base64, hexadecimal, or plain text.

    Base64 may be broken into lines and lack its padding. Raises: DocumentUndecodable.
    Source: HL7 v2.5.1, table 0299; Ours: without an encoding it is Base64, which labs
    leave out.
    """
    if document.declared[-1:] == ("a",):
        return document.data.encode()
    text = "".join(document.data.split())
    try:
        if "hex" in document.declared:
            return bytes.fromhex(text)
        return b64decode(text + "=" * (-len(text) % 4), validate=True)
    except (binascii.Error, ValueError):
        raise DocumentUndecodable from None
