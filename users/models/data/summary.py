"""Summary: one record of a user's day, session or period, of any kind."""

from __future__ import annotations

from django.db import models
from django.utils import timezone

from portal.lib.table_rules import TableRules
from portal.lib.tenancy import TenantOwned
from portal.lib.translation import gettext_lazy
from users.models.user import User


class Summary(TenantOwned):
    """The latest version of a summary (specification 6.2, contract 4).

    `id` is the wire's, made from user, provider, kind and start, so that a re-delivery
    finds its row without a read. `kind` is a slug of users.wearables.summaries; `body`
    holds that kind's fields as the wire has them, `raw` the element as it came.
    `layers` of a record that a file gave is {"file": element or None, "live": element
    of a cloud or phone or None, "ids": further IDs that its elements had}, of which
    `raw` joins the elements; None for all others.
    `calendar_date` to `last_date`, both included, are the days it is found by;
    `starts_at` orders. `version` counts what was stored under this id, from 1.
    """

    rules = TableRules(
        data_classes=("summaries",),
        route_parameters={"workout_id": "pk", "sleep_id": "pk"},
    )

    id = models.UUIDField(primary_key=True, editable=False)
    # No constraints in the database, as these rows must be free to move to other
    # machines with their user (performance 9).
    tenant = models.ForeignKey(
        "accounts.Tenant",
        on_delete=models.DO_NOTHING,
        related_name="+",
        db_constraint=False,
        db_index=False,
    )
    user = models.ForeignKey(
        User,
        on_delete=models.CASCADE,
        related_name="summaries",
        db_constraint=False,
        db_index=False,
    )
    kind = models.CharField(max_length=50)
    provider = models.CharField(max_length=50)
    source_type = models.CharField(max_length=50)
    app_id = models.CharField(max_length=255, null=True)  # noqa: DJ001 - the wire's null
    device_id = models.UUIDField(null=True)
    calendar_date = models.DateField()
    last_date = models.DateField()
    starts_at = models.DateTimeField()
    ends_at = models.DateTimeField(null=True)
    body = models.JSONField()
    raw = models.JSONField()
    layers = models.JSONField(null=True)
    version = models.PositiveIntegerField(default=1)
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    updated_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta(TenantOwned.Meta):
        verbose_name = gettext_lazy("summary")
        verbose_name_plural = gettext_lazy("summaries")
        indexes = [
            models.Index(
                fields=["user", "kind", "calendar_date"], name="summary_by_user"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.id}"
