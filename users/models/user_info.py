"""UserInfo: demographics of a user, for ordering tests; all patient details."""

from __future__ import annotations

from django.db import models
from django.utils import timezone

from portal.lib.table_rules import TableRules
from portal.lib.tenancy import TenantOwned
from portal.lib.translation import gettext_lazy
from users.models.user import User
from users.states import Ethnicity, GenderIdentity, Race, SexualOrientation


class UserInfo(TenantOwned):
    """The latest demographics of a user (contract 2.5); each write replaces all.

    `address` and `medical_proxy` hold the contract's UserAddress and GuarantorDetails.
    An empty text is the wire's null.
    """

    rules = TableRules(retention="with its user")

    user = models.OneToOneField(User, on_delete=models.CASCADE, related_name="info")
    first_name = models.CharField(max_length=50)
    last_name = models.CharField(max_length=50)
    email = models.CharField(max_length=254)
    phone_number = models.CharField(max_length=50)
    gender = models.CharField(max_length=100)
    dob = models.DateField()
    address = models.JSONField()
    medical_proxy = models.JSONField(null=True)
    race = models.CharField(max_length=100, choices=Race.offered, blank=True)
    ethnicity = models.CharField(max_length=100, choices=Ethnicity.offered, blank=True)
    sexual_orientation = models.CharField(
        max_length=100, choices=SexualOrientation.offered, blank=True
    )
    gender_identity = models.CharField(
        max_length=100, choices=GenderIdentity.offered, blank=True
    )
    updated_at = models.DateTimeField(default=timezone.now)

    class Meta(TenantOwned.Meta):
        verbose_name = gettext_lazy("user information")
        verbose_name_plural = gettext_lazy("user information")

    def __str__(self) -> str:
        return f"info of user {self.user_id}"
