from __future__ import annotations

from decimal import Decimal
from uuid import uuid4

import pytest

from labs.models import LabTest
from labs.operations.catalogue.order_sets import (
    OrderSet,
    find_or_create_panel_of_order_set,
    resolve_order_set,
    resolve_recreated_order_set,
)
from labs.states.catalogue import CollectionMethod, LabTestStatus
from tests.factories.labs import make_lab, make_lab_test, make_marker
from tests.labs.holdings import refused

pytestmark = pytest.mark.django_db

WALK_IN = CollectionMethod.WALK_IN_TEST


def ids(*panels):
    return OrderSet(lab_test_ids=tuple(panel.pk for panel in panels))


def adding(*markers, panels=()):
    return OrderSet(
        lab_test_ids=tuple(panel.pk for panel in panels),
        marker_ids=tuple(marker.pk for marker in markers),
        has_add_on=True,
    )


def test_one_panel_is_ordered_as_it_is(alice_tenant):
    panel = make_lab_test(tenant=alice_tenant)

    resolved = resolve_order_set(tenant=alice_tenant, order_set=ids(panel))

    assert (resolved.lab, resolved.method) == (panel.lab, WALK_IN)
    assert (
        find_or_create_panel_of_order_set(tenant=alice_tenant, resolved=resolved)
        == panel
    )


def test_several_panels_and_added_markers_become_one_panel_once(alice_tenant):
    lab = make_lab()
    shared, single, added = (make_marker(lab=lab, fasting=n == 2) for n in range(3))
    one = make_lab_test(tenant=alice_tenant, lab=lab, markers=(shared, single))
    two = make_lab_test(tenant=alice_tenant, lab=lab, markers=(shared,))

    resolved = resolve_order_set(
        tenant=alice_tenant,
        order_set=adding(added, panels=(one, two)),
        method=WALK_IN,
    )
    made = find_or_create_panel_of_order_set(tenant=alice_tenant, resolved=resolved)
    again = find_or_create_panel_of_order_set(tenant=alice_tenant, resolved=resolved)

    assert [m.pk for m in resolved.markers] == [shared.pk, single.pk, added.pk]
    assert again == made
    assert (made.generation, made.status) == ("auto", LabTestStatus.ACTIVE)
    assert (made.price, made.fasting) == (Decimal("37.50"), True)
    assert {m.pk for m in made.markers.all()} == {shared.pk, single.pk, added.pk}
    assert LabTest.objects.for_tenant(alice_tenant).filter(lab=lab).count() == 3


def test_markers_are_added_by_the_labs_own_code(alice_tenant):
    lab = make_lab()
    marker = make_marker(lab=lab, provider_id="10231")
    make_marker(lab=make_lab(), provider_id="10231")

    resolved = resolve_order_set(
        tenant=alice_tenant,
        order_set=OrderSet(provider_ids=("10231",), has_add_on=True),
        method=WALK_IN,
        lab=lab,
    )

    assert resolved.added == (marker,)


@pytest.mark.parametrize(
    "status", [LabTestStatus.INACTIVE, LabTestStatus.PENDING_APPROVAL]
)
def test_only_active_panels_take_new_orders(alice_tenant, status):
    panel = make_lab_test(tenant=alice_tenant, status=status)

    with refused(alice_tenant, "lab_test_not_active"):
        resolve_order_set(tenant=alice_tenant, order_set=ids(panel))


def test_an_archived_panel_may_be_ordered_again(alice_tenant):
    panel = make_lab_test(tenant=alice_tenant, status=LabTestStatus.INACTIVE)

    resolved = resolve_recreated_order_set(tenant=alice_tenant, order_set=ids(panel))

    assert resolved.panels == (panel,)


def test_what_cannot_be_one_order_is_refused(alice_tenant, charlie_tenant):
    lab, other = make_lab(), make_lab()
    panel = make_lab_test(tenant=alice_tenant, lab=lab)
    kit = make_lab_test(tenant=alice_tenant, lab=lab, method=CollectionMethod.TESTKIT)
    elsewhere = make_lab_test(tenant=alice_tenant, lab=other)
    hers = make_lab_test(tenant=charlie_tenant, lab=lab)
    alone = make_marker(lab=lab, a_la_carte_enabled=False)
    unorderable = make_marker(lab=lab, is_orderable=False)
    marker = make_marker(lab=lab)
    cases = [
        (OrderSet(), None, "order_set_empty"),
        (OrderSet(lab_test_ids=(uuid4(),)), None, "lab_test_not_found"),
        (ids(hers), None, "lab_test_not_found"),
        (ids(panel, elsewhere), None, "several_labs"),
        (ids(panel, kit), None, "collection_method_missing"),
        (ids(panel, kit), WALK_IN, "collection_method_mismatch"),
        (adding(marker), None, "collection_method_missing"),
        (OrderSet(has_add_on=True), WALK_IN, "add_on_invalid"),
        (
            OrderSet(marker_ids=(marker.pk,), provider_ids=("1",), has_add_on=True),
            WALK_IN,
            "add_on_invalid",
        ),
        (OrderSet(marker_ids=(1,), has_add_on=True), WALK_IN, "marker_not_found"),
        (adding(alone), WALK_IN, "marker_not_orderable"),
        (adding(unorderable), WALK_IN, "marker_not_orderable"),
        (adding(marker, panels=(elsewhere,)), WALK_IN, "several_labs"),
        (
            OrderSet(provider_ids=("1",), has_add_on=True),
            WALK_IN,
            "lab_account_missing",
        ),
    ]

    for order_set, method, code in cases:
        with refused(alice_tenant, code):
            resolve_order_set(tenant=alice_tenant, order_set=order_set, method=method)


def test_a_chosen_accounts_lab_limits_what_may_be_ordered(alice_tenant):
    panel = make_lab_test(tenant=alice_tenant)

    with refused(alice_tenant, "several_labs"):
        resolve_order_set(tenant=alice_tenant, order_set=ids(panel), lab=make_lab())
