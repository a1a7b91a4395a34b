from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from http import HTTPStatus

import pytest
import time_machine
from django.test import Client
from django.utils import timezone

from accounts.models import ApiKey, AuditEntry
from accounts.operations.api_keys.api_keys import (
    OVERLAPS,
    KeyRules,
    create_api_key,
    find_api_key_grant,
    get_api_key_rules,
    revoke_api_key,
    rotate_api_key,
)
from accounts.queries import list_api_keys
from accounts.states import Role
from accounts.web.api_keys.views import build_api_key_row
from tests.clients import confirm
from tests.factories.accounts import ACTOR, make_member

SANDBOX = "/t/alice-health/sandbox/api-keys/"
PRODUCTION = "/t/alice-health/production/api-keys/"
A_DAY = str(24 * 3600)
ASKED = {"label": "ci", "reach": "all"}

pytestmark = pytest.mark.django_db


@pytest.fixture
def alice_web(alice_web):
    confirm(alice_web)
    return alice_web


@pytest.fixture
def key(alice_tenant):
    return create_api_key(tenant=alice_tenant, actor=ACTOR, label="Data warehouse")


def written():
    keys = sorted(
        map(str, ApiKey.unscoped.values("id", "revoked_at", "expires_at", "digest"))
    )
    return keys, AuditEntry.unscoped.count()


def client_with(team, *roles):
    client = Client()
    client.force_login(make_member(team=team, roles=roles))
    confirm(client)
    return client


def test_a_new_key_is_shown_once(alice_web):
    reply = alice_web.post(f"{SANDBOX}create/", {**ASKED, "label": "Data warehouse"})

    text = reply.context["text"]
    assert reply.status_code == HTTPStatus.OK
    assert "no-store" in reply["Cache-Control"]
    assert text in reply.content.decode()
    assert find_api_key_grant(text).tenant.environment == "sandbox"
    again = alice_web.get(SANDBOX).content.decode()
    assert text not in again
    assert ApiKey.unscoped.get().masked in again


def test_a_key_belongs_to_the_environment_it_is_made_in(alice_web):
    reply = alice_web.post(f"{PRODUCTION}create/", {**ASKED, "label": "Backend"})

    assert find_api_key_grant(reply.context["text"]).tenant.environment == "production"
    assert "Backend" not in alice_web.get(SANDBOX).content.decode()


def test_in_the_dialog_the_page_behind_shows_the_key(alice_web):
    reply = alice_web.post(f"{SANDBOX}create/", ASKED, headers={"HX-Request": "true"})

    assert (reply["HX-Retarget"], reply["HX-Push-Url"]) == ("#content", SANDBOX)
    assert reply.context["text"] in reply.content.decode()


@pytest.mark.parametrize("label", ["", "  ", "x" * 81])
def test_a_refused_key_stays_in_the_form(alice_web, label):
    before = written()

    reply = alice_web.post(f"{SANDBOX}create/", {**ASKED, "label": label})

    assert reply.status_code == HTTPStatus.UNPROCESSABLE_ENTITY
    assert list(reply.context["form"].errors) == ["label"]
    assert written() == before


def test_a_form_sent_twice_makes_one_key(alice_web):
    alice_web.post(f"{SANDBOX}create/", ASKED)
    before = written()

    reply = alice_web.post(f"{SANDBOX}create/", ASKED)

    assert reply.status_code == HTTPStatus.UNPROCESSABLE_ENTITY
    assert list(reply.context["form"].errors) == ["label"]
    assert written() == before


def test_a_scope_there_is_not_is_refused_where_it_is_chosen(alice_web):
    before = written()

    reply = alice_web.post(
        f"{SANDBOX}create/", {**ASKED, "reach": "some", "scopes": ["no:scope"]}
    )

    assert reply.status_code == HTTPStatus.UNPROCESSABLE_ENTITY
    assert 'id="id_scopes_error"' in reply.content.decode()
    assert written() == before


@pytest.mark.parametrize(
    ("role", "sandbox", "production"),
    [
        (Role.OWNER, 200, 200),
        (Role.ADMIN, 200, 200),
        (Role.DEVELOPER, 200, 403),
        (Role.CLINICIAN, 403, 403),
        (Role.LAB_STAFF, 403, 403),
        (Role.VIEWER, 403, 403),
    ],
)
def test_developers_have_keys_of_the_sandbox_alone(
    alice_team, role, sandbox, production
):
    client = client_with(alice_team, role)

    for place, status in ((SANDBOX, sandbox), (PRODUCTION, production)):
        before = written()
        assert client.get(place).status_code == status
        assert client.post(f"{place}create/", ASKED).status_code == status
        assert (written() == before) is (status == 403)


