"""Every list with columns: a head for each cell, whatever is hidden or sorted by.

Filters look alike: a search field and chips.
"""

from __future__ import annotations

from html.parser import HTMLParser

import pytest

from accounts.declarations.pages import list_page_contributions
from accounts.models import Membership
from accounts.states import Role
from portal.ops.isolation.endpoints import fill_route_parameters
from portal.ui.columns import ShownColumns
from tests.architecture.test_strangers import (  # noqa: F401 - samples is a fixture
    samples,
)
from tests.clients import confirm

pytestmark = pytest.mark.django_db
ROUTES = (
    *("orders/", "users/", "reports/", "reviews/", "unmatched/", "lab-accounts/"),
    *("lab-tests/", "lab-tests/markers/", "webhooks/", "members/", "api-keys/"),
    *("webhooks/<endpoint_id>/", "api-log/", "audit/users/<user_id>/"),
    *("deleted-users/", "erasures/", "users/<user_id>/imports/", "assistants/"),
    *("users/<user_id>/orders/", "users/<user_id>/exports/", "visits/"),
    *("visits/?tab=unbooked", "unmatched/?tab=problems", "reviews/?tab=done"),
)
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


def test_every_list_has_a_cell_for_each_head(alice, alice_web, samples):  # noqa: F811
    confirm(alice_web)
    Membership.objects.filter(member=alice).update(roles=list(Role))
    found = set()
    for path, declared in find_lists(alice_web, samples):
        found.add(declared.key)
        every = [column.key for column in declared.columns if not column.is_fixed]
        for changed in ((), every):
            alice.changed_columns = {declared.key: list(changed)}
            alice.save(update_fields=["changed_columns"])
            page = Tables(alice_web.get(path).content.decode())
            for rows in page.tables[:1]:
                assert len(set(rows)) == 1, (path, changed, rows)
            assert page.fields == [], (path, page.fields)
    assert found == DECLARED.keys()


@pytest.mark.long
def test_every_list_sorts_by_each_column(alice, alice_web, samples):  # noqa: F811
    confirm(alice_web)
    Membership.objects.filter(member=alice).update(roles=list(Role))
    for path, declared in find_lists(alice_web, samples):
        keys = [column.key for column in declared.columns if column.order_by]
        for sort in (*keys, *(f"-{key}" for key in keys)):
            reply = alice_web.get(f"{path}&sort={sort}")
            assert reply.status_code == 200, (path, sort)
            says = "descending" if sort.startswith("-") else "ascending"
            shown = Tables(reply.content.decode()).sorted
            assert shown in ([says], []), (path, sort)
