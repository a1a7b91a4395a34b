"""Orders in the API (contract 6.5 to 6.14)."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, ClassVar

from rest_framework.response import Response

from accounts.api.views import TenantAPIView
from accounts.operations.audit.entries import record_read
from accounts.states import Area
from labs.api.v3.orders.inputs import (
    ActivationInputs,
    ImportInputs,
    KitInputs,
    OrderInputs,
    RecreateInputs,
    RegistrationInputs,
    ResendInputs,
    parse_event_resend_request,
    parse_kit_order_request,
    parse_kit_registration_request,
    parse_order_recreation_request,
    parse_order_request,
)
from labs.api.v3.orders.list_inputs import OrderListQuery, parse_order_filters
from labs.api.v3.orders.outputs import (
    OrderDone,
    OrderList,
    Physicians,
    ResentOrders,
    SimulationDone,
    TransactionAnswer,
    build_order_change_response,
    build_order_list,
    build_order_transaction,
)
from labs.api.v3.orders.simulation_inputs import (
    SimulationInputs,
    SimulationQuery,
    parse_simulation_flags,
)
from labs.operations.orders.kits import order_kit, register_kit
from labs.operations.orders.placing import (
    cancel_order,
    change_start_date,
    import_order,
    place_order,
    record_sample_drawn,
)
from labs.operations.orders.recreations import recreate_order
from labs.operations.orders.resending import resend_last_order_events
from labs.operations.simulation.orders import simulate_order_progress
from labs.payloads import OrderAnswer, build_order
from labs.queries.orders.orders import (
    get_order_with_details,
    list_ordering_physicians,
    list_orders_of_transaction,
    list_orders_page,
)
from portal.lib.api.fields import (
    parse_path_uuid,
    validate_patch_body,
    validate_post_body,
    validate_query_string,
)
from portal.lib.api.idempotency import respond_once_per_idempotency_key
from portal.lib.api.schema import describe_api_operation
from portal.lib.errors import NotFound

if TYPE_CHECKING:
    from uuid import UUID

    from django.http import HttpResponse
    from rest_framework.request import Request

    from labs.models import Order


class OrderAPIView(TenantAPIView):
    """Base of views about orders."""

    area = Area.ORDERS
    also_reads: ClassVar[tuple[str, ...]] = (Area.PATIENT_DETAILS,)

    def get_order(self, order_id: str) -> Order:
        """Return the path's order. Raises: 422 at the path; order_not_found (404)."""
        return get_order_with_details(
            tenant=self.tenant, order_id=parse_path_uuid(order_id, "order_id")
        )

    def build_done_answer(self, order_id: UUID, message: str) -> OrderDone:
        """Build the response with the order's current state."""
        return build_order_change_response(
            get_order_with_details(tenant=self.tenant, order_id=order_id), message
        )

    def record_read(self, subject: str, subject_id: object, user: UUID | None) -> None:
        """Audit that orders were read through the API."""
        record_read(
            tenant=self.tenant,
            actor=self.actor,
            subject=subject,
            subject_id=subject_id,
            user_uuid=user,
        )


class OrdersView(OrderAPIView):
    """Placing of orders, under both paths (D8)."""

    @describe_api_operation(
        "create_order",
        "Place an order",
        answer=OrderDone,
        body=OrderInputs,
        refuses=(400, 404, 409),
    )
    def post(self, request: Request) -> HttpResponse:
        def place_once() -> OrderDone:
            order_request = parse_order_request(
                validate_post_body(request, OrderInputs)
            )
            order = place_order(
                tenant=self.tenant, actor=self.actor, request=order_request
            )
            return self.build_done_answer(order.pk, "Order placed.")

        return respond_once_per_idempotency_key(
            self, request, endpoint="order", work=place_once
        )


class OrderCreateView(OrdersView):
    """Placing of orders under the specification's path."""

    @describe_api_operation(
        "create_order_at_create",
        "Place an order (the same as POST /v3/order)",
        answer=OrderDone,
        body=OrderInputs,
        refuses=(400, 404, 409),
    )
    def post(self, request: Request) -> HttpResponse:
        return super().post(request)


class OrderImportView(OrderAPIView):
    """POST /v3/order/import."""

    @describe_api_operation(
        "import_order",
        "Import an order placed elsewhere",
        answer=OrderDone,
        body=ImportInputs,
        refuses=(400, 404),
    )
    def post(self, request: Request) -> Response:
        body = validate_post_body(request, ImportInputs)
        order = import_order(
            tenant=self.tenant,
            actor=self.actor,
            request=parse_order_request(body),
            sample_id=body["sample_id"],
        )
        return Response(self.build_done_answer(order.pk, "Order imported."))


class OrderListView(OrderAPIView):
    """GET /v3/orders."""

    @describe_api_operation(
        "list_orders", "List orders", answer=OrderList, query=OrderListQuery
    )
    def get(self, request: Request) -> Response:
        query = validate_query_string(request, OrderListQuery)
        page, size = query["page"], query["size"]
        filters = parse_order_filters(query)
        found = list_orders_page(
            tenant=self.tenant, filters=filters, page=page, size=size
        )
        self.record_read("order_list", page, None)
        return Response(build_order_list(found, page=page, size=size))


class OrderView(OrderAPIView):
    """One order."""

    @describe_api_operation(
        "get_order", "Get an order", answer=OrderAnswer, refuses=(404,)
    )
    def get(self, request: Request, order_id: str) -> Response:
        order = self.get_order(order_id)
        self.record_read("order", order.pk, order.user.uuid)
        return Response(build_order(order))

    @describe_api_operation(
        "update_order",
        "Change the start date of a scheduled order",
        answer=OrderDone,
        body=ActivationInputs,
        refuses=(400, 404),
    )
    def patch(self, request: Request, order_id: str) -> Response:
        order = self.get_order(order_id)
        body = validate_patch_body(request, ActivationInputs)
        if "activate_by" in body:
            order = change_start_date(
                order=order, actor=self.actor, day=body["activate_by"]
            )
        return Response(self.build_done_answer(order.pk, "Order updated."))


