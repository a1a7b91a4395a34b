"""Every list with columns: a head for each cell, whatever is hidden or sorted by.

Filters look alike: a search field and chips.
"""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest
from django.conf import settings
from django.utils import timezone

from accounts.declarations.pages import list_page_contributions
from accounts.models import Membership
from accounts.states import Role
from labs.models import OrderApproval
from portal.ops.isolation.endpoints import fill_route_parameters
from portal.ui.columns import ShownColumns
from tests.architecture.test_strangers import (  # noqa: F401 - samples is a fixture
    samples,
)
from tests.clients import confirm
from tests.factories.labs import make_order
from tests.factories.reports import make_alias
from tests.factories.users import make_user

pytestmark = pytest.mark.django_db
ROUTES = (
    *("orders/", "users/", "reports/", "reviews/", "unmatched/", "lab-accounts/"),
    *("lab-tests/", "lab-tests/markers/", "webhooks/", "members/", "api-keys/"),
    *("webhooks/<endpoint_id>/", "api-log/", "audit/users/<user_id>/"),
    *("deleted-users/", "erasures/", "users/<user_id>/imports/", "assistants/"),
    *("users/<user_id>/orders/", "users/<user_id>/exports/"),
    # The first free time: today's, or in the evening tomorrow's.
    *("visits/", "visits/?tab=tomorrow"),
    *("visits/?tab=unbooked", "unmatched/?tab=problems", "reviews/?tab=done"),
    *("reports/documents/", "approvals/", "users/<user_id>/shared-links/"),
    *("own-catalog/loinc/", "reviews/aliases/"),
)
TABLE = re.compile(r'<table class="table[ "]')
SHOWN_TO_OTHERS = re.compile(r"^admin/|/(docs|email)/")
WITHOUT_SAMPLES = {
    *("api_calls", "assistant_calls", "deleted_users", "ended_reviews", "reviews"),
    *("unbooked", "lab_messages"),
}
# Templates with a table that has no columns to choose, by why. A new table is a list
# with columns (components/columns_head.html) or stands here.
WITHOUT_COLUMNS = {
    "few rows that a team set up itself": (
        *("labs/calendars", "labs/physicians", "labs/visit_week"),
        *("reports/limits/list", "accounts/_management_keys"),
        *("users/source_settings", "accounts/mails", "labs/own_catalogue"),
    ),
    "few rows of one user": (
        *("users/annotations", "users/page", "users/_phones", "users/source"),
        "users/_freshness",
    ),
    "soonest due first, whatever a member prefers; a poll redraws it": (
        "labs/_critical",
    ),
    "the newest few of what another page lists in full": (
        *("portal/_recent_events", "reports/mail/settings", "accounts/_audit_rows"),
    ),
    "measured values in the order of time or of a panel": (
        *("labs/_trend_table", "labs/_user_results", "labs/beside_life"),
        *("labs/results", "reports/_results", "reports/outside_report"),
        *("users/_cycle", "users/_earlier_nights", "users/_night", "users/_timeline"),
        *("users/_explorer_chart", "users/_explorer_events", "users/_explorer_table"),
        "users/source_priority",
    ),
    "part of one thing's page, a form or a check": (
        *("accounts/_create_key", "exchange/viewer", "labs/_catalogue_faults"),
        *("labs/_order", "labs/_order_recreate", "labs/_order_tests"),
        *("labs/_place_order_print", "labs/catalogue_update", "labs/convert_panel"),
        *("labs/shipment_file", "labs/unmatched_report", "reports/_held"),
        *("reports/documents/page", "reports/orders/_rows", "reports/orders/compare"),
        *("reports/review/gate", "reports/signing/approve"),
        *("reports/signing/history", "reports/signing/rereading"),
        *("users/_import", "users/_parity_numbers", "users/erasure"),
        "users/import_users",
    ),
    "a second list below one with columns: pending invitations, ended keys, approvals "
    "that were decided, mappings that were proposed": (
        *("accounts/members", "accounts/api_keys"),
        *("labs/approvals", "reports/signing/aliases"),
    ),
    "an example of a component": ("portal/components/lists",),
}
DECLARED = {
    each.key: each
    for app in list_page_contributions()
    for entry in app.lists
    for each in [entry() if callable(entry) else entry]
}


