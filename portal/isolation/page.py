"""Operators' page of the last isolation report.

Must not be here: the report (trying).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.contrib import admin
from django.template.response import TemplateResponse

from portal.isolation.models import IsolationRun

if TYPE_CHECKING:
    from django.http import HttpRequest

SWEEPS = {
    "api": "The API, with keys of others and with none",
    "management": "The management API, with keys of others and with none",
    "pages": "Pages, as members of others",
    "roles": "Pages, as each role that has no right to them",
}
_SHOWN = 20


def show_isolation(request: HttpRequest) -> TemplateResponse:
    """When it was last tried that tenants are kept apart, and what came of it."""
    last, *before = [*IsolationRun.objects.order_by("-at", "-pk")[:_SHOWN], None]
    return TemplateResponse(
        request,
        "admin/isolation.html",
        {
            **admin.site.each_context(request),
            "title": "Isolation of tenants",
            "run": last,
            "sweeps": [
                (words, last.refusals.get(sweep, 0)) for sweep, words in SWEEPS.items()
            ]
            if last
            else [],
            "before": [run for run in before if run],
        },
    )
