"""Operators' page of sources and the status of their connections."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from django.contrib import admin
from django.db.models import Count
from django.template.response import TemplateResponse
from django.utils.translation import gettext as _

from users.models import Connection
from users.wearables.providers import PROVIDERS

if TYPE_CHECKING:
    from django.http import HttpRequest


def show_connection_counts_by_source(request: HttpRequest) -> TemplateResponse:
    """Render every source with its live connections over all teams, by status.

    Providers are reference data in code: there is nothing here to change.
    """
    counts: dict[str, dict[str, int]] = defaultdict(dict)
    rows = Connection.unscoped.filter(disconnected_at=None).values("provider", "status")
    for row in rows.annotate(number=Count("pk")):
        counts[row["provider"]][row["status"]] = row["number"]
    return TemplateResponse(
        request,
        "admin/providers.html",
        {
            **admin.site.each_context(request),
            "title": _("Sources"),
            "providers": [
                {
                    "provider": provider,
                    "connected": counts[slug].get("connected", 0),
                    "error": counts[slug].get("error", 0),
                    "paused": counts[slug].get("paused", 0),
                }
                for slug, provider in PROVIDERS.items()
            ],
        },
    )
