"""What accounts serve below /v1/org/ (contract 9.1)."""

from __future__ import annotations

from accounts.api.v1.organisations import OrganisationDetailView, TeamsView, TeamView
from portal.lib.api.views import endpoint

urlpatterns = [
    endpoint("<org_id>", OrganisationDetailView, "api-organisation"),
    endpoint("<org_id>/team", TeamsView, "api-teams"),
    endpoint("<org_id>/team/<team_id>", TeamView, "api-team"),
]
