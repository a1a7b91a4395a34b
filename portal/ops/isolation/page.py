"""Operators' page of the last isolation report."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.contrib import admin
from django.template.response import TemplateResponse
from django.utils.translation import gettext as _

from portal.lib.translation import gettext_lazy
from portal.ops.isolation.models import IsolationRun

if TYPE_CHECKING:
    from django.http import HttpRequest

SWEEPS = {
    "api": gettext_lazy("API with another team's key and without a key"),
    "management": gettext_lazy(
        "Management API with another organization's key and without a key"
    ),
    "pages": gettext_lazy("Pages as members of other teams"),
    "roles": gettext_lazy("Pages as each role without access"),
}
_SHOWN = 20


def show_isolation_reports(request: HttpRequest) -> TemplateResponse:
    """Show the last isolation report and the earlier ones."""
    last, *before = [*IsolationRun.objects.order_by("-at", "-pk")[:_SHOWN], None]
    return TemplateResponse(
        request,
        "admin/isolation.html",
        {
            **admin.site.each_context(request),
            "title": _("Tenant isolation"),
            "run": last,
            "sweeps": [
                (words, last.refusals.get(sweep, 0)) for sweep, words in SWEEPS.items()
            ]
            if last
            else [],
            "before": [run for run in before if run],
        },
    )
