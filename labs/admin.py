"""Admin pages of labs, markers and panels, where panels are approved."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.contrib import admin, messages
from django.utils.translation import ngettext

from labs.models import CatalogueUpdate, Lab, LabTest, Marker
from labs.operations.catalogue.panels import approve_lab_test
from portal.lib.admin import ReadOnlyAdmin, build_operator_actor
from portal.lib.errors import DomainError
from portal.lib.translation import gettext_lazy

if TYPE_CHECKING:
    from django.db.models import QuerySet
    from django.http import HttpRequest


@admin.register(Lab)
class LabAdmin(ReadOnlyAdmin):
    """Admin page of labs."""

    list_display = (
        *("name", "environment", "owner", "slug", "city", "collection_methods"),
    )
    list_filter = ("environment",)
    search_fields = ("name", "slug")
    ordering = ("id",)
    fields = (
        "id",
        "environment",
        "owner",
        "slug",
        "name",
        "first_line_address",
        "city",
        "zipcode",
        "collection_methods",
        "sample_types",
    )


@admin.register(Marker)
class MarkerAdmin(ReadOnlyAdmin):
    """Admin page of markers."""

    list_display = (
        "name",
        "lab",
        "provider_id",
        "type",
        "unit",
        "sample_type",
        "is_orderable",
    )
    list_filter = (
        "lab__environment",
        "lab",
        "type",
        "sample_type",
        "a_la_carte_enabled",
        "is_orderable",
    )
    search_fields = ("name", "provider_id")
    search_help_text = gettext_lazy("Part of a name or lab code")
    ordering = ("id",)
    fields = (
        "id",
        "lab",
        "name",
        "slug",
        "description",
        "provider_id",
        "type",
        "unit",
        "price",
        "sample_type",
        "container",
        "stability",
        "fasting",
        "a_la_carte_enabled",
        "is_orderable",
        "retired_at",
        "common_tat_days",
        "worst_case_tat_days",
        "aoe_questions",
    )


@admin.register(CatalogueUpdate)
class CatalogueUpdateAdmin(ReadOnlyAdmin):
    """Admin page of updates of the catalog, with their differences."""

    list_display = (
        *("number", "owner", "is_complete"),
        *("created_by", "created_at", "applied_at"),
    )
    ordering = ("-created_at",)
    fields = (
        "number",
        "owner",
        "is_complete",
        "base",
        "created_by",
        "created_at",
        "applied_by",
        "applied_at",
        "changes",
    )


@admin.register(LabTest)
class LabTestAdmin(ReadOnlyAdmin):
    """Admin page of lab tests, with their approval."""

    list_display = ("name", "tenant", "lab", "method", "status", "price", "created_at")
    list_filter = ("status", "method", "generation", "lab", "tenant__environment")
    search_fields = ("name", "tenant__team__name")
    search_help_text = gettext_lazy("Part of a panel's or a team's name")
    ordering = ("-created_at", "id")
    fields = (
        "id",
        "tenant",
        "lab",
        "name",
        "description",
        "markers",
        "method",
        "sample_type",
        "price",
        "fasting",
        "status",
        "generation",
        "has_collection_instructions",
        "created_at",
        "updated_at",
    )
    actions = ("approve",)

    @admin.action(description=gettext_lazy("Approve selected panels"))
    def approve(self, request: HttpRequest, queryset: QuerySet[LabTest]) -> None:
        """Approve the selected panels, and show each refusal."""
        done = 0
        for panel in queryset.select_related("tenant__team"):
            try:
                approve_lab_test(
                    tenant=panel.tenant,
                    actor=build_operator_actor(request),
                    lab_test_id=panel.pk,
                )
                done += 1
            except DomainError as refusal:
                messages.error(request, f"{panel.name}: {refusal.message}")
        if done:
            messages.success(
                request,
                ngettext(
                    "%(count)d panel approved.", "%(count)d panels approved.", done
                )
                % {"count": done},
            )
