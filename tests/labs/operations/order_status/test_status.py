from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connection

from labs.models import Order, OrderEvent
from labs.operations.order_status.status import advance_order, store_reported_status
from labs.payloads import build_order
from labs.queries.orders.orders import get_order_with_details
from labs.states.catalogue import CollectionMethod
from labs.states.orders import ORDER_MOVES, REGISTRABLE_KIT_MOVES, split_order_status
from portal.lib.errors import DomainError
from tests.factories.accounts import ACTOR
from tests.factories.labs import make_lab_test, make_order
from tests.labs.holdings import refused
from tests.outbox import emitted, emitted_types

WALKS = [(method, False) for method in CollectionMethod] + [("testkit", True)]


def put(order, status):
    """Stand an order at a status without taking the steps there."""
    Order.objects.for_tenant(order.tenant).filter(pk=order.pk).update(status=status)
    order.status = status


@pytest.mark.django_db
@pytest.mark.parametrize(("method", "registrable"), WALKS)
def test_every_allowed_move_is_taken_and_every_other_refused(
    alice_tenant, method, registrable
):
    panel = make_lab_test(tenant=alice_tenant, method=method)
    order = make_order(tenant=alice_tenant, lab_test=panel)
    Order.objects.for_tenant(alice_tenant).update(is_registrable=registrable)
    order.is_registrable = registrable
    alice_tenant.partial_webhooks_enabled = True
    table = REGISTRABLE_KIT_MOVES if registrable else ORDER_MOVES[method]
    statuses = [status for status, _ in table]

    def written():
        """The status as stored, and how much is recorded and told."""
        kept = Order.objects.for_tenant(alice_tenant).get().status
        events = OrderEvent.objects.for_tenant(alice_tenant).count()
        told = emitted_types(alice_tenant).count("labtest.order.updated")
        return kept, events, told

    for old, following in table:
        put(order, old)
        before = written()
        for new in statuses:
            if new not in following:
                with pytest.raises(DomainError) as caught:
                    advance_order(order=order, actor=ACTOR, to=new)
                assert caught.value.code == "transition_not_allowed"
        assert written() == before
        for new in following:
            put(order, old)
            _, events, told = written()
            event = advance_order(order=order, actor=ACTOR, to=new)
            assert (event.status, order.status) == (new, new)
            assert written() == (new, events + 1, told + 1)


@pytest.mark.django_db
def test_a_step_is_told_as_the_order_then_stands(alice_tenant):
    order = make_order(tenant=alice_tenant)

    event = advance_order(order=order, actor=ACTOR, to="requisition_created")

    told = emitted(alice_tenant)[-1]
    assert told["event_type"] == "labtest.order.updated"
    assert told["data"]["id"] == str(order.pk)
    assert told["data"]["last_event"]["id"] == event.pk
    assert (
        told["data"]["last_event"]["status"]
        == "received.walk_in_test.requisition_created"
    )
    assert [e["status"] for e in told["data"]["events"]] == [
        "received.walk_in_test.ordered",
        "received.walk_in_test.requisition_created",
    ]


@pytest.mark.django_db
@pytest.mark.parametrize("enabled", [True, False])
def test_partial_results_are_told_only_where_the_team_wants_it(alice_tenant, enabled):
    order = make_order(tenant=alice_tenant)
    advance_order(order=order, actor=ACTOR, to="requisition_created")
    alice_tenant.partial_webhooks_enabled = enabled
    before = len(emitted_types(alice_tenant))

    advance_order(order=order, actor=ACTOR, to="partial_results")

    told = ["labtest.order.updated", "labtest.order_tracking.updated"]
    assert emitted_types(alice_tenant)[before:] == (told if enabled else [])
    assert order.events.last().status == "sample_with_lab.walk_in_test.partial_results"


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("to", "detail", "fits"),
    [
        ("sample_error", "sample_hemolyzed", True),
        ("sample_error", "consent_missing", False),
        ("partial_results", "sample_hemolyzed", False),
        ("sample_error", "made_up", False),
    ],
)
def test_a_detail_must_fit_its_status(alice_tenant, to, detail, fits):
    order = make_order(tenant=alice_tenant)
    advance_order(order=order, actor=ACTOR, to="requisition_created")

    if fits:
        event = advance_order(order=order, actor=ACTOR, to=to, detail=detail)
        assert event.status_detail == detail
    else:
        with refused(alice_tenant, "status_detail_invalid"):
            advance_order(order=order, actor=ACTOR, to=to, detail=detail)


