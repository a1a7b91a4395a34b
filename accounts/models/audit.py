"""AuditEntry: every change, and every read of health data. Append-only.

A trigger refuses UPDATE and DELETE (migration 0002).
"""

from __future__ import annotations

from django.db import models
from django.utils import timezone

from portal.lib.tenancy import TenantOwned


class AuditEntry(TenantOwned):
    """Who did what, to what, about whom, when and from where.

    `verb` is the operation's name (`create_user`) or `read`. `subject` is the kind of
    thing, `subject_id` its wire id. `user_uuid` is the end user concerned. `changes`
    maps a field to its old and new value; patient details appear by field name alone,
    so that erasing a user leaves none of them here.
    """

    tenant = models.ForeignKey(
        "accounts.Tenant",
        on_delete=models.DO_NOTHING,
        related_name="+",
        db_constraint=False,
    )
    at = models.DateTimeField(default=timezone.now, editable=False)
    verb = models.CharField(max_length=60)
    subject = models.CharField(max_length=60)
    subject_id = models.CharField(max_length=80)
    user_uuid = models.UUIDField(null=True)
    actor_kind = models.CharField(max_length=10)
    actor_key = models.CharField(max_length=80)
    actor_label = models.CharField(max_length=254)
    address = models.GenericIPAddressField(null=True)
    changes = models.JSONField(default=dict)

    class Meta(TenantOwned.Meta):
        indexes = [
            models.Index(fields=["tenant", "-at"], name="audit_by_time"),
            models.Index(fields=["tenant", "user_uuid", "-at"], name="audit_by_user"),
        ]

    def __str__(self) -> str:
        return f"{self.verb} {self.subject} {self.subject_id}"
