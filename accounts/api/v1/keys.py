"""API keys and management keys by management key (contract 9.1)."""

from __future__ import annotations

from typing import TYPE_CHECKING
from uuid import UUID

from django.db.models import Q
from rest_framework.response import Response

from accounts.api.management import OrganisationView
from accounts.api.v1.inputs import (
    AccessTokenInputs,
    ApiKeyEnding,
    ApiKeyInputs,
    ApiKeyQuery,
    ManagementKeyInputs,
    ManagementKeyPatch,
    ManagementKeyQuery,
)
from accounts.api.v1.outputs import (
    AccessTokenAnswer,
    ApiKeyAnswer,
    ApiKeyPage,
    EndedKeys,
    ManagementKeyAnswer,
    ManagementKeyPage,
    NewManagementKey,
    build_api_key_response,
    build_management_key_response,
)
from accounts.api.v1.paging import read_page_after_cursor
from accounts.models import ApiKey, ManagementKey
from accounts.operations.api_keys.access_tokens import (
    TEAM_TOKEN_TTL,
    create_team_access_token,
)
from accounts.operations.api_keys.api_keys import (
    KeyRules,
    create_api_key,
    revoke_api_key,
)
from accounts.operations.api_keys.management_keys import (
    change_management_key,
    create_organisation_management_key,
    revoke_management_key,
)
from accounts.states import ManagementRole
from portal.lib.api.fields import (
    parse_path_uuid,
    validate_patch_body,
    validate_post_body,
    validate_query_string,
)
from portal.lib.api.schema import describe_api_operation
from portal.lib.api.views import get_tenant_row_or_404
from portal.lib.errors import DomainError, NotFound

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

    from django.db.models import QuerySet
    from rest_framework.request import Request


class TeamApiKeysView(OrganisationView):
    """GET, POST and DELETE /v1/org/{org_id}/team_api_keys/{environment}/{region}."""

    @describe_api_operation(
        "list_api_keys",
        "List API keys",
        answer=ApiKeyPage,
        query=ApiKeyQuery,
        refuses=(404,),
    )
    def get(self, request: Request, **path: str) -> Response:
        """Return keys that are not revoked, oldest first. Their values are masked."""
        query = validate_query_string(request, ApiKeyQuery)
        keys = self.get_keys(path).filter(revoked_at=None)
        if team_id := query.get("team_id"):
            keys = keys.filter(tenant__team=team_id)
        page, more = read_page_after_cursor(keys, query.get("next_cursor"))
        return Response(
            {
                "api_keys": [build_api_key_response(key) for key in page],
                "next_cursor": more,
            }
        )

    @describe_api_operation(
        "create_api_key",
        "Create an API key",
        answer=ApiKeyAnswer,
        body=ApiKeyInputs,
        refuses=(400, 404),
    )
    def post(self, request: Request, **path: str) -> Response:
        """Return the key with its full value, once. Omitted limits do not apply."""
        body = validate_post_body(request, ApiKeyInputs)
        team = self.grant.find_team(body["team_id"])
        if team.region != path["region"]:
            raise NotFound("not_found", "Team not found.")
        key, text = create_api_key(
            tenant=team.tenants.select_related("team").get(
                environment=path["environment"]
            ),
            actor=self.actor,
            label=body["label"],
            rules=_rules(body),
        )
        return Response(build_api_key_response(key, text=text))

    @describe_api_operation(
        "revoke_api_keys",
        "Revoke API keys",
        answer=EndedKeys,
        query=ApiKeyEnding,
        refuses=(404,),
    )
    def delete(self, request: Request, **path: str) -> Response:
        """Revoke each key by itself. An already revoked key counts as a failure."""
        key_ids = dict.fromkeys(
            validate_query_string(request, ApiKeyEnding)["api_key_id"]
        )
        found = self.get_keys(path).filter(pk__in=list(key_ids)).in_bulk()
        result: EndedKeys = {"success": [], "failure": [], "not_found": []}
        for key_id in key_ids:
            if key_id not in found:
                result["not_found"].append(key_id)
                continue
            try:
                revoke_api_key(key=found[key_id], actor=self.actor)
            except DomainError:
                result["failure"].append(key_id)
            else:
                result["success"].append(key_id)
        return Response(result)

    def get_keys(self, path: Mapping[str, str]) -> QuerySet[ApiKey]:
        """Return the keys of this region's teams that the management key manages."""
        teams = self.grant.teams().filter(region=path["region"])
        keys: QuerySet[ApiKey] = ApiKey.unscoped.filter(
            tenant__team__in=teams, tenant__environment=path["environment"]
        )
        return keys.select_related("tenant__team")


