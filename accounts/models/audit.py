"""AuditEntry: every change and every read of health data; AuditSeal: their hash chain.

Both are append-only: triggers of the first migration refuse UPDATE, DELETE and
TRUNCATE.
"""

from __future__ import annotations

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.utils import timezone

from portal.lib.table_rules import ErasureRule, TableRules
from portal.lib.tenancy import TenantOwned
from portal.lib.translation import gettext_lazy
from portal.lib.web.request_ids import REQUEST_ID_LENGTH


class AuditEntry(TenantOwned):
    """One change or read: actor, action, object, user, time and IP address.

    `verb` is the operation's name (`create_user`) or `read`. `subject` is the kind of
    thing, `subject_id` its wire id. `user_uuid` is the end user concerned. `changes`
    maps a field to its old and new value; patient details appear by field name alone,
    so that erasing a user leaves none of them here. `request_id` is that of the
    answer's header, empty outside of requests.
    """

    rules = TableRules(
        erasure=ErasureRule(
            ("user_uuid",), why="proves who did and read what, by UUID only"
        ),
        retention="permanent: proves what was done",
    )

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
    request_id = models.CharField(
        max_length=REQUEST_ID_LENGTH, blank=True, db_default=""
    )

    class Meta(TenantOwned.Meta):
        verbose_name = gettext_lazy("audit entry")
        verbose_name_plural = gettext_lazy("audit entries")
        indexes = [
            models.Index(fields=["tenant", "-at"], name="audit_by_time"),
            models.Index(fields=["tenant", "user_uuid", "-at"], name="audit_by_user"),
            models.Index(fields=["tenant", "actor_key", "-at"], name="audit_by_actor"),
            # The log leaves out what jobs did, which may be a thousand times as much.
            models.Index(
                fields=["tenant", "-at", "-id"],
                condition=~models.Q(actor_kind="system"),
                name="audit_of_people",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.verb} {self.subject} {self.subject_id}"


class AuditSeal(TenantOwned):
    """Some audit entries of a tenant, chained to all entries sealed before.

    `number` counts the seals of a tenant from 1. `entry_ids` are in the order of the
    chain, `hashes` the hash of each, 32 bytes apiece: every one covers its entry and
    the hash before it. `total` is how many entries the chain has with these; `top_id`
    the highest id that was sealed by then, of any tenant: a lower one that is in no
    seal was committed late. Beside the entries, not in them, so that recording one
    waits for no other.
    """

    rules = TableRules(
        without_user="hashes over the audit",
        retention="permanent: proves what was done",
    )

    tenant = models.ForeignKey(
        "accounts.Tenant",
        on_delete=models.DO_NOTHING,
        related_name="+",
        db_constraint=False,
        db_index=False,
    )
    number = models.PositiveIntegerField()
    sealed_at = models.DateTimeField(default=timezone.now, editable=False)
    entry_ids = ArrayField(models.BigIntegerField())
    hashes = models.BinaryField()
    total = models.PositiveBigIntegerField()
    top_id = models.BigIntegerField()

    class Meta(TenantOwned.Meta):
        verbose_name = gettext_lazy("audit seal")
        verbose_name_plural = gettext_lazy("audit seals")
        constraints = [
            models.UniqueConstraint(
                fields=["tenant", "number"], name="audit_seal_once_per_number"
            )
        ]
        indexes = [
            models.Index(fields=["-sealed_at", "-top_id"], name="audit_seal_by_time")
        ]

    def __str__(self) -> str:
        return f"seal {self.number}"
