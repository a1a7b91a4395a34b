"""Every page of the dashboard in every look: no violation, one heading, no overflow.

The pages come from the URL conf and their ids from the stranger sweep's samples, so a
new page is checked by existing and an id without a sample fails.
"""

from __future__ import annotations

import pytest
from django.test import Client

from tests.architecture.test_strangers import (  # noqa: F401 - samples is a fixture
    PAGES,
    fill,
    patterns,
    samples,
)
from tests.browser.conftest import complaints_in_every_look

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

# Pages outside a team that are not ours to draw, and why.
NOT_DRAWN = ("admin/", "api/", "logos/", "healthz", "readyz", "v1/", "v2/", "v3/")
OUTSIDE = [
    route
    for route, _ in patterns()
    if "<" not in route and not route.startswith((*NOT_DRAWN, "lab_report/"))
]


def pages_that_are_shown(member, paths):
    """Those that answer a GET with a page: not a redirect, not a form's target."""
    client = Client()
    client.force_login(member)
    statuses = {path: client.get(path).status_code for path in paths}
    assert set(statuses.values()) <= {200, 302, 405}, statuses
    return [path for path, status in statuses.items() if status == 200]


def test_every_page_is_sound_in_every_look(visit, alice, samples):  # noqa: F811
    alice.is_staff = True
    alice.save(update_fields=["is_staff"])
    paths = [fill(route, samples) for route in (*OUTSIDE, *PAGES)]
    shown = pages_that_are_shown(alice, paths)
    assert len(shown) >= 15
    seen: set[str] = set()
    found = {}

    with visit.page(member=alice) as page:
        for path in shown:
            page.goto(path)
            found[path] = complaints_in_every_look(page)
            headings = page.locator("h1").count()
            found[path] += [f"{headings} main headings"] * (headings != 1)
            for name in page.eval_on_selector_all(
                "dialog[id]", "all => all.map(d => d.id)"
            ):
                if name not in seen:
                    seen.add(name)
                    page.evaluate(
                        "name => document.getElementById(name).showModal()", name
                    )
                    found[f"{path} #{name}"] = complaints_in_every_look(page)
                    page.evaluate("name => document.getElementById(name).close()", name)

    assert {path: faults for path, faults in found.items() if faults} == {}
