"""The pages over several apps that are no app's own, such as the overview."""

from __future__ import annotations

from accounts.declarations.pages import (
    Destination,
    NavGroup,
    NavLink,
    PageContributions,
    Search,
)
from accounts.states import Area
from portal.docs.palette import find_docs_sections
from portal.home.recent_events import build_recent_events_overview
from portal.lib.translation import gettext_lazy

PAGES = PageContributions(
    navigation=(
        NavLink(
            group=NavGroup.START,
            rank=10,
            section="home",
            words=gettext_lazy("Overview"),
            icon="home",
            path_name="home",
            shortcut="g h",
            shortcut_words=gettext_lazy("Go to overview"),
        ),
    ),
    destinations=(
        Destination(10, gettext_lazy("Overview"), "home", "home"),
        Destination(
            190,
            gettext_lazy("Load or remove demo data"),
            "download",
            "demo_data",
            area=Area.TEAM,
            write=True,
            is_action=True,
            is_sandbox_only=True,
        ),
    ),
    searches=(
        Search(
            90,
            "docs",
            gettext_lazy("Documentation"),
            "doc",
            None,
            find_docs_sections,
            is_last=True,
        ),
    ),
    overview=(build_recent_events_overview,),
)
