"""Tables of the review desk: a review, its rows with their versions, its signature.

All of it is health data.
"""

from __future__ import annotations

import uuid
from typing import Self

from django.db import models
from django.utils import timezone

from portal.lib.table_rules import TableRules
from portal.lib.tenancy import TenantManager, TenantOwned, TenantQuerySet
from reports.states import (
    RejectionReason,
    ReviewKind,
    ReviewStatus,
    RowDecision,
    SignatureMeaning,
)

from .jobs import ParsingJob


class ReviewQuerySet(TenantQuerySet["Review"]):
    """Conditions on sets of reviews."""

    def live(self) -> Self:
        """Reviews of reports of users that are not deleted."""
        return self.filter(job__user__deleted_at=None)


class Review(TenantOwned):
    """A person's work on one report; signed, it is version `number` of its results.

    The first has number 1, each amendment the next. `notes` are what the checks say of
    the rows as they stand, with rows by their positions in this review; `first_notes`
    what they said of it before. `pages_shown` are numbers of pages from 1. `flagged` is
    how many rows need attention and are undecided; `is_critical` whether a value is
    critical; `lowest_confidence` of the machine in a row, from 0 to 1, None where it
    did not say. `identity_decided` and `duplicate_decided` hold the
    reviewer's reason, empty where nothing was decided. The lease is the claimer's until
    `claimed_until`. A second read follows the review it checks, number by number, and
    a dispute both. `wants_second_read`: signed, it waits for a second reader.
    `replaces` is the older report whose place this one takes. Of a report of an order,
    `not_performed` has the keys (OrderedResult) of what the reviewer said the lab does
    not report, and `signed_order_id` is the order that the signature says.
    """

    rules = TableRules(data_classes=("reports",))

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    job = models.ForeignKey(
        ParsingJob, on_delete=models.CASCADE, related_name="reviews"
    )
    number = models.PositiveSmallIntegerField()
    kind = models.CharField(
        max_length=20,
        choices=ReviewKind.offered,
        default=ReviewKind.FIRST,
        db_default=ReviewKind.FIRST,
    )
    status = models.CharField(
        max_length=100, choices=ReviewStatus.offered, default=ReviewStatus.OPEN
    )
    why = models.TextField(blank=True)  # of an amendment, or of a rejection
    rejection = models.CharField(
        max_length=100, choices=RejectionReason.offered, blank=True
    )
    notes = models.JSONField(default=list)
    first_notes = models.JSONField(default=list)
    pages_shown = models.JSONField(default=list)
    flagged = models.PositiveIntegerField(default=0)
    is_critical = models.BooleanField(default=False)
    lowest_confidence = models.FloatField(null=True)
    identity_decided = models.TextField(blank=True)
    duplicate_decided = models.TextField(blank=True)
    wants_second_read = models.BooleanField(default=False, db_default=False)
    replaces = models.ForeignKey(
        ParsingJob, on_delete=models.SET_NULL, null=True, related_name="+"
    )
    not_performed = models.JSONField(
        default=list, db_default=models.Value([], models.JSONField())
    )
    signed_order_id = models.UUIDField(null=True)
    claimed_by_key = models.CharField(max_length=80, blank=True)
    claimed_by_label = models.CharField(max_length=254, blank=True)
    claimed_at = models.DateTimeField(null=True)
    claimed_until = models.DateTimeField(null=True)
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    ended_at = models.DateTimeField(null=True)

    objects = TenantManager(ReviewQuerySet)

    class Meta(TenantOwned.Meta):
        constraints = [
            models.UniqueConstraint(
                fields=["job", "number"], name="review_once_per_number"
            ),
            models.UniqueConstraint(
                fields=["job"],
                condition=models.Q(status=ReviewStatus.OPEN),
                name="review_open_once_per_job",
            ),
        ]
        indexes = [
            models.Index(
                fields=["tenant", "-is_critical", "created_at"],
                condition=models.Q(status=ReviewStatus.OPEN),
                name="review_queue",
            )
        ]

    def __str__(self) -> str:
        return f"{self.job_id} {self.number}"

    @property
    def is_leased(self) -> bool:
        """Return whether its reviewer holds it now."""
        return self.claimed_until is not None and self.claimed_until > timezone.now()

    @property
    def is_assigned(self) -> bool:
        """Return whether it is set aside for a reviewer who has not begun."""
        never_begun = self.claimed_at is None and self.claimed_until is None
        return bool(self.claimed_by_key) and never_begun


