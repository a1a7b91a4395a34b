"""ApiCall: path, status and duration of each API call; ApiCallTally: counts by hour.

Neither stores any part of a request's body or query, or of a response's body.
"""

from __future__ import annotations

from django.contrib.postgres.indexes import BrinIndex
from django.db import models

from portal.lib.table_rules import ErasureRule, RetentionRule, TableRules
from portal.lib.tenancy import TenantOwned
from portal.lib.translation import gettext_lazy

PATH_MAX_LENGTH = 200
REQUEST_ID_LENGTH = 32
CODE_MAX_LENGTH = 64


class ApiCall(TenantOwned):
    """One call with a valid key.

    `path` is the route, its parameters filled in where they are ids and named where
    they are not: the customer's own ids and words stay out. `user_uuid` is the end user
    named in it. `ms` is what the call took here, in whole milliseconds. `code` is the
    error code of a refusal, of a 422 the type of its first line (contract 1.3). Rows
    are written in bulk after the answer and no constraint checks them.
    """

    rules = TableRules(
        without_fence="routes and numbers; written past every scope, in bulk",
        erasure=ErasureRule(("user_uuid",)),
        data_classes=("api_calls",),
    )

    tenant = models.ForeignKey(
        "accounts.Tenant",
        on_delete=models.DO_NOTHING,
        related_name="+",
        db_constraint=False,
        db_index=False,
    )
    api_key = models.ForeignKey(
        "accounts.ApiKey",
        on_delete=models.DO_NOTHING,
        related_name="+",
        db_constraint=False,
        db_index=False,
    )
    at = models.DateTimeField()
    method = models.CharField(max_length=7)
    path = models.CharField(max_length=PATH_MAX_LENGTH)
    status = models.PositiveSmallIntegerField()
    ms = models.PositiveIntegerField()
    request_id = models.CharField(max_length=REQUEST_ID_LENGTH)
    address = models.GenericIPAddressField(null=True)
    user_uuid = models.UUIDField(null=True)
    code = models.CharField(max_length=CODE_MAX_LENGTH, default="", db_default="")

    class Meta(TenantOwned.Meta):
        verbose_name = gettext_lazy("API call")
        verbose_name_plural = gettext_lazy("API calls")
        indexes = [
            models.Index(fields=["api_key", "-at", "-id"], name="api_call_by_key"),
            models.Index(fields=["tenant", "-at", "-id"], name="api_call_by_tenant"),
            models.Index(
                fields=["tenant", "user_uuid"],
                name="api_call_by_user",
                condition=models.Q(user_uuid__isnull=False),
            ),
            BrinIndex(fields=["at"], name="api_call_by_time"),
        ]

    def __str__(self) -> str:
        return f"{self.method} {self.path} {self.status}"


class ApiCallTally(TenantOwned):
    """The number of a key's calls in one hour of UTC, starting at `hour`.

    `refused` are those answered 4xx, `faults` those answered 5xx. Counting a week of
    the log itself would read millions of rows of a busy key.
    """

    rules = TableRules(
        without_fence="numbers",
        without_user="counts calls of keys by the hour",
        retention=RetentionRule("8 days", "accounts.prune_calls"),
    )

    tenant = models.ForeignKey(
        "accounts.Tenant",
        on_delete=models.DO_NOTHING,
        related_name="+",
        db_constraint=False,
        db_index=False,
    )
    api_key = models.ForeignKey(
        "accounts.ApiKey",
        on_delete=models.DO_NOTHING,
        related_name="+",
        db_constraint=False,
        db_index=False,
    )
    hour = models.DateTimeField()
    calls = models.PositiveIntegerField()
    refused = models.PositiveIntegerField(default=0, db_default=0)
    faults = models.PositiveIntegerField(default=0, db_default=0)

    class Meta(TenantOwned.Meta):
        verbose_name = gettext_lazy("API call tally")
        verbose_name_plural = gettext_lazy("API call tallies")
        constraints = [
            models.UniqueConstraint(
                fields=["api_key", "hour"], name="one_tally_per_key_and_hour"
            )
        ]

    def __str__(self) -> str:
        return f"{self.hour:%Y-%m-%d %H}: {self.calls}"
