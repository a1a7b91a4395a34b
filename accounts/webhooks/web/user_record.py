"""Events sent about a user, counted by day on the user's page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.utils.translation import gettext as _

from accounts.declarations.user_record import RecordPart, RecordRow
from accounts.states import Area
from accounts.webhooks.queries.events import count_user_events_per_day

if TYPE_CHECKING:
    from accounts.declarations.user_record import RecordSpan
    from accounts.web.requests import TenantRequest


def build_user_record_part(request: TenantRequest, span: RecordSpan) -> RecordPart:
    """Return how many events there were each day, for who may see webhooks."""
    if not request.rights.allow(Area.WEBHOOKS):
        return RecordPart()
    per_day = count_user_events_per_day(
        tenant=request.tenant,
        user_uuid=span.user_uuid,
        start=span.start,
        end=span.end,
        zone=span.zone,
    )
    return RecordPart(
        rows=(
            RecordRow(
                rank=80,
                title=_("Events"),
                shape="bars",
                hue="mute",
                per_day=per_day,
            ),
        )
    )
