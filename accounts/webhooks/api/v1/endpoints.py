"""List, create, change and delete endpoints by management key; headers and secret.

Contract 8.7.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rest_framework.response import Response

from accounts.api.management import TeamManagementView
from accounts.webhooks.api.v1.inputs import (
    HeadersInputs,
    RotateInputs,
    TestInputs,
    WebhookInputs,
    WebhookListQuery,
    WebhookPatch,
)
from accounts.webhooks.api.v1.outputs import (
    TestMessage,
    Webhook,
    WebhookHeaders,
    WebhookPage,
    WebhookSecret,
    build_webhook_endpoint_response,
    build_webhook_headers_response,
)
from accounts.webhooks.models import Endpoint
from accounts.webhooks.operations.endpoints import (
    change_endpoint,
    create_endpoint,
    delete_endpoint,
    replace_custom_headers,
    reveal_signing_secret,
    rotate_signing_secret,
)
from accounts.webhooks.operations.testing import send_test_event
from portal.lib.api.fields import (
    parse_path_uuid,
    validate_patch_body,
    validate_post_body,
    validate_query_string,
)
from portal.lib.api.pagination import decode_row_cursor, encode_page_cursor
from portal.lib.api.schema import describe_api_operation
from portal.lib.api.views import get_tenant_row_or_404

if TYPE_CHECKING:
    from django.db.models import QuerySet
    from rest_framework.request import Request


class WebhookManagementView(TeamManagementView):
    """Base of views about endpoints."""

    def get_endpoints(self) -> QuerySet[Endpoint]:
        """The tenant's endpoints that are not deleted."""
        live: QuerySet[Endpoint] = Endpoint.objects.for_tenant(self.tenant).live()
        return live.select_related("tenant__team")

    def get_endpoint(self, webhook_id: str) -> Endpoint:
        """The endpoint of the path. Raises: 422 at the path; not_found (404)."""
        endpoint: Endpoint = get_tenant_row_or_404(
            self.get_endpoints(),
            what="Webhook",
            uuid=parse_path_uuid(webhook_id, "webhook_id"),
        )
        return endpoint


class WebhooksView(WebhookManagementView):
    """GET and POST …/webhook."""

    @describe_api_operation(
        "list_webhooks",
        "List webhook endpoints",
        answer=WebhookPage,
        query=WebhookListQuery,
        refuses=(404,),
    )
    def get(self, request: Request, **place: str) -> Response:
        """Oldest first."""
        query = validate_query_string(request, WebhookListQuery)
        after, limit = decode_row_cursor(query.get("next_cursor")), query["limit"]
        rows = self.get_endpoints().filter(pk__gt=after).order_by("pk")
        found = list(rows[: limit + 1])
        page = found[:limit]
        more = len(found) > limit
        return Response(
            {
                "data": [
                    build_webhook_endpoint_response(endpoint) for endpoint in page
                ],
                "next_cursor": encode_page_cursor([str(page[-1].pk)]) if more else None,
            }
        )

    @describe_api_operation(
        "create_webhook",
        "Create a webhook endpoint",
        answer=Webhook,
        body=WebhookInputs,
        refuses=(400, 404),
    )
    def post(self, request: Request, **place: str) -> Response:
        """Without `secret` one is made; `filter_types` left out takes every event."""
        body = validate_post_body(request, WebhookInputs)
        endpoint = create_endpoint(tenant=self.tenant, actor=self.actor, **body)
        return Response(build_webhook_endpoint_response(endpoint))


