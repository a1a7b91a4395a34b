"""ManagementKey: how a customer automates its teams. Only a hash is stored."""

from __future__ import annotations

import uuid

from django.db import models
from django.utils import timezone

from accounts.models.api_key import LABEL_MAX_LENGTH
from accounts.models.team import Organisation, Team
from accounts.states import ManagementRole
from portal.lib.table_rules import TableRules
from portal.lib.translation import gettext_lazy


class ManagementKey(models.Model):
    """A key of one organisation; `digest` is the SHA-256 of the whole key text.

    An org_admin manages every team of the organisation, a team_admin those in `teams`,
    each in both environments (contract 9.1). `prefix` and `last_four` are what people
    see of it later.
    """

    rules = TableRules(
        without_tenant="of an organisation, above its tenants",
        without_user="belongs to teams and members",
        retention="permanent: the audit names keys",
        route_parameters={"management_key_id": "pk"},
        team_lookup="organisation__teams",
    )

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    organisation = models.ForeignKey(
        Organisation, on_delete=models.PROTECT, related_name="management_keys"
    )
    role = models.CharField(max_length=20, choices=ManagementRole.choices)
    teams = models.ManyToManyField(Team, related_name="management_keys")
    label = models.CharField(max_length=LABEL_MAX_LENGTH)
    prefix = models.CharField(max_length=20)
    last_four = models.CharField(max_length=4)
    digest = models.BinaryField(max_length=32, unique=True)
    created_by = models.ForeignKey(
        "accounts.Member", null=True, on_delete=models.SET_NULL, related_name="+"
    )
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    last_used_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        verbose_name = gettext_lazy("management key")
        verbose_name_plural = gettext_lazy("management keys")

    def __str__(self) -> str:
        return self.masked

    @property
    def masked(self) -> str:
        """Return the key as shown: prefix, dots, last four (contract 9.1)."""
        return f"{self.prefix}...{self.last_four}"
