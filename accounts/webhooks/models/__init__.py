"""Tables of the outbox: events, endpoints, deliveries and their attempts."""

from accounts.webhooks.models.delivery import Attempt, Delivery
from accounts.webhooks.models.endpoint import Endpoint
from accounts.webhooks.models.event import Event, new_message_id

__all__ = ["Attempt", "Delivery", "Endpoint", "Event", "new_message_id"]
