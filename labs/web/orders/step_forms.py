"""Form of a step that a member records, and which steps an order can take."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from django import forms
from django.utils import timezone
from django.utils.translation import gettext as _

from labs.queries.appointments.appointments import find_active_appointment
from labs.queries.orders.history import find_last_known_order_status
from labs.states.appointments import APPOINTMENT_MOVES, AppointmentStatus
from labs.states.orders import (
    STATUS_DETAILS,
    OrderStatusDetail,
    build_order_status,
    get_allowed_order_transitions,
)
from labs.states.shipments import (
    NOTE_MAX_LENGTH,
    TRACKING_NUMBER_MAX_LENGTH,
    ShipmentStatus,
)
from portal.lib.periods import SkippedTime, convert_local_time_to_utc
from portal.lib.translation import gettext_lazy

if TYPE_CHECKING:
    from django.http import QueryDict

    from labs.models import Order

REDRAW = "redraw_available"
VISIT_STARTED, VISIT_COMPLETED = "visit_in_progress", "visit_completed"
_VISITS = {
    VISIT_STARTED: (AppointmentStatus.IN_PROGRESS, gettext_lazy("Visit in progress")),
    VISIT_COMPLETED: (AppointmentStatus.COMPLETED, gettext_lazy("Visit completed")),
}
_LAB = {
    "lab_processing_blocked": gettext_lazy("Blocked at the lab"),
    "sample_error": gettext_lazy("Sample not usable"),
    "do_not_process": gettext_lazy("Not to be processed"),
    REDRAW: gettext_lazy("Sample must be drawn again"),
}
# These end the order, so they are confirmed.
ENDING = {
    ShipmentStatus.LOST,
    ShipmentStatus.FAILURE_TO_DELIVER_TO_CUSTOMER,
    ShipmentStatus.FAILURE_TO_DELIVER_TO_LAB,
    "sample_error",
    "do_not_process",
    REDRAW,
}


def list_steps_to_record(order: Order) -> list[tuple[str, list[tuple[str, str]]]]:
    """List the steps that an order can take by a member's word, as grouped choices."""
    moves = get_allowed_order_transitions(
        order.method, registrable=order.is_registrable
    )
    following = dict(moves).get(find_last_known_order_status(order), frozenset())

    def allows(low: str) -> bool:
        try:
            return build_order_status(order.method, low) in following
        except (KeyError, ValueError):
            return False

    groups = [
        (_("Visit"), _list_visit_steps(order)),
        (
            _("Shipment"),
            [(one.value, str(one.label)) for one in ShipmentStatus if allows(one)],
        ),
        (
            _("Lab"),
            [(low, str(label)) for low, label in _LAB.items() if allows(low)],
        ),
    ]
    return [(name, steps) for name, steps in groups if steps]


def _list_visit_steps(order: Order) -> list[tuple[str, str]]:
    visit = find_active_appointment(order=order)
    if visit is None or visit.start_at is None or visit.start_at > timezone.now():
        return []
    return [
        (step, str(label))
        for step, (status, label) in _VISITS.items()
        if APPOINTMENT_MOVES.allows(visit.status, status)
    ]


class StepForm(forms.Form):
    """A step, when it happened on the member's clock, and what to say of it."""

    day = forms.DateField(
        label=gettext_lazy("Day"),
        widget=forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d"),
    )
    time = forms.TimeField(
        label=gettext_lazy("Time"),
        widget=forms.TimeInput(attrs={"type": "time"}, format="%H:%M"),
    )
    tracking_number = forms.CharField(
        label=gettext_lazy("Tracking number"),
        max_length=TRACKING_NUMBER_MAX_LENGTH,
        required=False,
    )
    note = forms.CharField(
        label=gettext_lazy("Note"), max_length=NOTE_MAX_LENGTH, required=False
    )
    ends = forms.BooleanField(
        label=gettext_lazy("I understand that this step ends the order"),
        required=False,
    )

    def __init__(self, order: Order, sent: QueryDict | None = None) -> None:
        now = timezone.localtime()
        super().__init__(
            sent, initial={"day": now.date(), "time": now.time().replace(second=0)}
        )
        steps = list_steps_to_record(order)
        self.has_steps = bool(steps)
        self.fields["step"] = forms.ChoiceField(
            label=_("Step"),
            choices=[("", _("Choose a step")), *steps],
            error_messages={
                "required": _("Choose a step."),
                "invalid_choice": _("The order can't take this step now."),
            },
        )
        offered = {step for _name, group in steps for step, _label in group}
        self.has_shipment = bool(offered & set(ShipmentStatus.values))
        details = {one for low in offered for one in STATUS_DETAILS.get(low, ())}
        self.has_detail = bool(details)
        self.has_ending = bool(offered & ENDING)
        self.fields["detail"] = forms.ChoiceField(
            label=_("Reason"),
            required=False,
            choices=[
                ("", _("Not known")),
                *(
                    (one.value, one.label)
                    for one in OrderStatusDetail
                    if one in details
                ),
            ],
        )

    def clean(self) -> None:
        """Refuse a step that ends the order unconfirmed, and a time that never was."""
        data = self.cleaned_data
        if data.get("step") in ENDING and not data.get("ends"):
            self.add_error("ends", _("Confirm that this step ends the order."))
        if data.get("day") and data.get("time"):
            try:
                data["occurred_at"] = convert_local_time_to_utc(
                    datetime.combine(data["day"], data["time"]),
                    timezone.get_current_timezone(),
                )
            except SkippedTime:
                self.add_error(
                    "time", _("Clocks skip this time on that day. Enter another time.")
                )
