"""Record how a connection does: its last message, or why it fails."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from django.utils import timezone

from labs.models import Hl7Connection

if TYPE_CHECKING:
    from django.db.models import QuerySet

    from labs.states.connections import TransportFault

logger = logging.getLogger(__name__)


def record_connection_success(
    connection: Hl7Connection, *, received: bool = False, sent: bool = False
) -> None:
    """Record that the other side was reached, and what was exchanged.

    What it sends to us says nothing about whether we reach it.
    """
    now = timezone.now()
    changes: dict[str, object] = {}
    if received:
        changes["last_received_at"] = now
    if sent:
        changes["last_sent_at"] = now
    if sent or not received:
        changes |= {"failing_since": None, "fault": ""}
    _rows(connection).update(**changes)


def record_connection_failure(
    connection: Hl7Connection, *, fault: TransportFault
) -> None:
    """Record that the other side was not reached, and log it once."""
    begun = _rows(connection).filter(failing_since=None)
    if begun.update(failing_since=timezone.now(), fault=fault):
        logger.warning("HL7 connection %s fails: %s", connection.pk, fault.value)
    else:
        _rows(connection).exclude(fault=fault).update(fault=fault)


def _rows(connection: Hl7Connection) -> QuerySet[Hl7Connection]:
    rows: QuerySet[Hl7Connection] = Hl7Connection.objects.for_tenant(connection.tenant)
    return rows.filter(pk=connection.pk)
