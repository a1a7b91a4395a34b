"""Invitations into an organisation by management key (contract 9.1).

An invite of the wire is what one link opens, in one team or several.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db.models import Exists, OuterRef, Q
from rest_framework.response import Response

from accounts.api.management import OrganisationView
from accounts.api.v1.inputs import InviteInputs, InviteListQuery
from accounts.api.v1.outputs import (
    NOTHING,
    InvitedAnswer,
    InvitePage,
    build_invitation_response,
)
from accounts.api.v1.paging import read_page_after_cursor
from accounts.models import Invitation
from accounts.operations.members.invitations import mail_invitation
from accounts.operations.members.organisation_invitations import (
    invite_administrator_to_teams,
    revoke_invitation_to_teams,
)
from accounts.states import ManagementRole
from portal.lib.api.fields import (
    parse_path_uuid,
    validate_post_body,
    validate_query_string,
)
from portal.lib.api.schema import describe_api_operation
from portal.lib.api.views import json_response
from portal.lib.errors import DomainError, NotFound

if TYPE_CHECKING:
    from uuid import UUID

    from django.db.models import QuerySet
    from django.http import HttpResponse
    from rest_framework.request import Request


class InvitesBase(OrganisationView):
    """Serve the open invitations of the teams that the key manages."""

    def get_invitations(self) -> QuerySet[Invitation]:
        """Return the open invitations, one row a team."""
        return Invitation.objects.filter(
            team__in=self.grant.teams(), accepted_at=None, revoked_at=None
        )


class InvitesView(InvitesBase):
    """GET and POST /v1/org/{org_id}/invite."""

    @describe_api_operation(
        "list_invites",
        "List open invitations",
        answer=InvitePage,
        query=InviteListQuery,
        refuses=(404,),
    )
    def get(self, request: Request, **path: str) -> Response:
        """Return open invitations, oldest first. Expired ones can be sent again."""
        query = validate_query_string(request, InviteListQuery)
        of_same_link = self.get_invitations().filter(batch=OuterRef("batch"))
        heads = self.get_invitations().exclude(
            Exists(of_same_link.filter(pk__lt=OuterRef("pk")))
        )
        if text := query.get("search_query"):
            heads = heads.filter(email__icontains=text)
        page, more = read_page_after_cursor(heads, query.get("next_cursor"))
        links = [head.link_id for head in page]
        of_page = self.get_invitations().filter(_filter_by_links(links))
        by_link: dict[UUID, list[Invitation]] = {}
        for each in of_page.select_related("invited_by").order_by("created_at", "pk"):
            by_link.setdefault(each.link_id, []).append(each)
        live = self.organisation.teams.filter(deleted_at=None)
        all_teams = set(live.values_list("pk", flat=True))
        managed = all_teams if self.grant.team_ids is None else self.grant.team_ids
        answers = [
            build_invitation_response(
                by_link[head.link_id],
                organisation_teams=all_teams,
                managed_teams=managed,
            )
            for head in page
        ]
        return Response({"invites": answers, "next_cursor": more})

    @describe_api_operation(
        "create_invite",
        "Invite an email address",
        answer=InvitedAnswer,
        body=InviteInputs,
        refuses=(400, 403, 404),
    )
    def post(self, request: Request, **path: str) -> Response:
        """Email one link to join all teams, or the teams in `team_role_bindings`.

        Inviting an org_admin requires an org_admin key. If the email cannot be sent
        (400 `mail_refused`), the invitation exists: repeat the call to send it again.
        """
        body = validate_post_body(request, InviteInputs)
        role = body.get("role", ManagementRole.ORG_ADMIN)
        among = list(self.grant.teams())
        bindings = body.get("team_role_bindings", [])
        teams = self.grant.find_teams(each["team_id"] for each in bindings)
        if role == ManagementRole.ORG_ADMIN:
            self.grant.check_whole()
            if teams:
                raise DomainError(
                    "teams_unwanted",
                    "An org_admin belongs to all teams. Leave team_role_bindings "
                    "empty.",
                    "team_role_bindings",
                )
            teams = among
        status, invitation, token = invite_administrator_to_teams(
            teams=teams, among=among, actor=self.actor, email=body["email"]
        )
        if invitation is not None and not mail_invitation(
            invitation=invitation, token=token
        ):
            raise DomainError(
                "mail_refused",
                "The invitation was created, but the email could not be sent."
                " Repeat the call to send it again.",
            )
        return Response({"status": status})


class InviteView(InvitesBase):
    """DELETE /v1/org/{org_id}/invite/{invite_id}."""

    @describe_api_operation(
        "revoke_invite",
        "Withdraw an invitation",
        answer=NOTHING,
        refuses=(400, 403, 404),
    )
    def delete(self, request: Request, *, invite_id: str, **path: str) -> HttpResponse:
        """Withdraw it from all teams that the key manages. Its link stops working."""
        link_id = parse_path_uuid(invite_id, "invite_id")
        found = list(
            self.get_invitations()
            .filter(_filter_by_links([link_id]))
            .select_related("team")
        )
        if not found:
            raise NotFound("not_found", "Invitation not found.")
        revoke_invitation_to_teams(invitations=found, actor=self.actor)
        return json_response(None)


def _filter_by_links(links: list[UUID]) -> Q:
    """Return a filter for the invitations of these links, single or batched."""
    return Q(batch=None, pk__in=links) | Q(batch__in=links)
