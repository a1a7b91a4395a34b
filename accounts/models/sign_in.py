"""A team's sign-in requirements and its single sign-on provider."""

from __future__ import annotations

import uuid

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.utils import timezone

from accounts.models.team import Membership, Team
from accounts.states import Role
from portal.lib.table_rules import TableRules
from portal.lib.translation import gettext_lazy

ISSUER_MAX_LENGTH = 500
CLIENT_ID_MAX_LENGTH = 255
SUBJECT_MAX_LENGTH = 255  # OpenID Connect Core 1.0, 2


class SignInRules(models.Model):
    """A team's sign-in requirements; no row: no requirements.

    `requires_single_sign_on` holds only beside a SingleSignOn of the team.
    """

    rules = TableRules(
        without_tenant="of a team, in both environments",
        without_user="belongs to teams and members",
    )

    team = models.OneToOneField(
        Team, primary_key=True, on_delete=models.CASCADE, related_name="sign_in_rules"
    )
    requires_second_factor = models.BooleanField(default=False)
    requires_single_sign_on = models.BooleanField(default=False)

    class Meta:
        verbose_name = gettext_lazy("sign-in requirements")
        verbose_name_plural = gettext_lazy("sign-in requirements")

    def __str__(self) -> str:
        return str(self.team_id)


class SingleSignOn(models.Model):
    """A team's OpenID provider, and who can join with it.

    `client_secret` is encrypted. Who has an address of `domains` joins with `roles`;
    without roles only the invited join. A proof of one `round` is worth nothing in the
    next, which begins when the provider is another.
    """

    rules = TableRules(
        without_tenant="of a team, in both environments",
        without_user="belongs to teams and members",
        retention="until the team uses another provider",
        encrypted=("client_secret",),
    )

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    team = models.OneToOneField(
        Team, on_delete=models.CASCADE, related_name="single_sign_on"
    )
    issuer = models.CharField(max_length=ISSUER_MAX_LENGTH)
    client_id = models.CharField(max_length=CLIENT_ID_MAX_LENGTH)
    client_secret = models.TextField()
    domains = ArrayField(models.CharField(max_length=253), default=list)
    roles = ArrayField(
        models.CharField(max_length=20, choices=Role.choices), default=list
    )
    round = models.PositiveIntegerField(default=0)
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    last_used_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        verbose_name = gettext_lazy("single sign-on provider")
        verbose_name_plural = gettext_lazy("single sign-on providers")
        constraints = [
            models.CheckConstraint(
                condition=models.Q(
                    roles__contained_by=[
                        role.value
                        for role in Role
                        if role not in (Role.OWNER, Role.ADMIN)
                    ]
                ),
                name="single_sign_on_makes_no_admin",
            )
        ]

    def __str__(self) -> str:
        return f"{self.pk} of {self.team_id}"

    @property
    def mark(self) -> str:
        """Return what a session stores to show that this provider authenticated it."""
        return format_provider_version(self.pk, self.round)


def format_provider_version(pk: uuid.UUID | None, of_round: int | None) -> str:
    """Return the mark of a team's provider from its columns; empty if none."""
    return "" if pk is None else f"{pk}:{of_round}"


class SingleSignOnIdentity(models.Model):
    """A member's identity at the team's provider: the provider's `sub`."""

    rules = TableRules(
        without_tenant="of a membership",
        without_user="belongs to teams and members",
        retention="until the member leaves the team",
    )

    single_sign_on = models.ForeignKey(
        SingleSignOn, on_delete=models.CASCADE, related_name="identities"
    )
    membership = models.OneToOneField(
        Membership, on_delete=models.CASCADE, related_name="single_sign_on_identity"
    )
    subject = models.CharField(max_length=SUBJECT_MAX_LENGTH)
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    last_used_at = models.DateTimeField(default=timezone.now)

    class Meta:
        verbose_name = gettext_lazy("single sign-on identity")
        verbose_name_plural = gettext_lazy("single sign-on identities")
        constraints = [
            models.UniqueConstraint(
                fields=["single_sign_on", "subject"],
                name="single_sign_on_subject_once",
            )
        ]

    def __str__(self) -> str:
        return str(self.pk)
