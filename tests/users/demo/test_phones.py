"""Demo phones: one for who has a phone's source, once, with what it sent."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from accounts.declarations.demo_data import DemoPerson, DemoScene
from tests.factories.accounts import ACTOR
from tests.factories.phones import store_all
from tests.factories.users import make_user
from users.demo.phones import load_demo_phones
from users.models import Phone
from users.operations.phones.tokens import revoke_phone
from users.queries.phones import list_phone_health

pytestmark = pytest.mark.django_db


def test_demo_people_have_phones_that_sent_and_are_made_once(
    alice_tenant, alice_api, time_machine
):
    time_machine.move_to(datetime(2026, 3, 9, 12, tzinfo=UTC), tick=False)
    people = []
    for name, sources in (("a", ("oura", "health_connect")), ("b", ("oura",))):
        user = make_user(tenant=alice_tenant, client_user_id=name)
        people.append(DemoPerson(user.uuid, name, sources, "Asia/Kolkata", None, 0))
    scene = DemoScene(alice_tenant, ACTOR, tuple(people))

    load_demo_phones(scene)

    phone = Phone.objects.for_tenant(alice_tenant).select_related("user").get()
    user = phone.user
    user.tenant = alice_tenant
    assert (user.client_user_id, phone.name) == ("a", "Pixel 9")
    assert store_all(user) == 1
    (health,) = list_phone_health(user=user)
    assert (health.records, health.refused, health.failed) == (15, 0, 0)
    assert (health.missing, health.is_silent) == (("sleep",), False)
    path = f"/v2/timeseries/{user.uuid}/water/grouped"
    (groups,) = (
        alice_api.get(f"{path}?start_date=2026-03-06&end_date=2026-03-09")
        .json()["groups"]
        .values()
    )
    first = groups[0]["data"][0]
    assert (first["timestamp"], first["value"]) == ("2026-03-06T02:30:00+00:00", 200.0)

    revoke_phone(phone=phone, actor=ACTOR)
    load_demo_phones(scene)

    assert Phone.objects.for_tenant(alice_tenant).count() == 1
