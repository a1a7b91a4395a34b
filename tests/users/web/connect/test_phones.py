"""Phones on the connect page and on the user page."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

import pytest
from django.test import Client
from django.urls import reverse

from tests.factories.accounts import ACTOR
from tests.factories.phones import make_phone, send, store_all
from tests.factories.users import make_user
from tests.users.holdings import stored_rows
from users.models import PairingCode, Phone, PhoneUpload
from users.operations.connect.link_sessions import (
    LinkRequest,
    build_connect_link_url,
    create_connect_link,
)
from users.queries.phones import list_phone_health

pytestmark = pytest.mark.django_db
NOW = datetime(2026, 3, 9, 12, tzinfo=UTC)


@pytest.fixture(autouse=True)
def _now(time_machine):
    time_machine.move_to(NOW, tick=False)


@pytest.fixture
def user(alice_tenant):
    return make_user(tenant=alice_tenant)


def open_link(user, **request):
    """A browser on the user's link, and the address of its phones."""
    session = create_connect_link(
        user=user, actor=ACTOR, request=LinkRequest(**request)
    )
    browser = Client()
    browser.get(build_connect_link_url(session).removeprefix("http://testserver"))
    return browser, reverse("connect:phone", args=[session.uuid]), session


def test_a_person_pairs_an_app_by_code_and_disconnects_it(alice_tenant, user):
    browser, here, session = open_link(user)
    page = browser.get(reverse("connect:page", args=[session.uuid]))
    assert here in page.content.decode()
    steps = browser.get(f"{here}?app=open_wearables").content.decode()
    assert not PairingCode.objects.for_tenant(alice_tenant).exists()
    assert "What is shared" in steps

    shown = browser.post(here, {"app": "open_wearables"}).content.decode()

    code = "".join(re.search(r"([A-Z2-9]{4})–([A-Z2-9]{4})", shown).groups())
    row = PairingCode.objects.for_tenant(alice_tenant).get()
    progress = reverse("connect:pairing", args=[session.uuid, row.uuid])
    assert f'hx-get="{progress}"' in shown
    assert "hx-get" in browser.get(progress).content.decode()
    assert (
        send("/phone/pair", {"code": code, "device_name": "Pixel 9"}).status_code == 200
    )
    done = browser.get(progress).content.decode()
    assert "Your phone is connected" in done
    assert "hx-get" not in done
    listed = browser.get(here).content.decode()
    phone = Phone.objects.for_tenant(alice_tenant).get()
    assert "Pixel 9" in listed
    end = reverse("connect:disconnect_phone", args=[session.uuid, phone.uuid])
    assert browser.get(end).status_code == 405
    assert browser.post(end).status_code == 302
    phone.refresh_from_db()
    assert phone.revoked_at == NOW
    assert browser.post(end).status_code == 404
    assert "Pixel 9" not in browser.get(here).content.decode()


def test_health_auto_export_gets_a_token_that_is_shown_once(alice_tenant, user):
    browser, here, _session = open_link(user)

    shown = browser.post(here, {"app": "health_auto_export"}).content.decode()

    token = re.search(r'<p class="mono connect__word">([\w-]{43})</p>', shown)[1]
    assert token not in browser.get(f"{here}?app=health_auto_export").content.decode()
    body = {"data": {"metrics": []}}
    assert send("/phone/health-auto-export", body, token).status_code == 202
    assert not PairingCode.objects.for_tenant(alice_tenant).exists()


def test_a_link_reaches_its_own_users_phones_alone(alice_tenant, user):
    other, _tokens = make_phone(make_user(tenant=alice_tenant))
    browser, here, session = open_link(user)
    before = stored_rows(alice_tenant)

    end = reverse("connect:disconnect_phone", args=[session.uuid, other.uuid])
    assert browser.post(end).status_code == 404
    assert Client().post(here, {"app": "open_wearables"}).status_code == 404
    assert Client().post(end).status_code == 404

    assert stored_rows(alice_tenant) == before


def test_a_link_for_another_source_leads_to_no_phone(user):
    browser, here, session = open_link(user, filter_on_providers=("oura",))

    page = browser.get(reverse("connect:page", args=[session.uuid]))

    assert here not in page.content.decode()


def test_the_user_page_shows_how_phones_are_and_disconnects_them(
    alice_web, alice_tenant, user, time_machine
):
    phone, tokens = make_phone(user)
    other, _tokens = make_phone(user)
    path = f"/api/v1/sdk/users/{user.uuid}"
    batch = {"provider": "apple", "data": {"records": [7]}}
    assert send(f"{path}/sync", batch, tokens.access).status_code == 202
    store_all(user)
    event = {
        "eventType": "historical_data_type_sync_end",
        "dataType": "sleep",
        "success": False,
    }
    send(f"{path}/logs", {"sdkVersion": "1", "events": [event]}, tokens.access)
    Phone.objects.for_tenant(alice_tenant).update(token_expires_at=None)
    time_machine.shift(timedelta(days=5))
    batch["data"]["records"] = []
    send(f"{path}/sync", batch, tokens.access)

    first, second = list_phone_health(user=user)

    assert [first.phone, second.phone] in ([phone, other], [other, phone])
    mine = first if first.phone == phone else second
    assert (mine.records, mine.refused, mine.waiting, mine.missing) == (
        1,
        1,
        1,
        ("sleep",),
    )
    assert mine.gaps == ((NOW, NOW + timedelta(days=5)),)
    assert (mine.is_silent, first.is_silent or second.is_silent) == (False, True)
    page = alice_web.get(f"/t/alice-health/sandbox/users/{user.uuid}/")
    assert "permission may be missing: sleep" in page.content.decode()
    end = f"/t/alice-health/sandbox/users/{user.uuid}/phones/{phone.uuid}/disconnect/"
    assert alice_web.post(end).status_code == 302
    assert alice_web.post(end).status_code == 404
    phone.refresh_from_db()
    assert phone.revoked_at is not None
    assert send(f"{path}/sync", batch, tokens.access).status_code == 401
    assert PhoneUpload.objects.for_tenant(alice_tenant).count() == 2
