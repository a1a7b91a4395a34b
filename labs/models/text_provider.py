"""A team's account at the provider that sends texts to its patients."""

from __future__ import annotations

from django.db import models
from django.utils import timezone

from portal.lib.table_rules import TableRules
from portal.lib.tenancy import TenantOwned
from portal.lib.translation import gettext_lazy

SID_MAX_LENGTH = 34
SENDER_MAX_LENGTH = 34


class TextProvider(TenantOwned):
    """An account at Twilio; no row: texts are only logged.

    `auth_token` is encrypted. `sender` is a number in E.164 or the id of a messaging
    service. `checked_at` is when the account last answered that it may send.
    """

    rules = TableRules(
        without_user="credentials of a team",
        retention="until the team removes it",
        encrypted=("auth_token",),
    )

    account_sid = models.CharField(max_length=SID_MAX_LENGTH)
    auth_token = models.TextField()
    sender = models.CharField(max_length=SENDER_MAX_LENGTH)
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    checked_at = models.DateTimeField()

    class Meta(TenantOwned.Meta):
        verbose_name = gettext_lazy("text provider")
        verbose_name_plural = gettext_lazy("text providers")
        constraints = [
            models.UniqueConstraint(fields=["tenant"], name="text_provider_of_tenant")
        ]

    def __str__(self) -> str:
        return f"text provider {self.pk}"
