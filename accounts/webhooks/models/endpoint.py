"""Endpoint: an address of a customer that events are posted to."""

from __future__ import annotations

import uuid

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.utils import timezone

from accounts.webhooks.states import DisabledBy
from portal.lib.table_rules import RetentionRule, TableRules
from portal.lib.tenancy import TenantManager, TenantOwned, TenantQuerySet

URL_MAX_LENGTH = 2000
DESCRIPTION_MAX_LENGTH = 500
EVENT_TYPE_MAX_LENGTH = 100


class EndpointQuerySet(TenantQuerySet["Endpoint"]):
    """Conditions on sets of endpoints."""

    def live(self) -> EndpointQuerySet:
        """Endpoints that are not deleted, disabled ones included."""
        return self.filter(deleted_at=None)


class Endpoint(TenantOwned):
    """Where a team's events go (contract 8.7); `uuid` is the wire's id.

    `filter_types` None takes every event, else exact types and prefixes that end in a
    dot. `rate_limit` is messages a second. `secret`, `previous_secret` and `headers`
    (a JSON object) are encrypted; the previous secret signs too until
    `previous_secret_ends_at`.

    Health, by the database's clock: `first_failed_at` is the first failure since the
    last success, `failing_since` when the five days of contract 8.5 began,
    `warned_percent` how much of them was mailed about. `paced_until` is up to when its
    rate is used up.
    """

    rules = TableRules(
        without_fence="claimed for all tenants at once; its secrets are encrypted",
        without_user="addresses of a team",
        retention=RetentionRule("when deleted and its log is empty", "webhooks.prune"),
        encrypted=("secret", "previous_secret", "headers"),
        route_parameters={"endpoint_id": "uuid", "webhook_id": "uuid"},
    )

    uuid = models.UUIDField(unique=True, default=uuid.uuid4, editable=False)
    url = models.CharField(max_length=URL_MAX_LENGTH)
    description = models.CharField(max_length=DESCRIPTION_MAX_LENGTH, blank=True)
    rate_limit = models.PositiveIntegerField(null=True)
    filter_types = ArrayField(
        models.CharField(max_length=EVENT_TYPE_MAX_LENGTH), null=True
    )
    secret = models.TextField()
    previous_secret = models.TextField(blank=True)
    previous_secret_ends_at = models.DateTimeField(null=True)
    headers = models.TextField(blank=True)
    disabled_at = models.DateTimeField(null=True)
    disabled_by = models.CharField(
        max_length=100, choices=DisabledBy.offered, blank=True
    )
    deleted_at = models.DateTimeField(null=True)
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    updated_at = models.DateTimeField(default=timezone.now)
    secret_made_at = models.DateTimeField(default=timezone.now)
    last_success_at = models.DateTimeField(null=True)
    first_failed_at = models.DateTimeField(null=True)
    failing_since = models.DateTimeField(null=True)
    warned_percent = models.PositiveSmallIntegerField(default=0)
    paced_until = models.DateTimeField(null=True)

    objects = TenantManager(EndpointQuerySet)

    class Meta(TenantOwned.Meta):
        indexes = [
            models.Index(
                fields=["tenant", "id"],
                condition=models.Q(deleted_at=None),
                name="endpoint_live",
            )
        ]

    def __str__(self) -> str:
        return str(self.uuid)
