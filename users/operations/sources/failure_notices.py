"""Notices to members about sources that users have to connect again."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlencode

from django.db.models import Count
from django.urls import reverse

from accounts.models import Tenant
from accounts.operations.notices import NoticeEvent, post_notice
from accounts.queries.notices import list_notices_of_kind
from accounts.states import NoticeKind
from portal.lib.sentences import StoredPlural
from users.models import Connection
from users.operations.sources.silence_notices import LEAST_PAUSE
from users.states import ConnectionStatus
from users.wearables.providers import find_provider

if TYPE_CHECKING:
    from datetime import datetime


def post_failed_source_notices(*, at: datetime) -> int:
    """Post a notice for each source that failed for users lately; return how many.

    Over all tenants. A source is named at most once in LEAST_PAUSE, with the users it
    failed for since the last time. Source: Issue "Sources", 6; Ours: how often.
    """
    failed = Connection.unscoped.filter(
        disconnected_at=None, status=ConnectionStatus.ERROR, user__deleted_at=None
    )
    tenants = Tenant.objects.filter(
        pk__in=failed.values("tenant"), team__deleted_at=None
    )
    return sum(
        _notify_team(tenant, at)
        for tenant in tenants.select_related("team").order_by("pk")
    )


def _notify_team(tenant: Tenant, at: datetime) -> int:
    last = {
        notice.key.partition(":")[0]: notice.at
        for notice in list_notices_of_kind(tenant=tenant, kind=NoticeKind.FAILED_SOURCE)
    }
    failed = (
        Connection.objects.for_tenant(tenant)
        .live()
        .filter(status=ConnectionStatus.ERROR, user__deleted_at=None)
    )
    number = 0
    for provider in sorted(set(failed.values_list("provider", flat=True))):
        before = last.get(provider)
        if before is not None and at - before < LEAST_PAUSE:
            continue
        fresh = failed.filter(provider=provider)
        if before is not None:
            fresh = fresh.filter(errored_at__gt=before)
        users = fresh.aggregate(users=Count("user", distinct=True))["users"]
        if users:
            event = _build_notice_event(tenant, provider, users, at)
            post_notice(tenant=tenant, event=event, at=at)
            number += 1
    return number


def _build_notice_event(
    tenant: Tenant, provider: str, users: int, at: datetime
) -> NoticeEvent:
    place = reverse("users:list", args=[tenant.team.slug, tenant.environment])
    query = urlencode({"source": provider, "status": ConnectionStatus.ERROR.value})
    return NoticeEvent(
        kind=NoticeKind.FAILED_SOURCE,
        key=f"{provider}:{at:%Y-%m-%dT%H:%M}",
        words=StoredPlural(
            "%(source)s failed for %(number)s user. Send a link to connect it again.",
            "%(source)s failed for %(number)s users. Send them links to connect it"
            " again.",
            users,
            {"source": find_provider(provider).name, "number": str(users)},
        ),
        path=f"{place}?{query}",
    )
