"""Report failing endpoints in the overview and the navigation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from accounts.declarations.pages import AttentionItem, NavCount, OverviewPart, Urgency
from accounts.states import Area
from accounts.webhooks.queries.health import (
    count_failing_endpoints,
    list_failing_endpoints,
    measure_endpoint_health,
)
from accounts.webhooks.web.finding import get_endpoint_display_name, get_endpoint_host
from portal.lib.web.views import page_url
from portal.ui.numbers import format_number

if TYPE_CHECKING:
    from accounts.web.requests import TenantRequest


def build_failing_endpoints_overview(request: TenantRequest) -> OverviewPart:
    """Build the overview items for endpoints that fail or were disabled for it."""
    if not request.rights.allow(Area.WEBHOOKS):
        return OverviewPart()
    ill = list_failing_endpoints(request.tenant)
    health = measure_endpoint_health(ill) if ill else {}
    items = []
    for endpoint in ill:
        missed = health[endpoint.pk].missed + health[endpoint.pk].waiting
        since = endpoint.disabled_at or endpoint.first_failed_at
        is_off = endpoint.disabled_at is not None
        items.append(
            AttentionItem(
                urgency=Urgency.DELIVERY,
                since=since or endpoint.updated_at,
                family="bad",
                icon="hook",
                title=_("Endpoint disabled") if is_off else _("Endpoint failing"),
                detail=ngettext(
                    "%(name)s (%(host)s), %(number)s event not delivered",
                    "%(name)s (%(host)s), %(number)s events not delivered",
                    missed,
                )
                % {
                    "name": get_endpoint_display_name(endpoint),
                    "host": get_endpoint_host(endpoint),
                    "number": format_number(missed),
                },
                url=page_url(request, "webhooks:endpoint", endpoint_id=endpoint.uuid),
                status="disabled" if is_off else "failing",
            )
        )
    return OverviewPart(attention=tuple(items))


def build_webhooks_nav_count(request: TenantRequest) -> NavCount | None:
    """Count failing endpoints for the navigation; None if there are none."""
    if not request.rights.allow(Area.WEBHOOKS):
        return None
    number = count_failing_endpoints(request.tenant)
    label = ngettext("failing endpoint", "failing endpoints", number)
    return NavCount(number, label, "bad") if number else None
