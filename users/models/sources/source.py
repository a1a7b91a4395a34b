"""Connection: a source of a user's data, from connecting to disconnecting."""

from __future__ import annotations

from django.db import models
from django.utils import timezone

from portal.lib.table_rules import TableRules
from portal.lib.tenancy import TenantManager, TenantOwned, TenantQuerySet
from portal.lib.translation import gettext_lazy
from users.models.user import User
from users.states import ConnectionFault, ConnectionStatus, EntryKind, PauseCause


class ConnectionQuerySet(TenantQuerySet["Connection"]):
    """Conditions on sets of connections."""

    def live(self) -> ConnectionQuerySet:
        """Filter connections that are not disconnected, failed and paused included."""
        return self.filter(disconnected_at=None)


class Connection(TenantOwned):
    """A source connected to a user (specification 2.3, contract 2.4).

    `provider` is a slug of users.wearables.providers. At most one connection of a user
    and provider is live; a disconnected one stays as a record of where data came from.
    `resource_availability` maps a resource to what contract 2.4 says of it.
    `pause_cause` says who paused it, while it is paused. `reconnect_mailed_at` is when
    its user was last mailed to connect it again. `is_demo` tells a made-up
    source of the sandbox (contract 3.5) from a real one.
    """

    rules = TableRules(
        without_fence="read by links, before the tenant is known",
        retention="with its user",
    )

    user = models.ForeignKey(
        User, on_delete=models.CASCADE, related_name="connections", db_index=False
    )
    provider = models.CharField(max_length=50)
    status = models.CharField(
        max_length=100,
        choices=ConnectionStatus.offered,
        default=ConnectionStatus.CONNECTED,
    )
    created_on = models.DateTimeField(default=timezone.now, editable=False)
    external_user_id = models.CharField(max_length=255, blank=True)
    error_type = models.CharField(
        max_length=100, choices=ConnectionFault.offered, blank=True
    )
    error_message = models.CharField(max_length=500, blank=True)
    errored_at = models.DateTimeField(null=True)
    reconnect_mailed_at = models.DateTimeField(null=True)
    pause_cause = models.CharField(
        max_length=100, choices=PauseCause.offered, blank=True
    )
    is_demo = models.BooleanField(default=False)
    resource_availability = models.JSONField(default=dict)
    disconnected_at = models.DateTimeField(null=True)

    objects = TenantManager(ConnectionQuerySet)

    class Meta(TenantOwned.Meta):
        constraints = [
            models.UniqueConstraint(
                fields=["user", "provider"],
                condition=models.Q(disconnected_at=None),
                name="connection_live_once",
            )
        ]
        indexes = [
            models.Index(fields=["user"], name="connection_by_user"),
            models.Index(
                fields=["tenant", "provider", "status"],
                condition=models.Q(disconnected_at=None),
                name="connection_live_by_provider",
            ),
            models.Index(
                fields=["provider", "external_user_id"],
                condition=models.Q(disconnected_at=None),
                name="connection_by_account",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.provider} {self.status}"


class ConnectionEntry(TenantOwned):
    """An entry of a connection's timeline: what happened, by which actor and event.

    `detail` is the fault, the cause of a pause, the resource that the line is about, or
    how many refreshes were asked for, one after another.
    `actor_label` is how people know who did it, empty for the system. `message_id` is
    the webhook-id of the event that told it, empty where none did.
    """

    rules = TableRules(without_fence="as users.Connection", retention="with its user")

    tenant = models.ForeignKey(
        "accounts.Tenant",
        on_delete=models.DO_NOTHING,
        related_name="+",
        db_constraint=False,
        db_index=False,
    )
    connection = models.ForeignKey(
        Connection, on_delete=models.CASCADE, related_name="timeline", db_index=False
    )
    at = models.DateTimeField(default=timezone.now, editable=False)
    kind = models.CharField(max_length=100, choices=EntryKind.offered)
    detail = models.CharField(max_length=100, blank=True)
    actor_kind = models.CharField(max_length=10)
    actor_label = models.CharField(max_length=254, blank=True)
    message_id = models.CharField(max_length=40, blank=True)

    class Meta(TenantOwned.Meta):
        verbose_name = gettext_lazy("connection entry")
        verbose_name_plural = gettext_lazy("connection entries")
        indexes = [
            models.Index(fields=["connection", "id"], name="entry_by_connection"),
        ]

    def __str__(self) -> str:
        return f"{self.kind} at {self.at}"
