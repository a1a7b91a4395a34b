"""The pages of all apps are found without an app naming them anywhere else."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module

from django.conf import settings
from django.urls import reverse

from accounts.states import Area
from portal.ui.contributions import (
    NavGroup,
    list_destinations,
    list_nav_links,
    list_page_contributions,
    list_searches,
)

PLACE = {"team_slug": "a", "environment": "sandbox"}
SETUP = "import sys, django; django.setup(); print(*sys.modules, sep='\\n')"


def test_the_pages_of_every_app_are_found():
    declared = [import_module(f"{app}.pages").PAGES for app in reversed(settings.APPS)]

    assert list_page_contributions() == tuple(declared)


def test_links_and_destinations_are_in_order_and_open_a_page_of_the_team():
    links, pages = list_nav_links(), list_destinations()

    assert [(link.section, link.group) for link in links] == [
        ("home", NavGroup.START),
        ("users", NavGroup.START),
        ("orders", NavGroup.LABS),
        ("visits", NavGroup.LABS),
        ("critical", NavGroup.LABS),
        ("unmatched", NavGroup.LABS),
        ("reports", NavGroup.LABS),
        ("reviews", NavGroup.LABS),
        ("lab_accounts", NavGroup.LABS),
        ("lab_tests", NavGroup.LABS),
        ("webhooks", NavGroup.DEVELOPERS),
        ("api_keys", NavGroup.DEVELOPERS),
        ("members", NavGroup.TEAM),
        ("settings", NavGroup.TEAM),
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
        ("webhooks", Area.WEBHOOKS),
    ]


def test_a_process_that_shows_no_page_loads_no_pages():
    started = subprocess.run(
        [sys.executable, "-c", SETUP],
        cwd=settings.BASE_DIR,
        env={"DJANGO_SETTINGS_MODULE": "portal.settings", "SECRET_KEY": "x" * 50},
        capture_output=True,
        check=True,
        text=True,
    )

    modules = set(started.stdout.split())
    assert "users.models" in modules
    assert modules & {f"{app}.pages" for app in settings.APPS} == set()
