"""All that the users app, the audit and the outbox hold: compare before and after."""

from __future__ import annotations

from typing import Any

from django.apps import apps

from accounts.models import AuditEntry
from accounts.webhooks.models import Event
from portal.lib.tenancy import TenantOwned
from users.models import PackedDay, Sample, SampleExtra, UserCount

# Every table of a tenant in the app: a new one counts by existing.
TABLES = (
    *(
        model
        for model in apps.get_app_config("users").get_models()
        if issubclass(model, TenantOwned)
    ),
    AuditEntry,
    Event,
)
# What is written by every batch, also by one that changes nothing.
ALWAYS_WRITTEN: dict[str, list[Any]] = {"Arrival": [], "Supply": []}


def stored_rows(tenant: Any) -> dict[str, list[Any]]:
    """Every row of a tenant, by table, but for its API keys."""
    rows = {
        model.__name__: list(model.objects.for_tenant(tenant).order_by("pk").values())
        for model in TABLES
    }
    users = [row["id"] for row in rows["User"]]
    for model in (Sample, SampleExtra, PackedDay):
        mine = model.objects.filter(user_id__in=users).order_by("pk")
        rows[model.__name__] = list(mine.values())
    return rows


def count_live_users(tenant: Any) -> int:
    """What the counter says, which tests compare with the rows."""
    return UserCount.objects.for_tenant(tenant).get().live
