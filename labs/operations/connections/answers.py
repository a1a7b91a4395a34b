"""Record what another system answers to our messages."""

from __future__ import annotations

import hashlib
from datetime import timedelta
from typing import TYPE_CHECKING

from django.db import transaction
from django.utils import timezone

from labs.gateways.hl7.drop import DroppedFile
from labs.models import Hl7OutboundMessage
from labs.operations.connections.reporting import (
    record_connection_failure,
    record_connection_success,
)
from labs.operations.inbound.processing import process_hl7_file_content
from labs.states.connections import OUTBOUND_MOVES, OutboundStatus, TransportFault
from portal.lib.database.transitions import move_status

if TYPE_CHECKING:
    from labs.gateways.hl7.mllp.client import Answer
    from labs.models import Hl7Connection
    from portal.lib.actor import Actor

ACCEPTED = frozenset({"AA", "CA"})
REJECTED = frozenset({"AR", "CR"})
# Table 0357: what a later attempt may find otherwise.
TEMPORARY = frozenset({"", "206", "207"})
# Attempts before a message that is put off for good counts as rejected: about an hour.
MAX_PUT_OFF = 15
# Seconds between attempts: 2, 4, 8 and so on up to this.
LONGEST_WAIT_S = 300
# What is kept of messages that ended, for who looks an order up.
RETENTION = timedelta(days=90)
FILE_NAME = "MLLP"


@transaction.atomic
def record_hl7_answer(
    *, message: Hl7OutboundMessage, actor: Actor, answer: Answer
) -> None:
    """Record the answer to a message that was sent.

    AA ends it. AR without a lasting reason puts it off (HL7 v2.5.1, 2.9.2: for reasons
    unrelated to its content), AE and any other AR reject it: the order is shown to
    staff with the lab's messages.
    """
    is_temporary = answer.code in REJECTED and answer.error_code in TEMPORARY
    if is_temporary and message.attempts + 1 < MAX_PUT_OFF:
        put_off_message(message=message, fault=TransportFault.HELD_BACK)
        return
    record_connection_success(message.connection, sent=True)
    store_answer_message(connection=message.connection, actor=actor, answer=answer)
    end_message(message=message, answer=answer)


def end_message(*, message: Hl7OutboundMessage, answer: Answer) -> None:
    """Move a message to accepted or rejected; what was accepted keeps no content."""
    is_accepted = answer.code in ACCEPTED
    now = timezone.now()
    move_status(
        message,
        moves=OUTBOUND_MOVES,
        to=OutboundStatus.ACKNOWLEDGED if is_accepted else OutboundStatus.REJECTED,
        attempts=message.attempts + 1,
        sent_at=message.sent_at or now,
        ended_at=now,
        answer=answer.code,
        answer_code=answer.error_code,
        **({"content": b""} if is_accepted else {}),
    )


def apply_late_answer(
    *, connection: Hl7Connection, control_id: str, answer: Answer
) -> None:
    """End the message that an acknowledgement names, if it still waits for one."""
    rows = Hl7OutboundMessage.objects.for_tenant(connection.tenant)
    message = (
        rows.filter(
            connection=connection,
            control_id=control_id,
            status__in=[OutboundStatus.QUEUED, OutboundStatus.SENT],
        )
        .select_for_update()
        .first()
    )
    if message is not None:
        end_message(message=message, answer=answer)


@transaction.atomic
def put_off_message(*, message: Hl7OutboundMessage, fault: TransportFault) -> None:
    """Let a message wait for its next attempt, longer each time."""
    attempts = message.attempts + 1
    wait_s = min(2**attempts, LONGEST_WAIT_S)
    Hl7OutboundMessage.objects.for_tenant(message.connection.tenant).filter(
        pk=message.pk, status=OutboundStatus.QUEUED
    ).update(attempts=attempts, due_at=timezone.now() + timedelta(seconds=wait_s))
    record_connection_failure(message.connection, fault=fault)


def store_answer_message(
    *, connection: Hl7Connection, actor: Actor, answer: Answer
) -> None:
    """Store a lab's acknowledgement as a message; that of an own system is not one."""
    if connection.account is None:
        return
    process_hl7_file_content(
        tenant=connection.tenant,
        actor=actor,
        lab=connection.account.lab,
        account=connection.account,
        dropped=DroppedFile(
            FILE_NAME, answer.content, hashlib.sha256(answer.content).hexdigest()
        ),
    )


def delete_ended_messages() -> int:
    """Delete messages that ended longer than RETENTION ago, over all tenants."""
    rows = Hl7OutboundMessage.unscoped.filter(ended_at__lt=timezone.now() - RETENTION)
    deleted, _ = rows.delete()
    return deleted
