"""Orders that need attention: which they are, and how many."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from django.db.models import Exists, OuterRef, Q
from django.utils import timezone

from labs.models import CriticalAlert, Order
from labs.states.order_queues import ENDED_BADLY, HELD_UP, ORDERED
from labs.states.orders import OrderTopLevelStatus
from labs.states.turnaround import AT_LAB
from portal.lib.database import rows

if TYPE_CHECKING:
    from collections.abc import Iterable
    from uuid import UUID

    from django.db.models import QuerySet

    from accounts.models import Tenant
    from labs.models.order import OrderQuerySet

# A list is counted up to here: counting on would cost more than the page.
COUNTED_UP_TO = 10_000
# How long what has ended badly needs attention.
LATELY = timedelta(days=7)
# A requisition is made within seconds; an order without one for so long is stuck.
STUCK_AFTER = timedelta(hours=1)


def list_parts_needing_attention(tenant: Tenant) -> list[OrderQuerySet]:
    """Return orders needing attention, in parts that each have an index.

    An order may be in several. The statements of count_orders_needing_attention and
    list_ids_needing_attention have the same conditions. Source: Ours (design guide,
    Orders).
    """
    now = timezone.now()
    lately = Q(updated_at__gte=now - LATELY)
    waiting = unacknowledged_alerts(tenant).values("order_id")
    replacements = (
        Order.objects.for_tenant(tenant)
        .filter(parent_id=OuterRef("pk"))
        .exclude(status__startswith=f"{OrderTopLevelStatus.CANCELLED}.")
    )
    parts = [
        Q(status__in=HELD_UP),
        Q(status__in=ENDED_BADLY) & lately & ~Exists(replacements),
        Q(pk__in=waiting),
        Q(status__in=AT_LAB, worst_case_due_by__lt=now.date()),
    ]
    if not tenant.is_sandbox:  # where a requisition waits for simulation
        due = Q(activate_by=None) | Q(activate_by__lt=now.date())
        parts.append(Q(status__in=ORDERED, created_at__lt=now - STUCK_AFTER) & due)
    live = Order.objects.for_tenant(tenant).live_among_many().placed_here()
    return [live.filter(part) for part in parts]


def unacknowledged_alerts(tenant: Tenant) -> QuerySet[CriticalAlert]:
    """Return the tenant's alerts that wait for a person."""
    found: QuerySet[CriticalAlert] = CriticalAlert.objects.for_tenant(tenant).filter(
        acknowledged_at=None
    )
    return found


def count_orders_needing_attention(
    *, tenant: Tenant, up_to: int = COUNTED_UP_TO
) -> int:
    """Count orders needing attention, up to `up_to` + 1. One query.

    By hand: every page asks, and making the statement took longer than running it.
    """
    inputs = {**_build_inputs(tenant), "most": up_to + 1}
    count = _COUNT if tenant.is_sandbox else _COUNT_IN_PRODUCTION
    [(number,)] = rows.fetch_rows(count, inputs)
    return min(int(number), up_to + 1)


def list_ids_needing_attention(*, tenant: Tenant, limit: int) -> list[UUID]:
    """List IDs of orders needing attention: unacknowledged first, then last changed.

    One query, by hand as the count is.
    """
    inputs = {**_build_inputs(tenant), "most": limit}
    listed = _LIST if tenant.is_sandbox else _LIST_IN_PRODUCTION
    return [key for (key,) in rows.fetch_rows(listed, inputs)]


def _build_inputs(tenant: Tenant) -> dict[str, object]:
    now = timezone.now()
    return {
        "tenant": tenant.pk,
        "lately": now - LATELY,
        "today": now.date(),
        "stuck": now - STUCK_AFTER,
    }


def _write_literals(statuses: Iterable[str]) -> str:
    """Write our statuses into SQL, so that an index on some of them is seen to fit."""
    return ", ".join(f"'{status}'" for status in statuses)


def _write_count(*parts: str) -> str:
    counted = " UNION ".join(
        f"(SELECT id {_FROM} AND {part} LIMIT %(most)s)" for part in parts
    )
    return f"SELECT count(*) FROM ({counted}) needing"  # noqa: S608 - it is all ours


def _write_list(*parts: str) -> str:
    # The first of each part, so that no more are put together and sorted.
    order = "ORDER BY is_waiting DESC, updated_at DESC, id LIMIT %(most)s"
    listed = " UNION ".join(
        f"(SELECT id, updated_at, {_IS_WAITING} AS is_waiting {_FROM} AND {part}"
        f" {order})"
        for part in parts
    )
    return f"SELECT id FROM ({listed}) needing {order}"  # noqa: S608 - it is all ours


_FROM = """
    FROM labs_order placed WHERE tenant_id = %(tenant)s AND moved_from = ''
    AND NOT EXISTS (SELECT FROM users_user
        WHERE users_user.id = placed.user_id AND deleted_at IS NOT NULL)
"""
_IS_WAITING = (
    "id IN (SELECT order_id FROM labs_criticalalert"
    " WHERE tenant_id = %(tenant)s AND acknowledged_at IS NULL)"
)
_PARTS = (
    f"status IN ({_write_literals(HELD_UP)})",
    f"status IN ({_write_literals(ENDED_BADLY)}) AND updated_at >= %(lately)s"
    " AND NOT EXISTS (SELECT FROM labs_order other WHERE tenant_id = %(tenant)s"
    " AND other.parent_id = placed.id"
    f" AND NOT starts_with(other.status, '{OrderTopLevelStatus.CANCELLED}.'))",
    _IS_WAITING,
    f"status IN ({_write_literals(AT_LAB)}) AND worst_case_due_by < %(today)s",
)
_STUCK = (
    f"status IN ({_write_literals(ORDERED)}) AND created_at < %(stuck)s"
    " AND (activate_by IS NULL OR activate_by < %(today)s)"
)
_COUNT = _write_count(*_PARTS)
_COUNT_IN_PRODUCTION = _write_count(*_PARTS, _STUCK)
_LIST = _write_list(*_PARTS)
_LIST_IN_PRODUCTION = _write_list(*_PARTS, _STUCK)
