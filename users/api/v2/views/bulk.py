"""Bulk operations on connections: import, export, pause, past data, and their list.

Contract 10; shapes of the typed client's models.
"""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any, TypedDict
from uuid import UUID

from rest_framework import serializers
from rest_framework.response import Response

from accounts.api.views import TenantAPIView
from accounts.states import Area
from portal.lib.api.fields import (
    Bool,
    Inputs,
    Int,
    QueryInt,
    Str,
    Uuid,
    validate_post_body,
    validate_query_string,
)
from portal.lib.api.pagination import (
    CURSOR_MAX_LENGTH,
    CursorInputs,
    decode_row_cursor,
    encode_page_cursor,
)
from portal.lib.api.schema import Refusal, describe_api_operation
from users.api.v2.inputs import ProviderSlug
from users.operations.sources.bulk import (
    BULK_MAX,
    NEVER,
    BulkOutcome,
    ConnectionRecipe,
    export_connections,
    import_connections,
    pause_connections,
    request_history_of_connections,
)
from users.queries.sources.bulk import (
    find_bulk_operation_status,
    list_bulk_operations,
)
from users.states.bulk import BulkOperationKind, BulkOperationStatus

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rest_framework.request import Request

    from users.models import BulkOperation

# Ours: a provider's tokens are some hundred characters, signed ones a few thousand.
TOKEN_MAX_LENGTH = 10_000
SCOPES_MAX = 100


class ConnectionRecipeInputs(Inputs):
    """Tokens of a user's account at a source."""

    user_id = Uuid()
    access_token = Str(max_length=TOKEN_MAX_LENGTH)
    refresh_token = Str(max_length=TOKEN_MAX_LENGTH)
    provider_id = Str(max_length=255, help_text="The user's ID at the source")
    expires_at = Int(
        min_value=0,
        max_value=2**33,
        help_text=f"Unix time in seconds; {NEVER} for tokens that do not end",
    )
    oauth_scopes = serializers.ListField(
        child=Str(max_length=255),
        required=False,
        max_length=SCOPES_MAX,
        help_text="Default: all that the source offers, until it says otherwise",
    )


class _BulkInputs(Inputs):
    provider = ProviderSlug(max_length=50)


class BulkImportInputs(_BulkInputs):
    """Connections of one source; all are done before the call returns."""

    connections = serializers.ListField(
        child=ConnectionRecipeInputs(), max_length=BULK_MAX
    )
    wait_for_completion = Bool(
        required=False, help_text="Accepted and without effect: the call always waits"
    )


class BulkUsersInputs(_BulkInputs):
    """Users whose source is meant."""

    user_ids = serializers.ListField(child=Uuid(), max_length=BULK_MAX)


class BulkHistoryInputs(BulkUsersInputs):
    """Users whose source is asked for its past data."""

    wait_for_completion = Bool(
        required=False, help_text="Accepted and without effect: the call always waits"
    )


class BulkExportInputs(_BulkInputs):
    """Users whose connections are exported; default: all."""

    user_ids = serializers.ListField(child=Uuid(), required=False, max_length=BULK_MAX)
    next_token = Str(max_length=CURSOR_MAX_LENGTH, required=False)


class BulkListInputs(CursorInputs):
    """A page of bulk operations."""

    page_size = QueryInt(default=50, min_value=1, max_value=100)


class ImportedConnections(TypedDict):
    """Users whose source was connected, and those who were refused."""

    user_ids_imported: list[UUID]
    user_ids_failed: list[UUID]


class BulkUsers(TypedDict):
    """Users who are done, and those who were refused."""

    user_ids_done: list[UUID]
    user_ids_failed: list[UUID]


class ExportedConnection(TypedDict):
    """Tokens of a connection, as bulk import takes them."""

    user_id: UUID
    access_token: str
    refresh_token: str
    provider_id: str
    expires_at: int
    oauth_scopes: list[str] | None


class ExportedConnections(TypedDict):
    """A page of connections; `next_token` is null at the end."""

    data: list[ExportedConnection]
    next_token: str | None


class BulkOperationAnswer(TypedDict):
    """A bulk operation; `pending` and `processed` count users."""

    type: Annotated[str, BulkOperationKind]
    status: Annotated[str, BulkOperationStatus]
    provider: str
    pending: int
    processed: int
    started_at: datetime
    ended_at: datetime | None


class BulkOperations(TypedDict):
    """A page of bulk operations, the latest first; `next_cursor` is null at the end."""

    data: list[BulkOperationAnswer]
    next_cursor: str | None


class BulkImportView(TenantAPIView):
    """Serve POST /v2/link/bulk_import."""

    area = Area.USERS

    @describe_api_operation(
        "import_connections",
        "Connect a source to many users with the tokens of another server",
        body=BulkImportInputs,
        answer=ImportedConnections,
        refuses={404: Refusal},
    )
    def post(self, request: Request) -> Response:
        """The tokens must be of the application that your team uses at the source.

        Create the users first. A connection that is live gets the new tokens. Refused
        are users who do not exist, an account at the source that another user has, and
        scopes that allow no data. A call that was cut off can be sent again.
        """
        body = validate_post_body(request, BulkImportInputs)
        outcome = import_connections(
            tenant=self.tenant,
            actor=self.actor,
            provider=body["provider"],
            recipes=[_build_recipe(each) for each in body["connections"]],
        )
        answer: ImportedConnections = {
            "user_ids_imported": list(outcome.done),
            "user_ids_failed": list(outcome.failed),
        }
        return Response(answer)