class ReviewRow(TenantOwned):
    """A row as it stands in a review; `version` counts its changes from 1.

    `values` has the shape of parser.report.ParsedResult, `state` is what the checks ask
    for. `acknowledged` says of a critical value who was told, when and by what way.
    `after` is the position of the row that it follows in reading order, where that is
    not its own. `disputed` holds, in a dispute, what each reader made of the row:
    {"first": ..., "second": ...}, each {values, decision, reason} or None.
    """

    rules = TableRules(data_classes=("reports",))

    review = models.ForeignKey(Review, on_delete=models.CASCADE, related_name="rows")
    position = models.PositiveIntegerField()
    version = models.PositiveIntegerField(default=1)
    values = models.JSONField()
    state = models.CharField(max_length=20, default="auto")
    decision = models.CharField(
        max_length=20, choices=RowDecision.offered, default=RowDecision.UNDECIDED
    )
    reason = models.TextField(blank=True)  # of an exclusion
    acknowledged = models.JSONField(null=True)
    after = models.PositiveIntegerField(null=True)
    disputed = models.JSONField(null=True)

    class Meta(TenantOwned.Meta):
        constraints = [
            models.UniqueConstraint(
                fields=["review", "position"], name="review_row_once_per_position"
            )
        ]

    def __str__(self) -> str:
        return f"{self.review_id} {self.position}"

    @property
    def is_critical(self) -> bool:
        """Whether its value asks for an acknowledgement."""
        return bool(self.values["interpretation"] == "critical" and self.is_included)

    @property
    def is_included(self) -> bool:
        """Whether it will be a result."""
        return self.decision != RowDecision.EXCLUDED

    @property
    def is_decided(self) -> bool:
        """Whether a person has said what it is."""
        return self.decision != RowDecision.UNDECIDED

    @property
    def is_flagged(self) -> bool:
        """Whether it has to be looked at by itself before it is decided."""
        return (
            self.state != "auto"
            or self.disputed is not None
            or self.values["loinc_match_status"] == "needs_review"
            or self.values["interpretation"] == "critical"
        )

    @property
    def is_contradicted(self) -> bool:
        """Whether a check says that it cannot be as it is."""
        return self.state == "contradiction"


class ReviewRowVersion(TenantOwned):
    """What a row was at one version, and who made it so; nothing is overwritten.

    `act` is the operation that made it, empty of a row's first; `together` are the
    positions of all rows it made or changed, `restores` the version that an undoing
    brought back.
    """

    rules = TableRules(data_classes=("reports",))

    row = models.ForeignKey(
        ReviewRow, on_delete=models.CASCADE, related_name="versions"
    )
    version = models.PositiveIntegerField()
    values = models.JSONField()
    decision = models.CharField(max_length=20, choices=RowDecision.offered)
    reason = models.TextField(blank=True)
    act = models.CharField(max_length=40, blank=True, db_default="")
    together = models.JSONField(
        default=list, db_default=models.Value([], models.JSONField())
    )
    restores = models.PositiveIntegerField(null=True)
    actor_kind = models.CharField(max_length=10)
    actor_key = models.CharField(max_length=80)
    actor_label = models.CharField(max_length=254)
    at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta(TenantOwned.Meta):
        constraints = [
            models.UniqueConstraint(
                fields=["row", "version"], name="review_row_once_per_version"
            )
        ]

    def __str__(self) -> str:
        return f"{self.row_id} {self.version}"


class Signature(TenantOwned):
    """A signature: who, with which meaning, when, over exactly which bytes.

    `document` is the canonical JSON that was signed, `sha256` its digest in hex.
    """

    rules = TableRules(data_classes=("reports",))

    review = models.OneToOneField(
        Review, on_delete=models.CASCADE, related_name="signature"
    )
    member_key = models.CharField(max_length=80)
    member_label = models.CharField(max_length=254)
    meaning = models.CharField(max_length=100, choices=SignatureMeaning.offered)
    signed_at = models.DateTimeField()
    document = models.TextField()
    sha256 = models.CharField(max_length=64)

    class Meta(TenantOwned.Meta):
        pass

    def __str__(self) -> str:
        return f"{self.review_id} {self.sha256}"


class ReviewComment(TenantOwned):
    """A reviewer's remark on a review, or on the row at `position` of it."""

    rules = TableRules(data_classes=("reports",))

    review = models.ForeignKey(
        Review, on_delete=models.CASCADE, related_name="comments"
    )
    position = models.PositiveIntegerField(null=True)
    text = models.TextField()
    actor_key = models.CharField(max_length=80)
    actor_label = models.CharField(max_length=254)
    at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta(TenantOwned.Meta):
        indexes = [models.Index(fields=["review", "id"], name="comment_by_review")]

    def __str__(self) -> str:
        return f"{self.review_id} {self.pk}"


class Rereading(TenantOwned):
    """What the machine reads of a report now, beside what was signed.

    `rows` have the shape of ParsedResult, `notes` that of the wire; both None until the
    report is read, and for good where `failure` says why it could not be.
    """

    rules = TableRules(
        data_classes=("reports",), route_parameters={"rereading_id": "pk"}
    )

    job = models.ForeignKey(
        ParsingJob, on_delete=models.CASCADE, related_name="rereadings"
    )
    asked_by_key = models.CharField(max_length=80)
    asked_by_label = models.CharField(max_length=254)
    asked_at = models.DateTimeField(default=timezone.now, editable=False)
    finished_at = models.DateTimeField(null=True)
    rows = models.JSONField(null=True)
    notes = models.JSONField(null=True)
    failure = models.CharField(max_length=100, blank=True)

    class Meta(TenantOwned.Meta):
        indexes = [models.Index(fields=["job", "-id"], name="rereading_by_job")]

    def __str__(self) -> str:
        return f"{self.job_id} {self.pk}"
