"""What webhooks serve below /v2/."""

from __future__ import annotations

from accounts.webhooks.api.v2.feed import EventsView
from portal.lib.api.views import mount_api_view

urlpatterns = [mount_api_view("events", EventsView, "api-events")]
