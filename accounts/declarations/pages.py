"""What an app contributes to pages that show several apps.

Each app declares one `PAGES = PageContributions(...)` in its module `pages`, which is
imported when a page first asks for it. Copy a neighbour to add one: `labs/pages.py`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum
from functools import cache
from typing import TYPE_CHECKING, Any

from django.db.models import TextChoices

from portal.lib.app_modules import import_declarations
from portal.lib.translation import gettext_lazy

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from datetime import datetime
    from uuid import UUID

    from django.db.models import QuerySet

    from accounts.declarations.families import Family
    from accounts.declarations.user_record import RecordPart, RecordSpan
    from accounts.models import Tenant
    from accounts.states import Area
    from accounts.web.requests import TenantRequest
    from portal.ui.columns import Column, ListColumns

# What the sidebar shows more of as "99+", so that no page counts on.
BADGE_UP_TO = 99


@dataclass(frozen=True, slots=True)
class NavCount:
    """A number beside a link of the sidebar; `says` completes it in words."""

    number: int
    says: str
    family: Family | None = None

    @property
    def shown(self) -> str:
        """Return the number as the sidebar shows it."""
        return f"{BADGE_UP_TO}+" if self.number > BADGE_UP_TO else str(self.number)


class NavGroup(TextChoices):
    """The groups of the sidebar, from top to bottom; the first has no title."""

    START = "start", ""
    LABS = "labs", gettext_lazy("Labs")
    DEVELOPERS = "developers", gettext_lazy("Developers")
    TEAM = "team", gettext_lazy("Team")


@dataclass(frozen=True, slots=True, kw_only=True)
class NavLink:
    """A link of the sidebar, for members who may read, or `write`, in all `areas`.

    Links of a group are in the order of `rank`. `section` is the name by which a page
    marks this link as the current one. `path_name` names its URL in the team and
    environment. `count` returns the number beside it, None for no number. `shortcut` is
    two keys ("g u"), listed as `shortcut_words`. A sandbox has no link that
    `is_production_only`.
    """

    group: NavGroup
    rank: int
    section: str
    words: str
    icon: str
    path_name: str
    areas: tuple[Area, ...] = ()
    write: bool = False
    count: Callable[[TenantRequest], NavCount | None] | None = None
    shortcut: str = ""
    shortcut_words: str = ""
    is_production_only: bool = False


@dataclass(frozen=True, slots=True)
class Destination:
    """A page of the command palette, or the page where an action starts.

    Destinations are in the order of `rank`. `path_name` names its URL in the team and
    environment, `query` is its query string. Members need the right to read, or
    `write`, in `area`; None: every member. The overview shows actions `on_overview` as
    buttons. A list that shows the saved views of its filters `keeps_views`.
    """

    rank: int
    words: str
    icon: str
    path_name: str
    query: str = ""
    area: Area | None = None
    write: bool = False
    is_action: bool = False
    on_overview: bool = False
    is_sandbox_only: bool = False
    keeps_views: bool = False


@dataclass(frozen=True, slots=True)
class Hit:
    """A search result; `words` names users by client_user_id, never by name.

    `record` is the ID by which the audit names a record that was opened.
    """

    words: str
    url: str
    detail: str = ""
    is_exact: bool = False
    record: str = ""


@dataclass(frozen=True, slots=True)
class Search:
    """How records or pages of one kind are found by what a member typed.

    `key` names the kind in the page and in the audit. Members need the right to read
    `area`; None: every member. `subject` is what the audit calls a record when its page
    is opened, and `reopen` returns the hits of such records by their IDs, in any order:
    both for a kind whose records are offered again. `is_last`: below pages and actions.
    """

    rank: int
    key: str
    title: str
    icon: str
    area: Area | None
    find: Callable[[TenantRequest, str], list[Hit]]
    subject: str = ""
    reopen: Callable[[TenantRequest, Sequence[UUID]], list[Hit]] | None = None
    is_last: bool = False


@dataclass(frozen=True, slots=True)
class Tile:
    """A number of the overview and the list that it counts.

    The tiles of the lowest ranks are shown. `unit` follows the number. `trend` is drawn
    beside it, oldest first; `trend_says` is what it shows, in words.
    """

    rank: int
    label: str
    number: int
    url: str
    unit: str = ""
    detail: str = ""
    trend: tuple[int, ...] = ()
    trend_says: str = ""


class Urgency(IntEnum):
    """The order of what needs attention (design guide, overview)."""

    CRITICAL_RESULT = 1
    DELIVERY = 2
    ORDER = 3
    REPORT = 4
    ACCOUNT = 5
    SOURCE = 6
    SETUP = 7


@dataclass(frozen=True, slots=True)
class AttentionItem:
    """An item that needs a person; within an urgency the oldest comes first.

    `status` is a key of PILLS, `pill` its words where the status's own say too little.
    `detail` names users by client_user_id alone.
    """

    urgency: Urgency
    since: datetime
    family: Family
    icon: str
    title: str
    url: str
    detail: str = ""
    status: str = ""
    pill: str = ""


@dataclass(frozen=True, slots=True)
class OverviewCard:
    """A card of the overview: a template, rendered with `context` and the request."""

    rank: int
    template: str
    context: Mapping[str, object] = field(default_factory=dict)
    is_aside: bool = False


@dataclass(frozen=True, slots=True)
class OverviewPart:
    """One app's part of the overview, as far as the member's rights go.

    `poll_seconds` is after how long the page should reload it, None for no hurry.
    """

    tiles: tuple[Tile, ...] = ()
    attention: tuple[AttentionItem, ...] = ()
    cards: tuple[OverviewCard, ...] = ()
    poll_seconds: int | None = None


@dataclass(frozen=True, slots=True)
class UserColumn:
    """A number beside each user of the users list, for members who may read `area`.

    `count` returns the numbers by user key, of a tenant and these `user_keys`; 0 is
    absent. The column's words are its head, in lower case that of the file.
    """

    column: Column
    area: Area
    count: Callable[..., Mapping[int, int]]


@dataclass(frozen=True, slots=True)
class UserTabCount:
    """A number on a tab of a user's page, for members who may read `area`.

    `rows` returns what is counted, of a tenant and a user's key: querysets whose rows
    together are those that the tab lists. `tab` is the tab's name in its page.
    """

    tab: str
    area: Area
    rows: Callable[[Tenant, int], Sequence[QuerySet[Any]]]


@dataclass(frozen=True, slots=True, kw_only=True)
class FirstStep:
    """A step of a new team's checklist, for members who may write in `area`.

    Steps are in the order of `rank`; `key` names each. A step is done once one of
    the querysets of `rows` has a row, so it follows what happened and not what was
    clicked. `verb` is the button to `path_name`. Where `begun` has a row, the step is
    half done and `begun_says`, `begun_verb` and `begun_path_name` stand for these.
    `template` draws the next step's body below them.
    """

    rank: int
    key: str
    title: str
    says: str
    icon: str
    area: Area
    path_name: str
    verb: str
    rows: Callable[[Tenant], Sequence[QuerySet[Any]]]
    begun: Callable[[Tenant], QuerySet[Any]] | None = None
    begun_says: str = ""
    begun_verb: str = ""
    begun_path_name: str = ""
    template: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PageContributions:
    """All that one app contributes to pages that show several apps.

    `overview` are functions that return its parts of the overview. `user_columns`
    are its columns of the users list. `user_record` return its parts of a user's page,
    `user_tabs` its numbers on that page's tabs.
    `lists` are the columns of its lists, from which members choose, or build them.
    """

    navigation: tuple[NavLink, ...] = ()
    destinations: tuple[Destination, ...] = ()
    searches: tuple[Search, ...] = ()
    overview: tuple[Callable[[TenantRequest], OverviewPart], ...] = ()
    first_steps: tuple[FirstStep, ...] = ()
    user_columns: tuple[UserColumn, ...] = ()
    user_tabs: tuple[UserTabCount, ...] = ()
    user_record: tuple[Callable[[TenantRequest, RecordSpan], RecordPart], ...] = ()
    lists: tuple[ListColumns | Callable[[], ListColumns], ...] = ()


@cache
def list_page_contributions() -> tuple[PageContributions, ...]:
    """Return the contributions of all apps, from the highest app down."""
    return tuple(import_declarations("pages", "PAGES").values())


@cache
def list_nav_links() -> tuple[NavLink, ...]:
    """Return all links of the sidebar, in the order of groups and ranks."""
    groups = list(NavGroup)
    return tuple(
        sorted(
            (link for app in list_page_contributions() for link in app.navigation),
            key=lambda link: (groups.index(link.group), link.rank),
        )
    )


@cache
def list_destinations() -> tuple[Destination, ...]:
    """Return all destinations of the command palette, in the order of ranks."""
    return tuple(
        sorted(
            (page for app in list_page_contributions() for page in app.destinations),
            key=lambda page: page.rank,
        )
    )


@cache
def list_searches() -> tuple[Search, ...]:
    """Return all searches of the command palette, in the order of ranks."""
    return tuple(
        sorted(
            (search for app in list_page_contributions() for search in app.searches),
            key=lambda search: search.rank,
        )
    )


@cache
def list_first_steps() -> tuple[FirstStep, ...]:
    """Return all steps of a new team's checklist, in the order of ranks."""
    return tuple(
        sorted(
            (step for app in list_page_contributions() for step in app.first_steps),
            key=lambda step: step.rank,
        )
    )


def find_list_columns(key: str) -> ListColumns | None:
    """Return the columns of the list that has this key."""
    lists = (
        each() if callable(each) else each
        for app in list_page_contributions()
        for each in app.lists
    )
    return next((each for each in lists if each.key == key), None)


def list_user_tab_counts() -> tuple[UserTabCount, ...]:
    """Return the numbers on the tabs of a user's page that apps contribute."""
    return tuple(each for app in list_page_contributions() for each in app.user_tabs)


def list_user_columns() -> tuple[UserColumn, ...]:
    """Return the columns of the users list that apps contribute."""
    return tuple(
        column for app in list_page_contributions() for column in app.user_columns
    )
