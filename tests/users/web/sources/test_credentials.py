from __future__ import annotations

from datetime import date
from types import SimpleNamespace

import pytest
from django.conf import settings
from django.test import Client
from django.urls import reverse
from django.utils.html import strip_tags

from accounts.states import Role
from tests.clients import confirm
from tests.factories.accounts import ACTOR, make_member
from tests.factories.sources import FakeSource
from tests.factories.users import make_user
from tests.users.holdings import stored_rows
from users.gateways.applications import ClientCredentials, CredentialField
from users.gateways.base import (
    CallLimit,
    SourceTerms,
)
from users.models import SourceCredentials
from users.operations.sources.credentials import save_source_credentials
from users.operations.sources.sources import connect_source
from users.states.terms import Permission, SourceUse

pytestmark = pytest.mark.django_db
ENTERED = {"client_id": "team-id", "client_secret": "team-secret"}


@pytest.fixture(autouse=True)
def sources(monkeypatch):
    """Fitbit with an application of the installation, Polar without."""
    fitbit, polar = FakeSource("fitbit"), FakeSource("polar")
    polar.credentials = ClientCredentials("", "")
    gateways = {"fitbit": fitbit, "polar": polar}
    monkeypatch.setattr("users.gateways.sources.SOURCE_GATEWAYS", gateways)
    return gateways


@pytest.fixture
def owner(alice_web):
    confirm(alice_web)
    return alice_web


def url(tenant, name, provider=""):
    named = {"provider": provider} if provider else {}
    place = {"team_slug": tenant.team.slug, "environment": tenant.environment}
    return reverse(f"users:{name}", kwargs={**place, **named})


def listed(client, tenant):
    page = client.get(url(tenant, "source_settings"))
    return [(row.provider.slug, row.words, row.users) for row in page.context["rows"]]


def test_a_source_s_page_says_what_its_terms_allow(owner, alice_tenant, sources):
    sources["fitbit"].terms = SourceTerms(
        url="https://fitbit.example/terms",
        checked_on=date(2026, 11, 24),
        permissions={SourceUse.TRAINING: Permission.FORBIDDEN},
        must_be_named=True,
    )

    shown = owner.get(url(alice_tenant, "source_credentials", "fitbit"))
    without = owner.get(url(alice_tenant, "source_credentials", "polar"))
    rows = owner.get(url(alice_tenant, "source_settings")).context["rows"]
    sources["fitbit"].terms = SourceTerms(
        url="https://fitbit.example/terms", checked_on=date(2026, 11, 24)
    )
    unknown = owner.get(url(alice_tenant, "source_credentials", "fitbit"))

    assert b"terms was found on 24 Nov 2026" in unknown.content
    assert b"terms was found" not in shown.content
    page = " ".join(strip_tags(shown.content.decode().replace("<", " <")).split())
    assert "Train or test AI with the data Not allowed" in page
    assert "Show the data to other people Not stated: ask the source" in page
    assert "Name the source beside its data Required" in page
    assert "checked on 24 Nov 2026" in page
    assert b'href="https://fitbit.example/terms"' in shown.content
    assert b"Terms of use" not in without.content
    assert {row.provider.slug: row.forbidden for row in rows} == {
        "fitbit": 1,
        "polar": 0,
    }


def test_sources_are_listed_with_what_connects_them(
    alice_web, alice_tenant, charlie_tenant
):
    connect_source(user=make_user(tenant=alice_tenant), actor=ACTOR, provider="fitbit")
    save_source_credentials(
        tenant=charlie_tenant, actor=ACTOR, provider="polar", **ENTERED
    )

    assert listed(alice_web, alice_tenant) == [
        ("fitbit", "Installation's credentials", 1),
        ("polar", "Not set up", 0),
    ]
    page = alice_web.get(url(alice_tenant, "source_settings")).content.decode()
    closed = strip_tags(page[page.index('id="h-closed"') :])
    for words in ("Ultrahuman", "8Sleep", "Checked on 27 Nov 2026"):
        assert words in closed


def test_credentials_are_entered_tried_and_removed(owner, alice_tenant, settings):
    settings.PUBLIC_URL = "https://assay.example"
    page = url(alice_tenant, "source_credentials", "polar")

    shown = owner.get(page)
    entered = owner.post(page, ENTERED, follow=True)
    after = listed(owner, alice_tenant)
    tried = owner.post(
        url(alice_tenant, "try_source_credentials", "polar"), follow=True
    )
    removal = url(alice_tenant, "remove_source_credentials", "polar")
    asked = owner.get(removal)
    owner.post(removal)

    assert "https://assay.example/connect/back/polar/" in shown.text
    assert "Credentials tried and saved." in entered.text
    assert "team-secret" not in entered.text
    assert after[-1] == ("polar", "Working", 0)
    assert "Polar accepts the credentials." in tried.text
    assert "Remove the credentials of Polar?" in asked.text
    assert listed(owner, alice_tenant)[-1] == ("polar", "Not set up", 0)


