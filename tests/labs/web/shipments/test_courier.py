from __future__ import annotations

import re

import pytest
from django.urls import reverse

from accounts.states import Role
from labs.operations.shipments.couriers import find_courier_connection
from tests.audit import audited
from tests.clients import confirm
from tests.labs.web.orders.test_order_page import signed_in

pytestmark = pytest.mark.django_db


def url(tenant, name="courier"):
    return reverse(
        f"labs:{name}",
        kwargs={"team_slug": tenant.team.slug, "environment": tenant.environment},
    )


def secrets_in(text):
    return set(re.findall(r"whsec_[\w+/=]+", text))


@pytest.fixture
def web(alice_production):
    client = signed_in(alice_production, Role.ADMIN)
    confirm(client)
    return client


def test_a_secret_is_created_and_shown_once(web, alice_production):
    empty = web.get(url(alice_production))
    shown = web.post(url(alice_production, "courier_secret"))
    after = web.get(url(alice_production))

    courier = find_courier_connection(tenant=alice_production)
    (secret,) = secrets_in(shown.text)
    assert "No courier yet" in empty.text
    assert f"/courier/v1/{courier.pk}" in after.text
    assert secrets_in(after.text) == set()
    assert secret not in courier.secret
    assert audited(alice_production)[-1][0] == "create_courier_secret"


def test_a_rotated_secret_is_another(web, alice_production):
    first = secrets_in(web.post(url(alice_production, "courier_secret")).text)
    second = secrets_in(web.post(url(alice_production, "courier_secret")).text)

    assert first
    assert second
    assert first.isdisjoint(second)
    assert (
        "The previous secret is accepted until" in web.get(url(alice_production)).text
    )


def test_a_courier_is_removed(web, alice_production):
    web.post(url(alice_production, "courier_secret"))

    asked = web.get(url(alice_production, "remove_courier"))
    web.post(url(alice_production, "remove_courier"))

    assert "Remove the courier?" in asked.text
    assert find_courier_connection(tenant=alice_production) is None


def test_who_has_not_proved_who_they_are_gets_no_secret(alice_production):
    client = signed_in(alice_production, Role.ADMIN)
    session = client.session
    session.pop("account_authentication_methods", None)
    session.save()

    reply = client.post(url(alice_production, "courier_secret"))

    assert reply.status_code == 302
    assert find_courier_connection(tenant=alice_production) is None


@pytest.mark.parametrize("role", [Role.VIEWER, Role.LAB_STAFF, Role.DEVELOPER])
def test_who_may_not_write_keys_creates_no_secret(alice_production, role):
    client = signed_in(alice_production, role)
    confirm(client)

    for name in ("courier_secret", "remove_courier"):
        assert client.post(url(alice_production, name)).status_code == 403
    assert find_courier_connection(tenant=alice_production) is None