@pytest.mark.django_db
@pytest.mark.parametrize(
    "to", ["transit_customer", "in_orbit", "received.testkit.ordered"]
)
def test_a_status_of_another_method_is_refused(alice_tenant, to):
    order = make_order(tenant=alice_tenant)

    with refused(alice_tenant, "transition_not_allowed"):
        advance_order(order=order, actor=ACTOR, to=to)


@pytest.mark.django_db
@pytest.mark.parametrize(
    "unknown", ["in_orbit.walk_in_test.weightless", "in_orbit", ""]
)
def test_an_order_at_a_status_we_do_not_know_is_shown_and_not_moved(
    alice_tenant, unknown
):
    order = make_order(tenant=alice_tenant)
    put(order, unknown)
    OrderEvent.objects.for_tenant(alice_tenant).update(status=unknown)

    shown = build_order(get_order_with_details(tenant=alice_tenant, order_id=order.pk))

    assert shown["last_event"]["status"] == unknown
    assert shown["status"] == split_order_status(unknown).top
    with refused(alice_tenant, "transition_not_allowed"):
        advance_order(order=order, actor=ACTOR, to="cancelled")


@pytest.mark.django_db
@pytest.mark.parametrize("unknown", ["collecting_sample.walk_in_test.pooled", "Pooled"])
def test_a_reported_status_we_do_not_know_is_kept_as_it_came(alice_tenant, unknown):
    order = make_order(tenant=alice_tenant)

    event = store_reported_status(
        order=order, actor=ACTOR, status=unknown, detail="too_new"
    )

    kept = get_order_with_details(tenant=alice_tenant, order_id=order.pk)
    assert (kept.status, event.status) == (unknown, unknown)
    assert emitted_types(alice_tenant)[-1] == "labtest.order.updated"
    told = emitted(alice_tenant)[-1]["data"]
    assert told["status"] == unknown.partition(".")[0]
    assert told["last_event"]["status"] == unknown
    assert told["last_event"]["status_detail"] == "too_new"


@pytest.mark.django_db
def test_after_a_status_we_do_not_know_an_order_goes_on_from_the_last_we_did(
    alice_tenant,
):
    order = make_order(tenant=alice_tenant)
    store_reported_status(order=order, actor=ACTOR, status="received.x.y")
    order = get_order_with_details(tenant=alice_tenant, order_id=order.pk)

    with refused(alice_tenant, "transition_not_allowed"):
        advance_order(order=order, actor=ACTOR, to="appointment_scheduled")
    advance_order(order=order, actor=ACTOR, to="requisition_created")

    assert order.status == "received.walk_in_test.requisition_created"


@pytest.mark.django_db
def test_a_reported_status_that_we_know_is_a_step_like_any_other(alice_tenant):
    order = make_order(tenant=alice_tenant)

    with refused(alice_tenant, "transition_not_allowed"):
        store_reported_status(
            order=order, actor=ACTOR, status="completed.walk_in_test.completed"
        )
    event = store_reported_status(
        order=order, actor=ACTOR, status="received.walk_in_test.requisition_created"
    )

    assert event.status == "received.walk_in_test.requisition_created"


@pytest.mark.django_db
@pytest.mark.parametrize("status", ["", "with blanks", "<b>", "x" * 101, "a\nb"])
def test_a_reported_status_is_a_word(alice_tenant, status):
    order = make_order(tenant=alice_tenant)

    with refused(alice_tenant, "status_invalid"):
        store_reported_status(order=order, actor=ACTOR, status=status)


@pytest.mark.django_db
def test_an_order_that_has_ended_takes_no_status_we_do_not_know(alice_tenant):
    order = make_order(tenant=alice_tenant)
    advance_order(order=order, actor=ACTOR, to="cancelled")

    with refused(alice_tenant, "transition_not_allowed"):
        store_reported_status(order=order, actor=ACTOR, status="received.x.y")


@pytest.mark.django_db(transaction=True)
def test_of_racing_moves_one_is_taken(alice_tenant):
    order = make_order(tenant=alice_tenant)
    advance_order(order=order, actor=ACTOR, to="requisition_created")

    def move(to):
        try:
            mine = get_order_with_details(tenant=alice_tenant, order_id=order.pk)
            mine.status = "received.walk_in_test.requisition_created"
            advance_order(order=mine, actor=ACTOR, to=to)
            return "moved"
        except DomainError as refusal:
            return refusal.code
        finally:
            connection.close()

    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(move, ["cancelled", "sample_error"] * 4))

    assert sorted(answers) == ["moved"] + ["transition_not_allowed"] * 7
    assert OrderEvent.objects.for_tenant(alice_tenant).count() == 3
