"""URL paths of labs below /v1/org/ (contract 9.1)."""

from __future__ import annotations

from labs.api.v1.accounts import OrganisationAccountsView, OrganisationAccountView
from portal.lib.api.views import endpoint

_BASE = "<org_id>/lab_account/<environment>/<region>"

urlpatterns = [
    endpoint(_BASE, OrganisationAccountsView, "api-organisation-lab-accounts"),
    endpoint(
        f"{_BASE}/<account_id>",
        OrganisationAccountView,
        "api-organisation-lab-account",
    ),
]
