"""Receive a message over a connection: store it, then answer it."""

from __future__ import annotations

import hashlib
from datetime import timedelta
from typing import TYPE_CHECKING

from django.db import connection as database
from django.db import transaction
from django.utils import timezone

from labs.gateways.hl7.acknowledgements import (
    build_hl7_acknowledgement,
    parse_hl7_message_header,
)
from labs.gateways.hl7.drop import DroppedFile
from labs.gateways.hl7.messages import (
    SEQUENCE_ERROR,
    MalformedMessage,
    split_hl7_messages,
)
from labs.gateways.hl7.mllp.client import read_answer
from labs.operations.connections.answers import FILE_NAME, apply_late_answer
from labs.operations.connections.reporting import record_connection_success
from labs.operations.inbound.files import build_stored_message_acknowledgement
from labs.operations.inbound.processing import (
    MessageKey,
    process_hl7_file_content,
    refuse_hl7_message,
)
from labs.queries.connections import is_control_id_taken

if TYPE_CHECKING:
    from labs.gateways.hl7.acknowledgements import MessageHeader
    from labs.models import Hl7Connection, InboundMessage
    from portal.lib.actor import Actor

DUPLICATE_CONTROL_ID = "205"  # table 0357
# Ours: some labs count from 1 again; not within a month.
CONTROL_ID_UNIQUE_FOR = timedelta(days=30)
_SEVERAL = MalformedMessage(
    SEQUENCE_ERROR, "MSH", "An MLLP frame must hold one message."
)
_REPEATED = MalformedMessage(
    DUPLICATE_CONTROL_ID,
    "MSH-10",
    "Another message with this control ID was received before.",
)


@transaction.atomic
def receive_hl7_message(
    *, connection: Hl7Connection, actor: Actor, content: bytes
) -> bytes:
    """Store a message with its effects and return its acknowledgement.

    The same bytes again are answered as before and change nothing. Other bytes under a
    control id that was processed are refused (AR, 205) and shown to staff, who may take
    them. Empty for an acknowledgement, which is not acknowledged. Messages of one
    connection are processed one after the other. Raises: DatabaseError, where nothing
    was stored: do not answer then, and it is sent again.
    """
    with database.cursor() as cursor:
        cursor.execute(
            "SELECT pg_advisory_xact_lock(hashtext('hl7 connection'), hashtext(%s))",
            [str(connection.pk)],
        )
    answer = _process(connection, actor, content)
    # Last, for the process reports on the same row.
    record_connection_success(connection, received=True)
    return answer


def _process(connection: Hl7Connection, actor: Actor, content: bytes) -> bytes:
    account = connection.account
    if account is None:  # an own system only answers
        return b""
    header = parse_hl7_message_header(content)
    key = MessageKey(
        tenant=connection.tenant,
        lab=account.lab,
        account=account,
        digest=hashlib.sha256(content).hexdigest(),
        file_name=FILE_NAME,
    )
    refusal = _find_refusal(connection, header, content)
    if refusal is not None:
        message = refuse_hl7_message(
            actor=actor, key=key, content=content, refusal=refusal
        )
        return build_stored_message_acknowledgement(message)
    (message,) = process_hl7_file_content(
        tenant=key.tenant,
        actor=actor,
        lab=key.lab,
        account=account,
        dropped=DroppedFile(FILE_NAME, content, key.digest),
    )
    if message.answer:
        return build_stored_message_acknowledgement(message)
    return _take_answer(connection, header, content, message)


def _find_refusal(
    connection: Hl7Connection, header: MessageHeader, content: bytes
) -> MalformedMessage | None:
    try:
        parts = split_hl7_messages(content)
    except MalformedMessage:
        return None  # is answered where it is processed
    if len(parts) > 1:
        return _SEVERAL
    if header.control_id and is_control_id_taken(
        connection=connection,
        control_id=header.control_id,
        digest=hashlib.sha256(parts[0]).hexdigest(),
        since=timezone.now() - CONTROL_ID_UNIQUE_FOR,
    ):
        return _REPEATED
    return None


def _take_answer(
    connection: Hl7Connection,
    header: MessageHeader,
    content: bytes,
    message: InboundMessage,
) -> bytes:
    """Record an answer that came by itself; acknowledge it unless it is an ACK."""
    if found := read_answer(content):
        control_id, answer = found
        apply_late_answer(connection=connection, control_id=control_id, answer=answer)
    if header.kind.partition("^")[0] == "ACK":
        return b""
    return build_hl7_acknowledgement(
        header, control_id=f"ACK{message.digest[:16]}", at=message.received_at
    )
