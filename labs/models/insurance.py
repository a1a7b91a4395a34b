"""Users' insurance, insurers of teams and of a public list, diagnosis codes."""

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


class ListedPayor(models.Model):
    """An insurer of a public list that an operator imported, for all of production.

    `number` is the insurer's on that list, of which `provider` is the name. `address`
    has the wire's shape. `search_text` is the names in lower case, one a line.
    """

    rules = TableRules(
        without_tenant="of a public list, shared by all teams",
        without_user="insurers of a public list",
    )

    payor_code = models.CharField(max_length=50, primary_key=True)
    name = models.CharField(max_length=200)
    aliases = ArrayField(models.CharField(max_length=200), default=list)
    address = models.JSONField()
    provider = models.CharField(max_length=50)
    number = models.CharField(max_length=50)
    search_text = models.TextField()

    class Meta:
        verbose_name = gettext_lazy("listed insurer")
        verbose_name_plural = gettext_lazy("listed insurers")

    def __str__(self) -> str:
        return self.payor_code


class DiagnosisCode(models.Model):
    """A billable ICD-10-CM code of the imported file, with its point.

    No row: nothing was imported, and the built-in list is used.
    """

    rules = TableRules(
        without_tenant="ICD-10-CM, shared by all teams",
        without_user="codes of a classification",
    )

    code = models.CharField(max_length=8, primary_key=True)
    description = models.CharField(max_length=400)

    class Meta:
        verbose_name = gettext_lazy("diagnosis code")
        verbose_name_plural = gettext_lazy("diagnosis codes")

    def __str__(self) -> str:
        return self.code


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
