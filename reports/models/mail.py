"""Mailboxes that receive reports, their mails, and documents without an order."""

from __future__ import annotations

import uuid

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.utils import timezone

from portal.lib.table_rules import ErasureRule, RetentionRule, TableRules
from portal.lib.tenancy import TenantOwned
from portal.lib.translation import gettext_lazy
from reports.models.jobs import ParsingJob
from reports.states import (
    DocumentReason,
    DocumentStatus,
    MailboxFault,
    MailEncryption,
    MailOutcome,
)

HOST_MAX_LENGTH = 253
ADDRESS_MAX_LENGTH = 254
NAME_MAX_LENGTH = 200
WHY_MAX_LENGTH = 1000


class ReportMailbox(TenantOwned):
    """The IMAP mailbox in which a team receives reports; no row: none.

    `password` is encrypted. `address` is what labs write to. `folder` is polled; mails
    that were handled go to `handled_folder`, or stay there as read if it is empty.
    `senders` are addresses and domains, of which mails are accepted. `uid_validity` and
    `last_uid` are how far the folder was read. `polled_at` is the last visit that
    succeeded, `failing_since` the first that failed after it, for `fault`.
    """

    rules = TableRules(
        without_user="credentials of a team",
        retention="until the team removes it",
        encrypted=("password",),
    )

    address = models.CharField(max_length=ADDRESS_MAX_LENGTH)
    host = models.CharField(max_length=HOST_MAX_LENGTH)
    port = models.PositiveIntegerField()
    encryption = models.CharField(
        max_length=20, choices=MailEncryption.offered, default=MailEncryption.TLS
    )
    user_name = models.CharField(max_length=ADDRESS_MAX_LENGTH)
    password = models.TextField()
    folder = models.CharField(max_length=NAME_MAX_LENGTH, default="INBOX")
    handled_folder = models.CharField(max_length=NAME_MAX_LENGTH, blank=True)
    senders = ArrayField(models.CharField(max_length=ADDRESS_MAX_LENGTH), default=list)
    uid_validity = models.PositiveBigIntegerField(default=0)
    last_uid = models.PositiveBigIntegerField(default=0)
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    polled_at = models.DateTimeField(null=True)
    last_mail_at = models.DateTimeField(null=True)
    failing_since = models.DateTimeField(null=True)
    fault = models.CharField(max_length=100, choices=MailboxFault.offered, blank=True)

    class Meta(TenantOwned.Meta):
        verbose_name = gettext_lazy("report mailbox")
        verbose_name_plural = gettext_lazy("report mailboxes")
        constraints = [
            models.UniqueConstraint(fields=["tenant"], name="report_mailbox_of_tenant")
        ]

    def __str__(self) -> str:
        return f"report mailbox {self.pk}"


class ReceivedMail(TenantOwned):
    """A mail as it was judged, without its content; `digest` is that of its bytes.

    Of one that is too large, the digest of its header and size. `sender_domain` is that
    of its From address, empty where there is none. `reason` says why it is held or was
    refused, of MailReason. `filed_at` is when it was marked as read, or moved.
    """

    rules = TableRules(
        without_user="a mail's sender and outcome, without its content",
        retention=RetentionRule("90 days after it came", "reports.mail_cleanup"),
    )

    mailbox = models.ForeignKey(
        ReportMailbox, on_delete=models.CASCADE, related_name="mails"
    )
    digest = models.CharField(max_length=64)
    uid_validity = models.PositiveBigIntegerField()
    uid = models.PositiveBigIntegerField()
    sender_domain = models.CharField(max_length=HOST_MAX_LENGTH, blank=True)
    outcome = models.CharField(max_length=100, choices=MailOutcome.offered)
    reason = models.CharField(max_length=100, blank=True)
    received_at = models.DateTimeField(default=timezone.now, editable=False)
    decided_at = models.DateTimeField(null=True)
    filed_at = models.DateTimeField(null=True)

    class Meta(TenantOwned.Meta):
        verbose_name = gettext_lazy("received mail")
        verbose_name_plural = gettext_lazy("received mails")
        constraints = [
            models.UniqueConstraint(
                fields=["mailbox", "digest"], name="received_mail_once"
            )
        ]
        indexes = [
            models.Index(
                fields=["mailbox", "-received_at"], name="received_mail_by_time"
            ),
            models.Index(
                fields=["mailbox"],
                condition=models.Q(filed_at=None),
                name="received_mail_not_filed",
            ),
            models.Index(fields=["received_at"], name="received_mail_by_age"),
        ]

    def __str__(self) -> str:
        return str(self.pk)


class UnmatchedDocument(TenantOwned):
    """A document that came without an order; once a team (`sha256`).

    It is held until it is read and matched to an order, by what it prints or by a
    person. `metadata` has the keys of contract 7.4 and `rows` the names, values, units
    and LOINC codes that were read; both are None before and after that. `reason` says
    why no order was found; it stays, as it marks a document that a person had to match.
    `job` is the report that it became. `source_key` and `source_label` are who sent it.
    """

    rules = TableRules(
        erasure=ErasureRule(("order__user__uuid", "job__user__uuid")),
        data_classes=("unread_reports",),
        route_parameters={"document_id": "pk"},
    )

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    mail = models.ForeignKey(
        ReceivedMail, on_delete=models.SET_NULL, null=True, related_name="documents"
    )
    status = models.CharField(
        max_length=100, choices=DocumentStatus.offered, default=DocumentStatus.READING
    )
    reason = models.CharField(
        max_length=100, choices=DocumentReason.offered, blank=True
    )
    stored_as = models.CharField(max_length=100, blank=True)
    content_type = models.CharField(max_length=100)
    size = models.PositiveIntegerField()  # bytes
    sha256 = models.CharField(max_length=64)
    pages = models.PositiveIntegerField(null=True)
    metadata = models.JSONField(null=True)
    rows = models.JSONField(null=True)
    order = models.ForeignKey(
        "labs.Order", on_delete=models.CASCADE, null=True, related_name="+"
    )
    job = models.ForeignKey(
        ParsingJob, on_delete=models.CASCADE, null=True, related_name="+"
    )
    source_key = models.CharField(max_length=100, blank=True)
    source_label = models.CharField(max_length=254, blank=True)
    received_at = models.DateTimeField(default=timezone.now, editable=False)
    resolved_at = models.DateTimeField(null=True)
    resolved_by = models.CharField(max_length=254, blank=True)
    why = models.CharField(max_length=WHY_MAX_LENGTH, blank=True)

    class Meta(TenantOwned.Meta):
        verbose_name = gettext_lazy("unmatched document")
        verbose_name_plural = gettext_lazy("unmatched documents")
        constraints = [
            models.UniqueConstraint(
                fields=["tenant", "sha256"], name="unmatched_document_once"
            )
        ]
        indexes = [
            models.Index(
                fields=["tenant", "status", "-received_at"],
                name="unmatched_document_by_status",
            )
        ]

    def __str__(self) -> str:
        return str(self.id)
