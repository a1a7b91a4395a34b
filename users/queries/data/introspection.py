"""Reads of data received and pulls by user and source; devices and timelines.

From what is kept of each source and resource: samples are never looked through.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from uuid import UUID

from django.utils.translation import gettext as _

from portal.lib.database import rows
from portal.lib.errors import NotFound
from users.models import (
    Connection,
    ConnectionEntry,
    Device,
    Pull,
    SourceGrant,
    Supply,
)

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from accounts.models import Tenant
    from users.models import User

# Lines of a timeline that a page shows.
TIMELINE_SHOWN = 50
_USERS = (
    "SELECT person.id, person.uuid, person.created_on FROM users_user person"
    " WHERE person.tenant_id = %(tenant)s AND person.deleted_at IS NULL"
    " AND (%(user)s::uuid IS NULL OR person.uuid = %(user)s)"
    " AND (%(after_at)s::timestamptz IS NULL"
    " OR (person.created_on, person.uuid) > (%(after_at)s, %(after_id)s::uuid))"
    " AND EXISTS (SELECT 1 FROM users_connection source"
    " WHERE source.user_id = person.id"
    " AND (%(provider)s::text IS NULL OR source.provider = %(provider)s))"
    " ORDER BY person.created_on, person.uuid LIMIT %(limit)s"
)


@dataclass(frozen=True, slots=True)
class Place:
    """The position of a page's last user: created_on and user_id."""

    created_on: datetime
    user_id: UUID


@dataclass(frozen=True, slots=True)
class Introspected:
    """A user and all sources ever connected, by slug; live ones with their row."""

    user_id: UUID
    live: dict[str, Connection | None] = field(default_factory=dict)
    supplies: dict[str, list[Supply]] = field(default_factory=dict)
    histories: dict[str, list[Pull]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class IntrospectedPage:
    """Users in the order of creation, and the position of the next page."""

    users: Sequence[Introspected]
    after: Place | None


def list_received_resources_by_source(
    *,
    tenant: Tenant,
    user_id: UUID | None,
    provider: str | None,
    after: Place | None,
    limit: int,
) -> IntrospectedPage:
    """Return the data received per source and resource; three queries."""
    keys, page = _users(tenant, user_id, provider, after, limit)
    supplies = Supply.objects.for_tenant(tenant).filter(user__in=keys)
    if provider is not None:
        supplies = supplies.filter(provider=provider)
    for supply in supplies.order_by("provider", "resource"):
        supplies_by_source = keys[supply.user_id].supplies
        supplies_by_source.setdefault(supply.provider, []).append(supply)
    return page


def list_latest_backfills_by_source(
    *,
    tenant: Tenant,
    user_id: UUID | None,
    provider: str | None,
    after: Place | None,
    limit: int,
) -> IntrospectedPage:
    """Return the latest backfill of each source and resource; three queries."""
    keys, page = _users(tenant, user_id, provider, after, limit)
    backfills = Pull.objects.for_tenant(tenant).filter(user__in=keys, is_history=True)
    if provider is not None:
        backfills = backfills.filter(provider=provider)
    order = ("user_id", "provider", "resource")
    for pull in backfills.order_by(*order, "-id").distinct(*order):
        backfills_by_source = keys[pull.user_id].histories
        backfills_by_source.setdefault(pull.provider, []).append(pull)
    return page


def list_user_devices(*, user: User) -> list[Device]:
    """Return a user's devices in the order first seen."""
    return list(Device.objects.for_tenant(user.tenant).filter(user=user).order_by("id"))


def find_user_device(*, user: User, device_id: UUID) -> Device:
    """Return a device of a user by its wire ID. Raises: not_found."""
    mine = Device.objects.for_tenant(user.tenant).filter(user=user, uuid=device_id)
    device: Device | None = mine.first()
    if device is None:
        raise NotFound("not_found", _("Device not found."))
    return device


@dataclass(frozen=True, slots=True)
class SourceOverview:
    """A source of a user: its connections, latest first, with their last entries.

    The lines are the latest first, TIMELINE_SHOWN over all. `running` is how many pulls
    of it are open. `grant` is that of the latest connection, None for one that is not
    read.
    """

    connections: list[tuple[Connection, list[ConnectionEntry]]]
    supplies: list[Supply]
    devices: list[Device]
    running: int
    grant: SourceGrant | None


def get_source_overview(*, user: User, provider: str) -> SourceOverview:
    """Return the details of a current or former source; six queries.

    Raises: source_not_connected (404).
    """
    connections = _timeline_of(user, provider)
    if not connections:
        raise NotFound(
            "source_not_connected", _("This source has never been connected.")
        )
    supplies = Supply.objects.for_tenant(user.tenant).filter(
        user=user, provider=provider
    )
    devices = Device.objects.for_tenant(user.tenant).filter(
        user=user, provider=provider
    )
    pulls = Pull.objects.for_tenant(user.tenant).open().filter(connection__user=user)
    return SourceOverview(
        connections=connections,
        supplies=list(supplies.order_by("resource")),
        devices=list(devices.order_by("id")),
        running=pulls.filter(provider=provider).count(),
        grant=SourceGrant.objects.for_tenant(user.tenant)
        .filter(connection=connections[0][0])
        .first(),
    )


def _timeline_of(
    user: User, provider: str
) -> list[tuple[Connection, list[ConnectionEntry]]]:
    mine = Connection.objects.for_tenant(user.tenant).filter(
        user=user, provider=provider
    )
    connections = {each.pk: each for each in mine.order_by("-id")}
    lines: dict[int, list[ConnectionEntry]] = {key: [] for key in connections}
    entries = ConnectionEntry.objects.for_tenant(user.tenant).filter(
        connection__in=connections
    )
    for line in entries.order_by("-id")[:TIMELINE_SHOWN]:
        lines[line.connection_id].append(line)
    return [(each, lines[key]) for key, each in connections.items()]


def _users(
    tenant: Tenant,
    user_id: UUID | None,
    provider: str | None,
    after: Place | None,
    limit: int,
) -> tuple[dict[int, Introspected], IntrospectedPage]:
    found = rows.fetch_rows(
        _USERS,
        {
            "tenant": tenant.pk,
            "user": user_id,
            "provider": provider,
            "after_at": after and after.created_on,
            "after_id": after and after.user_id,
            "limit": limit + 1,
        },
    )
    keys = {key: Introspected(uuid) for key, uuid, _ in found[:limit]}
    sources = Connection.objects.for_tenant(tenant).filter(user__in=keys)
    if provider is not None:
        sources = sources.filter(provider=provider)
    for source in sources.order_by("id"):
        is_live = source.disconnected_at is None
        keys[source.user_id].live[source.provider] = source if is_live else None
    more = len(found) > limit
    last = found[limit - 1] if more else None
    return keys, IntrospectedPage(
        list(keys.values()), Place(last[2], last[1]) if last else None
    )
