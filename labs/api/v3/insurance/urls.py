"""URL paths of labs below /v2/user/ (contract 2.2, 2.6)."""

from __future__ import annotations

from labs.api.v3.insurance.views import LatestInsuranceView, UserInsuranceView
from labs.api.v3.team.metrics import TeamMetricsView
from labs.api.v3.team.portal_links import PortalUrlView
from portal.lib.api.views import mount_api_view

urlpatterns = [
    mount_api_view("metrics", TeamMetricsView, "api-team-metrics"),
    mount_api_view("<user_id>/insurance", UserInsuranceView, "api-user-insurance"),
    mount_api_view(
        "<user_id>/insurance/latest", LatestInsuranceView, "api-user-insurance-latest"
    ),
    mount_api_view("<user_id>/create_portal_url", PortalUrlView, "api-user-portal-url"),
]
