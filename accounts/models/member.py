"""Member: a person who signs in. End users of customers are users.User."""

from __future__ import annotations

import uuid
from typing import Any, ClassVar

from django.contrib.auth.base_user import AbstractBaseUser, BaseUserManager
from django.contrib.auth.models import PermissionsMixin
from django.db import models
from django.db.models.functions import Lower
from django.utils import timezone
from django.utils.crypto import salted_hmac

from accounts.states import Theme
from portal.lib.languages import LANGUAGE_MAX_LENGTH
from portal.lib.table_rules import TableRules, declare_table_rules
from portal.lib.translation import gettext_lazy

EMAIL_MAX_LENGTH = 254  # RFC 3696, erratum 1690
NAME_MAX_LENGTH = 150


class MemberManager(BaseUserManager["Member"]):
    """Create members with or without a password."""

    def create_user(
        self, email: str, password: str | None = None, **fields: Any
    ) -> Member:
        """Create a member; without a password nobody can sign in until one is set."""
        member = self.model(email=email.strip().lower(), **fields)
        member.set_password(password)
        member.save(using=self._db)
        return member

    def create_superuser(self, email: str, password: str, **fields: Any) -> Member:
        """Create an operator; `manage.py createsuperuser` creates the first."""
        return self.create_user(
            email,
            password,
            **fields,
            is_staff=True,
            is_superuser=True,
            email_confirmed_at=timezone.now(),
        )


class Member(AbstractBaseUser, PermissionsMixin):
    """A person who signs in by email address; operators have `is_staff`.

    `time_zone` empty: that of the team they look at. `theme` empty: that of their
    device. `language` is a code of LANGUAGES; empty: their browser's. `hidden_guides`
    names what no longer guides them on pages (`accounts.operations.members.guides`),
    `changed_columns` what they see otherwise than usual, by list
    (`accounts.operations.members.columns`). A session is good for one `session_round`:
    the next ends them all. `email_confirmed_at` is when it was last shown that they
    read mail to `email`; None: never, and they see no team until it is.
    """

    rules = TableRules(
        without_tenant="may be in several teams",
        without_user="belongs to teams and members",
        retention="with the member's account",
    )

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    email = models.EmailField(max_length=EMAIL_MAX_LENGTH, unique=True)
    name = models.CharField(max_length=NAME_MAX_LENGTH, blank=True)
    is_active = models.BooleanField(default=True)
    is_staff = models.BooleanField(default=False)
    time_zone = models.CharField(max_length=64, blank=True, default="", db_default="")
    theme = models.CharField(
        max_length=5, blank=True, choices=Theme.choices, default="", db_default=""
    )
    language = models.CharField(
        max_length=LANGUAGE_MAX_LENGTH, blank=True, default="", db_default=""
    )
    shortcuts_enabled = models.BooleanField(default=True, db_default=True)
    session_round = models.PositiveIntegerField(default=0, db_default=0)
    hidden_guides = models.JSONField(
        default=list, db_default=models.Value([], models.JSONField()), blank=True
    )
    changed_columns = models.JSONField(
        default=dict, db_default=models.Value({}, models.JSONField()), blank=True
    )
    email_confirmed_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    USERNAME_FIELD = "email"
    REQUIRED_FIELDS: ClassVar[list[str]] = []

    objects: ClassVar[MemberManager] = MemberManager()

    class Meta:
        verbose_name = gettext_lazy("member")
        verbose_name_plural = gettext_lazy("members")
        constraints = [
            models.UniqueConstraint(Lower("email"), name="member_email_any_case")
        ]

    def __str__(self) -> str:
        return self.email

    def _get_session_auth_hash(self, secret: str | None = None) -> str:
        # Django's own, with the round in it; what stands in a session is compared
        # with this on each request.
        return salted_hmac(
            "accounts.Member.session",
            f"{self.password}:{self.session_round}",
            secret=secret,
            algorithm="sha256",
        ).hexdigest()


# What Django and allauth store for members.
_OF_MEMBERS = "belongs to teams and members"
declare_table_rules(
    {
        "account.EmailAddress": TableRules(without_user=_OF_MEMBERS),
        "account.EmailConfirmation": TableRules(
            without_user=_OF_MEMBERS, retention="has no rows: links are signed"
        ),
        "auth.Group": TableRules(without_user=_OF_MEMBERS),
        "auth.Permission": TableRules(without_user=_OF_MEMBERS),
        # Encrypted by our adapter: TOTP secrets and seeds of recovery codes.
        "mfa.Authenticator": TableRules(
            without_user=_OF_MEMBERS,
            retention="with the member's account",
            encrypted_members={"data": ("secret", "seed", "migrated_codes")},
            route_parameters={"pk": "pk"},
            team_lookup="user__memberships__team",
        ),
    }
)
