"""UserInsurance: a user's insurance. Payor: an insurer created by a team."""

from __future__ import annotations

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.utils import timezone

from labs.states.patients import Relationship
from portal.lib.table_rules import TableRules
from portal.lib.tenancy import TenantOwned
from portal.lib.translation import gettext_lazy


class Payor(TenantOwned):
    """An insurer outside the reference data (contract 6.21).

    `address` has the wire's shape. `provider` is a clearing house and
    `provider_payor_id` the insurer's id there, empty where not given.
    """

    rules = TableRules(
        without_fence="insurers, of the catalogue",
        without_user="insurers created by a team",
        retention="with the team",
    )

    payor_code = models.CharField(max_length=50)
    name = models.CharField(max_length=200)
    aliases = ArrayField(models.CharField(max_length=200), default=list)
    address = models.JSONField()
    provider = models.CharField(max_length=50, blank=True)
    provider_payor_id = models.CharField(max_length=50, blank=True)
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta(TenantOwned.Meta):
        verbose_name = gettext_lazy("insurer")
        verbose_name_plural = gettext_lazy("insurers")
        constraints = [
            models.UniqueConstraint(
                fields=["tenant", "payor_code"], name="payor_once_per_code"
            )
        ]

    def __str__(self) -> str:
        return self.payor_code


class UserInsurance(TenantOwned):
    """A user's insurance (contract 2.6), one primary and one other; health data.

    `insured`, `guarantor` and `company` have the wire's shapes. `company` is the
    payor's name and address when it was written.
    """

    rules = TableRules(retention="with the user")

    user = models.ForeignKey("users.User", on_delete=models.PROTECT, related_name="+")
    is_primary = models.BooleanField(default=True)
    payor_code = models.CharField(max_length=50)
    company = models.JSONField()
    member_id = models.CharField(max_length=50)
    group_id = models.CharField(max_length=50, blank=True)
    relationship = models.CharField(max_length=100, choices=Relationship.offered)
    insured = models.JSONField()
    guarantor = models.JSONField(null=True)
    updated_at = models.DateTimeField(default=timezone.now)

    class Meta(TenantOwned.Meta):
        verbose_name = gettext_lazy("insurance of a user")
        verbose_name_plural = gettext_lazy("insurance of users")
        constraints = [
            models.UniqueConstraint(
                fields=["user", "is_primary"], name="insurance_once_per_rank"
            )
        ]

    def __str__(self) -> str:
        return f"insurance of user {self.user_id}"
