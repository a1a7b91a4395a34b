"""URL paths of labs below /v1/org/ (contract 9.1)."""

from __future__ import annotations

from labs.api.v1.accounts import OrganisationAccountsView, OrganisationAccountView
from portal.lib.api.views import mount_api_view

_BASE = "<org_id>/lab_account/<environment>/<region>"

urlpatterns = [
    mount_api_view(_BASE, OrganisationAccountsView, "api-organisation-lab-accounts"),
    mount_api_view(
        f"{_BASE}/<account_id>",
        OrganisationAccountView,
        "api-organisation-lab-account",
    ),
]
