"""What webhooks serve below /v2/."""

from __future__ import annotations

from accounts.webhooks.api.v2.feed import EventsView
from portal.lib.api.views import endpoint

urlpatterns = [endpoint("events", EventsView, "api-events")]
