"""ErasureReceipt: what was removed when a user was erased. Append-only.

A trigger refuses UPDATE and DELETE.
"""

from __future__ import annotations

import uuid

from django.db import models
from django.utils import timezone

from portal.lib.table_rules import ErasureRule, TableRules
from portal.lib.tenancy import TenantOwned


class ErasureReceipt(TenantOwned):
    """A signed list of the rows removed about one user; `id` is the receipt's number.

    `document` is the JSON that was signed, byte for byte; `sha256` its digest in hex,
    which the audit has too. `public_key` and `signature` are Ed25519, in hex.
    """

    rules = TableRules(
        without_fence="numbers of rows that are gone",
        erasure=ErasureRule(
            ("user_uuid",),
            why="proof of the erasure; contains only the UUID and counts",
        ),
        retention="permanent: proof of the erasure",
        route_parameters={"receipt_id": "pk"},
    )

    tenant = models.ForeignKey(
        "accounts.Tenant",
        on_delete=models.DO_NOTHING,
        related_name="+",
        db_constraint=False,
        db_index=False,
    )
    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    user_uuid = models.UUIDField()
    erased_at = models.DateTimeField(default=timezone.now, editable=False)
    document = models.TextField()
    sha256 = models.CharField(max_length=64)
    public_key = models.CharField(max_length=64)
    signature = models.CharField(max_length=128)

    class Meta(TenantOwned.Meta):
        indexes = [
            models.Index(fields=["tenant", "-erased_at"], name="receipt_by_time")
        ]

    def __str__(self) -> str:
        return str(self.id)