def test_mails_to_users_are_off_until_the_team_turns_them_on(
    alice_web, alice_tenant, charlie_tenant
):
    page = url(alice_tenant, "change_reconnect_mails")
    before = alice_tenant.source_reconnect_mails_enabled

    on = alice_web.post(page, {"is_on": "on"}, follow=True)
    alice_tenant.refresh_from_db()
    after = alice_tenant.source_reconnect_mails_enabled
    alice_web.post(page)

    alice_tenant.refresh_from_db()
    charlie_tenant.refresh_from_db()
    assert (before, after) == (False, True)
    assert 'name="is_on" checked' in on.text
    assert not alice_tenant.source_reconnect_mails_enabled
    assert not charlie_tenant.source_reconnect_mails_enabled


def test_a_rejected_secret_is_said_at_its_field_and_not_stored(owner, alice_tenant):
    before = stored_rows(alice_tenant)

    page = owner.post(
        url(alice_tenant, "source_credentials", "polar"),
        {"client_id": "team-id", "client_secret": "wrong"},
    )

    assert page.status_code == 422
    assert page.context["form"].errors == {
        "client_secret": ["Polar rejected the client ID or secret. Nothing was saved."]
    }
    assert stored_rows(alice_tenant) == before


def test_a_secret_rejected_since_is_the_first_of_the_list(owner, alice_tenant):
    save_source_credentials(
        tenant=alice_tenant, actor=ACTOR, provider="polar", **ENTERED
    )
    SourceCredentials.objects.for_tenant(alice_tenant).update(state="rejected")

    assert listed(owner, alice_tenant)[0] == ("polar", "Secret rejected", 0)


def test_what_nobody_else_has_proven_says_so(alice_web, alice_tenant, monkeypatch):
    page = url(alice_tenant, "source_settings")
    before = alice_web.get(page).text
    monkeypatch.setattr(FakeSource, "proven_by", "aiofake 1.0")
    after = alice_web.get(page).text

    assert before.count("No published client to test with") == 2
    assert after.count("Tested with aiofake 1.0") == 2


def test_who_may_not_manage_keys_changes_nothing(alice_tenant):
    viewer = Client()
    viewer.force_login(make_member(team=alice_tenant.team, roles=(Role.VIEWER,)))
    confirm(viewer)
    before = stored_rows(alice_tenant)

    page = viewer.post(url(alice_tenant, "source_credentials", "polar"), ENTERED)

    assert page.status_code == 403
    assert stored_rows(alice_tenant) == before


def test_an_unknown_source_has_no_page(owner, alice_tenant):
    page = owner.get(url(alice_tenant, "source_credentials", "zwift"))

    assert page.status_code == 404


def test_the_address_that_a_source_pushes_to_is_shown(owner, alice_tenant, monkeypatch):
    before = owner.get(url(alice_tenant, "source_credentials", "fitbit")).text
    monkeypatch.setattr(
        FakeSource, "pushes", SimpleNamespace(is_registered_by_hand=False)
    )
    page = owner.get(url(alice_tenant, "source_credentials", "fitbit"))

    shown = page.context["row"].setup.push_url
    assert "Webhook address" not in before
    assert shown.startswith(f"{settings.PUBLIC_URL}/push/fitbit/0.")
    assert f"<code>{shown}</code>" in page.text


def test_an_address_that_is_entered_by_hand_says_so(owner, alice_tenant, monkeypatch):
    limits = (
        CallLimit(20, 900, is_per_user=True),
        CallLimit(5000, 60, counts_days=True),
    )
    monkeypatch.setattr(FakeSource, "limits", limits)
    monkeypatch.setattr(FakeSource, "conditions", ("It takes companies alone.",))
    shown = {}
    for by_hand in (True, False):
        pushes = SimpleNamespace(is_registered_by_hand=by_hand)
        monkeypatch.setattr(FakeSource, "pushes", pushes)
        page = owner.get(url(alice_tenant, "source_credentials", "fitbit"))
        shown[by_hand] = page.text
    every = owner.get(url(alice_tenant, "source_settings")).text

    assert "Enter this address for your application at Fitbit" in shown[True]
    assert "Registered automatically when a user connects. Fitbit" in shown[False]
    assert "<p>It takes companies alone.</p>" in shown[False]
    assert "Limit: 20 in 15 minutes, each user" in every
    assert "Limit: 5,000 in a minute, in days of data" in every


def test_a_source_asks_for_what_else_it_needs(owner, alice_tenant, sources):
    regions = (("", "All"), ("eu", "Europe"))
    sources["polar"].credential_fields = (
        CredentialField("pass_key", "Pass key", "The primary one."),
        CredentialField("region", "Region", is_required=False, choices=regions),
    )
    page = url(alice_tenant, "source_credentials", "polar")

    asked = owner.get(page)
    without = owner.post(page, ENTERED)
    entered = owner.post(
        page, ENTERED | {"pass_key": "key-of-polar", "region": "eu"}, follow=True
    )

    shown = " ".join(strip_tags(asked.text.replace("<", " <")).split())
    assert "Pass key The primary one. Stored encrypted, never shown." in shown
    assert without.status_code == 422
    assert set(without.context["form"].errors) == {"pass_key"}
    assert "Credentials tried and saved." in entered.text
    assert "key-of-polar" not in entered.text
    assert '<option value="eu" selected>Europe</option>' in entered.text
    (stored,) = SourceCredentials.objects.for_tenant(alice_tenant)
    assert "key-of-polar" not in stored.more
