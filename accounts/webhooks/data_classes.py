"""Data of webhooks whose retention a team chooses."""

from __future__ import annotations

from accounts.declarations.data_classes import DataClass
from accounts.models.team import EVENT_RETENTION_DAYS, EVENT_RETENTION_DAYS_MAX
from accounts.webhooks.operations.retention import count_events_before
from portal.lib.translation import gettext_lazy

DATA_CLASSES = {
    "events": DataClass(
        rank=10,
        title=gettext_lazy("Events"),
        says=gettext_lazy(
            "Events with their deliveries and responses. A failing endpoint is"
            " disabled after 5 days: store events longer than that to replay"
            " what it missed."
        ),
        count=count_events_before,
        usual_days=EVENT_RETENTION_DAYS,
        most_days=EVENT_RETENTION_DAYS_MAX,
        removed_by="webhooks.prune",
    ),
}