class WebhookView(WebhookManagementView):
    """GET, PATCH and DELETE …/webhook/{webhook_id}."""

    @describe_api_operation(
        "get_webhook", "Retrieve a webhook endpoint", answer=Webhook, refuses=(404,)
    )
    def get(self, request: Request, *, webhook_id: str, **place: str) -> Response:
        return Response(build_webhook_endpoint_response(self.get_endpoint(webhook_id)))

    @describe_api_operation(
        "update_webhook",
        "Update a webhook endpoint",
        answer=Webhook,
        body=WebhookPatch,
        refuses=(400, 404),
    )
    def patch(self, request: Request, *, webhook_id: str, **place: str) -> Response:
        """Disabled endpoints keep what they miss; enabling sends none of it."""
        endpoint = self.get_endpoint(webhook_id)
        changes = validate_patch_body(request, WebhookPatch)
        changed = change_endpoint(endpoint=endpoint, actor=self.actor, **changes)
        return Response(build_webhook_endpoint_response(changed))

    @describe_api_operation(
        "delete_webhook", "Delete a webhook endpoint", status=204, refuses=(404,)
    )
    def delete(self, request: Request, *, webhook_id: str, **place: str) -> Response:
        """What it still waits for is not sent any more."""
        delete_endpoint(endpoint=self.get_endpoint(webhook_id), actor=self.actor)
        return Response(status=204)


class WebhookHeadersView(WebhookManagementView):
    """GET and PUT …/webhook/{webhook_id}/headers."""

    @describe_api_operation(
        "get_webhook_headers",
        "Retrieve the custom headers of an endpoint",
        answer=WebhookHeaders,
        refuses=(404,),
    )
    def get(self, request: Request, *, webhook_id: str, **place: str) -> Response:
        """The values of sensitive headers are withheld."""
        return Response(build_webhook_headers_response(self.get_endpoint(webhook_id)))

    @describe_api_operation(
        "set_webhook_headers",
        "Replace the custom headers of an endpoint",
        status=204,
        body=HeadersInputs,
        refuses=(400, 404),
    )
    def put(self, request: Request, *, webhook_id: str, **place: str) -> Response:
        """All of them, those that are withheld too: what is left out is gone."""
        endpoint = self.get_endpoint(webhook_id)
        body = validate_post_body(request, HeadersInputs)
        replace_custom_headers(
            endpoint=endpoint, actor=self.actor, headers=body["headers"]
        )
        return Response(status=204)


class WebhookSecretView(WebhookManagementView):
    """GET …/webhook/{webhook_id}/secret."""

    @describe_api_operation(
        "get_webhook_secret",
        "Retrieve the signing secret of an endpoint",
        answer=WebhookSecret,
        refuses=(404,),
    )
    def get(self, request: Request, *, webhook_id: str, **place: str) -> Response:
        endpoint = self.get_endpoint(webhook_id)
        return Response(
            {"key": reveal_signing_secret(endpoint=endpoint, actor=self.actor)}
        )


class WebhookRotateView(WebhookManagementView):
    """POST …/webhook/{webhook_id}/secret/rotate."""

    @describe_api_operation(
        "rotate_webhook_secret",
        "Rotate the signing secret of an endpoint",
        status=204,
        body=RotateInputs,
        refuses=(400, 404),
    )
    def post(self, request: Request, *, webhook_id: str, **place: str) -> Response:
        """The old secret signs beside the new one for 24 hours."""
        endpoint = self.get_endpoint(webhook_id)
        secret = validate_post_body(request, RotateInputs).get("key")
        rotate_signing_secret(endpoint=endpoint, actor=self.actor, secret=secret)
        return Response(status=204)


class WebhookTestView(WebhookManagementView):
    """POST …/webhook/{webhook_id}/test."""

    @describe_api_operation(
        "test_webhook",
        "Send a test event to an endpoint",
        answer=TestMessage,
        body=TestInputs,
        refuses=(400, 404),
    )
    def post(self, request: Request, *, webhook_id: str, **place: str) -> Response:
        """It is signed, tried again and logged like any other event."""
        endpoint = self.get_endpoint(webhook_id)
        kind = validate_post_body(request, TestInputs).get("event_type")
        sent = send_test_event(endpoint=endpoint, actor=self.actor, event_type=kind)
        return Response({"id": sent.event.message_id, "event_type": sent.event_type})
