"""Appointments in the API: slots, book, reschedule, cancel. Contract 6.18."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, ClassVar

from rest_framework.response import Response

from accounts.api.views import TenantAPIView
from accounts.states import Area
from labs.api.v3.appointments.inputs import (
    BookingInputs,
    CancellationInputs,
    CenterAvailabilityQuery,
    CenterCancellationInputs,
    HomeAvailabilityQuery,
    HomeCancellationInputs,
    RescheduleInputs,
    UsAddressInputs,
    VisitRequestInputs,
    parse_appointment_booking_request,
    parse_appointment_cancellation_request,
    parse_requested_lab,
    parse_slot_start_date,
)
from labs.api.v3.appointments.outputs import (
    BookingRefusal,
    ReasonAnswer,
    build_appointment_cancellation_reasons,
    build_slot_availability,
)
from labs.api.v3.orders.inputs import to_json_values
from labs.api.v3.orders.views import OrderAPIView
from labs.api.v3.service_centers.inputs import parse_search_radius_miles
from labs.operations.appointments.booking import (
    book_appointment,
    make_repeatable_booking_reference,
    request_home_appointment,
    require_matching_appointment_type,
)
from labs.operations.appointments.changes import (
    cancel_appointment,
    reschedule_appointment,
)
from labs.operations.appointments.slots import list_center_slots, list_home_slots
from labs.payloads.appointments import (
    AppointmentAnswer,
    AvailabilityAnswer,
    build_appointment,
)
from labs.queries.appointments.appointments import (
    appointments_with_details,
    get_current_appointment,
)
from labs.states.appointments import AppointmentType
from portal.lib.api.fields import validate_post_body, validate_query_string
from portal.lib.api.idempotency import respond_once_after_repeatable_work
from portal.lib.api.schema import Refusal, describe_api_operation
from portal.lib.idempotency import HEADER

if TYPE_CHECKING:
    from django.http import HttpResponse
    from rest_framework.request import Request

    from labs.models import Appointment, Order

_RETENTION = timedelta(days=14)  # Contract 1.6
_BOOKING_REFUSALS = {
    400: BookingRefusal,
    404: Refusal,
    409: Refusal,
    503: Refusal,
}
_CHANGE_REFUSALS = {400: BookingRefusal, 404: Refusal, 503: Refusal}


class CenterAvailabilityView(TenantAPIView):
    """POST /v3/order/psc/appointment/availability."""

    area = Area.BOOKINGS
    reading = ("POST",)

    @describe_api_operation(
        "get_psc_appointment_availability",
        "List free slots at service centers for 14 days",
        answer=AvailabilityAnswer,
        query=CenterAvailabilityQuery,
        refuses=(400,),
    )
    def post(self, request: Request) -> Response:
        query = validate_query_string(request, CenterAvailabilityQuery)
        found = list_center_slots(
            tenant=self.tenant,
            lab_slug=parse_requested_lab(query),
            zip_code=query.get("zip_code", ""),
            miles=parse_search_radius_miles(query),
            site_codes=query.get("site_codes", ()),
            start=parse_slot_start_date(query),
        )
        return Response(build_slot_availability(found))


class HomeAvailabilityView(TenantAPIView):
    """POST /v3/order/phlebotomy/appointment/availability."""

    area = Area.BOOKINGS
    reading = ("POST",)

    @describe_api_operation(
        "get_phlebotomy_appointment_availability",
        "List free slots of phlebotomists who visit an address",
        answer=AvailabilityAnswer,
        body=UsAddressInputs,
        query=HomeAvailabilityQuery,
        refuses=(400,),
    )
    def post(self, request: Request) -> Response:
        query = validate_query_string(request, HomeAvailabilityQuery)
        address = to_json_values(validate_post_body(request, UsAddressInputs))
        found = list_home_slots(
            tenant=self.tenant, address=address, start=parse_slot_start_date(query)
        )
        return Response(build_slot_availability(found))


class AppointmentAPIView(OrderAPIView):
    """Base of views about an order's appointment of one type."""

    area = Area.BOOKINGS
    kind: ClassVar[AppointmentType]

    def build_current_appointment(self, appointment: Appointment) -> AppointmentAnswer:
        """Build the appointment's response from its current state."""
        found = appointments_with_details(tenant=self.tenant).get(pk=appointment.pk)
        return build_appointment(found)

    def get_order_of_type(self, order_id: str) -> Order:
        """Return an order with an appointment of this type.

        Raises: order_not_found, appointment_not_found (404).
        """
        order = self.get_order(order_id)
        get_current_appointment(order=order, kind=self.kind)
        return order


