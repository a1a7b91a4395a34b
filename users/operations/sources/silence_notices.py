"""Notices to members about silent sources; each user counts once."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING
from urllib.parse import urlencode

from django.urls import reverse

from accounts.models import Tenant
from accounts.operations.notices import NoticeEvent, post_notice
from accounts.queries.notices import list_notices_of_kind
from accounts.states import NoticeKind
from portal.lib.sentences import StoredPlural
from users.models import Connection
from users.queries import list_sources_gone_silent
from users.states import Silence
from users.wearables.providers import find_provider

if TYPE_CHECKING:
    from datetime import datetime

    from users.queries import SilentSource

# A source is told of once a day, with all users it went silent for since the last time.
LEAST_PAUSE = timedelta(days=1)


def post_silent_source_notices(*, at: datetime) -> int:
    """Post a notice for each source that stopped sending data; return how many.

    Over all tenants with a live connection. A user whose silence began before a source
    was last told of is not counted again. Source: Issue "Trust", 5; Ours: how often.
    """
    live = Connection.unscoped.filter(disconnected_at=None)
    tenants = Tenant.objects.filter(pk__in=live.values("tenant"), team__deleted_at=None)
    return sum(
        _notify_team(tenant, at)
        for tenant in tenants.select_related("team").order_by("pk")
    )


def _notify_team(tenant: Tenant, at: datetime) -> int:
    silent = list_sources_gone_silent(tenant=tenant)
    if not silent:
        return 0
    last = _last_notices(tenant)
    number = 0
    for each in silent:
        before = last.get(each.provider)
        if before is not None:
            if at - before < LEAST_PAUSE:
                continue
            fresh = list_sources_gone_silent(tenant=tenant, since=before)
            again = [one for one in fresh if one.provider == each.provider]
            if not again:
                continue
            each = again[0]
        post_notice(tenant=tenant, event=_build_notice_event(tenant, each, at), at=at)
        number += 1
    return number


def _last_notices(tenant: Tenant) -> dict[str, datetime]:
    """Return the time of each source's last notice, by provider."""
    told = list_notices_of_kind(tenant=tenant, kind=NoticeKind.SILENT_SOURCE)
    return {notice.key.partition(":")[0]: notice.at for notice in told}


def _build_notice_event(
    tenant: Tenant, silent: SilentSource, at: datetime
) -> NoticeEvent:
    place = reverse("users:list", args=[tenant.team.slug, tenant.environment])
    query = urlencode({"source": silent.provider, "silence": Silence.WEEK.value})
    return NoticeEvent(
        kind=NoticeKind.SILENT_SOURCE,
        key=f"{silent.provider}:{at:%Y-%m-%dT%H:%M}",
        words=StoredPlural(
            "%(source)s is silent for %(number)s user.",
            "%(source)s is silent for %(number)s users.",
            silent.users,
            {
                "source": find_provider(silent.provider).name,
                "number": str(silent.users),
            },
        ),
        path=f"{place}?{query}",
    )
