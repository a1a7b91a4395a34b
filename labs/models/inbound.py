"""Messages from labs and the reports in them. All health data."""

from __future__ import annotations

import uuid

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.db import models
from django.utils import timezone

from labs.models.account import LabAccount
from labs.models.catalogue import Lab
from labs.models.critical import CriticalAlert
from labs.models.order import Order
from labs.states.inbound import MatchStatus, MessageStatus, UnmatchedReason
from portal.lib.table_rules import ErasureRule, TableRules
from portal.lib.tenancy import TenantOwned
from portal.lib.translation import gettext_lazy

NUMBER_MAX_LENGTH = 200
WHY_MAX_LENGTH = 500


class InboundMessage(TenantOwned):
    """One message of a lab, processed once; `digest` identifies it.

    `content` is kept of what is no set of results: those live in its reports. An answer
    to one of our orders has that `order`. `answer` is what we said (MSA-1), `error_*`
    why not AA, or why the lab refused.
    """

    rules = TableRules(
        erasure=ErasureRule(("order__user__uuid", "reports__order__user__uuid")),
        data_classes=("lab_messages",),
        route_parameters={"lab_message_id": "pk"},
    )

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    lab = models.ForeignKey(Lab, on_delete=models.PROTECT, related_name="+")
    lab_account = models.ForeignKey(
        LabAccount, on_delete=models.PROTECT, null=True, related_name="+"
    )
    order = models.ForeignKey(
        Order, on_delete=models.CASCADE, null=True, related_name="+"
    )
    digest = models.CharField(max_length=64)
    content = models.BinaryField(default=bytes)
    file_name = models.CharField(max_length=255)
    control_id = models.CharField(max_length=NUMBER_MAX_LENGTH, blank=True)
    kind = models.CharField(max_length=50, blank=True)
    sender = models.CharField(max_length=NUMBER_MAX_LENGTH, blank=True)
    status = models.CharField(max_length=100, choices=MessageStatus.offered)
    answer = models.CharField(max_length=2, blank=True)
    error_code = models.CharField(max_length=20, blank=True)
    error_place = models.CharField(max_length=20, blank=True)
    error_text = models.CharField(max_length=200, blank=True)
    received_at = models.DateTimeField(default=timezone.now, editable=False)
    resolved_at = models.DateTimeField(null=True)
    resolved_by = models.CharField(max_length=254, blank=True)
    why = models.CharField(max_length=WHY_MAX_LENGTH, blank=True)

    class Meta(TenantOwned.Meta):
        verbose_name = gettext_lazy("inbound message")
        verbose_name_plural = gettext_lazy("inbound messages")
        constraints = [
            models.UniqueConstraint(
                fields=["tenant", "lab", "lab_account", "digest"],
                nulls_distinct=False,
                name="inbound_message_once",
            )
        ]
        indexes = [
            models.Index(
                fields=["tenant", "-received_at"],
                condition=models.Q(status__in=["malformed", "refused"]),
                name="inbound_message_to_look_at",
            ),
            models.Index(
                fields=["lab_account", "control_id"], name="inbound_message_by_control"
            ),
        ]

    def __str__(self) -> str:
        return str(self.id)


class InboundReport(TenantOwned):
    """The part of a message about one order of one patient.

    `text` is its part of the message, a message of its own, read anew whenever it is
    needed. `placers` are the numbers we gave, `fillers` the lab's, `samples` those of
    its samples, `done_codes` the lab's codes of the tests of which nothing more is to
    come. `reason` says why no order was found; it stays, as it marks a report that a
    person had to match. `why` is what the person said who matched, rejected or, at
    `escalated_at`, escalated it. `doubts` say which of its lines are held, objects of
    code, place, number and says. `critical_results` are those the lab flagged as
    critical of a report without order, objects of name, code, loinc, sub_id, result,
    unit, reference_range and flag; `alert` is the one they opened, or that of an
    earlier message of the same results. `critical_checked_at` is when it was searched
    for them, null for one that was matched at once or is older than that search.
    """

    rules = TableRules(
        data_classes=("lab_messages",),
        route_parameters={"lab_report_id": "pk", "raw_result_id": "pk"},
    )

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    message = models.ForeignKey(
        InboundMessage, on_delete=models.CASCADE, related_name="reports"
    )
    position = models.PositiveSmallIntegerField()
    order = models.ForeignKey(
        Order, on_delete=models.CASCADE, null=True, related_name="inbound_reports"
    )
    status = models.CharField(
        max_length=100, choices=MatchStatus.offered, default=MatchStatus.UNMATCHED
    )
    reason = models.CharField(
        max_length=100, choices=UnmatchedReason.offered, blank=True
    )
    text = models.TextField()
    placers = ArrayField(models.CharField(max_length=NUMBER_MAX_LENGTH), default=list)
    fillers = ArrayField(models.CharField(max_length=NUMBER_MAX_LENGTH), default=list)
    samples = ArrayField(models.CharField(max_length=NUMBER_MAX_LENGTH), default=list)
    done_codes = ArrayField(
        models.CharField(max_length=NUMBER_MAX_LENGTH), default=list
    )
    doubts = models.JSONField(
        default=list, db_default=models.Value([], models.JSONField())
    )
    critical_checked_at = models.DateTimeField(null=True)
    critical_results = models.JSONField(
        default=list, db_default=models.Value([], models.JSONField())
    )
    alert = models.ForeignKey(
        CriticalAlert,
        on_delete=models.SET_NULL,
        null=True,
        related_name="reports",
        db_index=False,
    )
    received_at = models.DateTimeField(default=timezone.now, editable=False)
    escalated_at = models.DateTimeField(null=True)
    resolved_at = models.DateTimeField(null=True)
    resolved_by = models.CharField(max_length=254, blank=True)
    why = models.CharField(max_length=WHY_MAX_LENGTH, blank=True)

    class Meta(TenantOwned.Meta):
        verbose_name = gettext_lazy("inbound report")
        verbose_name_plural = gettext_lazy("inbound reports")
        constraints = [
            models.UniqueConstraint(
                fields=["message", "position"], name="inbound_report_once_per_position"
            )
        ]
        indexes = [
            models.Index(
                fields=["tenant", "-received_at"],
                condition=models.Q(status="unmatched"),
                name="inbound_report_unmatched",
            ),
            models.Index(
                fields=["tenant", "status", "-received_at"],
                name="inbound_report_in_status",
            ),
            GinIndex(fields=["fillers"], name="inbound_report_by_filler"),
            models.Index(
                fields=["alert"],
                condition=models.Q(alert__isnull=False),
                name="inbound_report_of_alert",
            ),
        ]

    def __str__(self) -> str:
        return str(self.id)
