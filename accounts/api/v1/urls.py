"""Route the management API below /v1/org/ (contract 9.1)."""

from __future__ import annotations

from accounts.api.v1.invites import InvitesView, InviteView
from accounts.api.v1.keys import (
    AccessTokenView,
    ManagementKeysView,
    ManagementKeyView,
    TeamApiKeysView,
)
from accounts.api.v1.members import MembersView, MemberView
from accounts.api.v1.organisations import (
    OrganisationDetailView,
    TeamsView,
    TeamView,
    UndoDeleteTeamView,
)
from portal.lib.api.views import endpoint

urlpatterns = [
    endpoint("<org_id>", OrganisationDetailView, "api-organisation"),
    endpoint("<org_id>/team", TeamsView, "api-teams"),
    endpoint("<org_id>/team/<team_id>", TeamView, "api-team"),
    endpoint(
        "<org_id>/team_api_keys/<environment>/<region>",
        TeamApiKeysView,
        "api-team-api-keys",
    ),
    endpoint(
        "<org_id>/team/<team_id>/create_api_access_token",
        AccessTokenView,
        "api-team-access-token",
    ),
    endpoint(
        "<org_id>/team/<team_id>/undo_delete",
        UndoDeleteTeamView,
        "api-team-undo-delete",
    ),
    endpoint("<org_id>/invite", InvitesView, "api-invites"),
    endpoint("<org_id>/invite/<invite_id>", InviteView, "api-invite"),
    endpoint("<org_id>/member", MembersView, "api-members"),
    endpoint("<org_id>/member/<member_id>", MemberView, "api-member"),
    endpoint("<org_id>/management_key", ManagementKeysView, "api-management-keys"),
    endpoint(
        "<org_id>/management_key/<management_key_id>",
        ManagementKeyView,
        "api-management-key",
    ),
]
