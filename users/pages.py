"""What the users app contributes to pages that show several apps."""

from __future__ import annotations

from accounts.declarations.pages import (
    Destination,
    FirstStep,
    NavGroup,
    NavLink,
    PageContributions,
    Search,
    UserTabCount,
)
from accounts.states import Area
from portal.lib.translation import gettext_lazy
from users.queries.imports import imports_of_user
from users.queries.population import connections, users_with_info
from users.web.columns import LISTS
from users.web.users.overview import build_users_overview
from users.web.users.palette import reopen_users, search_users_for_palette

PAGES = PageContributions(
    user_tabs=(
        UserTabCount("imports", Area.USERS, lambda *of: (imports_of_user(*of),)),
    ),
    lists=LISTS,
    navigation=(
        NavLink(
            group=NavGroup.START,
            rank=20,
            section="users",
            words=gettext_lazy("Users"),
            icon="users",
            path_name="users:list",
            areas=(Area.USERS,),
            shortcut="g u",
            shortcut_words=gettext_lazy("Go to users"),
        ),
        NavLink(
            group=NavGroup.DEVELOPERS,
            rank=30,
            section="source_settings",
            words=gettext_lazy("Sources"),
            icon="pulse",
            path_name="users:source_settings",
            areas=(Area.API_KEYS,),
        ),
    ),
    destinations=(
        Destination(
            20,
            gettext_lazy("Users"),
            "users",
            "users:list",
            area=Area.USERS,
            keeps_views=True,
        ),
        Destination(
            65,
            gettext_lazy("Source credentials"),
            "pulse",
            "users:source_settings",
            area=Area.API_KEYS,
        ),
        Destination(
            35,
            gettext_lazy("Parity report"),
            "doc",
            "users:parity",
            area=Area.TEAM,
        ),
        Destination(
            120,
            gettext_lazy("Look up a client user ID"),
            "search",
            "users:resolve",
            area=Area.USERS,
            is_action=True,
        ),
    ),
    searches=(
        Search(
            10,
            "users",
            gettext_lazy("Users"),
            "users",
            Area.USERS,
            search_users_for_palette,
            subject="user",
            reopen=reopen_users,
        ),
    ),
    overview=(build_users_overview,),
    first_steps=(
        FirstStep(
            rank=20,
            key="user",
            title=gettext_lazy("Create a user"),
            says=gettext_lazy("A user is one person, by the ID of your own system."),
            icon="users",
            area=Area.USERS,
            path_name="users:import_users",
            verb=gettext_lazy("Import users"),
            rows=lambda tenant: (users_with_info(tenant),),
            template="users/_first_user.html",
        ),
        FirstStep(
            rank=30,
            key="source",
            title=gettext_lazy("Connect a source"),
            says=gettext_lazy("A watch, a ring, a scale or an app of one user."),
            icon="link",
            area=Area.USERS,
            path_name="users:list",
            verb=gettext_lazy("Choose a user"),
            rows=lambda tenant: (connections(tenant),),
            template="users/_first_source.html",
        ),
    ),
)
