"""Tables of lab report parsing: the job, its files, what was read, its history.

All of it is health data.
"""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Self

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models.fields.json import KeyTextTransform
from django.utils import timezone

from portal.lib.table_rules import TableRules
from portal.lib.tenancy import TenantManager, TenantOwned, TenantQuerySet
from portal.lib.translation import gettext_lazy
from reports.states import (
    ParsingJobFailureReason,
    ParsingJobStatus,
    UnreadScript,
)

if TYPE_CHECKING:
    from uuid import UUID


class ParsingJobQuerySet(TenantQuerySet["ParsingJob"]):
    """Conditions on sets of jobs."""

    def live(self) -> Self:
        """Jobs of users that are not deleted."""
        return self.filter(user__deleted_at=None)

    def in_status(self, statuses: list[str]) -> Self:
        """Jobs in any of these statuses."""
        return self.filter(status__in=statuses)

    def of_user(self, user_uuid: UUID) -> Self:
        """Jobs of one user."""
        return self.filter(user__uuid=user_uuid)


def _codes() -> ArrayField[list[str], list[str]]:
    return ArrayField(
        models.CharField(max_length=100),
        default=list,
        db_default=models.Value([], ArrayField(models.CharField(max_length=100))),
        blank=True,
    )


class ParsingJob(TenantOwned):
    """One upload to be read; `id` is the wire's.

    `metadata` has the keys of contract 7.4; it, `notes` (what the parser's checks
    found), `unread` (places in no row) and `page_sizes` are None until the report is
    read, and then have the shape of the wire. `sha256` is that of the file, or of the
    digests of several files in order. `version` is that of the results which are shown:
    0 for what the machine read, else the number of the review that signed them.
    `replaced_by` is the report that a reviewer put in its place, as its duplicate.
    `source_key` and `source_label` are who sent it: the kind and key of the actor, such
    as "api_key 12", and how people know it; empty where that was not kept.
    `findings` are codes of HoldReason that a check found, `hold_reasons` those of them
    that hold the report until a person releases or rejects it.
    `unread_script` is the script that made it `not_english`, where that is known.
    `order` is the one whose results the report holds once it is signed.
    """

    rules = TableRules(
        data_classes=("reports", "unread_reports"),
        route_parameters={"job_id": "id", "review_id": "id"},
    )

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    user = models.ForeignKey("users.User", on_delete=models.PROTECT, related_name="+")
    status = models.CharField(
        max_length=100,
        choices=ParsingJobStatus.offered,
        default=ParsingJobStatus.UPLOAD_PENDING,
    )
    failure_reason = models.CharField(
        max_length=100, choices=ParsingJobFailureReason.offered, blank=True
    )
    unread_script = models.CharField(
        max_length=100, choices=UnreadScript.offered, blank=True, db_default=""
    )
    needs_human_review = models.BooleanField(default=False)
    is_reviewed = models.BooleanField(default=False)
    version = models.PositiveSmallIntegerField(default=0, db_default=0)
    metadata = models.JSONField(null=True)
    notes = models.JSONField(null=True)
    unread = models.JSONField(null=True)
    page_sizes = models.JSONField(null=True)
    pages = models.PositiveIntegerField(null=True)
    sha256 = models.CharField(max_length=64)
    replaced_by = models.ForeignKey(
        "self", on_delete=models.SET_NULL, null=True, related_name="+"
    )
    source_key = models.CharField(max_length=100, blank=True, db_default="")
    source_label = models.CharField(max_length=254, blank=True, db_default="")
    findings = _codes()
    hold_reasons = _codes()
    order = models.ForeignKey(
        "labs.Order",
        on_delete=models.SET_NULL,
        null=True,
        db_index=False,
        related_name="+",
    )
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    finished_at = models.DateTimeField(null=True)

    objects = TenantManager(ParsingJobQuerySet)

    class Meta(TenantOwned.Meta):
        verbose_name = gettext_lazy("parsing job")
        verbose_name_plural = gettext_lazy("parsing jobs")
        indexes = [
            models.Index(fields=["tenant", "-created_at"], name="job_by_time"),
            models.Index(fields=["tenant", "status"], name="job_by_status"),
            models.Index(fields=["tenant", "sha256"], name="job_by_digest"),
            models.Index(
                fields=["order"],
                condition=models.Q(order__isnull=False),
                name="job_by_order",
            ),
            models.Index(
                "tenant",
                KeyTextTransform("specimen_number", "metadata"),
                name="job_by_specimen",
            ),
        ]

    def __str__(self) -> str:
        return str(self.id)

    @property
    def has_data(self) -> bool:
        """Whether its values are shown (contract 7.2)."""
        known = ParsingJobStatus.known(self.status)
        return known is not None and known.has_data


