"""Reads of HL7 connections and of the messages that wait to be sent."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from django.db.models import Count, Max, Min, Q
from django.utils import timezone

from labs.models import Hl7Connection, Hl7OutboundMessage, InboundMessage
from labs.states.accounts import LabAccountStatus
from labs.states.connections import OutboundStatus, Transport
from labs.states.inbound import MessageStatus
from portal.lib.tenancy import across_tenants

if TYPE_CHECKING:
    from datetime import datetime
    from uuid import UUID

    from django.db.models import QuerySet

    from accounts.models import Tenant
    from labs.models import LabAccount

# A connection by MLLP that no process reported for so long has none.
SILENT_AFTER = timedelta(seconds=30)


@dataclass(frozen=True, slots=True)
class QueueState:
    """How many messages wait to be sent, and since when the oldest does."""

    waiting: int
    since: datetime | None


@dataclass(frozen=True, slots=True)
class TransportState:
    """All connections of one transport, over all teams.

    `silent` are those by MLLP that no process has reported lately, `failing` those
    whose last try failed. Times are None where nothing ever was.
    """

    transport: str
    connections: int
    silent: int
    failing: int
    failing_since: datetime | None
    last_received_at: datetime | None
    last_sent_at: datetime | None
    queue: QueueState


def find_hl7_connection(
    *, tenant: Tenant, account: LabAccount | None
) -> Hl7Connection | None:
    """Return the connection of an account, or of the team's own system (None)."""
    rows = Hl7Connection.objects.for_tenant(tenant).select_related("account__lab")
    found: Hl7Connection | None = rows.filter(account=account).first()
    if found is not None:
        found.tenant = tenant
    return found


def has_silent_mllp(*, tenant: Tenant, account: LabAccount) -> bool:
    """Return whether an account has MLLP, but no process for it."""
    found = find_hl7_connection(tenant=tenant, account=account)
    if found is None or found.transport != Transport.MLLP:
        return False
    return found.seen_at is None or found.seen_at < timezone.now() - SILENT_AFTER


def list_connections_in_use(transport: Transport) -> QuerySet[Hl7Connection]:
    """Return the connections of a transport whose account is not suspended.

    Over all teams: inside `across_tenants`.
    """
    rows = Hl7Connection.unscoped.select_related("tenant__team", "account__lab")
    return rows.filter(transport=transport).exclude(
        account__status=LabAccountStatus.SUSPENDED
    )


def list_connections_with_queue(transport: Transport) -> QuerySet[Hl7Connection]:
    """Return those in use that have messages to send now. Inside `across_tenants`."""
    queued = Hl7OutboundMessage.unscoped.filter(
        status=OutboundStatus.QUEUED, due_at__lte=timezone.now()
    )
    return list_connections_in_use(transport).filter(
        pk__in=queued.values("connection_id")
    )


def find_next_outbound_message(
    *, connection: Hl7Connection
) -> Hl7OutboundMessage | None:
    """Return the first message that waits, if it is due; the others wait behind it."""
    rows = Hl7OutboundMessage.objects.for_tenant(connection.tenant)
    first: Hl7OutboundMessage | None = (
        rows.filter(connection=connection, status=OutboundStatus.QUEUED)
        .order_by("pk")
        .first()
    )
    return first if first is not None and first.due_at <= timezone.now() else None


def measure_queue(*, connection: Hl7Connection) -> QueueState:
    """Return what waits to be sent over a connection."""
    rows = Hl7OutboundMessage.objects.for_tenant(connection.tenant)
    found = rows.filter(connection=connection, status=OutboundStatus.QUEUED).aggregate(
        waiting=Count("pk"), since=Min("created_at")
    )
    return QueueState(found["waiting"], found["since"])


def is_control_id_taken(
    *, connection: Hl7Connection, control_id: str, digest: str, since: datetime
) -> bool:
    """Return whether another message of this control id was processed since then."""
    rows = InboundMessage.objects.for_tenant(connection.tenant).filter(
        lab_account=connection.account,
        control_id=control_id,
        status=MessageStatus.TAKEN,
        received_at__gte=since,
    )
    return bool(rows.exclude(digest=digest).exists())


def list_transport_states() -> list[TransportState]:
    """Return the state of each transport that connections use; two queries."""
    with across_tenants(why="the operator watches the connections of all teams"):
        return _list_transport_states(timezone.now() - SILENT_AFTER)


def _list_transport_states(silent_before: datetime) -> list[TransportState]:
    in_use = Hl7Connection.unscoped.exclude(account__status=LabAccountStatus.SUSPENDED)
    is_silent = Q(transport=Transport.MLLP) & (
        Q(seen_at=None) | Q(seen_at__lt=silent_before)
    )
    queues = {
        each["connection__transport"]: QueueState(each["waiting"], each["since"])
        for each in Hl7OutboundMessage.unscoped.filter(status=OutboundStatus.QUEUED)
        .values("connection__transport")
        .annotate(waiting=Count("pk"), since=Min("created_at"))
    }
    found = (
        in_use.values("transport")
        .annotate(
            connections=Count("pk"),
            silent=Count("pk", filter=is_silent),
            failing=Count("pk", filter=Q(failing_since__isnull=False)),
            since=Min("failing_since"),
            received=Max("last_received_at"),
            sent=Max("last_sent_at"),
        )
        .order_by("transport")
    )
    return [
        TransportState(
            each["transport"],
            each["connections"],
            each["silent"],
            each["failing"],
            each["since"],
            each["received"],
            each["sent"],
            queues.get(each["transport"], QueueState(0, None)),
        )
        for each in found
    ]


def list_used_listen_ports() -> set[int]:
    """Return the ports that connections of all teams have."""
    with across_tenants(why="a port belongs to one connection of the server"):
        rows = Hl7Connection.unscoped.exclude(listen_port=None)
        return set(rows.values_list("listen_port", flat=True))


def find_connection_by_id(connection_id: UUID) -> Hl7Connection | None:
    """Return a connection of any team, its tenant and lab loaded."""
    with across_tenants(why="a port says which team's connection it is"):
        rows = Hl7Connection.unscoped.select_related("tenant__team", "account__lab")
        found: Hl7Connection | None = rows.filter(pk=connection_id).first()
        return found
