"""Jobs of the outbox: what is kept long enough goes.

A job calls one operation. Must not be here: what the operations do, or delivering
(accounts.webhooks.delivering).
"""

from __future__ import annotations

from accounts.webhooks.operations.retention import prune_events
from portal.lib.jobs import periodic


@periodic("33 4 * * *", "webhooks.prune")
def prune() -> None:
    """Once a day, delete what teams have kept long enough."""
    prune_events()
