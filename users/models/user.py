"""User: an end user of a customer, and the counter of a tenant's users."""

from __future__ import annotations

import uuid
from datetime import datetime, timedelta

from django.contrib.postgres.indexes import OpClass
from django.db import models
from django.utils import timezone

from accounts.webhooks.operations import UserRef
from portal.lib.languages import LANGUAGE_MAX_LENGTH
from portal.lib.table_rules import RetentionRule, TableRules
from portal.lib.tenancy import TenantManager, TenantOwned, TenantQuerySet

CLIENT_USER_ID_MAX_LENGTH = 255
# What a fallback set through the API or the dashboard names as its source.
MANUAL = "manual"
ONCE_PER_CLIENT_USER_ID = "user_once_per_client_user_id"
UNDO_GRACE = timedelta(days=7)


class UserQuerySet(TenantQuerySet["User"]):
    """Conditions on sets of users."""

    def live(self) -> UserQuerySet:
        """Filter users that are not deleted; deleted ones vanish from reads at once."""
        return self.filter(deleted_at=None)


class User(TenantOwned):
    """An end user (specification 2.3).

    `uuid` is the wire's `user_id`; other tables point at the bigint key. A fallback's
    source is the slug of what gave it, `manual` for the API. Ingestion bounds include
    both days. `reconnect_mails_stopped_at` is when the user ended mails about broken
    connections. `language` is what the user chose to read, a code of LANGUAGES, empty
    until then. `deleted_at` starts the seven days of undo.
    """

    rules = TableRules(
        retention=RetentionRule("7 days after it is deleted", "users.sweep"),
        route_parameters={"user_id": "uuid", "client_user_id": "client_user_id"},
    )

    uuid = models.UUIDField(unique=True, default=uuid.uuid4, editable=False)
    client_user_id = models.CharField(max_length=CLIENT_USER_ID_MAX_LENGTH)
    created_on = models.DateTimeField(default=timezone.now, editable=False)
    fallback_time_zone = models.CharField(max_length=64, blank=True)
    fallback_time_zone_source = models.CharField(max_length=50, blank=True)
    fallback_time_zone_updated_at = models.DateTimeField(null=True)
    fallback_birth_date = models.DateField(null=True)
    fallback_birth_date_source = models.CharField(max_length=50, blank=True)
    fallback_birth_date_updated_at = models.DateTimeField(null=True)
    ingestion_start = models.DateField(null=True)
    ingestion_end = models.DateField(null=True)
    reconnect_mails_stopped_at = models.DateTimeField(null=True)
    language = models.CharField(
        max_length=LANGUAGE_MAX_LENGTH, blank=True, db_default=""
    )
    deleted_at = models.DateTimeField(null=True)

    objects = TenantManager(UserQuerySet)

    class Meta(TenantOwned.Meta):
        constraints = [
            models.UniqueConstraint(
                fields=["tenant", "client_user_id"],
                condition=models.Q(deleted_at=None),
                name=ONCE_PER_CLIENT_USER_ID,
            )
        ]
        indexes = [
            models.Index(
                fields=["tenant", "created_on", "uuid"],
                include=["id"],
                condition=models.Q(deleted_at=None),
                name="user_live_in_order",
            ),
            # Parts of IDs are looked for by reading through it: LIKE is not leakproof,
            # so that an index of letters goes unused on a fenced table.
            models.Index(
                fields=["tenant", "client_user_id"],
                include=["id", "uuid", "created_on"],
                condition=models.Q(deleted_at=None),
                name="user_live_by_ids",
            ),
            models.Index(
                "tenant",
                OpClass("fallback_time_zone", "text_pattern_ops"),
                condition=models.Q(deleted_at=None),
                name="user_live_by_time_zone",
            ),
            models.Index(
                fields=["tenant", "fallback_time_zone", "created_on", "uuid"],
                include=["id"],
                condition=models.Q(deleted_at=None),
                name="user_live_in_zone_order",
            ),
            models.Index(
                fields=["tenant", "ingestion_start"],
                condition=models.Q(deleted_at=None, ingestion_start__isnull=False),
                name="user_live_by_ingestion_start",
            ),
            models.Index(
                fields=["tenant", "ingestion_end"],
                condition=models.Q(deleted_at=None, ingestion_end__isnull=False),
                name="user_live_by_ingestion_end",
            ),
            models.Index(
                fields=["deleted_at"],
                condition=models.Q(deleted_at__isnull=False),
                name="user_deleted",
            ),
        ]

    def __str__(self) -> str:
        return self.client_user_id

    @property
    def undo_ends_at(self) -> datetime:
        """Return when a deletion can no longer be undone; only for a deleted user."""
        if self.deleted_at is None:
            raise ValueError("the user is not deleted")
        return self.deleted_at + UNDO_GRACE

    @property
    def ref(self) -> UserRef:
        """Return the reference to this user in events."""
        return UserRef(user_uuid=self.uuid, client_user_id=self.client_user_id)


class UserCount(TenantOwned):
    """The number of a tenant's live users, updated in each changing transaction.

    Counting a million users costs a hundred times the page that shows them
    (performance.md 2d).
    """

    rules = TableRules(without_fence="a number", without_user="a counter per tenant")

    tenant = models.OneToOneField(
        "accounts.Tenant", on_delete=models.CASCADE, related_name="+", primary_key=True
    )
    live = models.PositiveBigIntegerField(default=0)

    class Meta(TenantOwned.Meta):
        pass

    def __str__(self) -> str:
        return str(self.live)
