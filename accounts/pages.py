"""What the accounts app contributes to pages that show several apps."""

from __future__ import annotations

from accounts.declarations.pages import (
    Destination,
    FirstStep,
    NavGroup,
    NavLink,
    PageContributions,
)
from accounts.queries import (
    list_api_keys,
    list_open_invitations,
    list_team_members,
)
from accounts.states import Area
from accounts.web.api_keys.overview import build_api_key_warnings
from accounts.web.list_columns import LISTS
from accounts.web.settings.go_live import (
    build_go_live_nav_count,
    build_go_live_overview,
)
from portal.lib.translation import gettext_lazy

PAGES = PageContributions(
    lists=LISTS,
    navigation=(
        NavLink(
            group=NavGroup.DEVELOPERS,
            rank=20,
            section="api_keys",
            words=gettext_lazy("API keys"),
            icon="key",
            path_name="team:api_keys",
            areas=(Area.API_KEYS,),
        ),
        NavLink(
            group=NavGroup.DEVELOPERS,
            rank=25,
            section="api_log",
            words=gettext_lazy("API log"),
            icon="pulse",
            path_name="team:api_log",
            areas=(Area.API_KEYS,),
        ),
        NavLink(
            group=NavGroup.DEVELOPERS,
            rank=27,
            section="assistants",
            words=gettext_lazy("Assistants"),
            icon="search",
            path_name="team:assistants",
            areas=(Area.ASSISTANT,),
        ),
        NavLink(
            group=NavGroup.TEAM,
            rank=10,
            section="members",
            words=gettext_lazy("Members"),
            icon="shield",
            path_name="team:members",
            areas=(Area.TEAM,),
        ),
        NavLink(
            group=NavGroup.TEAM,
            rank=20,
            section="settings",
            words=gettext_lazy("Settings"),
            icon="cog",
            path_name="team:settings",
            areas=(Area.TEAM,),
        ),
        NavLink(
            group=NavGroup.TEAM,
            rank=25,
            section="go_live",
            words=gettext_lazy("Go live"),
            icon="bolt",
            path_name="team:go_live",
            areas=(Area.TEAM,),
            count=build_go_live_nav_count,
            is_production_only=True,
        ),
        NavLink(
            group=NavGroup.TEAM,
            rank=30,
            section="audit",
            words=gettext_lazy("Audit"),
            icon="list",
            path_name="team:audit",
            areas=(Area.TEAM, Area.AUDIT),
        ),
    ),
    destinations=(
        Destination(
            60, gettext_lazy("API keys"), "key", "team:api_keys", area=Area.API_KEYS
        ),
        Destination(
            61, gettext_lazy("API log"), "pulse", "team:api_log", area=Area.API_KEYS
        ),
        Destination(
            63,
            gettext_lazy("Assistants"),
            "search",
            "team:assistants",
            area=Area.ASSISTANT,
        ),
        Destination(
            70, gettext_lazy("Members"), "shield", "team:members", area=Area.TEAM
        ),
        Destination(
            71, gettext_lazy("Settings"), "cog", "team:settings", area=Area.TEAM
        ),
        Destination(
            76, gettext_lazy("Go live"), "bolt", "team:go_live", area=Area.TEAM
        ),
        Destination(72, gettext_lazy("Your profile"), "users", "team:profile"),
        Destination(
            73, gettext_lazy("Audit log"), "list", "team:audit", area=Area.AUDIT
        ),
        Destination(
            74,
            gettext_lazy("Notifications"),
            "bell",
            "team:notifications",
            area=Area.TEAM,
        ),
        Destination(
            82, gettext_lazy("Emails"), "message", "team:mails", area=Area.TEAM
        ),
        Destination(
            75, gettext_lazy("Retention"), "clock", "team:retention", area=Area.TEAM
        ),
        Destination(
            79, gettext_lazy("Member sign-in"), "shield", "team:sign_in", area=Area.TEAM
        ),
        Destination(
            160,
            gettext_lazy("Create API key"),
            "key",
            "team:create_key",
            area=Area.API_KEYS,
            write=True,
            is_action=True,
        ),
        Destination(
            165,
            gettext_lazy("Create management key"),
            "key",
            "team:create_management_key",
            area=Area.TEAM,
            write=True,
            is_action=True,
        ),
        Destination(
            170,
            gettext_lazy("Invite member"),
            "plus",
            "team:invite",
            area=Area.TEAM,
            write=True,
            is_action=True,
        ),
    ),
    overview=(build_api_key_warnings, build_go_live_overview),
    first_steps=(
        FirstStep(
            rank=10,
            key="api_key",
            title=gettext_lazy("Create an API key"),
            says=gettext_lazy("Your server sends it with every call."),
            icon="key",
            area=Area.API_KEYS,
            path_name="team:create_key",
            verb=gettext_lazy("Create API key"),
            rows=lambda tenant: (list_api_keys(tenant),),
        ),
        FirstStep(
            rank=70,
            key="member",
            title=gettext_lazy("Invite a member"),
            says=gettext_lazy("A developer to build, a clinician to review results."),
            icon="shield",
            area=Area.TEAM,
            path_name="team:invite",
            verb=gettext_lazy("Invite member"),
            rows=lambda tenant: (
                list_team_members(tenant.team)[1:],
                list_open_invitations(tenant.team),
            ),
        ),
    ),
)
