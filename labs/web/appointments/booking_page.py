"""Booking page: read the form, load free slots, render the result."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Any

from django import forms
from django.utils import timezone
from django.utils.dateparse import parse_date
from django.utils.translation import gettext as _

from accounts.web.dialogs import read_posted
from labs.operations.appointments.slots import (
    SlotTaken,
    list_center_slots,
    list_home_slots,
)
from labs.operations.documents.appointment_documents import (
    is_fasting_required_for_order,
)
from labs.queries.appointments.areas import list_home_visit_providers_of_zip_code
from labs.queries.appointments.bookable_sites import accepts_home_visit_requests
from labs.queries.appointments.service_centers import (
    get_zip_code_location,
    list_service_centers_near,
)
from labs.states.appointments import (
    NOTES_MAX_LENGTH,
    TYPE_OF_METHOD,
    AppointmentProvider,
    AppointmentType,
)
from labs.states.order_queues import AWAITS_REQUISITION
from labs.states.orders import split_order_status
from labs.states.service_centers import DEFAULT_RADIUS, RADII, Capability
from labs.web.appointments.booking_grid import (
    GridSelection,
    TimeOfDay,
    build_booking_grid,
    describe_fasting_for_slot,
    format_local_time,
    get_local_slot_start,
    get_site_form_value,
)
from portal.lib.errors import DomainError
from portal.lib.periods import find_time_zone_by_name
from portal.lib.translation import gettext_lazy
from portal.lib.web.views import render_page

if TYPE_CHECKING:
    from datetime import date, datetime

    from django.http import HttpResponse

    from accounts.web.requests import TenantRequest
    from labs.models import Appointment, Order
    from labs.operations.appointments.booking_keys import OfferedSlot
    from labs.operations.appointments.slot_places import Hold
    from labs.operations.appointments.slots import Availability
    from labs.queries.appointments.service_centers import NearCenter
    from labs.web.appointments.booking_grid import Grid

_OTHERS_SHOWN = 5


class BookingForm(forms.Form):
    """Where to search, and a note for the site."""

    zip_code = forms.RegexField(
        r"^\s*\d{5}(-?\d{4})?\s*$",
        label=gettext_lazy("ZIP code"),
        error_messages={
            "required": gettext_lazy("Enter a ZIP code."),
            "invalid": gettext_lazy("Enter a 5-digit ZIP code."),
        },
    )
    miles = forms.TypedChoiceField(
        label=gettext_lazy("Within"),
        choices=lambda: [(one, _("%(miles)d miles") % {"miles": one}) for one in RADII],
        coerce=int,
        initial=DEFAULT_RADIUS,
    )
    when = forms.ChoiceField(
        label=gettext_lazy("Show"),
        choices=TimeOfDay.offered,
        initial=TimeOfDay.ANY,
        required=False,  # not shown, and so not sent, where no place is in reach
    )
    notes = forms.CharField(
        label=gettext_lazy("Note for the location"),
        max_length=NOTES_MAX_LENGTH,
        required=False,
        widget=forms.Textarea(attrs={"rows": 2}),
    )

    def __init__(self, *args: Any, is_home: bool, **options: Any) -> None:
        super().__init__(*args, **options)
        if is_home:
            del self.fields["zip_code"], self.fields["miles"]


class BookingPage:
    """One request to the booking page: its input, result and rendering."""

    def __init__(
        self, request: TenantRequest, order: Order, visit: Appointment | None
    ) -> None:
        self.request, self.order, self.visit = request, order, visit
        self.is_home = TYPE_OF_METHOD[order.method] == AppointmentType.PHLEBOTOMY
        address = order.patient_address or {}
        self.form = BookingForm(
            read_posted(request),
            is_home=self.is_home,
            initial={"zip_code": str(address.get("zip", ""))[:5]},
        )
        sent = request.POST
        self.go = sent.get("go", "look")
        self.key = sent.get("take") or sent.get("slot", "")
        self.is_booking = "take" in sent or self.go == "book"
        is_anew = self.go == "search"
        self.site = "" if is_anew else sent.get("site", "")
        self.day = None if is_anew else _parse_day(sent.get("day", ""))
        other = self.go.partition("from:")[2]
        self.start = _parse_day(other) or (
            None if is_anew else _parse_day(sent.get("start", ""))
        )
        self.slot: tuple[str, datetime] | None = None
        self.refusal = ""
        self.hold: Hold | None = None
        self.lost: SlotTaken | None = None

    def select_slot(self, slot: OfferedSlot) -> None:
        """Show a slot as the selected one, or as the one that was taken."""
        local = slot.start.astimezone(find_time_zone_by_name(slot.site.time_zone))
        self.site, self.day = get_site_form_value(slot.site), local.date()
        self.slot = (slot.site.code, slot.start)

    def render(self) -> HttpResponse:
        """Render the page, or its form alone."""
        grid = self._build_grid()
        faulty = bool(self.refusal or self.lost or self.form.errors)
        reader = timezone.localtime(self.hold.expires_at) if self.hold else None
        return render_page(
            self.request,
            "labs/book_visit.html",
            fragment="labs/_book_visit.html",
            status=422 if faulty else 200,
            section="orders",
            order=self.order,
            visit=self.visit,
            visit_at=format_appointment_time(self.visit) if self.visit else "",
            is_home=self.is_home,
            is_early=split_order_status(self.order.status).low in AWAITS_REQUISITION,
            form=self.form,
            form_key=uuid.uuid4(),
            grid=grid,
            chosen_at=format_local_time(get_local_slot_start(grid.slot))
            if grid and grid.slot
            else "",
            fasting=describe_fasting_for_slot(grid.slot if grid else None)
            if is_fasting_required_for_order(self.order)
            else "",
            refusal=self.refusal,
            hold=self.hold,
            held_until=reader,
            lost=_describe_slot(self.lost.lost) if self.lost else "",
            alternatives=self._list_alternatives(),
            others=self._list_other_centers() if not self.is_home else (),
            on_request=self._list_providers_on_request() if self.is_home else (),
        )

    def _build_grid(self) -> Grid | None:
        """Build the choices; None for an invalid ZIP code."""
        found = self._load_availability()
        if found is None:
            return None
        struck = [(self.lost.lost.site.code, self.lost.lost.start)] if self.lost else []
        if self.visit is not None and self.visit.start_at is not None:
            struck.append((self.visit.site_code, self.visit.start_at))
        when = TimeOfDay.known(str(self._field_value("when"))) or TimeOfDay.ANY
        selection = GridSelection(self.site, self.day, when, self.slot)
        here = "" if self.is_home else str(self._field_value("zip_code"))
        return build_booking_grid(found, selection, here=here, struck=struck)

    def _load_availability(self) -> Availability | None:
        start = self.start
        while True:
            try:
                return self._find_free_slots(start)
            except DomainError as refused:
                if refused.code == "start_date_past" and start is not None:
                    start = None  # the page was open past midnight
                    continue
                known = refused.field if refused.field in self.form.fields else None
                if self.form.is_bound:
                    self.form.add_error(known or self._location_field, refused.message)
                else:
                    self.refusal = refused.message
                return None

    def _find_free_slots(self, start: date | None) -> Availability:
        tenant, order = self.request.tenant, self.order
        if self.is_home:
            address = build_home_appointment_address(order)
            get_zip_code_location(
                address["zip_code"]
            )  # or it would seem that nobody has time
            return list_home_slots(
                tenant=tenant,
                address=address,
                start=start,
                order_id=order.pk,
            )
        zip_code = str(self._field_value("zip_code"))
        get_zip_code_location(zip_code)
        return list_center_slots(
            tenant=tenant,
            lab_slug=order.lab.slug,
            zip_code=zip_code,
            miles=int(self._field_value("miles")),
            start=start,
            order_id=order.pk,
        )

    @property
    def _location_field(self) -> str | None:
        return None if self.is_home else "zip_code"

    def _field_value(self, name: str) -> Any:
        """Return a field's valid value, else its initial value."""
        if self.form.is_bound:
            self.form.is_valid()
            if name in self.form.cleaned_data:
                value = self.form.cleaned_data[name]
                return value.strip() if isinstance(value, str) else value
        return self.form.get_initial_for_field(self.form.fields[name], name)

    def _list_alternatives(self) -> list[dict[str, str]]:
        return [
            {
                "key": slot.booking_key,
                "when": format_local_time(get_local_slot_start(slot)),
                "where": slot.site.name,
            }
            for slot in (self.lost.alternatives if self.lost else ())
        ]

    def _list_other_centers(self) -> list[NearCenter]:
        """List centers in range that are not bookable here, nearest first."""
        try:
            near = list_service_centers_near(
                place=get_zip_code_location(str(self._field_value("zip_code"))),
                labs=[self.order.lab],
                miles=int(self._field_value("miles")),
            )
        except DomainError:
            return []
        others = [
            one
            for one in near
            if Capability.BOOKABLE_HERE not in one.center.capabilities
        ]
        return others[:_OTHERS_SHOWN]

    def _list_providers_on_request(self) -> list[tuple[str, str]]:
        """List providers that set the time of a home visit, by name."""
        tenant = self.request.tenant
        zip_code = str(build_home_appointment_address(self.order)["zip_code"])[:5]
        return [
            (name, str(known.label) if known else name)
            for name in list_home_visit_providers_of_zip_code(tenant, zip_code)
            if accepts_home_visit_requests(tenant, name, zip_code)
            for known in (AppointmentProvider.known(name),)
        ]


def build_home_appointment_address(order: Order) -> dict[str, Any]:
    """Build the patient's address as appointments have it (contract 6.18)."""
    address = order.patient_address or {}
    return {
        "first_line": address.get("first_line", ""),
        "second_line": address.get("second_line"),
        "city": address.get("city", ""),
        "state": address.get("state", ""),
        "zip_code": address.get("zip", ""),
        "access_notes": address.get("access_notes"),
    }


def format_appointment_time(visit: Appointment) -> str:
    """Format a visit's local time; empty before it has one."""
    if visit.start_at is None:
        return ""
    return format_local_time(
        visit.start_at.astimezone(find_time_zone_by_name(visit.time_zone))
    )


def _describe_slot(slot: OfferedSlot) -> str:
    local = slot.start.astimezone(find_time_zone_by_name(slot.site.time_zone))
    return _("%(time)s, at %(place)s") % {
        "time": format_local_time(local),
        "place": slot.site.name,
    }


def _parse_day(text: str) -> date | None:
    try:
        return parse_date(text)
    except ValueError:
        return None