@pytest.mark.parametrize("page", ["rotate", "revoke"])
def test_who_may_not_make_keys_ends_none(alice_team, key, page):
    client = client_with(alice_team, Role.VIEWER)
    before = written()

    reply = client.post(
        f"{SANDBOX}{key[0].pk}/{page}/",
        {"overlap": A_DAY, "typed_name": "Data warehouse"},
    )

    assert reply.status_code == HTTPStatus.FORBIDDEN
    assert written() == before


def test_rotating_shows_the_new_key_and_counts_the_old_one_down(alice_web, key):
    old, old_text = key
    start = timezone.now()

    with time_machine.travel(start, tick=False) as clock:
        reply = alice_web.post(f"{SANDBOX}{old.pk}/rotate/", {"overlap": A_DAY})
        clock.shift(timedelta(minutes=90))
        page = alice_web.get(SANDBOX)

    text = reply.context["text"]
    assert find_api_key_grant(text).actor.label == "Data warehouse"
    assert find_api_key_grant(old_text).expires_at == start + timedelta(days=1)
    assert [row.ends_in for row in page.context["live"]] == ["", "22 h 30 min"]


@pytest.mark.parametrize("overlap", ["", "5", "forever"])
def test_an_overlap_that_is_not_offered_is_refused(alice_web, key, overlap):
    before = written()

    reply = alice_web.post(f"{SANDBOX}{key[0].pk}/rotate/", {"overlap": overlap})

    assert reply.status_code == HTTPStatus.UNPROCESSABLE_ENTITY
    assert written() == before


def test_a_key_that_was_rotated_is_not_rotated_again(alice_web, key):
    rotate_api_key(key=key[0], actor=ACTOR, overlap=OVERLAPS[1])
    before = written()

    reply = alice_web.post(f"{SANDBOX}{key[0].pk}/rotate/", {"overlap": A_DAY})

    assert reply.status_code == HTTPStatus.UNPROCESSABLE_ENTITY
    assert written() == before


def test_a_key_is_revoked_by_typing_its_name(alice_web, key):
    row, text = key

    reply = alice_web.post(
        f"{SANDBOX}{row.pk}/revoke/", {"typed_name": "Data warehouse"}
    )

    assert (reply.status_code, reply["Location"]) == (HTTPStatus.FOUND, SANDBOX)
    assert find_api_key_grant(text) is None


@pytest.mark.parametrize("typed", ["", "data warehouse"])
def test_a_wrong_name_revokes_nothing(alice_web, key, typed):
    before = written()

    reply = alice_web.post(f"{SANDBOX}{key[0].pk}/revoke/", {"typed_name": typed})

    assert reply.status_code == HTTPStatus.UNPROCESSABLE_ENTITY
    assert written() == before


def test_the_old_key_of_a_rotation_is_ended_early_without_typing(alice_web, key):
    old, old_text = key
    _, text = rotate_api_key(key=old, actor=ACTOR, overlap=OVERLAPS[-1])

    alice_web.post(f"{SANDBOX}{old.pk}/revoke/")

    assert find_api_key_grant(old_text) is None
    assert find_api_key_grant(text) is not None


def test_revoking_twice_says_so(alice_web, key):
    revoke_api_key(key=key[0], actor=ACTOR)
    before = written()

    reply = alice_web.post(
        f"{SANDBOX}{key[0].pk}/revoke/", {"typed_name": "Data warehouse"}, follow=True
    )

    assert "already revoked" in reply.content.decode()
    assert written() == before


@pytest.mark.parametrize("key_id", ["nothing", "00000000-0000-0000-0000-000000000000"])
def test_an_unknown_key_is_not_found(alice_web, alice_team, key_id):
    assert alice_web.get(f"{SANDBOX}{key_id}/revoke/").status_code == 404


@pytest.mark.parametrize(
    ("used_days_ago", "is_unused"), [(None, True), (89, False), (90, True)]
)
def test_a_key_unused_for_ninety_days_is_flagged(
    alice_tenant, used_days_ago, is_unused
):
    now = timezone.now()
    with time_machine.travel(now - timedelta(days=200), tick=False):
        key, _ = create_api_key(tenant=alice_tenant, actor=ACTOR, label="old")
    if used_days_ago is not None:
        key.last_used_at = now - timedelta(days=used_days_ago)

    assert build_api_key_row(key, now).is_unused is is_unused


def test_a_new_key_that_nobody_has_used_is_not_flagged(key):
    assert build_api_key_row(key[0], timezone.now()).is_unused is False


