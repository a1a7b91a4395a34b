from __future__ import annotations

from datetime import UTC, datetime

import pytest

from labs.gateways.hl7.orders import NEW, build_hl7_order_messages
from labs.models import LabTest
from labs.operations.documents.order_documents import (
    render_requisition_as_first_printed,
)
from labs.operations.orders.placing import cancel_order
from labs.operations.orders.requisitions import create_requisition
from labs.queries.orders.orders import get_order_with_details
from portal.lib.errors import DomainError
from tests.factories.accounts import ACTOR
from tests.factories.labs import make_lab_test, make_order
from tests.labs.operations.catalogue.conftest import north, update  # noqa: F401
from tests.labs.printed import pages_of

AT = datetime(2026, 3, 1, tzinfo=UTC)
CHANGED = (
    ("markers", "Glucose", "Blood sugar"),
    ("markers", "4.00", "9.00"),
    ("markers", "Lipids", "Fats"),
    ("questions", "Y=Yes", "Y=Indeed"),
    ("expected_results", "70,99", "60,110"),
)


def seen(order):
    """All that leaves the house of an order's tests."""
    order = get_order_with_details(tenant=order.tenant, order_id=order.pk)
    return {
        "placed": [
            (one.provider_id, one.name, str(one.price), one.aoe_questions)
            for one in order.placed.markers
        ],
        "price": str(order.placed.price),
        "results": [
            [(each.pk, each.low, each.high) for each in one.expected_results.all()]
            for one in order.placed.markers
        ],
        "sent": build_hl7_order_messages(
            order, control=NEW, sample_id="A1", comment="", at=AT
        ),
    }


@pytest.fixture
def panel(north, alice_production):  # noqa: F811
    markers = tuple(north.markers.all())
    return make_lab_test(
        tenant=alice_production, lab=north, markers=markers, price="16.50"
    )


def api_order(client, order):
    return client.get(f"/v3/order/{order.pk}").json()["lab_test"]


def test_an_order_keeps_its_tests_when_they_are_renamed_repriced_and_retired(
    panel, alice_production, alice_production_api
):
    order = make_order(tenant=alice_production, lab_test=panel)
    before, answered = seen(order), api_order(alice_production_api, order)
    assert [one["name"] for one in answered["markers"]] == ["Glucose", "Lipids"]

    update(*CHANGED)

    assert seen(order) == before
    assert api_order(alice_production_api, order) == answered
    later = make_order(tenant=alice_production, lab_test=reload(panel))
    new = api_order(alice_production_api, later)
    assert [one["name"] for one in new["markers"]] == ["Blood sugar", "Fats"]
    assert (answered["price"], new["price"]) == (16.5, 21.5)

    for one in (order, later):
        cancel_order(order=one, actor=ACTOR)
    answered, new = (api_order(alice_production_api, one) for one in (order, later))
    update(*CHANGED, ("markers", "12.50,", "12.50,true"))

    assert seen(order)["placed"] == before["placed"]
    assert api_order(alice_production_api, order) == answered
    assert api_order(alice_production_api, later) == new


def test_the_requisition_of_an_old_order_prints_what_was_ordered(
    panel, alice_production
):
    order = make_order(tenant=alice_production, lab_test=panel)
    update(*CHANGED)

    text = " ".join(pages_of(printed(order)))

    assert "Glucose" in text
    assert "Blood sugar" not in text


def test_a_panel_made_for_an_order_is_not_ordered_with_a_retired_marker(
    panel, alice_production
):
    LabTest.unscoped.filter(pk=panel.pk).update(generation="auto")
    update(("markers", "12.50,", "12.50,true"))

    with pytest.raises(DomainError) as caught:
        make_order(tenant=alice_production, lab_test=reload(panel))

    assert caught.value.code == "marker_not_orderable"


def reload(panel):
    return LabTest.objects.for_tenant(panel.tenant).get(pk=panel.pk)


def printed(order):
    create_requisition(tenant=order.tenant, actor=ACTOR, order_id=order.pk)
    return render_requisition_as_first_printed(
        order=get_order_with_details(tenant=order.tenant, order_id=order.pk)
    ).body
