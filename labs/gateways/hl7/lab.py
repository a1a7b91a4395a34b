"""The gateway of labs that accept orders as HL7 messages."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING, Protocol

from django.utils import timezone

from labs.gateways.base import LabUnavailable, Requisition
from labs.gateways.hl7.drop import DropFolder
from labs.gateways.hl7.faults import ConnectionFailed
from labs.gateways.hl7.mllp.client import Destination, check_mllp_destination
from labs.gateways.hl7.orders import CANCEL, NEW, build_hl7_order_messages
from labs.gateways.hl7.sftp import SftpServer, check_sftp_server
from labs.gateways.sample_ids import make_sample_id
from labs.queries.connections import find_hl7_connection
from labs.states.connections import Transport, TransportFault
from portal.lib.secrets.encryption import decrypt_secret

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from accounts.models import Tenant
    from labs.models import Hl7Connection, LabAccount, Order

    class SendMessages(Protocol):
        """Queues messages by their control ids, see labs.operations.outbound."""

        def __call__(
            self,
            *,
            connection: Hl7Connection,
            messages: Mapping[str, bytes],
            order: Order,
        ) -> object: ...


class Hl7Lab:
    """A LabGateway that queues messages or writes files; the lab answers later.

    An account with a connection (MLLP, SFTP) gets its messages by `send`, any other its
    files in its folder.
    """

    def __init__(self, send: SendMessages) -> None:
        self._send = send

    def request_requisition(self, order: Order) -> Requisition:
        """Send an order to its lab.

        The sample id is ours to give: twelve letters and digits made from the order's
        id, which the lab prints and sends back as the placer number. Raises:
        LabUnavailable.
        """
        sample_id = order.sample_id or make_sample_id(order)
        return Requisition(sample_id, self._prepare(order, NEW, sample_id))

    def cancel_requisition(self, order: Order) -> None:
        """Send an order's cancellation. Raises: LabUnavailable."""
        queue = self._prepare(order, CANCEL, order.sample_id)
        if queue is not None:
            queue()

    def check_connection(self, *, tenant: Tenant, account: LabAccount) -> None:
        """Reach the other side of an account's connection, and send nothing.

        Of a folder each part is written to. Raises: LabUnavailable.
        """
        connection = find_hl7_connection(tenant=tenant, account=account)
        if connection is not None:
            check_hl7_connection(connection)
            return
        drop = DropFolder.for_account(tenant=tenant, lab=account.lab, account=account)
        try:
            drop.check_access()
        except OSError as error:
            raise LabUnavailable(type(error).__name__) from None

    def _prepare(
        self, order: Order, control: str, sample_id: str
    ) -> Callable[[], object] | None:
        """Return what queues the messages; None where they were written as files."""
        messages = build_hl7_order_messages(
            order,
            control=control,
            sample_id=sample_id,
            comment=order.requisition_comment,
            at=timezone.now(),
        )
        account = order.lab_account
        connection = None
        if account is not None:
            connection = find_hl7_connection(tenant=order.tenant, account=account)
        if connection is not None:
            return partial(
                self._send, connection=connection, messages=messages, order=order
            )
        drop = DropFolder.for_account(
            tenant=order.tenant, lab=order.lab, account=account
        )
        try:
            for number, content in enumerate(messages.values(), start=1):
                part = f"-{number}" if len(messages) > 1 else ""
                drop.write_file(f"{control.lower()}-{order.pk}{part}.hl7", content)
        except OSError as error:
            raise LabUnavailable(type(error).__name__) from None
        return None


def check_hl7_connection(connection: Hl7Connection) -> None:
    """Reach the other side of a connection, and send nothing.

    Raises: ConnectionFailed.
    """
    if connection.transport == Transport.MLLP:
        asyncio.run(check_mllp_destination(get_mllp_destination(connection)))
    elif connection.transport == Transport.SFTP:
        check_sftp_server(get_sftp_server(connection))
    else:
        try:
            DropFolder.for_connection(connection).check_access()
        except OSError:
            raise ConnectionFailed(TransportFault.FOLDER) from None


def get_mllp_destination(connection: Hl7Connection) -> Destination:
    """Return where a connection by MLLP leads."""
    return Destination(
        connection.host,
        connection.port or 0,
        connection.is_unencrypted,
        connection.peer_certificates,
    )


def get_sftp_server(connection: Hl7Connection) -> SftpServer:
    """Return the server of a connection by SFTP, its secret decrypted."""
    return SftpServer(
        host=connection.host,
        port=connection.port or 0,
        user_name=connection.user_name,
        host_key=connection.host_key,
        incoming_folder=connection.incoming_folder,
        outgoing_folder=connection.outgoing_folder,
        secret=decrypt_secret(connection.secret) if connection.secret else "",
    )
