"""Members of an organisation by management key (contract 9.1).

The wire's roles say what a member administers: a team's owners and admins do. Source:
Ours: members have roles in each team here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db.models import Prefetch, Q
from rest_framework.response import Response

from accounts.api.management import OrganisationView
from accounts.api.v1.inputs import MemberListQuery, MemberPatch
from accounts.api.v1.outputs import NOTHING, MemberPage, build_member_response
from accounts.api.v1.paging import read_page_after_cursor
from accounts.models import Member, Membership
from accounts.operations.teams.organisation_members import (
    remove_member_from_teams,
    set_administered_teams,
)
from accounts.states import ADMINISTERS, ManagementRole
from portal.lib.api.fields import (
    parse_path_uuid,
    validate_post_body,
    validate_query_string,
)
from portal.lib.api.schema import describe_api_operation
from portal.lib.api.views import get_tenant_row_or_404, json_response
from portal.lib.errors import DomainError

if TYPE_CHECKING:
    from django.db.models import QuerySet
    from django.http import HttpResponse
    from rest_framework.request import Request


class ManagedMembersView(OrganisationView):
    """Serve members of the teams that the key manages."""

    def get_members(self) -> QuerySet[Member]:
        """Return each member once, with their memberships in the organisation."""
        managed = Membership.objects.filter(team__in=self.grant.teams())
        held = Membership.objects.filter(
            team__organisation=self.organisation, team__deleted_at=None
        )
        return Member.objects.filter(pk__in=managed.values("member")).prefetch_related(
            Prefetch("memberships", held)
        )


class MembersView(ManagedMembersView):
    """GET /v1/org/{org_id}/member."""

    @describe_api_operation(
        "list_members",
        "List members",
        answer=MemberPage,
        query=MemberListQuery,
        refuses=(404,),
    )
    def get(self, request: Request, **path: str) -> Response:
        """Return the members of the teams that the key manages, oldest first."""
        query = validate_query_string(request, MemberListQuery)
        members = self.get_members()
        if text := query.get("search_query"):
            members = members.filter(Q(name__icontains=text) | Q(email__icontains=text))
        page, more = read_page_after_cursor(members, query.get("next_cursor"))
        live = self.organisation.teams.filter(deleted_at=None)
        all_teams = set(live.values_list("pk", flat=True))
        managed = all_teams if self.grant.team_ids is None else self.grant.team_ids
        answers = [
            build_member_response(
                member,
                administers=[
                    each.team_id
                    for each in member.memberships.all()
                    if not ADMINISTERS.isdisjoint(each.roles)
                ],
                organisation_teams=all_teams,
                managed_teams=managed,
            )
            for member in page
        ]
        return Response({"members": answers, "next_cursor": more})


class MemberView(ManagedMembersView):
    """PATCH and DELETE /v1/org/{org_id}/member/{member_id}."""

    @describe_api_operation(
        "update_member",
        "Update a member's administrator role",
        answer=NOTHING,
        body=MemberPatch,
        refuses=(400, 403, 404),
    )
    def patch(self, request: Request, *, member_id: str, **path: str) -> HttpResponse:
        """Set whether the member administers all teams, some teams or none.

        Other roles stay. Keys cannot add or remove owners.
        """
        member = self.get_member(member_id)
        body = validate_post_body(request, MemberPatch)
        role, bindings = body["role"], body.get("team_role_bindings", [])
        among = list(self.grant.teams())
        teams = self.grant.find_teams(each["team_id"] for each in bindings)
        if role == ManagementRole.ORG_ADMIN:
            self.grant.check_whole()
            teams = among
        elif bool(teams) != (role == ManagementRole.TEAM_ADMIN):
            raise DomainError(
                "teams_missing" if not teams else "teams_unwanted",
                "Give team_role_bindings for team_admin, and for no other role.",
                "team_role_bindings",
            )
        set_administered_teams(
            member=member, actor=self.actor, among=among, teams=teams
        )
        return json_response(None)

    @describe_api_operation(
        "remove_member",
        "Remove a member",
        answer=NOTHING,
        refuses=(400, 403, 404),
    )
    def delete(self, request: Request, *, member_id: str, **path: str) -> HttpResponse:
        """Remove the member from all teams that the key manages. The account stays."""
        member = self.get_member(member_id)
        remove_member_from_teams(
            member=member, actor=self.actor, among=list(self.grant.teams())
        )
        return json_response(None)

    def get_member(self, member_id: str) -> Member:
        """Return the path's member. Raises: 422 at the path; not_found (404)."""
        member: Member = get_tenant_row_or_404(
            self.get_members(),
            what="Member",
            pk=parse_path_uuid(member_id, "member_id"),
        )
        return member
