"""Appointments as staff work through them: by local day, and what needs action."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import TYPE_CHECKING

from django.db.models import (
    Case,
    Count,
    DateField,
    ExpressionWrapper,
    F,
    Func,
    IntegerField,
    Q,
    Value,
    When,
)
from django.db.models import DateTimeField as MomentField
from django.db.models.functions import Cast, Coalesce, NullIf

from labs.models import Appointment, Order
from labs.states.appointments import AppointmentStatus
from labs.states.catalogue import CollectionMethod
from labs.states.orders import build_order_status
from portal.lib.choices import OpenChoices
from portal.lib.database.sorting import sort_as_asked
from portal.lib.translation import gettext_lazy

if TYPE_CHECKING:
    from collections.abc import Sequence

    from django.db.models import QuerySet
    from django.db.models.expressions import Combinable

    from accounts.models import Tenant
    from labs.models.order import OrderQuerySet

# Ours: an order that could be booked for this long is asked after.
UNBOOKED_AFTER = timedelta(days=3)
# Ours: visits further back are history.
_PASSED_WITHIN = timedelta(days=30)
# No zone is further from UTC than 14 hours.
_DAY_MARGIN = timedelta(hours=38)
_UNSURE = (AppointmentStatus.PENDING, AppointmentStatus.RESERVED)
_BOOKED = ("appointment_pending", "appointment_scheduled")
_BOOKABLE = {
    CollectionMethod.WALK_IN_TEST: (
        "requisition_created",
        "requisition_bypassed",
        "appointment_cancelled",
    ),
    CollectionMethod.AT_HOME_PHLEBOTOMY: (
        "requisition_created",
        "requisition_bypassed",
        "appointment_cancelled",
    ),
}


class AppointmentTab(OpenChoices):
    """A tab of the list of appointments."""

    TODAY = "today", gettext_lazy("Today")
    TOMORROW = "tomorrow", gettext_lazy("Tomorrow")
    LATER = "later", gettext_lazy("Later")
    UNSURE = "unconfirmed", gettext_lazy("Not confirmed")
    PASSED = "passed", gettext_lazy("Past, no sample")
    UNBOOKED = "unbooked", gettext_lazy("Not booked")


@dataclass(frozen=True, slots=True)
class AppointmentPage:
    """A page of appointments, or of orders on the tab of unbooked ones."""

    appointments: Sequence[Appointment]
    orders: Sequence[Order]


def count_appointments_by_tab(
    *, tenant: Tenant, at: datetime
) -> dict[AppointmentTab, int]:
    """Count the entries of each tab, by two queries."""
    appointments = _live_appointments(tenant).aggregate(
        **{
            tab.value: Count("pk", filter=_tab_condition(tab, at))
            for tab in _CONDITIONS
        }
    )
    counts = {tab: appointments[tab.value] for tab in _CONDITIONS}
    return counts | {
        AppointmentTab.UNBOOKED: _orders_without_appointment(tenant, at).count()
    }


def list_appointments_on_tab(
    *,
    tenant: Tenant,
    tab: AppointmentTab,
    at: datetime,
    offset: int,
    limit: int,
    order_by: str = "",
) -> AppointmentPage:
    """List a page of a tab, by one query: unconfirmed first, then by time.

    Today and tomorrow are days on the clock of each visit's own place. What has passed
    comes latest first, orders that nobody booked longest waiting first. Source: Ours
    (spec silent): a place across a zone line has its own today. `order_by` is another
    order, a path of what the tab lists, with a minus for downwards.
    """
    page = slice(offset, offset + limit)
    if tab == AppointmentTab.UNBOOKED:
        waiting = _orders_without_appointment(tenant, at).select_related(
            "user", "lab", "lab_test"
        )
        listed = sort_as_asked(
            waiting.order_by("updated_at", "pk"),
            order_by=order_by,
            newest=("-updated_at", "pk"),
        )
        return AppointmentPage((), list(listed[page]))
    unsure_first = Case(
        When(status__in=_UNSURE, then=Value(0)),
        default=Value(1),
        output_field=IntegerField(),
    )
    order = (
        ("-start_at", "pk")
        if tab == AppointmentTab.PASSED
        else (unsure_first, F("start_at").asc(nulls_first=True), "pk")
    )
    appointments = (
        _live_appointments(tenant)
        .filter(_tab_condition(tab, at))
        .select_related("order__user", "order__lab", "order__lab_test")
        .order_by(*order)
    )
    appointments = sort_as_asked(
        appointments, order_by=order_by, newest=("-start_at", "pk")
    )
    return AppointmentPage(list(appointments[page]), ())


def list_appointments_between(
    *, tenant: Tenant, first: date, last: date, limit: int
) -> list[Appointment]:
    """List uncancelled visits of local days, both included, by time; one query.

    Each visit counts to the day that its own place has, as on the tabs.
    """
    opens = datetime.combine(first, time(), tzinfo=UTC) - _DAY_MARGIN
    closes = datetime.combine(last, time(), tzinfo=UTC) + _DAY_MARGIN
    found = (
        _live_appointments(tenant)
        .filter(
            Q(start_at__gt=opens, start_at__lt=closes) & Q(on__gte=first, on__lte=last)
        )
        .select_related("order__user", "order__lab_test")
        .order_by("start_at", "pk")
    )
    return list(found[:limit])


def is_passed_without_sample(visit: Appointment, at: datetime) -> bool:
    """Return whether a visit with its order is over and no sample was recorded."""
    return bool(
        visit.status == AppointmentStatus.CONFIRMED
        and visit.end_at is not None
        and visit.end_at < at
        and visit.order.status_parts.low in _BOOKED
    )


def _live_appointments(tenant: Tenant) -> QuerySet[Appointment]:
    live = Appointment.objects.for_tenant(tenant).filter(order__user__deleted_at=None)
    appointments: QuerySet[Appointment] = live.exclude(
        status=AppointmentStatus.CANCELLED
    )
    return appointments.alias(on=_local_date_of(F("start_at")))


def _tab_condition(tab: AppointmentTab, at: datetime) -> Q:
    return _CONDITIONS[tab](at)


def _starts_on_local_day(at: datetime, ahead: int) -> Q:
    """Return the condition for a local day `ahead` of today at the site."""
    near = at + timedelta(days=ahead)
    # The first narrows by the index, the second decides.
    return Q(start_at__gt=near - _DAY_MARGIN, start_at__lt=near + _DAY_MARGIN) & Q(
        on=_local_date_from(at, ahead)
    )


def _starts_later(at: datetime) -> Q:
    return Q(start_at__gt=at, on__gt=_local_date_from(at, 1))


def _passed_without_sample(at: datetime) -> Q:
    lows = [build_order_status(method, low) for method in _BOOKABLE for low in _BOOKED]
    return Q(
        status=AppointmentStatus.CONFIRMED,
        end_at__lt=at,
        end_at__gt=at - _PASSED_WITHIN,
        order__status__in=lows,
    )


_CONDITIONS = {
    AppointmentTab.TODAY: lambda at: _starts_on_local_day(at, 0),
    AppointmentTab.TOMORROW: lambda at: _starts_on_local_day(at, 1),
    AppointmentTab.LATER: _starts_later,
    AppointmentTab.UNSURE: lambda _: Q(status__in=_UNSURE),
    AppointmentTab.PASSED: _passed_without_sample,
}


def _orders_without_appointment(tenant: Tenant, at: datetime) -> OrderQuerySet:
    statuses = [
        build_order_status(method, low)
        for method, lows in _BOOKABLE.items()
        for low in lows
    ]
    orders: OrderQuerySet = Order.objects.for_tenant(tenant).live()
    return orders.filter(status__in=statuses, updated_at__lt=at - UNBOOKED_AFTER)


def _local_date_from(at: datetime, ahead: int) -> ExpressionWrapper[Combinable]:
    """Return the local date at the site, some days ahead."""
    today = _local_date_of(Value(at, output_field=MomentField()))
    day = today + Value(ahead, output_field=IntegerField())
    return ExpressionWrapper(day, output_field=DateField())


def _local_date_of(moment: Combinable) -> Cast:
    """Return the local date of a moment at the site."""
    # A visit without a time has no zone either, and PostgreSQL takes no empty one.
    zone = Coalesce(NullIf(F("time_zone"), Value("")), Value("UTC"))
    there = Func(zone, moment, function="timezone", output_field=MomentField())
    return Cast(there, DateField())
