"""What webhooks need before a team goes live."""

from __future__ import annotations

from accounts.declarations.go_live import (
    GoLiveCheck,
    GoLiveFinding,
    GoLiveGroup,
    GoLiveState,
)
from accounts.states import Area
from accounts.webhooks.operations.go_live import read_webhooks, send_go_live_test_events
from portal.lib.translation import gettext_lazy

GO_LIVE_CHECKS = (
    GoLiveCheck(
        name="webhooks",
        group=GoLiveGroup.MESSAGES,
        rank=10,
        title=gettext_lazy("Webhooks"),
        icon="hook",
        read=read_webhooks,
        attempt=send_go_live_test_events,
        path_name="webhooks:list",
        path_words=gettext_lazy("Open webhooks"),
        area=Area.WEBHOOKS,
        findings={
            "accepted": GoLiveFinding(
                GoLiveState.READY, gettext_lazy("Accepted the last event: %(hosts)s.")
            ),
            "missing": GoLiveFinding(
                GoLiveState.MISSING,
                gettext_lazy("Production has no endpoint, so nobody receives events."),
                gettext_lazy("Add the endpoint of your server."),
            ),
            "disabled": GoLiveFinding(
                GoLiveState.FAILED,
                gettext_lazy("All endpoints are disabled."),
                gettext_lazy("Resume an endpoint."),
            ),
            "failing": GoLiveFinding(
                GoLiveState.FAILED,
                gettext_lazy("Did not accept the last event: %(hosts)s."),
                gettext_lazy("Its page shows what your server answered."),
            ),
            "unused": GoLiveFinding(
                GoLiveState.NOT_TRIED,
                gettext_lazy("No event was accepted yet: %(hosts)s."),
                gettext_lazy(
                    "Select Check all again to send a test event, then reload."
                ),
            ),
        },
    ),
)