class ReportFile(TenantOwned):
    """One stored part of an upload; `stored_as` is its name in the default storage."""

    rules = TableRules(data_classes=("reports", "unread_reports"))

    job = models.ForeignKey(ParsingJob, on_delete=models.CASCADE, related_name="files")
    position = models.PositiveSmallIntegerField()
    stored_as = models.CharField(max_length=100, unique=True)
    content_type = models.CharField(max_length=100)
    size = models.PositiveIntegerField()  # bytes
    sha256 = models.CharField(max_length=64)

    class Meta(TenantOwned.Meta):
        constraints = [
            models.UniqueConstraint(
                fields=["job", "position"], name="report_file_once_per_position"
            )
        ]

    def __str__(self) -> str:
        return self.stored_as


class ReportResult(TenantOwned):
    """One biomarker row, fields as in contract 7.4; None where the report is silent.

    `loinc_matches`, `provenance` and `confidence` have the shape of the wire, and the
    matches their reasons besides. `ucum` is `units` in UCUM, `flag` the laboratory's
    own mark, `state` what a reviewer has to do with the row (parser.report.RowState).
    Rows of `version` 0 are the machine's reading, which no review changes; those of a
    signed review have its number.
    """

    rules = TableRules(
        data_classes=("reports",),
        # The first version is what was read; the others are what a person signed.
        archive_values={
            "is_reviewed": models.ExpressionWrapper(
                models.Q(version__gt=0), output_field=models.BooleanField()
            )
        },
    )

    job = models.ForeignKey(
        ParsingJob, on_delete=models.CASCADE, related_name="results"
    )
    version = models.PositiveSmallIntegerField(default=0, db_default=0)
    position = models.PositiveIntegerField()
    test_name = models.TextField()
    value = models.TextField()
    type = models.CharField(max_length=100, null=True)  # noqa: DJ001 - null on the wire
    units = models.TextField(null=True)  # noqa: DJ001 - null on the wire
    min_reference_range = models.FloatField(null=True)
    max_reference_range = models.FloatField(null=True)
    reference_range = models.TextField(null=True)  # noqa: DJ001 - null on the wire
    source_panel_name = models.TextField(null=True)  # noqa: DJ001 - null on the wire
    sample_type = models.CharField(max_length=100, null=True)  # noqa: DJ001 - null on the wire
    measurement_kind = models.CharField(max_length=100, null=True)  # noqa: DJ001 - null on the wire
    sensitivity = models.CharField(max_length=100, null=True)  # noqa: DJ001 - null on the wire
    loinc_matches = models.JSONField(default=list)
    loinc_match_status = models.CharField(max_length=100)
    interpretation = models.CharField(max_length=100)
    is_above_max_range = models.BooleanField(null=True)
    is_below_min_range = models.BooleanField(null=True)
    provenance = models.JSONField(default=dict)
    confidence = models.JSONField(default=dict)
    ucum = models.TextField(null=True)  # noqa: DJ001 - null on the wire
    flag = models.TextField(null=True)  # noqa: DJ001 - null on the wire
    state = models.CharField(max_length=20, default="auto", db_default="auto")

    class Meta(TenantOwned.Meta):
        constraints = [
            models.UniqueConstraint(
                fields=["job", "version", "position"],
                name="report_result_once_per_version",
            )
        ]

    def __str__(self) -> str:
        return f"{self.job_id} {self.position}"


class ParsingJobTransition(TenantOwned):
    """One move of a job's status: who made it, why and when."""

    rules = TableRules(data_classes=("reports", "unread_reports"))

    job = models.ForeignKey(
        ParsingJob, on_delete=models.CASCADE, related_name="transitions"
    )
    old = models.CharField(max_length=100)
    new = models.CharField(max_length=100)
    actor_kind = models.CharField(max_length=10)
    actor_key = models.CharField(max_length=80)
    actor_label = models.CharField(max_length=254)
    why = models.CharField(max_length=200, blank=True)
    at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta(TenantOwned.Meta):
        indexes = [models.Index(fields=["job", "id"], name="transition_by_job")]

    def __str__(self) -> str:
        return f"{self.old} to {self.new}"
