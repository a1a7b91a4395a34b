from __future__ import annotations

from uuid import uuid4

import pytest

from accounts.states import Environment
from tests.clients import ApiClient, error_lines
from tests.factories.accounts import make_api_key, make_tenant
from tests.factories.users import make_user
from tests.users.holdings import stored_rows
from users.models import Connection

pytestmark = pytest.mark.django_db
PATH = "/v2/link/connect/demo"


@pytest.fixture
def user(alice_tenant):
    return make_user(tenant=alice_tenant)


def test_a_demo_source_is_connected_and_its_data_can_be_read(alice_api, user):
    body = {"user_id": str(user.uuid), "provider": "freestyle_libre"}

    reply = alice_api.post(PATH, body)

    assert reply.status_code == 200
    assert reply.json() == {
        "success": True,
        "detail": "Freestyle Libre is connected, with 30 days of demo data.",
    }
    read = alice_api.get(
        f"/v2/timeseries/{user.uuid}/glucose/grouped", {"start_date": "2020-01-01"}
    )
    (group,) = read.json()["groups"]["freestyle_libre"]
    assert {each["unit"] for each in group["data"]} == {"mmol/L"}


@pytest.mark.parametrize("provider", ["garmin", "nobody", ""])
def test_other_providers_are_422(alice_api, user, provider):
    before = stored_rows(user.tenant)

    reply = alice_api.post(PATH, {"user_id": str(user.uuid), "provider": provider})

    assert reply.status_code == 422
    assert [each[0] for each in error_lines(reply)] == [["body", "provider"]]
    assert stored_rows(user.tenant) == before


def test_a_strangers_user_is_404(alice_api, charlie_tenant):
    theirs = make_user(tenant=charlie_tenant)

    for user_id in (theirs.uuid, uuid4()):
        body = {"user_id": str(user_id), "provider": "oura"}
        assert alice_api.post(PATH, body).status_code == 404
    assert not Connection.objects.for_tenant(charlie_tenant).exists()


def test_production_refuses_with_400(db):
    tenant = make_tenant(environment=Environment.PRODUCTION)
    user = make_user(tenant=tenant)
    client = ApiClient(make_api_key(tenant=tenant))

    reply = client.post(PATH, {"user_id": str(user.uuid), "provider": "oura"})

    assert (reply.status_code, reply.json()["code"]) == (400, "sandbox_only")