class BulkExportView(TenantAPIView):
    """Serve POST /v2/link/bulk_export."""

    area = Area.USERS

    @describe_api_operation(
        "export_connections",
        "Read the tokens of a source's connections, to move them to another server",
        body=BulkExportInputs,
        answer=ExportedConnections,
        refuses={400: Refusal},
    )
    def post(self, request: Request) -> Response:
        """Only connections of your own application at the source.

        Each export is in the audit log. Stop this server's pulls first: where a source
        renews refresh tokens, the server that renews last has the only valid ones.
        """
        body = validate_post_body(request, BulkExportInputs)
        recipes, after = export_connections(
            tenant=self.tenant,
            actor=self.actor,
            provider=body["provider"],
            user_ids=body.get("user_ids"),
            after=decode_row_cursor(body.get("next_token"), name="next_token"),
            limit=BULK_MAX,
        )
        answer: ExportedConnections = {
            "data": [
                {
                    "user_id": each.user_id,
                    "access_token": each.access_token,
                    "refresh_token": each.refresh_token,
                    "provider_id": each.provider_id,
                    "expires_at": each.expires_at,
                    "oauth_scopes": list(each.oauth_scopes)
                    if each.oauth_scopes
                    else None,
                }
                for each in recipes
            ],
            "next_token": None if after is None else encode_page_cursor([str(after)]),
        }
        return Response(answer)


class BulkPauseView(TenantAPIView):
    """Serve POST /v2/link/bulk_pause."""

    area = Area.USERS

    @describe_api_operation(
        "pause_connections",
        "Pause a source of many users",
        body=BulkUsersInputs,
        answer=BulkUsers,
    )
    def post(self, request: Request) -> Response:
        """Nothing is fetched until the source is resumed or connected again.

        What the source pushes by itself is still stored.
        """
        body = validate_post_body(request, BulkUsersInputs)
        outcome = pause_connections(
            tenant=self.tenant,
            actor=self.actor,
            provider=body["provider"],
            user_ids=body["user_ids"],
        )
        return Response(_build_users_response(outcome))


class BulkHistoryView(TenantAPIView):
    """Serve POST /v2/link/bulk_trigger_historical_pull."""

    area = Area.USERS

    @describe_api_operation(
        "request_history_of_connections",
        "Ask a source for all past data of many users",
        body=BulkHistoryInputs,
        answer=BulkUsers,
        refuses={404: Refusal},
    )
    def post(self, request: Request) -> Response:
        """Schedules the pulls; GET /v2/introspect/historical_pull shows their progress.

        Data that is stored already stays as it is.
        """
        body = validate_post_body(request, BulkHistoryInputs)
        outcome = request_history_of_connections(
            tenant=self.tenant,
            actor=self.actor,
            provider=body["provider"],
            user_ids=body["user_ids"],
        )
        return Response(_build_users_response(outcome))


class BulkOperationListView(TenantAPIView):
    """Serve GET /v2/link/bulk_op."""

    area = Area.USERS

    @describe_api_operation(
        "list_bulk_operations",
        "List bulk operations on connections",
        query=BulkListInputs,
        answer=BulkOperations,
    )
    def get(self, request: Request) -> Response:
        """The latest first, for 62 days. One without an end is `aborted` after a while:
        its call was cut off, and can be sent again.
        """
        query = validate_query_string(request, BulkListInputs)
        found, before = list_bulk_operations(
            tenant=self.tenant,
            before=decode_row_cursor(query.get("next_cursor")),
            limit=query["page_size"],
        )
        answer: BulkOperations = {
            "data": [_build_operation(each) for each in found],
            "next_cursor": None
            if before is None
            else encode_page_cursor([str(before)]),
        }
        return Response(answer)


def _build_recipe(sent: Mapping[str, Any]) -> ConnectionRecipe:
    scopes = sent.get("oauth_scopes")
    return ConnectionRecipe(
        user_id=sent["user_id"],
        access_token=sent["access_token"],
        refresh_token=sent["refresh_token"],
        provider_id=sent["provider_id"],
        expires_at=sent["expires_at"],
        oauth_scopes=None if scopes is None else tuple(scopes),
    )


def _build_users_response(outcome: BulkOutcome) -> BulkUsers:
    return {
        "user_ids_done": list(outcome.done),
        "user_ids_failed": list(outcome.failed),
    }


def _build_operation(operation: BulkOperation) -> BulkOperationAnswer:
    return {
        "type": operation.kind,
        "status": find_bulk_operation_status(operation),
        "provider": operation.provider,
        "pending": operation.total - operation.processed,
        "processed": operation.processed,
        "started_at": operation.started_at,
        "ended_at": operation.ended_at,
    }
