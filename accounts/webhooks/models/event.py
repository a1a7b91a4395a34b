"""Event: one message to customers, written once and sent as it was written.

It keeps the user's ids as values: an envelope is a snapshot, and nothing here points at
an app above.
"""

from __future__ import annotations

import secrets

from django.db import models
from django.utils import timezone

from portal.lib.table_rules import ErasureRule, TableRules
from portal.lib.tenancy import TenantOwned


def new_message_id() -> str:
    """Create a `webhook-id` (contract 8.6), the same on each attempt of a message."""
    return f"msg_{secrets.token_urlsafe(20)}"


class Event(TenantOwned):
    """One message; `body` is the envelope of contract 8.1, exactly as it is sent.

    A test is an example that one endpoint was sent; it happened to nobody.
    """

    rules = TableRules(
        erasure=ErasureRule(("user_uuid",)),
        data_classes=("events",),
        route_parameters={"message_id": "message_id"},
    )

    tenant = models.ForeignKey(
        "accounts.Tenant",
        on_delete=models.DO_NOTHING,
        related_name="+",
        db_constraint=False,
    )
    message_id = models.CharField(
        max_length=40, unique=True, default=new_message_id, editable=False
    )
    event_type = models.CharField(max_length=100)
    user_uuid = models.UUIDField()
    client_user_id = models.CharField(max_length=255)
    body = models.TextField()
    is_test = models.BooleanField(default=False, db_default=False)
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta(TenantOwned.Meta):
        indexes = [
            models.Index(fields=["tenant", "id"], name="event_by_tenant"),
            models.Index(fields=["tenant", "user_uuid", "id"], name="event_by_user"),
            models.Index(
                fields=["tenant", "client_user_id"], name="event_by_client_user"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.event_type} {self.message_id}"
