"""GoLiveTry: the last result of a check that was tried before going live."""

from __future__ import annotations

from django.db import models
from django.utils import timezone

from portal.lib.table_rules import TableRules
from portal.lib.tenancy import TenantOwned
from portal.lib.translation import gettext_lazy


class GoLiveTry(TenantOwned):
    """What a check of accounts.declarations.go_live found when it was last tried.

    `code` is a finding of the check, which says its state; `figures` complete its
    sentence. `member` is who tried it, empty for a command. Earlier tries are in the
    audit.
    """

    rules = TableRules(
        without_fence="states of set-up, no data of anybody",
        without_user="checks of a team's set-up",
        retention="the last alone is kept",
    )

    name = models.CharField(max_length=50)
    code = models.CharField(max_length=50)
    figures = models.JSONField(default=dict)
    tried_at = models.DateTimeField(default=timezone.now)
    member = models.ForeignKey(
        "accounts.Member", null=True, on_delete=models.SET_NULL, related_name="+"
    )

    class Meta(TenantOwned.Meta):
        verbose_name = gettext_lazy("go-live try")
        verbose_name_plural = gettext_lazy("go-live tries")
        constraints = [
            models.UniqueConstraint(
                fields=["tenant", "name"], name="go_live_try_once_per_check"
            )
        ]

    def __str__(self) -> str:
        return f"{self.name} {self.code}"