class Tables(HTMLParser):
    """The cells of each row, and the sorted heads, of the tables of a page.

    `fields` are those of its filters, but for what is searched, kept or ticked.
    """

    def __init__(self, text: str) -> None:
        super().__init__()
        self.fields: list[str] = []
        self.is_in_filters = False
        self.tables: list[list[int]] = []
        self.sorted: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        if tag == "form":
            self.is_in_filters = given.get("class") == "filters"
        elif (
            self.is_in_filters
            and tag in {"select", "input"}
            and given.get("type", "") not in {"search", "hidden"}
        ):
            self.fields.append(given.get("name") or tag)
        if tag == "table":
            self.tables.append([])
        elif tag == "tr" and self.tables:
            self.tables[-1].append(0)
        elif tag in {"td", "th"} and self.tables:
            self.tables[-1][-1] += int(given.get("colspan") or 1)
            if "aria-sort" in given:
                self.sorted.append(given["aria-sort"])

    def handle_endtag(self, tag):
        if tag == "form":
            self.is_in_filters = False


@pytest.fixture
def listed(alice_tenant, samples):  # noqa: F811
    """The samples, an order that waits for a physician and an active mapping."""
    order = make_order(tenant=alice_tenant, user=make_user(tenant=alice_tenant))
    OrderApproval(tenant=alice_tenant, order=order).save(force_insert=True)
    make_alias(
        tenant=alice_tenant,
        name="K",
        name_key="k",
        status="live",
        confirmed_at=timezone.now(),
    )
    return samples


def find_lists(client, samples):  # noqa: F811
    """Yield the path and declaration of each list that the samples show."""
    for route in ROUTES:
        page, _, query = f"t/<team_slug>/<environment>/{route}".partition("?")
        path = f"{fill_route_parameters(page, samples)}?{query}"
        reply = client.get(path)
        assert reply.status_code == 200, (path, reply)
        columns = reply.context.get("columns")
        assert isinstance(columns, ShownColumns), path
        yield path, columns.declared


def test_every_list_has_a_cell_for_each_head(alice, alice_web, listed):
    confirm(alice_web)
    Membership.objects.filter(member=alice).update(roles=list(Role))
    found, filled = set(), set()
    for path, declared in find_lists(alice_web, listed):
        found.add(declared.key)
        every = [column.key for column in declared.columns if not column.is_fixed]
        for changed in ((), every):
            alice.changed_columns = {declared.key: list(changed)}
            alice.save(update_fields=["changed_columns"])
            page = Tables(alice_web.get(path).content.decode())
            if page.tables:
                filled.add(declared.key)
            for rows in page.tables:
                assert len(set(rows)) == 1, (path, changed, rows)
            assert page.fields == [], (path, page.fields)
    assert found == DECLARED.keys()
    assert found - filled == WITHOUT_SAMPLES


def test_a_table_has_columns_or_a_reason_for_none():
    """Operators' pages, emails and the documentation have no lists of a member."""
    folder = settings.BASE_DIR / "templates"
    plain = set()
    for path in folder.rglob("*.html"):
        name = path.relative_to(folder).with_suffix("").as_posix()
        text = path.read_text()
        if len(TABLE.findall(text)) > text.count("columns_head.html"):
            plain.add(name)
    members = {each for each in plain if not SHOWN_TO_OTHERS.search(each)}
    listed = [each for names in WITHOUT_COLUMNS.values() for each in names]
    assert sorted(listed) == sorted(members)


@pytest.mark.long
def test_every_list_sorts_by_each_column(alice, alice_web, listed):
    confirm(alice_web)
    Membership.objects.filter(member=alice).update(roles=list(Role))
    for path, declared in find_lists(alice_web, listed):
        keys = [column.key for column in declared.columns if column.order_by]
        for sort in (*keys, *(f"-{key}" for key in keys)):
            reply = alice_web.get(f"{path}&sort={sort}")
            assert reply.status_code == 200, (path, sort)
            says = "descending" if sort.startswith("-") else "ascending"
            shown = Tables(reply.content.decode()).sorted
            assert shown in ([says], []), (path, sort)
