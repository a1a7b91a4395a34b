"""Lab reports that other institutions made of a user, as their records have them."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Self

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.utils import timezone

from portal.lib.table_rules import TableRules
from portal.lib.tenancy import TenantManager, TenantOwned, TenantQuerySet
from portal.lib.translation import gettext_lazy

if TYPE_CHECKING:
    from uuid import UUID


class OutsideReportQuerySet(TenantQuerySet["OutsideReport"]):
    """Conditions on sets of outside reports."""

    def current(self) -> Self:
        """Newest versions of reports of users that are not deleted."""
        return self.filter(is_current=True, user__deleted_at=None)

    def of_user(self, user_uuid: UUID) -> Self:
        """Reports of one user."""
        return self.filter(user__uuid=user_uuid)


class OutsideReport(TenantOwned):
    """One version of a report of another institution; no clinician here reviewed it.

    `provider` is the source that brought it, such as a phone's health records,
    `institution` who made it, as the source names it. `record_id` is FHIR's type and id
    ("DiagnosticReport/17"), the same in every version; `number` counts them from 1.
    `codes` are {system, code, display}; `loinc` one of them. `status` is FHIR's.
    `collected` and `issued` are FHIR times as written, which may be a month;
    `dated_at`, by which reports are sorted, is the first known of collection, issue and
    receipt. `results` have the shape of read_lab_result, `result_ids` their record_id;
    `missing_results` are those that the report names and its file lacked. `attachments`
    counts files within it, which are not kept. `digest` is of all but `received_at`.
    """

    rules = TableRules(
        data_classes=("reports",), route_parameters={"outside_report_id": "id"}
    )

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    user = models.ForeignKey("users.User", on_delete=models.CASCADE, related_name="+")
    provider = models.CharField(max_length=50)
    institution = models.TextField(blank=True)
    record_id = models.TextField()
    number = models.PositiveIntegerField(default=1)
    is_current = models.BooleanField(default=True)
    fhir_version = models.TextField(blank=True)
    name = models.TextField(blank=True)
    loinc = models.TextField(blank=True)
    codes = models.JSONField(default=list)
    status = models.TextField(blank=True)
    collected = models.CharField(max_length=40, blank=True)
    issued = models.CharField(max_length=40, blank=True)
    dated_at = models.DateTimeField()
    laboratory = models.TextField(blank=True)
    conclusion = models.TextField(blank=True)
    attachments = models.PositiveIntegerField(default=0)
    missing_results = models.PositiveIntegerField(default=0)
    results = models.JSONField(default=list)
    result_ids = ArrayField(models.TextField(), default=list)
    digest = models.CharField(max_length=64)
    source_updated_at = models.DateTimeField(null=True)
    received_at = models.DateTimeField(null=True)
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    objects = TenantManager(OutsideReportQuerySet)

    class Meta(TenantOwned.Meta):
        verbose_name = gettext_lazy("outside report")
        verbose_name_plural = gettext_lazy("outside reports")
        constraints = [
            models.UniqueConstraint(
                fields=["user", "provider", "institution", "record_id", "number"],
                name="outside_report_once_per_number",
            ),
            models.UniqueConstraint(
                fields=["user", "provider", "institution", "record_id"],
                condition=models.Q(is_current=True),
                name="outside_report_one_current",
            ),
        ]
        indexes = [
            models.Index(
                fields=["user", "-dated_at"],
                condition=models.Q(is_current=True),
                name="outside_report_by_time",
            )
        ]

    def __str__(self) -> str:
        return str(self.id)
