"""What webhooks contribute to pages that show several apps."""

from __future__ import annotations

from accounts.declarations.pages import (
    Destination,
    FirstStep,
    NavGroup,
    NavLink,
    PageContributions,
    Search,
)
from accounts.states import Area
from accounts.webhooks.queries.health import (
    select_endpoints_that_accepted,
    select_live_endpoints,
)
from accounts.webhooks.web.columns import LISTS
from accounts.webhooks.web.overview import (
    build_failing_endpoints_overview,
    build_webhooks_nav_count,
)
from accounts.webhooks.web.palette import find_webhooks_for_command_palette
from accounts.webhooks.web.user_record import build_user_record_part
from portal.lib.translation import gettext_lazy

PAGES = PageContributions(
    lists=LISTS,
    navigation=(
        NavLink(
            group=NavGroup.DEVELOPERS,
            rank=10,
            section="webhooks",
            words=gettext_lazy("Webhooks"),
            icon="hook",
            path_name="webhooks:list",
            areas=(Area.WEBHOOKS,),
            count=build_webhooks_nav_count,
            shortcut="g w",
            shortcut_words=gettext_lazy("Go to webhooks"),
        ),
    ),
    destinations=(
        Destination(
            55, gettext_lazy("Webhooks"), "hook", "webhooks:list", area=Area.WEBHOOKS
        ),
        Destination(
            150,
            gettext_lazy("Add endpoint"),
            "hook",
            "webhooks:create",
            area=Area.WEBHOOKS,
            write=True,
            is_action=True,
        ),
    ),
    searches=(
        Search(
            50,
            "webhooks",
            gettext_lazy("Webhooks"),
            "hook",
            Area.WEBHOOKS,
            find_webhooks_for_command_palette,
        ),
    ),
    overview=(build_failing_endpoints_overview,),
    first_steps=(
        FirstStep(
            rank=40,
            key="webhook",
            title=gettext_lazy("Receive an event"),
            says=gettext_lazy("Add your server's endpoint, then send a test event."),
            icon="hook",
            area=Area.WEBHOOKS,
            path_name="webhooks:create",
            verb=gettext_lazy("Add endpoint"),
            rows=lambda tenant: (select_endpoints_that_accepted(tenant),),
            begun=select_live_endpoints,
            begun_says=gettext_lazy("No endpoint has accepted an event yet."),
            begun_verb=gettext_lazy("Send a test event"),
            begun_path_name="webhooks:list",
        ),
    ),
    user_record=(build_user_record_part,),
)