class AccessTokenView(OrganisationView):
    """POST /v1/org/{org_id}/team/{team_id}/create_api_access_token."""

    @describe_api_operation(
        "create_api_access_token",
        "Create a short-lived token for a team",
        answer=AccessTokenAnswer,
        body=AccessTokenInputs,
        refuses=(404,),
    )
    def post(self, request: Request, *, team_id: str, **path: str) -> Response:
        """Return a token that works like an API key for 15 minutes.

        It ends early if this key is revoked. Send it as `Authorization: Bearer` or
        in the API key header.
        """
        team = self.grant.find_team(parse_path_uuid(team_id, "team_id"))
        body = validate_post_body(request, AccessTokenInputs)
        tenant = team.tenants.select_related("team").get(environment=body["env"])
        return Response(
            {
                "access_token": create_team_access_token(
                    tenant=tenant, actor=self.actor
                ),
                "expires_in": int(TEAM_TOKEN_TTL.total_seconds()),
            }
        )


class ManagementKeysView(OrganisationView):
    """GET and POST /v1/org/{org_id}/management_key."""

    @describe_api_operation(
        "list_management_keys",
        "List management keys",
        answer=ManagementKeyPage,
        query=ManagementKeyQuery,
        refuses=(403, 404),
    )
    def get(self, request: Request, **path: str) -> Response:
        """Return keys that are not revoked, oldest first. Needs an org_admin key."""
        self.grant.check_whole()
        query = validate_query_string(request, ManagementKeyQuery)
        keys = list_active_management_keys(self.organisation.pk)
        if team_id := query.get("team_id"):
            team = self.grant.find_team(team_id)
            whole = Q(role=ManagementRole.ORG_ADMIN)
            of_team = ManagementKey.teams.through.objects.filter(team=team)
            keys = keys.filter(whole | Q(pk__in=of_team.values("managementkey")))
        if role := query.get("role"):
            keys = keys.filter(role=role)
        page, more = read_page_after_cursor(keys, query.get("next_cursor"))
        return Response(
            {
                "data": [build_management_key_response(key) for key in page],
                "next_cursor": more,
            }
        )

    @describe_api_operation(
        "create_management_key",
        "Create a management key",
        answer=NewManagementKey,
        body=ManagementKeyInputs,
        refuses=(400, 403, 404),
    )
    def post(self, request: Request, **path: str) -> Response:
        """Return the key with its text, once. Requires an org_admin key."""
        self.grant.check_whole()
        body = validate_post_body(request, ManagementKeyInputs)
        key, text = create_organisation_management_key(
            organisation=self.organisation,
            actor=self.actor,
            label=body["label"],
            role=ManagementRole(body["role"]),
            teams=self.grant.find_teams(read_team_ids_from_body(body)),
        )
        return Response({**build_management_key_response(key), "key": text})


class ManagementKeyView(OrganisationView):
    """PATCH and DELETE /v1/org/{org_id}/management_key/{management_key_id}."""

    @describe_api_operation(
        "update_management_key",
        "Update a management key",
        answer=ManagementKeyAnswer,
        body=ManagementKeyPatch,
        refuses=(400, 403, 404),
    )
    def patch(
        self, request: Request, *, management_key_id: str, **path: str
    ) -> Response:
        """Change the given values. Requires an org_admin key.

        Bindings replace all earlier ones.
        """
        key = self.get_key(management_key_id)
        body = validate_patch_body(request, ManagementKeyPatch)
        teams = None
        if "team_role_bindings" in body:
            teams = self.grant.find_teams(read_team_ids_from_body(body))
        changed = change_management_key(
            key=key, actor=self.actor, label=body.get("label"), teams=teams
        )
        return Response(build_management_key_response(changed))

    @describe_api_operation(
        "revoke_management_key",
        "Revoke a management key",
        answer=ManagementKeyAnswer,
        refuses=(403, 404),
    )
    def delete(
        self, request: Request, *, management_key_id: str, **path: str
    ) -> Response:
        """Revoke the key immediately. Requires an org_admin key.

        A key can revoke itself.
        """
        key = self.get_key(management_key_id)
        revoke_management_key(key=key, actor=self.actor)
        return Response(build_management_key_response(key))

    def get_key(self, management_key_id: str) -> ManagementKey:
        """Return the path's live key. Raises: 422 at the path; not_found (404)."""
        self.grant.check_whole()
        key: ManagementKey = get_tenant_row_or_404(
            list_active_management_keys(self.organisation.pk),
            what="Management key",
            pk=parse_path_uuid(management_key_id, "management_key_id"),
        )
        return key


def list_active_management_keys(organisation_id: UUID) -> QuerySet[ManagementKey]:
    """Return an organisation's management keys that are not revoked."""
    keys = ManagementKey.objects.filter(organisation=organisation_id, revoked_at=None)
    return keys.select_related("created_by").prefetch_related("teams")


def read_team_ids_from_body(body: Mapping[str, Any]) -> Iterable[UUID]:
    """Return the team ids in a request body."""
    return [each["team_id"] for each in body.get("team_role_bindings", ())]


def _rules(body: Mapping[str, Any]) -> KeyRules:
    scopes = body.get("scopes")
    return KeyRules(
        scopes=None if scopes is None else frozenset(scopes),
        networks=tuple(body.get("networks", ())),
        calls_per_minute=body.get("calls_per_minute"),
        expires_at=body.get("expires_at"),
    )
