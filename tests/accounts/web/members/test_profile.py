from __future__ import annotations

from datetime import UTC, datetime
from http import HTTPStatus

import pytest
import time_machine
from django.core import mail
from django.core.cache import cache
from django.core.mail.backends.locmem import EmailBackend
from django.test import Client

from accounts.models import AuditEntry, Member
from accounts.operations.api_keys.api_keys import create_api_key
from accounts.states import Role
from tests.clients import confirm
from tests.factories.accounts import ACTOR, PASSWORD, make_member

PLACE = "/t/alice-health/sandbox"
PAGE = f"{PLACE}/profile/"
NEW_PASSWORD = "an entirely new sentence"
PROFILE = {
    "name": "Alice Harlow",
    "time_zone": "Asia/Kolkata",
    "theme": "dark",
    "shortcuts_enabled": "on",
}

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _fresh_counts():
    cache.clear()


def written():
    return (
        sorted(map(str, Member.objects.values())),
        AuditEntry.unscoped.count(),
    )


@pytest.mark.parametrize("role", list(Role))
def test_every_role_has_a_profile(client, alice_team, role):
    member = make_member(team=alice_team, roles=(role,))
    client.force_login(member)

    reply = client.post(PAGE, PROFILE)

    member.refresh_from_db()
    assert reply["Location"] == PAGE
    assert (member.name, member.time_zone, member.theme) == (
        "Alice Harlow",
        "Asia/Kolkata",
        "dark",
    )


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"name": ""}, "name"),
        ({"name": "x" * 151}, "name"),
        ({"time_zone": "Mars/Base"}, "time_zone"),
        ({"theme": "pink"}, "theme"),
    ],
)
def test_a_refused_profile_stays_in_the_form(alice_web, changes, field):
    before = written()

    reply = alice_web.post(PAGE, {**PROFILE, **changes})

    assert reply.status_code == HTTPStatus.UNPROCESSABLE_ENTITY
    assert list(reply.context["form"].errors) == [field]
    assert written() == before


def test_pages_follow_the_theme_and_the_keys_of_the_profile(alice_web):
    plain = alice_web.get(PAGE).content.decode()
    alice_web.post(PAGE, {**PROFILE, "shortcuts_enabled": ""})
    chosen = alice_web.get(PAGE).content.decode()

    assert 'data-theme="light">' in plain
    assert 'data-shortcuts="off"' not in plain
    assert 'data-theme="dark" data-chosen' in chosen
    assert 'data-shortcuts="off"' in chosen


def test_times_are_shown_in_the_team_s_zone_or_the_member_s_own(
    alice_web, alice_team, alice_tenant
):
    made_at = datetime(2026, 3, 1, 12, tzinfo=UTC)
    with time_machine.travel(made_at, tick=False):
        create_api_key(tenant=alice_tenant, actor=ACTOR, label="ci")
    alice_team.time_zone = "Europe/Lisbon"
    alice_team.save(update_fields=["time_zone"])

    with time_machine.travel(datetime(2026, 3, 9, tzinfo=UTC), tick=False):
        alice_web.force_login(Member.objects.get(email="alice@assay.example"))
        by_team = alice_web.get(f"{PLACE}/api-keys/").content.decode()
        alice_web.post(PAGE, PROFILE)
        by_member = alice_web.get(f"{PLACE}/api-keys/").content.decode()

    assert "1 Mar, 12:00 WET" in by_team
    assert "1 Mar, 17:30 IST" in by_member
    assert 'datetime="2026-03-01T12:00:00+00:00"' in by_member


def test_a_changed_password_keeps_this_session_and_ends_the_others(alice_web, alice):
    elsewhere = Client()
    elsewhere.force_login(alice)

    reply = alice_web.post(
        f"{PAGE}password/", {"current": PASSWORD, "new": NEW_PASSWORD}
    )

    alice.refresh_from_db()
    assert reply["Location"] == PAGE
    assert alice.check_password(NEW_PASSWORD)
    assert alice_web.get(PAGE).status_code == HTTPStatus.OK
    assert elsewhere.get(PAGE)["Location"].startswith("/accounts/login/")
    (message,) = mail.outbox
    assert message.to == ["alice@assay.example"]
    assert message.subject == "Your Assay password was changed"
    assert NEW_PASSWORD not in message.body


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"current": "not this one", "new": NEW_PASSWORD}, "current"),
        ({"current": PASSWORD, "new": "short"}, "new"),
        ({"new": NEW_PASSWORD}, "current"),
    ],
)
def test_a_refused_password_changes_nothing(alice_web, given, field):
    before = written()

    reply = alice_web.post(f"{PAGE}password/", given)

    assert reply.status_code == HTTPStatus.UNPROCESSABLE_ENTITY
    assert list(reply.context["password_form"].errors) == [field]
    assert NEW_PASSWORD not in reply.content.decode()
    assert written() == before
    assert mail.outbox == []


def test_the_password_can_not_be_guessed_from_a_session(alice_web):
    guess = {"current": "not this one", "new": NEW_PASSWORD}
    statuses = [alice_web.post(f"{PAGE}password/", guess).status_code for _ in range(6)]

    assert statuses == [422] * 5 + [429]


def test_a_password_is_changed_though_the_mail_is_not_taken(
    alice_web, alice, monkeypatch
):
    def refuse(*_):
        raise ConnectionRefusedError

    monkeypatch.setattr(EmailBackend, "send_messages", refuse)

    reply = alice_web.post(
        f"{PAGE}password/", {"current": PASSWORD, "new": NEW_PASSWORD}
    )

    alice.refresh_from_db()
    assert reply.status_code == HTTPStatus.FOUND
    assert alice.check_password(NEW_PASSWORD)


def test_signing_out_elsewhere_keeps_this_session(alice_web, alice):
    elsewhere = Client()
    elsewhere.force_login(alice)

    confirm(alice_web)
    reply = alice_web.post(f"{PAGE}sign-out-elsewhere/")

    assert reply["Location"] == PAGE
    assert alice_web.get(PAGE).status_code == HTTPStatus.OK
    assert elsewhere.get(PAGE)["Location"].startswith("/accounts/login/")


def test_the_zone_that_is_chosen_is_marked_in_the_list(alice_web):
    alice_web.post(PAGE, PROFILE)

    page = alice_web.get(PAGE).content.decode()

    assert page.count(" selected>") == 2  # and of languages, that of the browser
    assert '<option value="Asia/Kolkata" selected>Asia/Kolkata</option>' in page
    assert '<option value="">Team default: UTC</option>' in page
