"""Pairing codes: one use, five tries, ten minutes, and no races."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from threading import Barrier

import pytest
from django.db import connections

from tests.audit import audited
from tests.factories.phones import make_code, send
from tests.factories.users import make_user
from tests.users.holdings import stored_rows
from users.models import PairingCode, Phone
from users.operations.phones.pairing import ALPHABET, delete_old_pairing_codes

NOW = datetime(2026, 3, 9, 12, tzinfo=UTC)
PAIR = "/phone/pair"


@pytest.fixture(autouse=True)
def _now(time_machine):
    time_machine.move_to(NOW, tick=False)


@pytest.mark.django_db
def test_a_key_makes_a_code_that_pairs_one_phone(alice_api, alice_tenant, settings):
    settings.PUBLIC_URL = "https://assay.example"
    user = make_user(tenant=alice_tenant)
    path = f"/v2/link/code/create?user_id={user.uuid}"

    old = alice_api.post(path, {}).json()["code"]
    reply = alice_api.post(path, {})

    assert reply.status_code == 200
    told = reply.json()
    code = told.pop("code")
    assert told == {
        "exchange_url": "https://assay.example/phone/pair",
        "expires_at": "2026-03-09T12:10:00+00:00",
    }
    assert len(code) == 8
    assert set(code) <= set(ALPHABET)
    assert not set(ALPHABET) & set("01OILU")
    row = PairingCode.objects.for_tenant(alice_tenant).get(
        used_at=None, expires_at__gt=NOW
    )
    assert code not in (row.code_hash, row.prefix)
    assert send(PAIR, {"code": old}).status_code == 404  # the new one ended it
    paired = send(
        PAIR,
        {
            "code": f" {code[:4].lower()}-{code[4:]}",
            "app": "other",
            "device_name": "Pixel",
        },
    )
    assert paired.status_code == 200
    assert paired.json()["user_id"] == str(user.uuid)
    phone = Phone.objects.for_tenant(alice_tenant).get()
    assert (str(phone.uuid), phone.name) == (paired.json()["phone_id"], "Pixel")
    token = paired.json()["access_token"]
    assert token not in (phone.token_hash, phone.refresh_hash)
    assert send(PAIR, {"code": code}).status_code == 404
    assert Phone.objects.for_tenant(alice_tenant).count() == 1
    assert [verb for verb, *_ in audited(alice_tenant)][-2:] == [
        "create_pairing_code",
        "pair_phone",
    ]


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("query", "status"),
    [
        ("user_id=7", 422),
        ("", 422),
        ("user_id=00000000-0000-4000-8000-000000000000", 404),
        ("user_id={user}&expires_at=2026-03-09T13:00:01Z", 400),
        ("user_id={user}&expires_at=2026-03-09T11:00:00Z", 400),
        ("user_id={user}&expires_at=2026-03-09", 400),
    ],
)
def test_a_code_is_not_made_for_nobody_or_for_long(
    alice_api, alice_tenant, query, status
):
    user = make_user(tenant=alice_tenant)
    before = stored_rows(alice_tenant)

    reply = alice_api.post(f"/v2/link/code/create?{query.format(user=user.uuid)}", {})

    assert reply.status_code == status
    assert stored_rows(alice_tenant) == before


@pytest.mark.django_db
def test_five_wrong_tries_end_a_code(alice_tenant):
    user = make_user(tenant=alice_tenant)
    code = make_code(user)
    wrong = code[:-1] + ("A" if code[-1] != "A" else "B")

    for _each in range(4):
        assert send(PAIR, {"code": wrong}).status_code == 404
    row = PairingCode.objects.for_tenant(alice_tenant).get()
    assert row.tries == 4
    assert send(PAIR, {"code": wrong}).status_code == 404

    assert send(PAIR, {"code": code}).status_code == 404
    assert not Phone.objects.for_tenant(alice_tenant).exists()


@pytest.mark.django_db
def test_a_code_ends_after_ten_minutes_and_is_deleted_after_a_day(
    alice_tenant, time_machine
):
    user = make_user(tenant=alice_tenant)
    code = make_code(user)
    time_machine.shift(600)

    assert send(PAIR, {"code": code}).status_code == 404
    assert not Phone.objects.for_tenant(alice_tenant).exists()
    assert delete_old_pairing_codes() == 0
    time_machine.shift(24 * 3600 + 1)
    assert delete_old_pairing_codes() == 1


@pytest.mark.django_db
def test_an_address_tries_twenty_times_a_minute(alice_tenant):
    code = make_code(make_user(tenant=alice_tenant))
    for _each in range(20):
        send(PAIR, {"code": "AAAAAAAA"})

    reply = send(PAIR, {"code": code})

    assert (reply.status_code, reply["Retry-After"]) == (503, "60")
    assert not Phone.objects.for_tenant(alice_tenant).exists()


@pytest.mark.django_db(transaction=True)
def test_of_many_who_send_a_code_at_once_one_is_paired(alice_tenant):
    code = make_code(make_user(tenant=alice_tenant))
    start = Barrier(4)

    def pair(_number):
        start.wait()
        try:
            return send(PAIR, {"code": code}).status_code
        finally:
            connections.close_all()

    with ThreadPoolExecutor(4) as pool:
        statuses = sorted(pool.map(pair, range(4)))

    assert statuses == [200, 404, 404, 404]
    assert Phone.objects.for_tenant(alice_tenant).count() == 1
