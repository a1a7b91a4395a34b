"""SourceCredentials: a team's own application at a source; its calls and push key."""

from __future__ import annotations

from django.db import models
from django.utils import timezone

from portal.lib.table_rules import RetentionRule, TableRules
from portal.lib.tenancy import TenantOwned
from users.states.credentials import CredentialsState

CLIENT_ID_MAX_LENGTH = 200
CLIENT_SECRET_MAX_LENGTH = 500


class SourceCredentials(TenantOwned):
    """The client ID and secret of a team's application at a source, per environment.

    `provider` is a slug of users.wearables.providers. `client_secret` is encrypted, and
    `more`: JSON of what else the source asks for, by name, empty for nothing.
    `state` is what the source said at `tried_at`, null while it never answered;
    `updated_at` is when somebody last entered a secret.
    """

    rules = TableRules(
        without_fence="encrypted, and read by jobs of a connection",
        without_user="belongs to a team",
        retention="until the team removes them",
        encrypted=("client_secret", "more"),
    )

    provider = models.CharField(max_length=50)
    client_id = models.CharField(max_length=CLIENT_ID_MAX_LENGTH)
    client_secret = models.TextField()
    more = models.TextField(blank=True, default="", db_default="")
    state = models.CharField(max_length=100, choices=CredentialsState.offered)
    tried_at = models.DateTimeField(null=True)
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    updated_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta(TenantOwned.Meta):
        verbose_name_plural = "source credentials"
        constraints = [
            models.UniqueConstraint(
                fields=["tenant", "provider"], name="source_credentials_once"
            )
        ]

    def __str__(self) -> str:
        return f"credentials at {self.provider}"


class SourceBudget(models.Model):
    """The calls of one application to a source, counted over all processes.

    Sources count by application, which several teams share where it is that of the
    installation: so a row has no tenant. A call may go out at `next_at` less the burst
    of its limit of `seconds`; none does until `blocked_until`. `used` are the calls of
    `day`, in UTC. `account` is a hash of the user's ID at the source, empty for a limit
    of the application.
    """

    rules = TableRules(
        without_tenant="an application that several teams may share",
        without_user="counts of calls",
        retention=RetentionRule(
            "one row for each limit; of a user, a day after the last call",
            "users.remove_old_arrivals",
        ),
    )

    provider = models.CharField(max_length=50)
    client_id = models.CharField(max_length=CLIENT_ID_MAX_LENGTH)
    account = models.CharField(max_length=32, blank=True, default="", db_default="")
    seconds = models.PositiveIntegerField()
    next_at = models.DateTimeField()
    blocked_until = models.DateTimeField(null=True)
    day = models.DateField()
    used = models.PositiveIntegerField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["provider", "client_id", "account", "seconds"],
                name="source_budget_once",
            )
        ]

    def __str__(self) -> str:
        return f"calls to {self.provider} in {self.seconds} s"


class SourcePushKey(models.Model):
    """The key by which a source signs its pushes to one application, encrypted.

    A source that shows it once; several teams may share the application, so that a row
    has no tenant.
    """

    rules = TableRules(
        without_tenant="an application that several teams may share",
        without_user="belongs to an application",
        retention="one row for each application",
        encrypted=("key",),
    )

    provider = models.CharField(max_length=50)
    client_id = models.CharField(max_length=CLIENT_ID_MAX_LENGTH)
    key = models.TextField()
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["provider", "client_id"], name="source_push_key_once"
            )
        ]

    def __str__(self) -> str:
        return f"push key of {self.provider}"