class OrderCancelView(OrderAPIView):
    """POST /v3/order/{order_id}/cancel."""

    @describe_api_operation(
        "cancel_order", "Cancel an order", answer=OrderDone, refuses=(400, 404)
    )
    def post(self, request: Request, order_id: str) -> Response:
        order = cancel_order(order=self.get_order(order_id), actor=self.actor)
        return Response(self.build_done_answer(order.pk, "Order cancelled."))


class OrderRecreateView(OrderAPIView):
    """POST /v3/order/{order_id}/recreate."""

    @describe_api_operation(
        "recreate_order",
        "Recreate an order with corrected details",
        answer=OrderDone,
        body=RecreateInputs,
        refuses=(400, 404),
    )
    def post(self, request: Request, order_id: str) -> Response:
        order = self.get_order(order_id)
        recreation = parse_order_recreation_request(
            validate_post_body(request, RecreateInputs)
        )
        new = recreate_order(order=order, actor=self.actor, recreation=recreation)
        return Response(self.build_done_answer(new.pk, "Order recreated."))


class OrderDrawView(OrderAPIView):
    """PATCH /v3/order/{order_id}/draw_completed."""

    @describe_api_operation(
        "complete_draw",
        "Record that an on-site sample was collected",
        answer=OrderDone,
        refuses=(400, 404),
    )
    def patch(self, request: Request, order_id: str) -> Response:
        order = record_sample_drawn(order=self.get_order(order_id), actor=self.actor)
        return Response(self.build_done_answer(order.pk, "Draw completed."))


class OrderSimulationView(OrderAPIView):
    """POST /v3/order/{order_id}/test."""

    @describe_api_operation(
        "simulate_order",
        "Advance a sandbox order to a status",
        answer=SimulationDone,
        body=SimulationInputs,
        query=SimulationQuery,
        refuses=(400, 403, 404),
    )
    def post(self, request: Request, order_id: str) -> Response:
        order = self.get_order(order_id)
        query = validate_query_string(request, SimulationQuery)
        simulate_order_progress(
            order=order,
            actor=self.actor,
            final_status=query.get("final_status"),
            delay=timedelta(seconds=query["delay"]),
            flags=parse_simulation_flags(validate_post_body(request, SimulationInputs)),
        )
        done: SimulationDone = {"success": True, "message": "Simulation scheduled."}
        return Response(done)


class OrderResendView(OrderAPIView):
    """POST /v3/order/resend_events."""

    @describe_api_operation(
        "resend_order_events",
        "Resend the last event of orders",
        answer=ResentOrders,
        body=ResendInputs,
    )
    def post(self, request: Request) -> Response:
        ids, start_at, end_at = parse_event_resend_request(
            validate_post_body(request, ResendInputs)
        )
        resent: ResentOrders = {
            "order_ids": resend_last_order_events(
                tenant=self.tenant,
                actor=self.actor,
                order_ids=ids,
                start_at=start_at,
                end_at=end_at,
            )
        }
        return Response(resent)


class KitOrdersView(OrderAPIView):
    """POST /v3/order/testkit."""

    @describe_api_operation(
        "create_testkit_order",
        "Order a kit to register later",
        answer=OrderDone,
        body=KitInputs,
        refuses=(400, 404, 409),
    )
    def post(self, request: Request) -> HttpResponse:
        def place_once() -> OrderDone:
            kit_request = parse_kit_order_request(
                validate_post_body(request, KitInputs)
            )
            order = order_kit(tenant=self.tenant, actor=self.actor, request=kit_request)
            return self.build_done_answer(order.pk, "Test kit ordered.")

        return respond_once_per_idempotency_key(
            self, request, endpoint="order_testkit", work=place_once
        )


class KitRegistrationView(OrderAPIView):
    """POST /v3/order/testkit/register."""

    @describe_api_operation(
        "register_testkit",
        "Register a kit to a patient",
        answer=OrderDone,
        body=RegistrationInputs,
        refuses=(400, 404),
    )
    def post(self, request: Request) -> Response:
        registration = parse_kit_registration_request(
            validate_post_body(request, RegistrationInputs)
        )
        order = register_kit(tenant=self.tenant, actor=self.actor, request=registration)
        return Response(self.build_done_answer(order.pk, "Test kit registered."))


class OrderTransactionView(OrderAPIView):
    """GET /v3/order_transaction/{transaction_id}."""

    @describe_api_operation(
        "get_order_transaction",
        "Get an order with its redraw and recreations",
        answer=TransactionAnswer,
        refuses=(404,),
    )
    def get(self, request: Request, transaction_id: str) -> Response:
        orders = list_orders_of_transaction(
            tenant=self.tenant,
            transaction_id=parse_path_uuid(transaction_id, "transaction_id"),
        )
        self.record_read("order_transaction", orders[0].transaction_id, None)
        return Response(build_order_transaction(self.tenant, orders))


class TeamPhysiciansView(TenantAPIView):
    """GET /v2/team/{team_id}/physicians."""

    area = Area.TEAM

    @describe_api_operation(
        "list_team_physicians",
        "List the physicians named on a team's orders",
        answer=Physicians,
        refuses=(404,),
    )
    def get(self, request: Request, team_id: str) -> Response:
        if parse_path_uuid(team_id, "team_id") != self.tenant.team_id:
            raise NotFound("team_not_found", "Team not found.")
        return Response(list_ordering_physicians(tenant=self.tenant))
