"""URL paths below /courier/v1/."""

from __future__ import annotations

from labs.api.courier.views import CourierEventsView
from portal.lib.api.views import mount_api_view

urlpatterns = [mount_api_view("<courier_id>", CourierEventsView, "courier-events")]
