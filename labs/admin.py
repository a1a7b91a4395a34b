"""Admin pages of labs, markers and panels: panels are approved, catalogs updated."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from django import forms
from django.contrib import admin, messages
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from labs.models import (
    CatalogueUpdate,
    DiagnosisCode,
    Lab,
    LabTest,
    Marker,
    ServiceCenter,
)
from labs.operations.catalogue.catalogue_uploads import read_catalogue_upload
from labs.operations.catalogue.import_catalogue import (
    apply_catalogue_update,
    check_catalogue_update,
)
from labs.operations.catalogue.panels import approve_lab_test
from portal.lib.admin import ReadOnlyAdmin, build_operator_actor
from portal.lib.errors import DomainError
from portal.lib.tenancy import across_tenants
from portal.lib.translation import gettext_lazy

if TYPE_CHECKING:
    from django.db.models import QuerySet
    from django.http import HttpRequest

    from portal.lib.actor import Actor


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


@admin.register(ServiceCenter)
class ServiceCenterAdmin(ReadOnlyAdmin):
    """Admin page of service centers."""

    list_display = (
        *("name", "site_code", "lab", "city", "state", "zip_code", "is_active"),
    )
    list_filter = ("lab__environment", "lab", "state", "is_active")
    search_fields = ("name", "site_code", "city", "zip_code")
    ordering = ("lab", "site_code")
    fields = (
        *("id", "lab", "site_code", "name", "first_line", "second_line", "city"),
        *("state", "zip_code", "phone_number", "latitude", "longitude", "time_zone"),
        *("hours", "capabilities", "bill_types", "confirmed_by", "places", "is_active"),
    )


@admin.register(DiagnosisCode)
class DiagnosisCodeAdmin(ReadOnlyAdmin):
    """Admin page of diagnosis codes, which are reference data."""

    list_display = ("code", "description")
    search_fields = ("code", "description")
    fields = ("code", "description")


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


class CatalogueUpdateForm(forms.ModelForm):  # type: ignore[type-arg]
    """Files of production's shared catalog; they are checked as the form is."""

    actor: ClassVar[Actor]
    chosen = forms.FileField(
        label=gettext_lazy("Files"),
        help_text=gettext_lazy("A ZIP of CSV files, or a file of HL7 messages"),
        allow_empty_file=True,  # the check names it
    )

    class Meta:
        model = CatalogueUpdate
        fields = ("is_complete",)

    def clean(self) -> dict[str, Any]:
        """Check the files and keep the update; each fault is shown with its place."""
        entered: dict[str, Any] = super().clean() or {}
        if file := entered.get("chosen"):
            try:
                with across_tenants(why="the catalogue is shared by all teams"):
                    self.checked = check_catalogue_update(
                        contents=read_catalogue_upload(
                            [(file.name or "", file.read())]
                        ),
                        actor=self.actor,
                        is_complete=entered["is_complete"],
                    )
            except DomainError as refusal:
                self.add_error("chosen", refusal.message)
        return entered


@admin.register(CatalogueUpdate)
class CatalogueUpdateAdmin(ReadOnlyAdmin):
    """Admin page of updates: files are checked, and a checked update is applied.

    Operators update production's shared catalog. A team's own is the team's to update.
    """

    form = CatalogueUpdateForm
    actions = ("apply",)

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

    def has_add_permission(self, request: HttpRequest) -> bool:
        return True

    def get_fields(self, request: HttpRequest, obj: Any = None) -> list[Any]:
        return super().get_fields(request, obj) if obj else ["chosen", "is_complete"]

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> list[Any]:
        return super().get_readonly_fields(request, obj) if obj else []

    def get_form(
        self, request: HttpRequest, obj: Any = None, change: bool = False, **kwargs: Any
    ) -> Any:
        form = super().get_form(request, obj, change=change, **kwargs)
        form.actor = build_operator_actor(request)
        return form

    def save_form(self, request: Any, form: Any, change: bool) -> CatalogueUpdate:
        checked: CatalogueUpdate = form.checked
        return checked

    def save_model(self, request: Any, obj: Any, form: Any, change: bool) -> None:
        """Leave the update as the check stored it."""

    def save_related(
        self, request: Any, form: Any, formsets: Any, change: bool
    ) -> None:
        """Store nothing more."""

    @admin.action(description=gettext_lazy("Apply selected updates"))
    def apply(self, request: HttpRequest, queryset: QuerySet[CatalogueUpdate]) -> None:
        """Apply checked updates of the shared catalog, and show each refusal."""
        for update in queryset.order_by("created_at"):
            try:
                with across_tenants(why="the catalogue is shared by all teams"):
                    done = apply_catalogue_update(
                        update_id=update.pk, actor=build_operator_actor(request)
                    )
            except DomainError as refusal:
                messages.error(request, refusal.message)
            else:
                messages.success(
                    request,
                    _("Update %(number)d is applied.") % {"number": done.number},
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
