"""Orders as table rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.utils import timezone

from labs.states.accounts import AccountReason
from labs.states.appointments import TYPE_OF_METHOD
from labs.states.catalogue import CollectionMethod
from labs.states.orders import OrderOrigin, split_order_status
from labs.states.turnaround import Lateness, get_current_order_lateness
from portal.lib.translation import gettext_lazy
from portal.ui.pills import format_wire_value_as_words

if TYPE_CHECKING:
    from datetime import date

    from labs.models import LabAccount, Order

_TO_BOOK = {"requisition_created", "appointment_cancelled"}
PLATFORM_WORDS = gettext_lazy("Platform account")
_METHOD_ICONS = {
    CollectionMethod.TESTKIT: "truck",
    CollectionMethod.WALK_IN_TEST: "pin",
    CollectionMethod.AT_HOME_PHLEBOTOMY: "home",
    CollectionMethod.ON_SITE_COLLECTION: "building",
}


@dataclass(frozen=True, slots=True)
class OrderRow:
    """An order as a table row; `origin` is empty for a new order.

    `status` is the last part, so that one we do not know is shown in its own words.
    `starts_on` is the day that a scheduled order waits for, `late` says that results
    should have come, `is_unsettled` that nobody has acknowledged a critical one,
    `is_to_book` that a visit can be booked and is not. The patient's columns are loaded
    only where they are shown.
    """

    order: Order
    status: str
    method: str
    icon: str
    account: str
    origin: str
    starts_on: date | None
    late: Lateness | None
    is_unsettled: bool
    is_to_book: bool


def build_order_row(order: Order) -> OrderRow:
    """Build the table row of an order."""
    method = CollectionMethod.known(order.method)
    origin = OrderOrigin.known(order.origin)
    day = order.activate_by
    today = timezone.now().date()
    late = get_current_order_lateness(
        status=order.status,
        due_by=order.due_by,
        worst_case_by=order.worst_case_due_by,
        today=today,
    )
    low = split_order_status(order.status).low
    return OrderRow(
        order=order,
        status=low,
        method=str(method.label)
        if method
        else format_wire_value_as_words(order.method),
        icon=_METHOD_ICONS[method] if method else "ring",
        account=format_account_of_order(order),
        origin="" if origin in {None, OrderOrigin.INITIAL} else str(origin.label),
        starts_on=day if day and day > today else None,
        is_unsettled=order.has_open_alert,
        late=late if late != Lateness.IN_TIME and not order.moved_from else None,
        is_to_book=order.method in TYPE_OF_METHOD
        and low in _TO_BOOK
        and not order.moved_from,
    )


def format_account_of_order(order: Order) -> str:
    """Return the name of an order's account; of history that it is of elsewhere."""
    if order.moved_from:
        return str(AccountReason.MOVED.label)
    return format_lab_account_name(order.lab_account)


def format_lab_account_name(account: LabAccount | None) -> str:
    """Return a lab account's name, or that of the platform account."""
    if account is None:
        return PLATFORM_WORDS
    return account.account_name or account.provider_account_id
