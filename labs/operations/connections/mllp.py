"""The process behind `manage.py mllp`: receive from labs and send to them."""

from __future__ import annotations

import asyncio
import hashlib
import logging
import ssl
import time
import uuid
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from functools import partial
from pathlib import Path
from threading import Barrier
from typing import TYPE_CHECKING, Any, TypeVar

from django.conf import settings
from django.db import DatabaseError, InterfaceError, connections
from django.db.models import Q
from django.utils import timezone

from labs.gateways.hl7.acknowledgements import (
    build_hl7_acknowledgement,
    parse_hl7_message_header,
)
from labs.gateways.hl7.faults import ConnectionFailed
from labs.gateways.hl7.lab import get_mllp_destination
from labs.gateways.hl7.mllp.client import MllpClient
from labs.gateways.hl7.mllp.listener import WORKERS, MllpListener, PortSettings
from labs.gateways.hl7.mllp.tls import make_server_context
from labs.models import Hl7Connection
from labs.operations.connections.answers import put_off_message, record_hl7_answer
from labs.operations.connections.receiving import receive_hl7_message
from labs.operations.connections.reporting import record_connection_failure
from labs.operations.inbound.processing import FAILED_INSIDE
from labs.operations.inbound.repeated_failures import fails_for_good
from labs.queries.connections import (
    find_connection_by_id,
    find_next_outbound_message,
    list_connections_in_use,
    list_connections_with_queue,
)
from labs.states.connections import Transport, TransportFault
from portal.lib.actor import Actor
from portal.lib.database.outages import close_dead_database_connection
from portal.lib.tenancy import across_tenants, acting_for

if TYPE_CHECKING:
    from collections.abc import Callable
    from uuid import UUID

    from labs.gateways.hl7.mllp.client import Answer
    from labs.models import Hl7OutboundMessage
    from portal.lib.tenancy import HasPrimaryKey

logger = logging.getLogger(__name__)

PROCESS_NAME = "mllp"
# How often the queue is looked at, and how often connections are read and reported.
QUEUE_POLL_S = 1.0
REPORT_POLL_S = 5.0
# How long a process that is gone keeps others from sending.
LEASE = timedelta(seconds=20)
# Those that store what is received, and two for sending and reporting. Each keeps a
# connection to the database.
THREADS = WORKERS + 2
Found = TypeVar("Found")


