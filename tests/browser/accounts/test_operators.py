"""The operators' admin in a real browser: a library's pages under our policy."""

from __future__ import annotations

import time

import pytest
from allauth.account.internal.flows.login import (
    _AUTHENTICATION_METHODS_USER_SESSION_KEY as OF_MEMBER,
)
from allauth.account.internal.flows.login import (
    AUTHENTICATION_METHODS_SESSION_KEY as FACTORS,
)
from allauth.mfa.totp.internal.auth import TOTP, generate_totp_secret
from axe_playwright_python.sync_playwright import Axe
from django.test import Client

from portal.models import IsolationRun
from tests.browser.conftest import PHONE, WIDE
from tests.factories.users import make_user

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

# The library's script gives all areas that scroll one name.
RULES = {"rules": {"landmark-unique": {"enabled": False}}}


@pytest.fixture
def office(alice):
    """An operator who has given the second factor."""
    alice.is_staff = True
    alice.save(update_fields=["is_staff"])
    TOTP.activate(alice, generate_totp_secret())
    client = Client()
    client.force_login(alice)
    session = client.session
    session[FACTORS] = [{"method": "mfa", "at": time.time(), "type": "totp"}]
    session[OF_MEMBER] = str(alice.pk)
    session.save()
    return client


@pytest.mark.parametrize(
    ("theme", "size"), [("light", WIDE), ("dark", PHONE)], ids=["light", "dark phone"]
)
def test_the_index_a_list_and_an_object_are_sound(
    visit, office, alice_team, alice_tenant, theme, size
):
    user = make_user(tenant=alice_tenant)
    IsolationRun.objects.create(
        seconds=30.5,
        commit="0" * 40,
        team=alice_team.slug,
        environment="sandbox",
        methods=["get", "post"],
        endpoints=2,
        callers=12,
        refusals={"pages": 23},
        open=[["viewer", "get", "t/<slug:team_slug>/orders/", 200]],
        skipped=["users/<str:user_id>/"],
        tables=29,
        rows=1000,
    )
    with visit.page(client=office, theme=theme, size=size) as page:
        for path in (
            "",
            "accounts/team/",
            f"accounts/team/{alice_team.pk}/change/",
            f"users/user/{user.pk}/change/",
            "providers/",
            "doctor/",
            "isolation/",
            "lake/",
        ):
            page.goto(f"/admin/{path}")

            found = Axe().run(page, options=RULES)
            assert [v["id"] for v in found.response["violations"]] == [], (
                found.generate_report()
            )
