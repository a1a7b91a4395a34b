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
from portal.lib.api.views import mount_api_view

urlpatterns = [
    mount_api_view("<org_id>", OrganisationDetailView, "api-organisation"),
    mount_api_view("<org_id>/team", TeamsView, "api-teams"),
    mount_api_view("<org_id>/team/<team_id>", TeamView, "api-team"),
    mount_api_view(
        "<org_id>/team_api_keys/<environment>/<region>",
        TeamApiKeysView,
        "api-team-api-keys",
    ),
    mount_api_view(
        "<org_id>/team/<team_id>/create_api_access_token",
        AccessTokenView,
        "api-team-access-token",
    ),
    mount_api_view(
        "<org_id>/team/<team_id>/undo_delete",
        UndoDeleteTeamView,
        "api-team-undo-delete",
    ),
    mount_api_view("<org_id>/invite", InvitesView, "api-invites"),
    mount_api_view("<org_id>/invite/<invite_id>", InviteView, "api-invite"),
    mount_api_view("<org_id>/member", MembersView, "api-members"),
    mount_api_view("<org_id>/member/<member_id>", MemberView, "api-member"),
    mount_api_view(
        "<org_id>/management_key", ManagementKeysView, "api-management-keys"
    ),
    mount_api_view(
        "<org_id>/management_key/<management_key_id>",
        ManagementKeyView,
        "api-management-key",
    ),
]
