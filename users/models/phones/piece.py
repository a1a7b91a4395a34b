"""PhonePiece: a record that means something only together with others."""

from __future__ import annotations

from django.db import models
from django.utils import timezone

from portal.lib.table_rules import RetentionRule, TableRules
from portal.lib.tenancy import TenantOwned
from users.models.user import User
from users.states.phones import PieceKind


class PhonePiece(TenantOwned):
    """A stage of a night, half of a blood pressure, or an entry of a menstrual cycle.

    Phones send them one by one, in any order and over several uploads; nights are made
    anew of all pieces that touch. `word` is a stage of sleep or an entry of a cycle as
    HealthKit names it ("MenstrualFlow=Light|start"), `value` a pressure in
    mmHg, `zone` an IANA name where the phone gave one.
    """

    rules = TableRules(
        retention=RetentionRule(
            "90 days after it came, entries of cycles two years",
            "users.remove_phone_rows",
        ),
    )

    user = models.ForeignKey(
        User, on_delete=models.CASCADE, related_name="phone_pieces", db_index=False
    )
    provider = models.CharField(max_length=50)
    kind = models.CharField(max_length=20, choices=PieceKind.offered)
    source_type = models.CharField(max_length=50)
    app_id = models.CharField(max_length=255, blank=True)
    device_id = models.UUIDField(null=True)
    starts_at = models.DateTimeField()
    ends_at = models.DateTimeField()
    word = models.CharField(max_length=60, blank=True)
    value = models.FloatField(null=True)
    zone = models.CharField(max_length=100, blank=True)
    at = models.DateTimeField(default=timezone.now, editable=False, db_index=True)

    class Meta(TenantOwned.Meta):
        constraints = [
            models.UniqueConstraint(
                fields=[
                    *("user", "provider", "kind", "starts_at", "ends_at", "word"),
                    *("source_type", "app_id", "device_id"),
                ],
                name="phone_piece_once",
                nulls_distinct=False,
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} of {self.starts_at:%Y-%m-%d}"
