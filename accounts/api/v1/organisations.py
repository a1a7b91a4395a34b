"""An organisation and its teams by management key (contract 9.1)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db import transaction
from rest_framework.response import Response

from accounts.api.management import OrganisationView
from accounts.api.v1.inputs import (
    OrganisationPatch,
    TeamInputs,
    TeamListQuery,
    TeamPatch,
    TeamQuery,
)
from accounts.api.v1.outputs import (
    NOTHING,
    OrganisationAnswer,
    TeamAnswer,
    TeamPage,
    build_organisation_response,
    build_team_list_entry,
    build_team_response,
)
from accounts.api.v1.paging import read_page_after_cursor
from accounts.models import Team
from accounts.operations.teams.deletion import (
    delete_team,
    mail_owners_how_to_restore_team,
    undo_delete_team,
)
from accounts.operations.teams.teams import (
    change_team,
    change_team_settings,
    create_organisation_team,
    rename_organisation,
    set_team_integration_id,
)
from accounts.states import Environment
from portal.lib.api.fields import (
    parse_path_uuid,
    validate_patch_body,
    validate_post_body,
    validate_query_string,
)
from portal.lib.api.schema import describe_api_operation
from portal.lib.api.views import get_tenant_row_or_404, json_response

if TYPE_CHECKING:
    from django.http import HttpResponse
    from rest_framework.request import Request


class OrganisationDetailView(OrganisationView):
    """GET and PATCH /v1/org/{org_id}."""

    @describe_api_operation(
        "get_organisation",
        "Get the organisation",
        answer=OrganisationAnswer,
        refuses=(404,),
    )
    def get(self, request: Request, **path: str) -> Response:
        return Response(build_organisation_response(self.organisation))

    @describe_api_operation(
        "update_organisation",
        "Rename the organisation",
        answer=OrganisationAnswer,
        body=OrganisationPatch,
        refuses=(400, 403, 404),
    )
    def patch(self, request: Request, **path: str) -> Response:
        """Change the name. Requires an org_admin key."""
        self.grant.check_whole()
        name = validate_patch_body(request, OrganisationPatch).get(
            "name", self.organisation.name
        )
        changed = rename_organisation(
            organisation=self.organisation, actor=self.actor, name=name
        )
        return Response(build_organisation_response(changed))


class TeamsView(OrganisationView):
    """GET and POST /v1/org/{org_id}/team."""

    @describe_api_operation(
        "list_teams",
        "List teams",
        answer=TeamPage,
        query=TeamListQuery,
        refuses=(404,),
    )
    def get(self, request: Request, **path: str) -> Response:
        """Return the teams that the key manages, oldest first."""
        query = validate_query_string(request, TeamListQuery)
        teams = self.grant.teams()
        if team_id := query.get("team_id"):
            teams = teams.filter(pk=team_id)
        if region := query.get("region"):
            teams = teams.filter(region=region)
        if text := query.get("search_query"):
            teams = teams.filter(name__icontains=text)
        page, more = read_page_after_cursor(teams, query.get("next_cursor"))
        return Response(
            {
                "teams": [build_team_list_entry(team) for team in page],
                "next_cursor": more,
            }
        )

    @describe_api_operation(
        "create_team",
        "Create a team",
        answer=TeamAnswer,
        body=TeamInputs,
        refuses=(400, 403, 404, 409),
    )
    def post(self, request: Request, **path: str) -> Response:
        """Create a team with both environments. Requires an org_admin key.

        Members who own every team of the organisation also own the new one.
        """
        self.grant.check_whole()
        settings = validate_post_body(request, TeamInputs)
        team = create_organisation_team(
            organisation=self.organisation,
            actor=self.actor,
            name=settings.pop("name"),
            region=settings.pop("region"),
            team_id=settings.pop("id", None),
            integration_team_id=settings.pop("integration_team_id", None),
            settings=settings,
        )
        return Response(build_team_response(team))


class TeamView(OrganisationView):
    """GET, PATCH and DELETE /v1/org/{org_id}/team/{team_id}."""

    @describe_api_operation(
        "get_managed_team",
        "Get a team",
        answer=TeamAnswer,
        query=TeamQuery,
        refuses=(404,),
    )
    def get(self, request: Request, *, team_id: str, **path: str) -> Response:
        team = self.get_team(team_id)
        environments = validate_query_string(request, TeamQuery).get(
            "include_environment"
        )
        return Response(build_team_response(team, environments or Environment.values))

    @describe_api_operation(
        "update_team",
        "Update a team and its settings",
        answer=TeamAnswer,
        body=TeamPatch,
        refuses=(400, 404, 409),
    )
    def patch(self, request: Request, *, team_id: str, **path: str) -> Response:
        """Change the given values. Omitted settings stay the same."""
        team = self.get_team(team_id)
        body = validate_patch_body(request, TeamPatch)
        with transaction.atomic():
            if "name" in body:
                team = change_team(
                    team=team,
                    actor=self.actor,
                    name=body["name"],
                    time_zone=team.time_zone,
                )
            if "integration_team_id" in body:
                team = set_team_integration_id(
                    team=team,
                    actor=self.actor,
                    integration_team_id=body["integration_team_id"],
                )
            for tenant in team.tenants.filter(environment__in=body).order_by("pk"):
                change_team_settings(
                    tenant=tenant,
                    actor=self.actor,
                    settings=dict(body[tenant.environment]),
                )
        return Response(build_team_response(team))

    @describe_api_operation(
        "delete_team",
        "Delete a team",
        answer=NOTHING,
        refuses=(403, 404),
    )
    def delete(self, request: Request, *, team_id: str, **path: str) -> HttpResponse:
        """Close the team to members and keys immediately. Requires an org_admin key.

        It can be restored for 7 days.
        """
        team = self.get_team(team_id)
        self.grant.check_whole()
        deleted = delete_team(team=team, actor=self.actor)
        mail_owners_how_to_restore_team(team=deleted, actor=self.actor)
        return json_response(None)

    def get_team(self, team_id: str) -> Team:
        """Return the path's team. Raises: 422 at the path; not_found (404)."""
        return self.grant.find_team(parse_path_uuid(team_id, "team_id"))


class UndoDeleteTeamView(OrganisationView):
    """POST /v1/org/{org_id}/team/{team_id}/undo_delete."""

    @describe_api_operation(
        "undo_delete_team",
        "Restore a deleted team",
        answer=TeamAnswer,
        refuses=(400, 403, 404),
    )
    def post(self, request: Request, *, team_id: str, **path: str) -> Response:
        """Restore the team as it was, within 7 days. Requires an org_admin key."""
        self.grant.check_whole()
        found: Team = get_tenant_row_or_404(
            Team.objects.filter(organisation=self.organisation, erased_at=None),
            what="Team",
            pk=parse_path_uuid(team_id, "team_id"),
        )
        return Response(
            build_team_response(undo_delete_team(team=found, actor=self.actor))
        )
