"""Exchange the files of a connection: by SFTP, or in a folder on this server."""

from __future__ import annotations

import hashlib
import logging
import time
from typing import TYPE_CHECKING

from django.db import transaction
from django.utils import timezone

from labs.gateways.hl7.drop import DropFolder, DroppedFile
from labs.gateways.hl7.faults import ConnectionFailed
from labs.gateways.hl7.lab import get_sftp_server
from labs.gateways.hl7.messages import (
    MAX_FILE_BYTES,
    MalformedMessage,
    split_hl7_messages,
)
from labs.gateways.hl7.mllp.client import read_answer
from labs.gateways.hl7.sftp import RemoteFile, SftpFolders, open_sftp_folders
from labs.models import Hl7Connection, Hl7OutboundMessage
from labs.operations.connections.answers import apply_late_answer
from labs.operations.connections.reporting import (
    record_connection_failure,
    record_connection_success,
)
from labs.operations.inbound.files import build_stored_message_acknowledgement
from labs.operations.inbound.processing import process_hl7_file_content
from labs.operations.inbound.repeated_failures import fails_for_good
from labs.operations.outbound import enqueue_file_exchange
from labs.queries.connections import (
    list_connections_in_use,
    list_connections_with_queue,
)
from labs.states.connections import (
    OUTBOUND_MOVES,
    OutboundStatus,
    Transport,
    TransportFault,
)
from portal.lib.database.transitions import move_status
from portal.lib.tenancy import across_tenants

if TYPE_CHECKING:
    from collections.abc import Iterator
    from uuid import UUID

    from accounts.models import Tenant
    from labs.gateways.hl7.mllp.client import Answer
    from portal.lib.actor import Actor

logger = logging.getLogger(__name__)

# Of one visit, after which the next one goes on: a slow server must not keep a worker.
VISIT_S = 600


def enqueue_file_exchanges() -> int:
    """Enqueue an exchange for each SFTP server, and for folders with a queue.

    Over all teams; returns how many.
    """
    with across_tenants(why="every team's servers are visited by the clock"):
        found = [
            *list_connections_in_use(Transport.SFTP),
            *list_connections_with_queue(Transport.FOLDER),
        ]
    for connection in found:
        enqueue_file_exchange(connection)
    return len(found)


def exchange_hl7_files(*, tenant: Tenant, actor: Actor, connection_id: UUID) -> None:
    """Send what is queued and process what the lab has for us, over one connection.

    A file is stored first, answered next and removed last, so that an interrupted visit
    can be repeated. A server that can't be reached is visited again by the clock.
    """
    rows = Hl7Connection.objects.for_tenant(tenant).select_related("account__lab")
    connection = rows.filter(pk=connection_id).first()
    if connection is None:
        return
    connection.tenant = tenant
    try:
        if connection.transport == Transport.SFTP:
            _visit(connection, actor)
        elif connection.transport == Transport.FOLDER:
            _write_queue(connection)
    except ConnectionFailed as failure:
        record_connection_failure(connection, fault=failure.fault)


def _write_queue(connection: Hl7Connection) -> None:
    drop = DropFolder.for_connection(connection)
    for message in _list_queued(connection):
        try:
            drop.write_file(_file_name(message), bytes(message.content))
        except OSError:
            raise ConnectionFailed(TransportFault.FOLDER) from None
        _mark_sent(connection, message)


def _visit(connection: Hl7Connection, actor: Actor) -> None:
    ends_at = time.monotonic() + VISIT_S
    with open_sftp_folders(get_sftp_server(connection)) as folders:
        for message in _list_queued(connection):
            if time.monotonic() > ends_at:
                break
            folders.write_file(_file_name(message), bytes(message.content))
            _mark_sent(connection, message)
        for file in folders.list_files():
            if time.monotonic() > ends_at:
                break
            _take(folders, file, connection, actor)
    record_connection_success(connection)


def _take(
    folders: SftpFolders, file: RemoteFile, connection: Hl7Connection, actor: Actor
) -> None:
    content: bytes | None = None
    if file.size <= MAX_FILE_BYTES:
        content = folders.read_file(file)
        if content is None:
            return  # still being written: next time
        digest = hashlib.sha256(content).hexdigest()
    else:
        # Not fetched; refused once, and left for its sender to see.
        mark = f"{file.name} {file.size} {file.changed_at}"
        digest = hashlib.sha256(mark.encode()).hexdigest()
    dropped = DroppedFile(file.name, content, digest)
    try:
        answers = _process(connection, actor, dropped)
    except Exception as fault:
        # The oldest come first: one that can't be stored must not hold up the others.
        if not fails_for_good(fault, key=f"{connection.pk} {digest}"):
            raise
        # The type alone: its text may hold health data.
        logger.warning(
            "a file of connection %s was not stored: %s",
            connection.pk,
            type(fault).__name__,
        )
        return
    for name, answer in answers:
        folders.write_file(name, answer)
    if content is not None:
        folders.remove_file(file)


@transaction.atomic
def _process(
    connection: Hl7Connection, actor: Actor, dropped: DroppedFile
) -> list[tuple[str, bytes]]:
    """Process a file and return the files of its acknowledgements."""
    for control_id, answer in _read_answers(dropped):
        apply_late_answer(connection=connection, control_id=control_id, answer=answer)
    if connection.account is None:
        return []
    messages = process_hl7_file_content(
        tenant=connection.tenant,
        actor=actor,
        lab=connection.account.lab,
        account=connection.account,
        dropped=dropped,
    )
    record_connection_success(connection, received=True)
    return [
        (
            f"ack-{message.digest[:16]}.hl7",
            build_stored_message_acknowledgement(message),
        )
        for message in messages
        if message.answer
    ]


def _read_answers(dropped: DroppedFile) -> Iterator[tuple[str, Answer]]:
    try:
        contents = split_hl7_messages(dropped.content or b"")
    except MalformedMessage:
        return
    for content in contents:
        found = read_answer(content)
        if found is not None:
            yield found


def _list_queued(connection: Hl7Connection) -> list[Hl7OutboundMessage]:
    rows = Hl7OutboundMessage.objects.for_tenant(connection.tenant)
    queued = rows.filter(connection=connection, status=OutboundStatus.QUEUED)
    return list(queued.order_by("pk"))


def _mark_sent(connection: Hl7Connection, message: Hl7OutboundMessage) -> None:
    move_status(
        message,
        moves=OUTBOUND_MOVES,
        to=OutboundStatus.SENT,
        sent_at=timezone.now(),
        attempts=message.attempts + 1,
    )
    record_connection_success(connection, sent=True)


def _file_name(message: Hl7OutboundMessage) -> str:
    """Return a name that each attempt repeats; control ids may hold any sign."""
    plain = "".join(one for one in message.control_id if one.isalnum() or one in "-_")
    return f"{message.pk:012}-{plain}.hl7"
