from __future__ import annotations

from datetime import UTC, date, datetime
from urllib.parse import urlencode
from uuid import uuid4

import pytest
import time_machine
from django.db import connection
from django.test.utils import CaptureQueriesContext

from labs.models import Order
from labs.operations.order_status.status import advance_order
from labs.states.catalogue import CollectionMethod
from tests.audit import audited
from tests.factories.accounts import ACTOR
from tests.factories.labs import PATIENT, make_lab_test, make_order
from tests.factories.users import make_user

pytestmark = pytest.mark.django_db


def listed(api, **query):
    reply = api.get(f"/v3/orders?{urlencode(query, doseq=True)}")
    assert reply.status_code == 200, reply.content
    return [order["id"] for order in reply.json()["orders"]]


def ids(*orders):
    return [str(order.pk) for order in orders]


def place(tenant, *, day=1, **wanted):
    with time_machine.travel(datetime(2026, 3, day, 12, tzinfo=UTC), tick=False):
        return make_order(tenant=tenant, **wanted)


def patient(first, last, dob="1990-05-17"):
    return {**PATIENT, "first_name": first, "last_name": last, "dob": dob}


def interpreted(order, value):
    Order.objects.for_tenant(order.tenant).filter(pk=order.pk).update(
        interpretation=value
    )


def test_orders_come_newest_first_in_pages(alice_api, alice_tenant, charlie_tenant):
    one, two, three = (place(alice_tenant, day=day) for day in (1, 2, 3))
    place(charlie_tenant)

    reply = alice_api.get("/v3/orders?page=1&size=2").json()

    assert [order["id"] for order in reply["orders"]] == ids(three, two)
    assert (reply["total"], reply["page"], reply["size"]) == (3, 1, 2)
    assert listed(alice_api, page=2, size=2) == ids(one)
    for query in ("page=2&size=2", "page=9", "page=1&size=3"):
        assert alice_api.get(f"/v3/orders?{query}").json()["total"] == 3
    assert listed(alice_api, page=9) == []
    assert audited(alice_tenant)[-1] == ("read", "order_list", "9")


@pytest.mark.parametrize("query", ["size=101", "size=0", "page=0", "page=x"])
def test_pages_have_bounds(alice_api, query):
    assert alice_api.get(f"/v3/orders?{query}").status_code == 422


def test_dates_are_inclusive(alice_api, alice_tenant):
    one, two, three = (place(alice_tenant, day=day) for day in (1, 2, 3))

    assert listed(alice_api, start_date="2026-03-02") == ids(three, two)
    assert listed(alice_api, start_date="2026-03-02", end_date="2026-03-02") == ids(two)
    assert listed(alice_api, end_date="2026-03-02T11:59:59Z") == ids(one)
    assert listed(alice_api, updated_end_date="2026-03-01") == ids(one)
    bad = alice_api.get("/v3/orders?start_date=2026-03-03&end_date=2026-03-01")
    assert (bad.status_code, bad.json()["detail"][0]["loc"]) == (
        422,
        ["query", "end_date"],
    )


def test_statuses_and_methods_are_open_and_in_any_spelling(alice_api, alice_tenant):
    kit = place(
        alice_tenant,
        day=1,
        lab_test=make_lab_test(tenant=alice_tenant, method=CollectionMethod.TESTKIT),
    )
    walk_in = place(alice_tenant, day=2)
    advance_order(order=walk_in, actor=ACTOR, to="requisition_created")

    assert listed(alice_api, status="Requisition-Created") == ids(walk_in)
    assert listed(alice_api, status=["ordered", "requisition_created"]) == ids(
        walk_in, kit
    )
    assert listed(alice_api, status="in_orbit") == []
    assert listed(alice_api, order_type="TESTKIT") == ids(kit)


def test_interpretations_filter(alice_api, alice_tenant):
    normal, critical, none = (place(alice_tenant, day=day) for day in (1, 2, 3))
    interpreted(normal, "normal")
    interpreted(critical, "critical")

    assert listed(alice_api, interpretation="Critical") == ids(critical)
    assert listed(alice_api, is_critical="true") == ids(critical)
    assert listed(alice_api, is_critical="false") == ids(none, normal)
    assert alice_api.get("/v3/orders?interpretation=fine").status_code == 422


def test_scheduled_orders_are_told_apart(alice_api, alice_tenant):
    now = place(alice_tenant, day=1)
    with time_machine.travel("2026-03-02T12:00:00Z", tick=False):
        later = make_order(tenant=alice_tenant, activate_by=date(2026, 3, 9))

        assert listed(alice_api, order_activation_types="scheduled") == ids(later)
        assert listed(alice_api, order_activation_types="current") == ids(now)
        both = listed(alice_api, order_activation_types=["current", "scheduled"])
    assert both == ids(later, now)


def test_people_are_found_by_part_of_a_name_a_birth_date_or_an_id(
    alice_api, alice_tenant
):
    user = make_user(tenant=alice_tenant)
    ada = place(alice_tenant, day=1, user=user)
    bea = place(
        alice_tenant, day=2, patient_details=patient("Bea", "Sample", "1985-01-02")
    )

    assert listed(alice_api, patient_name="SAMP") == ids(bea)
    assert listed(alice_api, search_input="ada ex") == ids(ada)
    assert listed(alice_api, search_input="1985-01-02") == ids(bea)
    assert listed(alice_api, search_input=str(ada.pk)) == ids(ada)
    assert listed(alice_api, search_input=str(user.uuid)) == ids(ada)
    assert listed(alice_api, user_id=str(user.uuid)) == ids(ada)
    assert listed(alice_api, order_ids=[str(bea.pk), str(uuid4())]) == ids(bea)
    assert listed(alice_api, order_transaction_id=str(bea.transaction_id)) == ids(bea)
    assert listed(alice_api, shipping_recipient_name="ada") == []


def test_lists_are_sorted_as_asked(alice_api, alice_tenant):
    zoe = place(alice_tenant, day=1, patient_details=patient("Zoe", "Example"))
    ada = place(alice_tenant, day=2)
    advance_order(order=ada, actor=ACTOR, to="requisition_created")

    assert listed(alice_api, order_direction="asc") == ids(zoe, ada)
    assert listed(alice_api, order_key="patient_name", order_direction="asc") == ids(
        ada, zoe
    )
    assert listed(alice_api, order_key="last_status") == ids(ada, zoe)
    assert alice_api.get("/v3/orders?order_key=price").status_code == 422


def test_orders_of_deleted_users_and_of_the_other_environment_are_not_there(
    alice_api, alice_tenant, alice_production
):
    gone = place(alice_tenant)
    gone.user.deleted_at = datetime(2026, 3, 1, tzinfo=UTC)
    gone.user.save(update_fields=["deleted_at"])
    place(alice_production)

    assert listed(alice_api) == []


def test_a_list_takes_as_many_queries_for_fifty_orders_as_for_one(
    alice_api, alice_tenant
):
    def queries():
        with CaptureQueriesContext(connection) as taken:
            assert alice_api.get("/v3/orders?size=100").status_code == 200
        return len(taken)

    panel, user = make_lab_test(tenant=alice_tenant), make_user(tenant=alice_tenant)
    make_order(tenant=alice_tenant, lab_test=panel, user=user)
    queries()
    one = queries()
    make_order(tenant=alice_tenant, lab_test=panel, user=user)
    two = queries()
    for _ in range(48):
        make_order(tenant=alice_tenant, lab_test=panel, user=user)

    assert one == two == queries()
