"""HL7 acknowledgements (ACK) of incoming messages.

An acknowledgement needs only the readable part of the header, so that malformed
messages are acknowledged too.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from labs.gateways.hl7.messages import (
    DATA_TYPE_ERROR,
    REQUIRED_MISSING,
    SEQUENCE_ERROR,
    UNKNOWN_VALUE,
    UNSUPPORTED_EVENT,
    UNSUPPORTED_PROCESSING,
    UNSUPPORTED_TYPE,
    UNSUPPORTED_VERSION,
    MalformedMessage,
    build_hl7_message,
    build_hl7_segment,
)
from labs.gateways.hl7.reports import Doubt

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

APPLICATION = "ASSAY"
VERSION = "2.5.1"
CHARACTER_SET = "UNICODE UTF-8"
ACCEPTED, IN_ERROR, REJECTED = "AA", "AE", "AR"
_ERROR, _WARNING = "E", "W"  # table 0516
_MAX_LENGTH = 200
_WORDS = {
    SEQUENCE_ERROR: "Segment sequence error",
    REQUIRED_MISSING: "Required field missing",
    DATA_TYPE_ERROR: "Data type error",
    UNKNOWN_VALUE: "Table value not found",
    UNSUPPORTED_TYPE: "Unsupported message type",
    UNSUPPORTED_EVENT: "Unsupported event code",
    UNSUPPORTED_PROCESSING: "Unsupported processing id",
    UNSUPPORTED_VERSION: "Unsupported version id",
    "205": "Duplicate key identifier",
}


@dataclass(frozen=True, slots=True)
class MessageHeader:
    """The readable fields of MSH, even of an unreadable message.

    Texts are as they came, without what can't be stored; `kind` as `ORU^R01`.
    """

    sending_application: str = ""
    sending_facility: str = ""
    receiving_application: str = ""
    receiving_facility: str = ""
    kind: str = ""
    control_id: str = ""
    processing_id: str = ""
    version: str = ""


def parse_hl7_message_header(raw: bytes) -> MessageHeader:
    """Return the readable header fields of bytes that may not be a valid message."""
    line = raw[:4000].partition(b"\r")[0].decode("latin-1")
    if len(line) < 5 or not line.startswith("MSH"):
        return MessageHeader()
    fields, component = line.split(line[3]), line[4]

    def read_field(number: int) -> str:
        # MSH-1 is the delimiter itself.
        value = fields[number - 1] if len(fields) >= number else ""
        printable = "".join(one for one in value if one.isprintable())
        return printable.strip()[:_MAX_LENGTH]

    return MessageHeader(
        sending_application=read_field(3),
        sending_facility=read_field(4),
        receiving_application=read_field(5),
        receiving_facility=read_field(6),
        kind="^".join(read_field(9).split(component)[:2]),
        control_id=read_field(10),
        processing_id=read_field(11),
        version=read_field(12),
    )


def get_hl7_acknowledgement_code(refusal: MalformedMessage | None) -> str:
    """Return MSA-1: AR for unsupported messages, AE for errors within."""
    if refusal is None:
        return ACCEPTED
    return REJECTED if refusal.code >= UNSUPPORTED_TYPE else IN_ERROR


def build_hl7_acknowledgement(
    header: MessageHeader,
    *,
    control_id: str,
    at: datetime,
    refusal: MalformedMessage | None = None,
    doubts: Sequence[Doubt] = (),
    code: str = "",
) -> bytes:
    """Build the ACK for a message's header; `control_id` is the ACK's own.

    doubts: the lines held of a message that was processed. code: MSA-1 of such a one,
    AA by default. Source: HL7 v2.5.1, 2.9 and 2.15.5 (original mode, errors in ERR).
    """
    code = code or get_hl7_acknowledgement_code(refusal)
    _, _, event = header.kind.partition("^")
    segments = [
        build_hl7_segment(
            "MSH",
            {
                3: APPLICATION,
                4: header.receiving_facility,
                5: header.sending_application,
                6: header.sending_facility,
                7: format_hl7_timestamp(at),
                9: ("ACK", event, "ACK"),
                10: control_id,
                11: header.processing_id[:1] or "P",
                12: VERSION,
                18: CHARACTER_SET,
            },
        ),
        build_hl7_segment("MSA", {1: code, 2: header.control_id}),
    ]
    if refusal is not None:
        doubts = [Doubt(refusal.code, refusal.place, 1, refusal.says)]
    severity = _WARNING if code == ACCEPTED else _ERROR
    segments += (_build_error_segment(doubt, severity) for doubt in doubts)
    return build_hl7_message(segments)


def _build_error_segment(doubt: Doubt, severity: str) -> str:
    segment, _, field = doubt.place.partition("-")
    return build_hl7_segment(
        "ERR",
        {
            2: (segment, str(doubt.number), field) if segment else "",
            3: (doubt.code, _WORDS.get(doubt.code, ""), "HL70357"),
            4: severity,
            8: doubt.says,
        },
    )


def format_hl7_timestamp(at: datetime) -> str:
    """Format a timestamp to the second with its offset."""
    return at.strftime("%Y%m%d%H%M%S%z")