class MllpProcess:
    """Listens on the port of each connection, and sends what is queued for it."""

    def __init__(self) -> None:
        self.key = uuid.uuid4()
        self.actor = Actor.system(PROCESS_NAME)
        self._threads = ThreadPoolExecutor(THREADS)
        self._listener = MllpListener(
            host=settings.MLLP_HOST, receive=self._receive, now=timezone.now
        )
        self._clients: dict[UUID, MllpClient] = {}
        self._sending: dict[UUID, asyncio.Task[None]] = {}
        self._stopped = asyncio.Event()
        self._reported_at = -REPORT_POLL_S
        self._is_database_away = False

    def stop(self) -> None:
        """End soon: messages at hand are still answered."""
        self._stopped.set()

    async def run(self) -> None:
        """Go on until stopped. A database that is away is waited for."""
        try:
            while not self._stopped.is_set():
                try:
                    await self._run_once()
                except (DatabaseError, InterfaceError) as error:
                    self._note_outage(error)
                else:
                    self._is_database_away = False
                try:
                    async with asyncio.timeout(QUEUE_POLL_S):
                        await self._stopped.wait()
                except TimeoutError:
                    continue
        finally:
            await self._end()

    async def _run_once(self) -> None:
        if time.monotonic() - self._reported_at >= REPORT_POLL_S:
            in_use = await self._in_thread(self._report_and_list)
            self._reported_at = time.monotonic()
            self._listener.set_ports(await self._list_ports(in_use))
            self._drop_clients({row.pk for row in in_use})
        for row in await self._in_thread(self._list_due):
            if row.pk not in self._sending:
                task = asyncio.create_task(self._send_queue(row))
                self._sending[row.pk] = task
                task.add_done_callback(partial(self._forget_task, row.pk))

    async def _end(self) -> None:
        await self._listener.stop()
        for task in self._sending.values():
            task.cancel()
        await asyncio.gather(*self._sending.values(), return_exceptions=True)
        for client in self._clients.values():
            client.close()
        every_thread = Barrier(THREADS)
        for _ in range(THREADS):
            self._threads.submit(_close_database, every_thread)
        self._threads.shutdown()

    def _forget_task(self, key: UUID, task: asyncio.Task[None]) -> None:
        del self._sending[key]
        if not task.cancelled() and (error := task.exception()):
            if isinstance(error, (DatabaseError, InterfaceError)):
                self._note_outage(error)
            else:
                # The type alone: its text may hold health data.
                logger.error("sending failed: %s", type(error).__name__)

    def _note_outage(self, error: BaseException) -> None:
        if not self._is_database_away:
            logger.warning("the database is away: %s", type(error).__name__)
        self._is_database_away = True

    # Receiving

    async def _receive(self, key: UUID, content: bytes) -> bytes | None:
        try:
            return await self._in_thread(self._store, key, content)
        except Exception as error:  # noqa: BLE001 - the peer sends it again
            # The type alone: its text may hold health data.
            logger.warning("a message was not stored: %s", type(error).__name__)
            digest = hashlib.sha256(content).hexdigest()
            if not fails_for_good(error, key=f"{key} {digest}"):
                return None
            logger.warning("a message of connection %s was rejected, not stored", key)
            return _reject(content, digest)

    def _store(self, key: UUID, content: bytes) -> bytes | None:
        found = find_connection_by_id(key)
        if found is None or found.transport != Transport.MLLP:
            return None
        with acting_for(found.tenant):
            return receive_hl7_message(
                connection=found, actor=self.actor, content=content
            )

    async def _list_ports(self, in_use: list[Hl7Connection]) -> list[PortSettings]:
        """Return the ports to open; those with TLS need this server's certificate."""
        ports = []
        for row in in_use:
            if row.listen_port is None:
                continue
            tls: ssl.SSLContext | None = None
            if not row.is_unencrypted:
                try:
                    tls = make_server_context(row.peer_certificates)
                except (ConnectionFailed, ssl.SSLError):
                    await self._in_tenant(
                        row.tenant,
                        record_connection_failure,
                        row,
                        fault=TransportFault.SETTINGS,
                    )
                    continue
            ports.append(
                PortSettings(
                    row.pk,
                    row.listen_port,
                    tls,
                    row.peer_certificates,
                    _own_certificate_version() if tls else "unencrypted",
                )
            )
        return ports

    def _report_and_list(self) -> list[Hl7Connection]:
        now = timezone.now()
        with across_tenants(why="one process serves the connections of all teams"):
            rows = list_connections_in_use(Transport.MLLP)
            found = list(rows.order_by("created_at"))
            plain = Hl7Connection.unscoped.filter(pk__in=[row.pk for row in found])
            plain.update(seen_at=now)
            plain.filter(
                Q(sender=self.key) | Q(sender=None) | Q(sender_until__lt=now)
            ).update(sender=self.key, sender_until=now + LEASE)
            for row in found:
                count = self._listener.count_open(row.pk)
                if count != row.open_count:
                    plain.filter(pk=row.pk).update(open_count=count)
        return found

    # Sending

    def _list_due(self) -> list[Hl7Connection]:
        with across_tenants(why="one process sends for the connections of all teams"):
            rows = list_connections_with_queue(Transport.MLLP)
            return list(rows.filter(sender=self.key, sender_until__gt=timezone.now()))

    async def _send_queue(self, row: Hl7Connection) -> None:
        """Send what is queued for a connection, in order, until one has to wait."""
        client = self._get_client(row)
        while not self._stopped.is_set():
            message = await self._in_tenant(
                row.tenant, find_next_outbound_message, connection=row
            )
            if message is None:
                return
            message.connection = row
            try:
                answer = await client.exchange(
                    bytes(message.content), control_id=message.control_id
                )
            except ConnectionFailed as failure:
                await self._in_tenant(
                    row.tenant, put_off_message, message=message, fault=failure.fault
                )
                return
            try:
                await self._record(row, message, answer)
            except (DatabaseError, InterfaceError):
                raise
            except Exception:
                # Else it would be sent again at once, and again.
                await self._in_tenant(
                    row.tenant,
                    put_off_message,
                    message=message,
                    fault=TransportFault.BAD_ANSWER,
                )
                raise

    async def _record(
        self, row: Hl7Connection, message: Hl7OutboundMessage, answer: Answer
    ) -> None:
        await self._in_tenant(
            row.tenant,
            record_hl7_answer,
            message=message,
            actor=self.actor,
            answer=answer,
        )

    def _get_client(self, row: Hl7Connection) -> MllpClient:
        wanted = get_mllp_destination(row)
        client = self._clients.get(row.pk)
        if client is None or client.destination != wanted:
            if client is not None:
                client.close()
            client = self._clients[row.pk] = MllpClient(wanted)
        return client

    def _drop_clients(self, in_use: set[UUID]) -> None:
        for key in self._clients.keys() - in_use - self._sending.keys():
            self._clients.pop(key).close()

    # Threads

    async def _in_tenant(
        self,
        tenant: HasPrimaryKey,
        function: Callable[..., Found],
        *inputs: Any,
        **named: Any,
    ) -> Found:
        def run() -> Found:
            with acting_for(tenant):
                return function(*inputs, **named)

        return await self._in_thread(run)

    async def _in_thread(self, function: Callable[..., Found], *inputs: Any) -> Found:
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(
            self._threads, partial(_with_database, function, *inputs)
        )


def _reject(content: bytes, digest: str) -> bytes:
    """Return AR for a message that can't be stored; an ACK gets no answer."""
    header = parse_hl7_message_header(content)
    if header.kind.partition("^")[0] == "ACK":
        return b""
    return build_hl7_acknowledgement(
        header,
        control_id=f"REJ{digest[:16]}",
        at=timezone.now(),
        refusal=FAILED_INSIDE,
    )


def _with_database(function: Callable[..., Found], *inputs: Any) -> Found:
    """Call on a connection that is alive; drop it after a fault."""
    close_dead_database_connection()
    try:
        return function(*inputs)
    except (DatabaseError, InterfaceError):
        connections.close_all()
        raise


def _close_database(every_thread: Barrier) -> None:
    connections.close_all()
    every_thread.wait()


def _own_certificate_version() -> str:
    """Return what changes when this server's certificate is replaced."""
    try:
        return str(Path(settings.MLLP_CERTIFICATE).stat().st_mtime_ns)
    except OSError:
        return "missing"
