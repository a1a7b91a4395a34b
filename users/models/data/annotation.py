"""Annotation: what a member wrote beside a user's data. Health data."""

from __future__ import annotations

import uuid

from django.db import models
from django.utils import timezone

from portal.lib.table_rules import TableRules
from portal.lib.tenancy import TenantOwned
from users.models.user import User
from users.states.annotations import AnnotationKind

ANNOTATION_TEXT_MAX_LENGTH = 300


class Annotation(TenantOwned):
    """A day or span of a user's life: travel, a dose, an illness, a note.

    `first_day` and `last_day`, both included and equal for one day, are local dates of
    the user. `member` wrote it, null for one who left.
    """

    rules = TableRules(
        data_classes=("annotations",),
        route_parameters={"annotation_id": "uuid"},
    )

    uuid = models.UUIDField(unique=True, default=uuid.uuid4, editable=False)
    user = models.ForeignKey(
        User, on_delete=models.CASCADE, related_name="annotations", db_index=False
    )
    kind = models.CharField(max_length=20, choices=AnnotationKind.offered)
    first_day = models.DateField()
    last_day = models.DateField()
    text = models.CharField(max_length=ANNOTATION_TEXT_MAX_LENGTH)
    member = models.ForeignKey(
        "accounts.Member", null=True, on_delete=models.SET_NULL, related_name="+"
    )
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    updated_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta(TenantOwned.Meta):
        constraints = [
            models.CheckConstraint(
                condition=models.Q(last_day__gte=models.F("first_day")),
                name="annotation_ends_after_start",
            )
        ]
        indexes = [
            models.Index(fields=["user", "-last_day"], name="annotation_by_user"),
        ]

    def __str__(self) -> str:
        return f"annotation {self.uuid}"
