"""Reads of cadences: expected and overdue data of a user's sources."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, NamedTuple

from django.db.models import Exists, OuterRef, Q
from django.utils import timezone

from portal.lib.database import rows
from users.models import Cadence, Connection
from users.states import ConnectionStatus, Silence

if TYPE_CHECKING:
    from datetime import datetime

    from accounts.models import Tenant
    from users.models import User

# How long Silence.WEEK looks back, and what needs attention.
NEWS = timedelta(days=7)
# Longer than cadences take to follow (users.jobs).
_NOT_LEARNT_YET = timedelta(hours=1)
# A source that is broken, paused or gone is no riddle: nothing is expected of it.
_EXPECTED = (
    "EXISTS (SELECT FROM users_connection source WHERE source.user_id = kept.user_id"
    " AND source.provider = kept.provider AND source.disconnected_at IS NULL"
    " AND source.status = %(connected)s)"
)
_OF_USER = f"""
    SELECT kept.provider, kept.resource, greatest(kept.last_at, fresh.at),
        usual_gap, greatest(kept.last_at, fresh.at) + (due_at - kept.last_at),
        {_EXPECTED}
    FROM users_cadence kept
    LEFT JOIN (
        SELECT provider, resource, max(at) AS at FROM users_arrival
        WHERE user_id = %(user)s AND tenant_id = %(tenant)s AND at > %(fresh)s
            AND created + updated > 0
        GROUP BY provider, resource
    ) fresh USING (provider, resource)
    WHERE kept.user_id = %(user)s AND kept.tenant_id = %(tenant)s
    ORDER BY kept.provider, kept.resource
"""  # noqa: S608 - text of ours
_BY_SOURCE = f"""
    SELECT provider, count(DISTINCT user_id), min(due_at) FROM users_cadence kept
    WHERE tenant_id = %(tenant)s AND due_at >= %(first)s AND due_at < %(now)s
        AND {_EXPECTED}
    GROUP BY provider ORDER BY 2 DESC, 1
"""  # noqa: S608 - text of ours


@dataclass(frozen=True, slots=True)
class SeriesCadence:
    """The cadence of one source and resource of a user.

    `resource` is a name of contract 3.4; `last_at` is when something new last came.
    `usual_gap` is the median pause, in whole hours, and `due_at` when the next is
    overdue; both are None while too little is known. `is_silent`: it is overdue, and
    the source is connected without an error.
    """

    provider: str
    resource: str
    last_at: datetime
    usual_gap: timedelta | None
    due_at: datetime | None
    is_silent: bool


class SilentSource(NamedTuple):
    """A source that went silent in NEWS: for how many users, and since when."""

    provider: str
    users: int
    since: datetime


def list_usual_data_intervals(*, user: User) -> list[SeriesCadence]:
    """Return all cadences of a user, by source and resource; one query.

    What came since it was learnt counts. Never reads samples.
    """
    now = timezone.now()
    found = rows.fetch_rows(
        _OF_USER,
        {
            "user": user.pk,
            "tenant": user.tenant_id,
            "fresh": now - _NOT_LEARNT_YET,
            "connected": str(ConnectionStatus.CONNECTED),
        },
    )
    return [
        SeriesCadence(
            provider=provider,
            resource=resource,
            last_at=last_at,
            usual_gap=usual_gap,
            due_at=due_at,
            is_silent=is_expected and due_at is not None and due_at < now,
        )
        for provider, resource, last_at, usual_gap, due_at, is_expected in found
    ]


def build_silent_user_condition(tenant: Tenant, silence: str, provider: str = "") -> Q:
    """Return the condition that a user is silent (a Silence), for one source or any.

    An empty or unknown `silence` fits everybody.
    """
    if not Silence.known(silence):
        return Q()
    now = timezone.now()
    overdue = Cadence.objects.for_tenant(tenant).filter(
        user=OuterRef("pk"), due_at__lt=now
    )
    if silence == Silence.WEEK:
        overdue = overdue.filter(due_at__gte=now - NEWS)
    if provider:
        overdue = overdue.filter(provider=provider)
    well = (
        Connection.objects.for_tenant(tenant)
        .live()
        .filter(
            user=OuterRef("user"),
            provider=OuterRef("provider"),
            status=ConnectionStatus.CONNECTED,
        )
    )
    return Q(Exists(overdue.filter(Exists(well))))


def list_sources_gone_silent(
    *, tenant: Tenant, since: datetime | None = None
) -> list[SilentSource]:
    """Return sources that went silent for live users in NEWS, most users first.

    With `since`, those that did from this moment on.
    """
    now = timezone.now()
    found = rows.fetch_rows(
        _BY_SOURCE,
        {
            "tenant": tenant.pk,
            "first": since or now - NEWS,
            "now": now,
            "connected": str(ConnectionStatus.CONNECTED),
        },
    )
    return [SilentSource(*row) for row in found]