class _AppointmentReadView(AppointmentAPIView):
    """GET /v3/order/{order_id}/.../appointment."""

    def get_appointment(self, order_id: str) -> Response:
        order = self.get_order(order_id)
        found = get_current_appointment(order=order, kind=self.kind)
        self.record_read("appointment", found.pk, order.user.uuid)
        return Response(build_appointment(found))


class _BookingView(AppointmentAPIView):
    """POST /v3/order/{order_id}/.../appointment/book."""

    def book_appointment_of(self, request: Request, order_id: str) -> HttpResponse:
        order = self.get_order(order_id)
        key = request.headers.get(HEADER)
        reference = (
            make_repeatable_booking_reference(order=order, key=key) if key else None
        )

        def book_once() -> AppointmentAnswer:
            booking = parse_appointment_booking_request(
                validate_post_body(request, BookingInputs), reference
            )
            require_matching_appointment_type(order=order, kind=self.kind)
            return self.build_current_appointment(
                book_appointment(order=order, actor=self.actor, request=booking)
            )

        return respond_once_after_repeatable_work(
            self,
            request,
            endpoint=f"appointment_{order.pk}",
            work=book_once,
            retention=_RETENTION,
        )


class _ReschedulingView(AppointmentAPIView):
    """PATCH /v3/order/{order_id}/.../appointment/reschedule."""

    def reschedule(self, request: Request, order_id: str) -> Response:
        order = self.get_order_of_type(order_id)
        body = validate_post_body(request, RescheduleInputs)
        moved = reschedule_appointment(
            order=order,
            actor=self.actor,
            booking_key=body["booking_key"],
            notes=body.get("appointment_notes"),
        )
        return Response(self.build_current_appointment(moved))


class _CancellationView(AppointmentAPIView):
    """PATCH /v3/order/{order_id}/.../appointment/cancel."""

    def cancel(self, request: Request, order_id: str, *, name: str) -> Response:
        order = self.get_order(order_id)
        reason, note = parse_appointment_cancellation_request(
            validate_post_body(request, CancellationInputs), name=name
        )
        ended = cancel_appointment(
            order=order, actor=self.actor, kind=self.kind, reason_id=reason, note=note
        )
        return Response(self.build_current_appointment(ended))


class CenterAppointmentView(_AppointmentReadView):
    """A service center appointment."""

    kind = AppointmentType.SERVICE_CENTER

    @describe_api_operation(
        "get_psc_appointment",
        "Get an order's service center appointment",
        answer=AppointmentAnswer,
        refuses=(404,),
    )
    def get(self, request: Request, order_id: str) -> Response:
        return self.get_appointment(order_id)


class HomeAppointmentView(_AppointmentReadView):
    """An at-home appointment."""

    kind = AppointmentType.PHLEBOTOMY

    @describe_api_operation(
        "get_phlebotomy_appointment",
        "Get an order's at-home appointment",
        answer=AppointmentAnswer,
        refuses=(404,),
    )
    def get(self, request: Request, order_id: str) -> Response:
        return self.get_appointment(order_id)


class CenterBookingView(_BookingView):
    """Booking of a service center appointment."""

    kind = AppointmentType.SERVICE_CENTER

    @describe_api_operation(
        "book_psc_appointment",
        "Book a service center appointment",
        answer=AppointmentAnswer,
        body=BookingInputs,
        refuses=_BOOKING_REFUSALS,
    )
    def post(self, request: Request, order_id: str) -> HttpResponse:
        return self.book_appointment_of(request, order_id)


