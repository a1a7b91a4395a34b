"""WorkoutStream: the channels that were recorded during a workout."""

from __future__ import annotations

from django.db import models
from django.utils import timezone

from portal.lib.table_rules import TableRules
from portal.lib.tenancy import TenantOwned
from users.models.user import User


class WorkoutStream(TenantOwned):
    """The latest stream of a workout (contract 5.3).

    `content` is the answer as it goes over the wire, gzipped: 2 bytes a value, where
    packed numbers would take 1 and cost each reader the unpacking. `digest` is of what
    is in it; `points` is the length of its channels. `heart_rate_seconds` says how long
    each heart rate lasted, by bpm as text; null where the stream does not tell.
    """

    rules = TableRules(
        data_classes=("summaries",),
    )

    pk = models.CompositePrimaryKey("user_id", "workout_id")
    tenant = models.ForeignKey(
        "accounts.Tenant",
        on_delete=models.DO_NOTHING,
        related_name="+",
        db_constraint=False,
        db_index=False,
    )
    user = models.ForeignKey(
        User,
        on_delete=models.CASCADE,
        related_name="workout_streams",
        db_constraint=False,
        db_index=False,
    )
    # The id of a Summary of kind workouts.
    workout_id = models.UUIDField()
    points = models.PositiveIntegerField()
    content = models.BinaryField()
    digest = models.BinaryField(max_length=32)
    heart_rate_seconds = models.JSONField(null=True)
    version = models.PositiveIntegerField(default=1)
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    updated_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta(TenantOwned.Meta):
        pass

    def __str__(self) -> str:
        return f"stream of {self.workout_id}"
