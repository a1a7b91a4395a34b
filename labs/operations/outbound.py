"""Queue HL7 messages for another system; each is sent until it is answered."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db import transaction

from labs.models import Hl7Connection, Hl7OutboundMessage
from labs.states.connections import Transport
from portal.lib.jobs.jobs import enqueue_job

if TYPE_CHECKING:
    from collections.abc import Mapping

    from labs.models import Order

EXCHANGE_JOB = "labs.exchange_hl7_files"


@transaction.atomic
def send_hl7_message(
    *,
    connection: Hl7Connection,
    control_id: str,
    content: bytes,
    order: Order | None = None,
) -> Hl7OutboundMessage:
    """Queue a message in the caller's transaction; return it as queued first.

    Messages of a connection are sent one by one, in this order, under their MSH-10
    (`control_id`) until the other side answers; the row then has
    its answer. By MLLP `manage.py mllp` sends them, by folder and SFTP a worker, which
    gets no answer or a later file. A control id that was queued before changes nothing.
    """
    message, is_new = Hl7OutboundMessage.objects.for_tenant(
        connection.tenant
    ).get_or_create(
        tenant=connection.tenant,
        connection=connection,
        control_id=control_id,
        defaults={"content": content, "order": order},
    )
    if is_new and connection.transport != Transport.MLLP:
        enqueue_file_exchange(connection)
    return message  # type: ignore[no-any-return]  # the queryset is of any model


@transaction.atomic
def send_hl7_messages_of_order(
    *, connection: Hl7Connection, messages: Mapping[str, bytes], order: Order
) -> None:
    """Queue all messages of an order, by their control ids, or none."""
    for control_id, content in messages.items():
        send_hl7_message(
            connection=connection, control_id=control_id, content=content, order=order
        )


def enqueue_file_exchange(connection: Hl7Connection) -> None:
    """Enqueue the exchange of a connection's files."""
    enqueue_job(
        EXCHANGE_JOB,
        tenant=connection.tenant,
        lock=f"{EXCHANGE_JOB} {connection.pk}",
        connection_id=str(connection.pk),
    )