def test_what_is_left_is_said_in_two_units_of_a_rotated_or_a_short_key(key):
    now = timezone.now()
    own, _ = key
    own.created_at = now - timedelta(days=100)
    fields = {}
    for left in (
        timedelta(days=14, seconds=1),
        timedelta(days=6, hours=23, minutes=59),
        timedelta(hours=3, minutes=5),
        timedelta(seconds=59),
    ):
        own.expires_at = now + left
        row = build_api_key_row(own, now)
        assert (row.ends_in, row.is_live) == ("", True)
        fields[left] = row.expires_in
    own.created_at = now
    own.expires_at = now + timedelta(days=7)
    at_first = build_api_key_row(own, now).expires_in
    halfway = build_api_key_row(own, now + timedelta(days=3, hours=12)).expires_in
    rotated, _ = key
    rotate_api_key(key=rotated, actor=ACTOR, overlap=OVERLAPS[1])
    rotated = list_api_keys(rotated.tenant).get(pk=rotated.pk)
    ending = build_api_key_row(rotated, now)

    assert list(fields.values()) == ["", "6 d 23 h", "3 h 5 min", "0 min"]
    assert (at_first, halfway) == ("", "3 d 12 h")
    assert (ending.expires_in, ending.ends_in) == ("", "1 d 0 h")


def test_ended_keys_are_kept_apart(alice_web, key, alice_tenant):
    revoke_api_key(key=key[0], actor=ACTOR)
    other, _ = create_api_key(tenant=alice_tenant, actor=ACTOR, label="ci")
    rotate_api_key(key=other, actor=ACTOR, overlap=OVERLAPS[0])

    page = alice_web.get(SANDBOX)

    assert [row.key.label for row in page.context["live"]] == ["ci"]
    assert {row.key.label for row in page.context["ended"]} == {"ci", "Data warehouse"}


def test_a_key_is_made_and_changed_with_rules(alice_web, alice_tenant):
    fields = {
        "label": "Report upload",
        "reach": "some",
        "scopes": ["reports:write", "users:read"],
        "networks": "198.51.100.0/24\n2001:db8::/32, 192.0.2.7",
        "calls_per_minute": "600",
        "lasting": "30",
    }
    made_at = timezone.now()
    with time_machine.travel(made_at, tick=False):
        alice_web.post(f"{SANDBOX}create/", fields)
    key = ApiKey.unscoped.get()
    rules = get_api_key_rules(key)

    form = alice_web.get(f"{SANDBOX}{key.pk}/change/").context["form"]
    kept = {name: form[name].value() for name in form.fields}
    changed = alice_web.post(
        f"{SANDBOX}{key.pk}/change/", {**kept, "scopes": ["users:read"]}
    )
    page = alice_web.get(f"{SANDBOX}{key.pk}/")

    assert rules == KeyRules(
        scopes=frozenset({"reports:write", "users:read"}),
        networks=("198.51.100.0/24", "2001:db8::/32", "192.0.2.7/32"),
        calls_per_minute=600,
        expires_at=made_at + timedelta(days=30),
    )
    key.refresh_from_db()
    assert get_api_key_rules(key) == replace(rules, scopes=frozenset({"users:read"}))
    assert changed["Location"] == f"{SANDBOX}{key.pk}/"
    assert page.context["scopes"] == [("Users and wearable data", "read")]


@pytest.mark.parametrize(
    ("wrong", "field"),
    [
        ({"reach": "some"}, "reach"),
        ({"reach": "some", "scopes": "everything:write"}, "scopes"),
        ({"networks": "10.0.0.1/24"}, "networks"),
        ({"calls_per_minute": "0"}, "calls_per_minute"),
        ({"lasting": "36500"}, "lasting"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_rules_that_mean_nothing_stay_in_the_form(alice_web, key, wrong, field):
    before = written()

    made = alice_web.post(f"{SANDBOX}create/", {**ASKED, **wrong})
    changed = alice_web.post(f"{SANDBOX}{key[0].pk}/change/", {**ASKED, **wrong})

    for reply in (made, changed):
        assert reply.status_code == HTTPStatus.UNPROCESSABLE_ENTITY
        assert list(reply.context["form"].errors) == [field]
    assert written() == before
    assert get_api_key_rules(ApiKey.unscoped.get()) == KeyRules()


@pytest.mark.parametrize("page", ["create", "{key}/change", "{key}/rotate"])
def test_who_has_not_confirmed_lately_makes_changes_and_rotates_none(alice, key, page):
    client = Client()
    client.force_login(alice)
    before = written()

    reply = client.post(
        f"{SANDBOX}{page.format(key=key[0].pk)}/", {**ASKED, "overlap": A_DAY}
    )

    assert (reply.status_code, reply["Location"].partition("?")[0]) == (
        HTTPStatus.FOUND,
        "/accounts/confirm/",
    )
    assert written() == before
