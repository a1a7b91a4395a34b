"""Notices to physicians that orders wait for their approval."""

from __future__ import annotations

from datetime import datetime, time, timedelta
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from django.db.models import Q
from django.urls import reverse

from accounts.models import Tenant
from accounts.operations.notices import NoticeEvent, post_notice
from accounts.queries.notices import list_notices_of_kind
from accounts.states import NoticeKind
from labs.models import OrderApproval
from labs.queries.orders.approvals import approvals_for
from labs.queries.physicians import (
    get_today_of_team,
    is_away,
    list_physicians,
    list_represented_physicians,
)
from labs.states.physicians import ApprovalStatus
from portal.lib.sentences import StoredPlural
from portal.lib.tenancy import acting_for

if TYPE_CHECKING:
    from labs.models import Physician

# Ours: several orders are one notice; what still waits is named again after a day.
LEAST_PAUSE = timedelta(hours=1)
REMIND_AFTER = timedelta(days=1)


def post_approval_notices(*, at: datetime) -> int:
    """Post a notice for each physician who has orders to approve; return how many.

    Over all tenants. A physician who is away with a stand-in gets none, the stand-in
    does. A notice has the number of orders alone, and follows the member's own choice
    of when to be mailed. Source: Ours.
    """
    waiting = OrderApproval.unscoped.filter(
        status=ApprovalStatus.WAITING, order__user__deleted_at=None
    )
    tenants = Tenant.objects.filter(
        pk__in=waiting.values("tenant"), team__deleted_at=None
    )
    number = 0
    for tenant in tenants.select_related("team").order_by("pk"):
        with acting_for(tenant):
            number += _notify_physicians(tenant, at)
    return number


def _notify_physicians(tenant: Tenant, at: datetime) -> int:
    last = {
        notice.only_for_id: notice.at
        for notice in list_notices_of_kind(
            tenant=tenant, kind=NoticeKind.ORDER_APPROVAL
        )
    }
    today = get_today_of_team(tenant, at=at)
    number = 0
    for physician in list_physicians(tenant):
        if is_away(physician, today) and physician.stand_in_id is not None:
            continue
        before = last.get(physician.member_id)
        if before is not None and at - before < LEAST_PAUSE:
            continue
        waiting = approvals_for(tenant=tenant, physician=physician)
        fresh = (
            waiting
            if before is None or at - before >= REMIND_AFTER
            else waiting.filter(_came_to(physician, tenant, before, at))
        )
        if fresh.exists():
            event = _build_event(tenant, physician, waiting.count(), at)
            post_notice(tenant=tenant, event=event, at=at)
            number += 1
    return number


def _came_to(physician: Physician, tenant: Tenant, since: datetime, at: datetime) -> Q:
    """Return what began to wait for a physician after a moment.

    Newly asked orders, and those of a physician who went away meanwhile.
    """
    zone = ZoneInfo(tenant.team.time_zone)
    represented = list_represented_physicians(
        tenant=tenant, physician=physician, today=get_today_of_team(tenant, at=at)
    )
    gone = [
        one
        for one in represented
        if one.away_from is not None
        and max(datetime.combine(one.away_from, time(), zone), one.updated_at) > since
    ]
    return Q(asked_at__gt=since) | Q(asked__in=gone)


def _build_event(
    tenant: Tenant, physician: Physician, number: int, at: datetime
) -> NoticeEvent:
    return NoticeEvent(
        kind=NoticeKind.ORDER_APPROVAL,
        key=f"{physician.pk}:{at:%Y-%m-%dT%H:%M}",
        words=StoredPlural(
            "%(number)s order waits for your approval.",
            "%(number)s orders wait for your approval.",
            number,
            {"number": str(number)},
        ),
        path=reverse("labs:approvals", args=[tenant.team.slug, tenant.environment]),
        only_for_id=physician.member_id,
    )
