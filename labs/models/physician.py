"""Physician: who may approve a team's orders. OrderApproval: an order that waits."""

from __future__ import annotations

import uuid

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.utils import timezone

from labs.models.order import Order
from labs.states.physicians import ApprovalStatus
from portal.lib.table_rules import TableRules
from portal.lib.tenancy import TenantOwned
from portal.lib.translation import gettext_lazy

REASON_MAX_LENGTH = 200


class Physician(TenantOwned):
    """A member of the team who orders tests as a physician.

    The role in the team decides whether they may, this row what is printed. `signature`
    is a PNG, empty without one. `licensed_states` are two-letter codes. While `today`
    is between `away_from` and `away_until`, both included, `stand_in` approves what
    they were asked for.
    """

    rules = TableRules(
        without_fence="the physicians of a team, no health data",
        without_user="members of a team",
        retention="with the team",
    )

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    member = models.ForeignKey(
        "accounts.Member", on_delete=models.SET_NULL, null=True, related_name="+"
    )
    first_name = models.CharField(max_length=50)
    last_name = models.CharField(max_length=50)
    npi = models.CharField(max_length=10)
    licensed_states = ArrayField(models.CharField(max_length=2))
    signature = models.BinaryField(default=bytes)
    stand_in = models.ForeignKey(
        "self", on_delete=models.SET_NULL, null=True, related_name="+"
    )
    away_from = models.DateField(null=True)
    away_until = models.DateField(null=True)
    updated_at = models.DateTimeField(default=timezone.now)

    class Meta(TenantOwned.Meta):
        verbose_name = gettext_lazy("physician")
        verbose_name_plural = gettext_lazy("physicians")
        constraints = [
            models.UniqueConstraint(
                fields=["tenant", "npi"], name="physician_once_per_npi"
            ),
            models.UniqueConstraint(
                fields=["tenant", "member"], name="physician_once_per_member"
            ),
        ]

    def __str__(self) -> str:
        return self.npi

    @property
    def name(self) -> str:
        """Return the first and the last name."""
        return f"{self.first_name} {self.last_name}"


class OrderApproval(TenantOwned):
    """A physician's decision on an order; no row: the order needs none.

    `asked` is the physician whom the order names, None where any may approve it.
    `physician` decided, `confirmed_at` is when they had last confirmed who they are.
    """

    rules = TableRules(data_classes=("orders",))

    order = models.OneToOneField(
        Order, on_delete=models.CASCADE, related_name="approval"
    )
    status = models.CharField(
        max_length=100,
        choices=ApprovalStatus.offered,
        default=ApprovalStatus.WAITING,
    )
    asked = models.ForeignKey(
        Physician, on_delete=models.SET_NULL, null=True, related_name="+"
    )
    asked_at = models.DateTimeField(default=timezone.now, editable=False)
    physician = models.ForeignKey(
        Physician, on_delete=models.SET_NULL, null=True, related_name="+"
    )
    reason = models.CharField(max_length=REASON_MAX_LENGTH, blank=True)
    confirmed_at = models.DateTimeField(null=True)
    decided_at = models.DateTimeField(null=True)

    class Meta(TenantOwned.Meta):
        verbose_name = gettext_lazy("order approval")
        verbose_name_plural = gettext_lazy("order approvals")
        indexes = [
            models.Index(
                fields=["tenant", "asked_at"],
                condition=models.Q(status="waiting"),
                name="order_approval_waiting",
            ),
            models.Index(
                fields=["tenant", "-decided_at"],
                condition=models.Q(decided_at__isnull=False),
                name="order_approval_decided",
            ),
        ]

    def __str__(self) -> str:
        return f"approval of {self.order_id}"
