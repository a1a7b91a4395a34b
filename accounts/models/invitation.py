"""Invitation: lets one address join a team. Only a hash of its link is stored."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.utils import timezone

from accounts.models.team import ROLES_ARE_KNOWN, Team
from accounts.states import Role
from portal.lib.table_rules import RetentionRule, TableRules
from portal.lib.translation import gettext_lazy

if TYPE_CHECKING:
    from datetime import datetime


class Invitation(models.Model):
    """An address invited to a team, in both environments, with these roles.

    `digest` is the SHA-256 of the link's token. It is open until it is accepted or
    revoked; an open one that has expired lets nobody in, but can be sent again. Those
    into several teams by one link share its digest and a `batch`.
    """

    rules = TableRules(
        without_tenant="into a team, read by its link before anyone signs in",
        without_user="belongs to teams and members",
        retention=RetentionRule(
            "90 days after it ended", "accounts.forget_invitations"
        ),
        route_parameters={"invitation_id": "pk", "invite_id": "pk"},
        team_lookup="team",
    )

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    team = models.ForeignKey(Team, on_delete=models.PROTECT, related_name="invitations")
    email = models.EmailField()
    roles = ArrayField(models.CharField(max_length=20, choices=Role.choices))
    digest = models.BinaryField(max_length=32, db_index=True)
    batch = models.UUIDField(null=True, db_index=True)
    invited_by = models.ForeignKey(
        "accounts.Member", null=True, on_delete=models.SET_NULL, related_name="+"
    )
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    resent_at = models.DateTimeField(null=True, blank=True)
    expires_at = models.DateTimeField()
    accepted_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        verbose_name = gettext_lazy("invitation")
        verbose_name_plural = gettext_lazy("invitations")
        constraints = [
            models.UniqueConstraint(
                fields=["team", "email"],
                condition=models.Q(accepted_at=None, revoked_at=None),
                name="invitation_open_once_per_address",
            ),
            models.CheckConstraint(
                condition=ROLES_ARE_KNOWN, name="invitation_roles_known"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.pk} into {self.team_id}"

    @property
    def is_open(self) -> bool:
        """Return whether it was neither accepted nor revoked."""
        return self.accepted_at is None and self.revoked_at is None

    @property
    def link_id(self) -> uuid.UUID:
        """Return the ID of its link, shared by all invitations of that link."""
        return self.batch or self.pk

    def is_expired(self, at: datetime) -> bool:
        """Return whether it has expired at this moment."""
        return self.expires_at <= at
