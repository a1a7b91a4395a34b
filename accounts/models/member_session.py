"""MemberSession: where a member is signed in, next to Django's own session."""

from __future__ import annotations

import uuid
from typing import ClassVar

from django.db import models
from django.utils import timezone

from portal.lib.table_rules import RetentionRule, TableRules
from portal.lib.translation import gettext_lazy

USER_AGENT_MAX_LENGTH = 300


class MemberSession(models.Model):
    """A sign-in on one device, shown only to its member.

    `session_key` is that of Django's session; this row says nothing once that one has
    ended. `proof` is the member's session hash that the session was opened with: a new
    password or round makes another. `last_seen_at` lags by a few minutes.
    """

    rules = TableRules(
        without_tenant="of a member, who may be in several teams",
        without_user="belongs to teams and members",
        retention=RetentionRule(
            "14 days after its last use", "accounts.forget_sessions"
        ),
        route_parameters={"sign_in_id": "pk"},
        team_lookup="member__memberships__team",
    )

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    member = models.ForeignKey(
        "accounts.Member", on_delete=models.CASCADE, related_name="sessions"
    )
    session_key = models.CharField(max_length=40, unique=True)
    proof = models.CharField(max_length=64)
    address = models.GenericIPAddressField(null=True)
    user_agent = models.CharField(max_length=USER_AGENT_MAX_LENGTH, blank=True)
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    last_seen_at = models.DateTimeField(default=timezone.now)

    class Meta:
        verbose_name = gettext_lazy("session")
        verbose_name_plural = gettext_lazy("sessions")
        indexes: ClassVar[list[models.Index]] = [
            models.Index(fields=["member", "-last_seen_at"], name="session_by_member")
        ]

    def __str__(self) -> str:
        return f"{self.member_id} since {self.created_at:%Y-%m-%d}"
