from __future__ import annotations

from django.urls import reverse

from accounts.declarations.pages import (
    NavGroup,
    list_destinations,
    list_nav_links,
    list_searches,
)
from accounts.states import Area

PLACE = {"team_slug": "a", "environment": "sandbox"}


def test_links_and_destinations_are_in_order_and_open_a_page_of_the_team():
    links, pages = list_nav_links(), list_destinations()

    assert [(link.section, link.group) for link in links] == [
        ("home", NavGroup.START),
        ("users", NavGroup.START),
        ("orders", NavGroup.LABS),
        ("approvals", NavGroup.LABS),
        ("visits", NavGroup.LABS),
        ("critical", NavGroup.LABS),
        ("unmatched", NavGroup.LABS),
        ("documents", NavGroup.LABS),
        ("reports", NavGroup.LABS),
        ("reviews", NavGroup.LABS),
        ("lab_accounts", NavGroup.LABS),
        ("lab_tests", NavGroup.LABS),
        ("courier", NavGroup.LABS),
        ("webhooks", NavGroup.DEVELOPERS),
        ("api_keys", NavGroup.DEVELOPERS),
        ("api_log", NavGroup.DEVELOPERS),
        ("assistants", NavGroup.DEVELOPERS),
        ("source_settings", NavGroup.DEVELOPERS),
        ("members", NavGroup.TEAM),
        ("settings", NavGroup.TEAM),
        ("go_live", NavGroup.TEAM),
        ("audit", NavGroup.TEAM),
    ]
    ranks = [page.rank for page in pages]
    assert ranks == sorted(set(ranks))
    for page in (*links, *pages):
        assert reverse(page.path_name, kwargs=PLACE).startswith("/t/a/sandbox/")


def test_each_kind_of_record_is_searched_once_in_this_order():
    assert [(search.key, search.area) for search in list_searches()] == [
        ("users", Area.USERS),
        ("orders", Area.ORDERS),
        ("reports", Area.REPORTS),
        ("catalogue", Area.CATALOGUE),
        ("webhooks", Area.WEBHOOKS),
        ("docs", None),
    ]
