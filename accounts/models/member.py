"""Member: a person who logs in. End users of customers are users.User."""

from __future__ import annotations

import uuid
from typing import Any, ClassVar

from django.contrib.auth.base_user import AbstractBaseUser, BaseUserManager
from django.contrib.auth.models import PermissionsMixin
from django.db import models
from django.db.models.functions import Lower
from django.utils import timezone


class MemberManager(BaseUserManager["Member"]):
    """Makes members with a usable or an unset password."""

    def create_user(
        self, email: str, password: str | None = None, **fields: Any
    ) -> Member:
        """Add a member; without a password nobody can sign in until one is set."""
        member = self.model(email=email.strip().lower(), **fields)
        member.set_password(password)
        member.save(using=self._db)
        return member


class Member(AbstractBaseUser, PermissionsMixin):
    """A person who logs in by e-mail address; operators have `is_staff`."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    email = models.EmailField(unique=True)
    name = models.CharField(max_length=150, blank=True)
    is_active = models.BooleanField(default=True)
    is_staff = models.BooleanField(default=False)
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    USERNAME_FIELD = "email"
    REQUIRED_FIELDS: ClassVar[list[str]] = []

    objects: ClassVar[MemberManager] = MemberManager()

    class Meta:
        constraints = [
            models.UniqueConstraint(Lower("email"), name="member_email_any_case")
        ]

    def __str__(self) -> str:
        return self.email
