"""URL paths of labs below /v2/team/ (contract 6.5, 9.1)."""

from __future__ import annotations

from labs.api.v3.orders.views import TeamPhysiciansView
from labs.api.v3.team.views import TeamDetailView
from portal.lib.api.views import mount_api_view

urlpatterns = [
    mount_api_view("<team_id>", TeamDetailView, "api-own-team"),
    mount_api_view("<team_id>/physicians", TeamPhysiciansView, "api-team-physicians"),
]
