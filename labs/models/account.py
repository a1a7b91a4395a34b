"""LabAccount: an organization's account at a lab, and the teams that may use it."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Any, NoReturn

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.utils import timezone

from accounts.states import Environment
from labs.models.catalogue import Lab
from labs.states.accounts import (
    AccountGateway,
    DelegatedFlow,
    HeldLinesAnswer,
    LabAccountStatus,
)
from portal.lib.table_rules import TableRules
from portal.lib.tenancy import UnscopedQuery
from portal.lib.translation import gettext_lazy

if TYPE_CHECKING:
    from accounts.models import Tenant


class LabAccountManager(models.Manager["LabAccount"]):
    """Requires a tenant for every query: `linked_to` or `of_organisation`."""

    def linked_to(self, tenant: Tenant) -> models.QuerySet[LabAccount]:
        """Return the accounts this tenant's orders may use."""
        rows: models.QuerySet[LabAccount] = models.QuerySet(self.model, using=self._db)
        return rows.filter(
            organisation_id=tenant.team.organisation_id,
            environment=tenant.environment,
            team_links__team=tenant.team_id,
        )

    def of_organisation(self, tenant: Tenant) -> models.QuerySet[LabAccount]:
        """Return the organization's accounts, linked to the tenant's team or not."""
        rows: models.QuerySet[LabAccount] = models.QuerySet(self.model, using=self._db)
        return rows.filter(
            organisation_id=tenant.team.organisation_id, environment=tenant.environment
        )

    def get_queryset(self) -> NoReturn:
        raise UnscopedQuery("LabAccount.objects needs .linked_to(tenant)")


class LabAccount(models.Model):
    """An account at a lab (contract 6.4); `id` is the wire's.

    It belongs to an organisation in one environment and reaches tenants by the teams
    it is linked to. `allowed_billing` maps who pays to the states where that holds;
    `default_clinical_notes` stand before each order's comment on the requisition.
    `hl7_one_message_per_test` sends an order as several messages, `hl7_payer_in_in1`
    repeats who pays in an IN1-47 of every order. `held_lines_answer` is what the lab is
    sent for results in doubt. `gateway` is how orders reach the lab and results us.
    """

    rules = TableRules(
        without_tenant="of an organisation in one environment; has its own fence",
        without_user="belongs to an organization",
        retention="with the team",
        route_parameters={"account_id": "pk"},
        team_lookup="organisation__teams",
    )

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    organisation = models.ForeignKey(
        "accounts.Organisation", on_delete=models.PROTECT, related_name="+"
    )
    environment = models.CharField(max_length=10, choices=Environment.choices)
    lab = models.ForeignKey(Lab, on_delete=models.PROTECT, related_name="+")
    status = models.CharField(
        max_length=100,
        choices=LabAccountStatus.offered,
        default=LabAccountStatus.PENDING,
    )
    delegated_flow = models.CharField(
        max_length=100,
        choices=DelegatedFlow.offered,
        default=DelegatedFlow.NOT_DELEGATED,
    )
    provider_account_id = models.CharField(max_length=50)
    account_name = models.CharField(max_length=150, blank=True)
    default_clinical_notes = models.TextField(blank=True)
    held_lines_answer = models.CharField(
        max_length=2,
        choices=HeldLinesAnswer.offered,
        default=HeldLinesAnswer.ACCEPTED,
        db_default=HeldLinesAnswer.ACCEPTED.value,
    )
    business_units = ArrayField(models.CharField(max_length=50), default=list)
    allowed_billing = models.JSONField(default=dict)
    hl7_one_message_per_test = models.BooleanField(default=False, db_default=False)
    hl7_payer_in_in1 = models.BooleanField(default=False, db_default=False)
    gateway = models.CharField(
        max_length=100,
        choices=AccountGateway.offered,
        default=AccountGateway.INSTALLATION,
        db_default=AccountGateway.INSTALLATION.value,
    )
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    updated_at = models.DateTimeField(default=timezone.now)

    objects = LabAccountManager()
    unscoped: models.Manager[Any] = models.Manager()

    class Meta:
        verbose_name = gettext_lazy("lab account")
        verbose_name_plural = gettext_lazy("lab accounts")
        default_manager_name = "unscoped"
        base_manager_name = "unscoped"
        constraints = [
            models.UniqueConstraint(
                fields=["organisation", "environment", "lab", "provider_account_id"],
                name="lab_account_once_per_number",
            )
        ]

    def __str__(self) -> str:
        return f"{self.lab_id} {self.provider_account_id}"

    @property
    def reports_by_document(self) -> bool:
        """Return whether its lab gets printed requisitions and answers by reports."""
        return self.gateway == AccountGateway.REPORTS


class LabAccountTeam(models.Model):
    """A team linked to a lab account (the wire's `team_id_allowlist`)."""

    rules = TableRules(
        without_tenant="a team on a lab account's allow-list",
        without_user="belongs to an organization",
    )

    account = models.ForeignKey(
        LabAccount, on_delete=models.CASCADE, related_name="team_links"
    )
    team = models.ForeignKey(
        "accounts.Team", on_delete=models.CASCADE, related_name="+"
    )

    class Meta:
        verbose_name = gettext_lazy("team of a lab account")
        verbose_name_plural = gettext_lazy("teams of lab accounts")
        constraints = [
            models.UniqueConstraint(
                fields=["account", "team"], name="lab_account_linked_once"
            )
        ]

    def __str__(self) -> str:
        return f"{self.account_id} {self.team_id}"