class HomeBookingView(_BookingView):
    """Booking of an at-home appointment."""

    kind = AppointmentType.PHLEBOTOMY

    @describe_api_operation(
        "book_phlebotomy_appointment",
        "Book an at-home appointment",
        answer=AppointmentAnswer,
        body=BookingInputs,
        refuses=_BOOKING_REFUSALS,
    )
    def post(self, request: Request, order_id: str) -> HttpResponse:
        return self.book_appointment_of(request, order_id)


class HomeRequestView(AppointmentAPIView):
    """Request of an at-home appointment at a time its provider sets."""

    kind = AppointmentType.PHLEBOTOMY

    @describe_api_operation(
        "request_phlebotomy_appointment",
        "Request an at-home appointment",
        answer=AppointmentAnswer,
        body=VisitRequestInputs,
        refuses=(400, 404),
    )
    def post(self, request: Request, order_id: str) -> Response:
        order = self.get_order(order_id)
        body = validate_post_body(request, VisitRequestInputs)
        appointment = request_home_appointment(
            order=order,
            actor=self.actor,
            provider=str(body["provider"]),
            address=to_json_values(body["address"]),
            notes=body.get("appointment_notes", ""),
        )
        return Response(self.build_current_appointment(appointment))


class CenterReschedulingView(_ReschedulingView):
    """Rescheduling of a service center appointment."""

    kind = AppointmentType.SERVICE_CENTER

    @describe_api_operation(
        "reschedule_psc_appointment",
        "Reschedule a service center appointment",
        answer=AppointmentAnswer,
        body=RescheduleInputs,
        refuses=_CHANGE_REFUSALS,
    )
    def patch(self, request: Request, order_id: str) -> Response:
        return self.reschedule(request, order_id)


class HomeReschedulingView(_ReschedulingView):
    """Rescheduling of an at-home appointment."""

    kind = AppointmentType.PHLEBOTOMY

    @describe_api_operation(
        "reschedule_phlebotomy_appointment",
        "Reschedule an at-home appointment",
        answer=AppointmentAnswer,
        body=RescheduleInputs,
        refuses=_CHANGE_REFUSALS,
    )
    def patch(self, request: Request, order_id: str) -> Response:
        return self.reschedule(request, order_id)


class CenterCancellationView(_CancellationView):
    """Cancellation of a service center appointment."""

    kind = AppointmentType.SERVICE_CENTER

    @describe_api_operation(
        "cancel_psc_appointment",
        "Cancel a service center appointment",
        answer=AppointmentAnswer,
        body=CenterCancellationInputs,
        refuses=(400, 404),
    )
    def patch(self, request: Request, order_id: str) -> Response:
        return self.cancel(request, order_id, name="cancellationReasonId")


class HomeCancellationView(_CancellationView):
    """Cancellation of an at-home appointment."""

    kind = AppointmentType.PHLEBOTOMY

    @describe_api_operation(
        "cancel_phlebotomy_appointment",
        "Cancel an at-home appointment",
        answer=AppointmentAnswer,
        body=HomeCancellationInputs,
        refuses=(400, 404),
    )
    def patch(self, request: Request, order_id: str) -> Response:
        return self.cancel(request, order_id, name="cancellation_reason_id")


class CenterReasonsView(TenantAPIView):
    """GET /v3/order/psc/appointment/cancellation-reasons."""

    area = Area.BOOKINGS

    @describe_api_operation(
        "get_psc_appointment_cancellation_reason",
        "List cancellation reasons for service center appointments",
        answer=list[ReasonAnswer],
    )
    def get(self, request: Request) -> Response:
        return Response(
            build_appointment_cancellation_reasons(AppointmentType.SERVICE_CENTER)
        )


class HomeReasonsView(TenantAPIView):
    """GET /v3/order/phlebotomy/appointment/cancellation-reasons."""

    area = Area.BOOKINGS

    @describe_api_operation(
        "get_phlebotomy_appointment_cancellation_reason",
        "List cancellation reasons for at-home appointments",
        answer=list[ReasonAnswer],
    )
    def get(self, request: Request) -> Response:
        return Response(
            build_appointment_cancellation_reasons(AppointmentType.PHLEBOTOMY)
        )
