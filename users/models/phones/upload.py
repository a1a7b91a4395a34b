"""PhoneUpload: a batch that a phone sent, until it is stored, and what became of it."""

from __future__ import annotations

import uuid

from django.db import models
from django.db.models import Q
from django.utils import timezone

from portal.lib.table_rules import RetentionRule, TableRules
from portal.lib.tenancy import TenantOwned
from users.models.phones.phone import Phone
from users.models.user import User
from users.states.phones import UploadOutcome


class PhoneUpload(TenantOwned):
    """A batch, committed before its sender is answered.

    `content` is what came, packed and encrypted; it goes once it is stored, unless the
    installation keeps it a while. The same batch of one user is one row, whoever of the
    user's phones sends it: `digest` is of its bytes. `counts` has by resource what was
    created, updated, unchanged and dropped, `unknown` by type the records that we have
    no resource for, `refusals` the first records that could not be stored: {list,
    index, id, type, reason}, never a value.
    """

    rules = TableRules(
        retention=RetentionRule(
            "90 days after it came, its content once it is stored",
            "users.remove_phone_rows",
        ),
        encrypted=("content",),
        route_parameters={"upload_id": "uuid"},
        archive_without=("content",),
    )

    uuid = models.UUIDField(unique=True, default=uuid.uuid4, editable=False)
    user = models.ForeignKey(
        User, on_delete=models.CASCADE, related_name="phone_uploads", db_index=False
    )
    phone = models.ForeignKey(Phone, on_delete=models.CASCADE, related_name="uploads")
    form = models.CharField(max_length=60)
    digest = models.CharField(max_length=64)
    size = models.PositiveIntegerField()
    content = models.TextField(blank=True)
    outcome = models.CharField(
        max_length=20, choices=UploadOutcome.offered, default=UploadOutcome.WAITING
    )
    received_at = models.DateTimeField(
        default=timezone.now, editable=False, db_index=True
    )
    stored_at = models.DateTimeField(null=True)
    records = models.PositiveIntegerField(default=0)
    refused = models.PositiveIntegerField(default=0)
    counts = models.JSONField(default=dict)
    unknown = models.JSONField(default=dict)
    refusals = models.JSONField(default=list)

    class Meta(TenantOwned.Meta):
        constraints = [
            models.UniqueConstraint(
                fields=["user", "digest"], name="phone_upload_once"
            ),
        ]
        indexes = [
            models.Index(
                fields=["user", "id"],
                name="phone_upload_waiting",
                condition=Q(outcome=UploadOutcome.WAITING),
            ),
        ]

    def __str__(self) -> str:
        return f"upload {self.uuid}"
