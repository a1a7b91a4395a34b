"""DemoData: which sandbox has demo data, and which of its users are fictional."""

from __future__ import annotations

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.utils import timezone

from portal.lib.table_rules import TableRules
from portal.lib.tenancy import TenantOwned
from portal.lib.translation import gettext_lazy


class DemoData(TenantOwned):
    """The demo data of one sandbox, from the request until its removal.

    `user_uuids` grows in the transactions that make the users, so that removing takes
    exactly those. `loaded_at` None: still loading. `removal_asked_at`: on its way out.
    """

    rules = TableRules(
        without_fence="which users are made up",
        without_user="which users are made up, by uuid",
        retention="one for each environment",
    )

    tenant = models.OneToOneField(
        "accounts.Tenant", on_delete=models.CASCADE, related_name="+", primary_key=True
    )
    asked_at = models.DateTimeField(default=timezone.now, editable=False)
    loaded_at = models.DateTimeField(null=True)
    removal_asked_at = models.DateTimeField(null=True)
    user_uuids = ArrayField(models.UUIDField(), default=list)

    class Meta(TenantOwned.Meta):
        app_label = "portal"
        verbose_name = gettext_lazy("demo data")
        verbose_name_plural = gettext_lazy("demo data")

    def __str__(self) -> str:
        return f"{len(self.user_uuids)} demo users"

    @property
    def is_busy(self) -> bool:
        """Whether a job is loading or removing it."""
        return self.loaded_at is None or self.removal_asked_at is not None
