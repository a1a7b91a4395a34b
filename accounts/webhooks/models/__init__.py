"""Tables of the outbox: events, endpoints, deliveries, their attempts and replays."""

from accounts.webhooks.models.delivery import Attempt, Delivery
from accounts.webhooks.models.endpoint import Endpoint
from accounts.webhooks.models.event import Event, new_message_id
from accounts.webhooks.models.replay import Replay, ReplayItem

__all__ = [
    "Attempt",
    "Delivery",
    "Endpoint",
    "Event",
    "Replay",
    "ReplayItem",
    "new_message_id",
]
