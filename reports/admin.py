"""Operators' page of parsing jobs: how they went, not what they read."""

from __future__ import annotations

from django.contrib import admin

from portal.lib.admin import ReadOnlyAdmin
from portal.lib.translation import gettext_lazy
from reports.models import ParsingJob


@admin.register(ParsingJob)
class ParsingJobAdmin(ReadOnlyAdmin):
    """A job's course; the report itself stays with its team."""

    list_display = (
        "id",
        "tenant",
        "status",
        "failure_reason",
        "pages",
        "created_at",
        "finished_at",
    )
    list_filter = (
        "status",
        "failure_reason",
        "needs_human_review",
        "tenant__environment",
        "created_at",
    )
    search_ids = ("id", "user__uuid")
    search_help_text = gettext_lazy("A full job ID or user ID")
    ordering = ("-created_at",)
    fields = (
        "id",
        "tenant",
        "status",
        "failure_reason",
        "needs_human_review",
        "is_reviewed",
        "pages",
        "created_at",
        "finished_at",
    )
