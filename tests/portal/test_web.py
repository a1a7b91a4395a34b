from __future__ import annotations

import json

import pytest
from django.http import HttpResponse
from django.test import RequestFactory
from django_htmx.middleware import HtmxDetails

from portal.lib.web.views import (
    Pager,
    PageStep,
    Toast,
    is_page_fragment_requested,
    redirect_browser,
)


def request_with(**headers):
    request = RequestFactory().get("/", headers=headers)
    request.htmx = HtmxDetails(request)
    return request


@pytest.mark.parametrize(
    ("headers", "fragment"),
    [
        ({}, False),
        ({"HX-Request": "true"}, True),
        ({"HX-Request": "true", "HX-Boosted": "true"}, False),
        ({"HX-Request": "true", "HX-History-Restore-Request": "true"}, False),
    ],
)
def test_only_a_plain_htmx_request_gets_a_fragment(headers, fragment):
    assert is_page_fragment_requested(request_with(**headers)) is fragment


def test_after_a_change_a_browser_is_redirected():
    response = redirect_browser(request_with(), "/next/")

    assert (response.status_code, response["Location"]) == (302, "/next/")


def test_after_a_change_htmx_is_told_where_to_go():
    response = redirect_browser(request_with(**{"HX-Request": "true"}), "/next/")

    assert (response.status_code, response["HX-Redirect"]) == (204, "/next/")


def test_a_toast_travels_in_a_header():
    response = Toast("Saved", "New data uses it.").on(HttpResponse())

    assert json.loads(response["HX-Trigger"]) == {
        "toast": {"title": "Saved", "text": "New data uses it.", "kind": "ok"}
    }


def test_a_pager_in_the_middle():
    pager = Pager(total=2418, offset=100, limit=50)

    assert (pager.first, pager.last, pager.previous, pager.next) == (101, 150, 50, 150)
    assert pager.steps == [
        PageStep(1, 0, False),
        PageStep(2, 50, False),
        PageStep(3, 100, True),
        PageStep(4, 150, False),
        None,
        PageStep(49, 2400, False),
    ]


@pytest.mark.parametrize(
    ("total", "offset", "expected"),
    [
        (0, 0, (0, 0, None, None)),
        (50, 0, (1, 50, None, None)),
        (51, 0, (1, 50, None, 50)),
        (51, 50, (51, 51, 0, None)),
        (51, 10, (11, 51, 0, None)),
        (10, 500, (0, 10, 450, None)),
    ],
)
def test_a_pager_at_its_ends(total, offset, expected):
    pager = Pager(total=total, offset=offset, limit=50)

    assert (pager.first, pager.last, pager.previous, pager.next) == expected
