from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from unittest.mock import patch

import pytest

from labs.gateways.results import ReportedGap, ReportedSample
from labs.models import CriticalAlert, Order, Result
from labs.operations.order_status.status import advance_order
from labs.operations.results.deliveries import (
    store_result_delivery,
    store_result_delivery_after_end,
)
from labs.queries.orders.orders import get_order_with_details
from labs.queries.results.results import (
    compare_result_versions,
    find_current_result_version,
    list_missing_results_of_version,
    list_result_versions,
    list_results_of_version,
)
from tests.audit import changes_of
from tests.factories.accounts import ACTOR
from tests.factories.labs import (
    make_lab,
    make_lab_account,
    make_lab_test,
    make_order,
)
from tests.factories.results import (
    REPORTED_AT,
    delivery,
    make_order_awaiting_results,
    make_reported_result,
    make_results,
)
from tests.labs.holdings import holdings, refused
from tests.outbox import emitted, emitted_types
from tests.statements import count_statements

pytestmark = pytest.mark.django_db
LATER = REPORTED_AT + timedelta(hours=2)
PHYSICIAN = {"first_name": "Vera", "last_name": "Example", "npi": "1234567893"}


def lows(order):
    kept = get_order_with_details(tenant=order.tenant, order_id=order.pk)
    return [event.status.split(".")[2] for event in kept.events.order_by("pk")]


def texts(order):
    version = find_current_result_version(order=order)
    return {row.name: row.result for row in list_results_of_version(version)}


def test_final_results_complete_an_order_and_say_how_they_lie(alice_tenant):
    order = make_order_awaiting_results(tenant=alice_tenant)

    version = make_results(
        order=order,
        results=(make_reported_result(), make_reported_result("Sodium", "180")),
    )

    kept = Order.objects.for_tenant(alice_tenant).get()
    assert kept.status == "completed.walk_in_test.completed"
    assert (kept.interpretation, kept.has_missing_results) == ("abnormal", False)
    assert (version.number, version.status) == (1, "final")
    assert not version.is_correction
    assert version.laboratory == order.lab.name
    row = Result.objects.for_tenant(alice_tenant).get(name="Sodium")
    assert (row.type, row.value, row.interpretation) == ("numeric", 180.0, "abnormal")
    assert (row.is_above_max_range, row.is_below_min_range) == (True, False)
    assert emitted(alice_tenant)[-1]["data"]["interpretation"] == "abnormal"
    assert changes_of(alice_tenant, "store_results") == {"version": [None, 1]}


@pytest.mark.parametrize("wants_webhooks", [True, False])
def test_partial_results_are_told_of_where_the_team_asks_for_it(
    alice_tenant, wants_webhooks
):
    alice_tenant.partial_webhooks_enabled = wants_webhooks
    order = make_order_awaiting_results(tenant=alice_tenant)
    before = emitted_types(alice_tenant)

    version = make_results(order=order, status="partial")

    assert lows(order)[-1] == "partial_results"
    assert (version.status, version.interpretation) == ("partial", "normal")
    assert texts(order) == {"Glucose": "85"}
    told = emitted_types(alice_tenant)[len(before) :]
    both = ["labtest.order.updated", "labtest.order_tracking.updated"]
    assert told == (both if wants_webhooks else [])


@pytest.mark.parametrize("wants_webhooks", [True, False])
def test_a_kit_has_partial_results_without_a_step(alice_tenant, wants_webhooks):
    alice_tenant.partial_webhooks_enabled = wants_webhooks
    panel = make_lab_test(tenant=alice_tenant, method="testkit")
    order = make_order_awaiting_results(tenant=alice_tenant, lab_test=panel)
    before, steps = emitted_types(alice_tenant), lows(order)

    make_results(
        order=order, status="partial", results=(make_reported_result(text="120"),)
    )

    assert lows(order) == steps
    assert Order.objects.for_tenant(alice_tenant).get().interpretation == "abnormal"
    told = emitted_types(alice_tenant)[len(before) :]
    assert told == (["labtest.order.updated"] if wants_webhooks else [])


def test_several_partial_deliveries_add_up_to_the_final_one(alice_tenant):
    order = make_order_awaiting_results(tenant=alice_tenant)
    make_results(order=order, status="partial")
    make_results(
        order=order, status="partial", results=(make_reported_result("Sodium", "90"),)
    )

    final = make_results(order=order, results=(make_reported_result("Zinc", "70"),))

    assert lows(order)[-3:] == ["partial_results", "partial_results", "completed"]
    assert (final.number, final.is_correction) == (3, False)
    assert texts(order) == {"Glucose": "85", "Sodium": "90", "Zinc": "70"}
    counts = [row.results.count() for row in list_result_versions(order=order)]
    assert counts == [3, 2, 1]


def test_a_correction_is_a_new_version_and_the_old_one_stays(alice_tenant):
    order = make_order_awaiting_results(tenant=alice_tenant)
    make_results(
        order=order,
        results=(make_reported_result(text="120"), make_reported_result("Zinc", "70")),
    )

    corrected = make_results(
        order=order, results=(make_reported_result(text="90"),), reported_at=LATER
    )

    kept = Order.objects.for_tenant(alice_tenant).get()
    assert kept.status == "completed.walk_in_test.corrected"
    assert kept.interpretation == "normal"
    assert (corrected.number, corrected.is_correction) == (2, True)
    after, before = list_result_versions(order=order)
    assert [row.result for row in list_results_of_version(before)] == ["120", "70"]
    (change,) = compare_result_versions(before=before, after=after)
    assert (change.before.result, change.after.result) == ("120", "90")
    assert change.fields == ("result", "interpretation")
    assert before.interpretation == "abnormal"


def test_a_message_that_comes_twice_changes_nothing(alice_tenant):
    order = make_order_awaiting_results(tenant=alice_tenant)
    sample = ReportedSample("S1", reported_at=REPORTED_AT)
    first = make_results(order=order, samples=(sample,))
    before = holdings(alice_tenant)

    again = make_results(
        order=order,
        samples=(replace(sample, reported_at=LATER),),
        reported_at=LATER,
    )

    assert again == first
    assert holdings(alice_tenant) == before


def test_what_was_reported_earlier_never_replaces_what_came_later(alice_tenant):
    order = make_order_awaiting_results(tenant=alice_tenant)
    make_results(
        order=order, results=(make_reported_result(text="90"),), reported_at=LATER
    )

    late = make_results(
        order=order,
        results=(make_reported_result(text="120"), make_reported_result("Zinc", "70")),
    )

    assert texts(order) == {"Glucose": "90", "Zinc": "70"}
    assert late.reported_at == LATER


def test_a_preliminary_value_gives_way_to_a_final_one_alone(alice_tenant):
    order = make_order_awaiting_results(tenant=alice_tenant)
    preliminary = make_reported_result(text="120", is_preliminary=True)
    make_results(order=order, status="partial", results=(preliminary,))
    make_results(
        order=order, status="partial", results=(make_reported_result(text="90"),)
    )

    make_results(order=order, status="final", results=(preliminary,))

    assert texts(order) == {"Glucose": "90"}
    assert lows(order)[-1] == "completed"


def test_a_result_that_its_lab_takes_back_is_missing(alice_tenant):
    order = make_order_awaiting_results(tenant=alice_tenant)
    make_results(
        order=order,
        results=(make_reported_result(), make_reported_result("Zinc", "70")),
    )
    gap = ReportedGap("Zinc", "internal_lab_failure", "Reagent", provider_id="ZINC")

    version = store_result_delivery(
        order=order,
        actor=ACTOR,
        delivery=replace(delivery(), results=(), missing=(gap,), reported_at=LATER),
    )

    assert texts(order) == {"Glucose": "85"}
    assert Order.objects.for_tenant(alice_tenant).get().has_missing_results is True
    (missing,) = list_missing_results_of_version(version)
    assert (missing.failure_type, missing.note) == ("internal_lab_failure", "Reagent")
    make_results(
        order=order, results=(make_reported_result("Zinc", "71"),), reported_at=LATER
    )
    assert texts(order) == {"Glucose": "85", "Zinc": "71"}
    assert Order.objects.for_tenant(alice_tenant).get().has_missing_results is False


def test_a_new_critical_result_is_told_of_once(alice_tenant):
    order = make_order_awaiting_results(tenant=alice_tenant)
    critical = make_reported_result(text="20", flag="LL")

    first = make_results(order=order, status="partial", results=(critical,))
    second = make_results(
        order=order, results=(critical, make_reported_result("Zinc", "70"))
    )

    assert (first.has_new_critical, second.has_new_critical) == (True, False)
    assert emitted_types(alice_tenant).count("labtest.result.critical") == 1
    worse = make_reported_result(text="10", flag="LL")
    make_results(order=order, results=(worse,), reported_at=LATER)
    assert emitted_types(alice_tenant).count("labtest.result.critical") == 2


def test_the_critical_event_has_what_the_contract_lists(alice_tenant):
    order = make_order_awaiting_results(tenant=alice_tenant)

    make_results(order=order, results=(make_reported_result(text="20", flag="LL"),))

    kept = Order.objects.for_tenant(alice_tenant).get()
    envelope = emitted(alice_tenant)[-1]
    assert envelope["event_type"] == "labtest.result.critical"
    assert envelope["data"] == {
        "order_id": str(order.pk),
        "sample_id": kept.sample_id,
        "status": "completed.walk_in_test.completed",
        "interpretation": "critical",
        "team_id": str(alice_tenant.team_id),
        "user_id": str(order.user.uuid),
        "created_at": kept.created_at.isoformat(),
        "updated_at": kept.updated_at.isoformat(),
    }


_CANCELLED_VISIT = [
    "requisition_created",
    "appointment_pending",
    "appointment_cancelled",
]


@pytest.mark.parametrize("sandbox", [True, False], ids=["sandbox", "production"])
@pytest.mark.parametrize(
    ("method", "steps", "taken"),
    [
        ("on_site_collection", ["requisition_created"], ["draw_completed"]),
        ("on_site_collection", ["requisition_created", "draw_completed"], []),
        ("walk_in_test", ["requisition_created"], []),
        ("walk_in_test", ["requisition_bypassed"], []),
        ("walk_in_test", ["requisition_created", "appointment_pending"], []),
        (
            "walk_in_test",
            ["requisition_created", "appointment_pending", "appointment_scheduled"],
            [],
        ),
        ("walk_in_test", _CANCELLED_VISIT, []),
        ("at_home_phlebotomy", ["requisition_created"], ["draw_completed"]),
        ("at_home_phlebotomy", ["requisition_bypassed"], ["draw_completed"]),
        (
            "at_home_phlebotomy",
            ["requisition_created", "appointment_pending"],
            ["draw_completed"],
        ),
        (
            "at_home_phlebotomy",
            ["requisition_created", "appointment_pending", "appointment_scheduled"],
            ["draw_completed"],
        ),
        ("at_home_phlebotomy", _CANCELLED_VISIT, ["draw_completed"]),
        ("testkit", ["requisition_created"], ["delivered_to_lab"]),
        ("testkit", ["requisition_bypassed"], ["delivered_to_lab"]),
        (
            "testkit",
            ["requisition_created", "transit_customer"],
            ["delivered_to_lab"],
        ),
        (
            "testkit",
            ["requisition_created", "transit_customer", "out_for_delivery"],
            ["delivered_to_lab"],
        ),
        (
            "testkit",
            ["requisition_created", "transit_customer", "problem_in_transit_customer"],
            ["delivered_to_lab"],
        ),
        (
            "testkit",
            ["requisition_created", "transit_customer", "with_customer"],
            ["delivered_to_lab"],
        ),
        (
            "testkit",
            ["requisition_created", "transit_customer", "with_customer", "transit_lab"],
            ["delivered_to_lab"],
        ),
        (
            "testkit",
            [
                *("requisition_created", "transit_customer", "with_customer"),
                *("transit_lab", "problem_in_transit_lab"),
            ],
            ["delivered_to_lab"],
        ),
        (
            "testkit",
            [
                *("requisition_created", "transit_customer", "with_customer"),
                *("transit_lab", "delivered_to_lab", "lab_processing_blocked"),
            ],
            [],
        ),
    ],
)
def test_early_results_take_the_steps_that_they_prove_and_no_others(
    alice_tenant, alice_production, sandbox, method, steps, taken
):
    tenant = alice_tenant if sandbox else alice_production
    order = _place(tenant, method)
    for low in steps:
        advance_order(order=order, actor=ACTOR, to=low)
    told = len(emitted_types(tenant))

    make_results(order=order)

    assert lows(order) == ["ordered", *steps, *taken, "completed"]
    updates = emitted_types(tenant)[told:].count("labtest.order.updated")
    assert updates == len(taken) + 1


@pytest.mark.parametrize(
    ("steps", "taken"),
    [
        (["awaiting_registration", "registered"], ["delivered_to_lab"]),
        (
            [
                *("awaiting_registration", "transit_customer", "with_customer"),
                *("registered", "requisition_created"),
            ],
            ["delivered_to_lab"],
        ),
    ],
)
def test_early_results_of_a_registered_kit_prove_that_it_reached_the_lab(
    alice_tenant, steps, taken
):
    order = _place(alice_tenant, "testkit")
    order.is_registrable = True
    order.save(update_fields=["is_registrable"])
    for low in steps:
        advance_order(order=order, actor=ACTOR, to=low)

    make_results(order=order)

    assert lows(order) == ["ordered", *steps, *taken, "completed"]


def test_early_partial_results_of_a_kit_prove_that_it_reached_the_lab(alice_tenant):
    order = _place(alice_tenant, "testkit")
    advance_order(order=order, actor=ACTOR, to="requisition_created")

    make_results(order=order, status="partial")
    make_results(order=order, results=(make_reported_result("Zinc", "70"),))

    assert lows(order) == [
        *("ordered", "requisition_created", "delivered_to_lab", "completed")
    ]


_LOST = ["requisition_created", "transit_customer", "lost"]


@pytest.mark.parametrize(
    ("method", "status", "steps"),
    [
        ("walk_in_test", "final", []),
        ("walk_in_test", "final", ["cancelled"]),
        ("walk_in_test", "partial", ["requisition_created", "redraw_available"]),
        ("walk_in_test", "final", ["requisition_created", "sample_error"]),
        ("at_home_phlebotomy", "final", []),
        ("at_home_phlebotomy", "final", ["requisition_created", "cancelled"]),
        ("on_site_collection", "partial", []),
        ("testkit", "final", []),
        ("testkit", "final", ["requisition_created", "do_not_process"]),
        ("testkit", "partial", _LOST),
        ("testkit", "final", [*_LOST[:2], "failure_to_deliver_to_customer"]),
    ],
)
def test_an_order_without_requisition_or_that_has_ended_takes_no_results(
    alice_tenant, method, status, steps
):
    order = _place(alice_tenant, method)
    for low in steps:
        advance_order(order=order, actor=ACTOR, to=low)

    with refused(alice_tenant, "results_not_expected"):
        make_results(order=order, status=status)


@pytest.mark.parametrize(
    "steps",
    [
        ["awaiting_registration"],
        ["awaiting_registration", "transit_customer"],
        ["awaiting_registration", "transit_customer", "with_customer"],
    ],
)
def test_a_kit_without_a_registered_patient_takes_no_results(alice_tenant, steps):
    order = _place(alice_tenant, "testkit")
    order.is_registrable = True
    order.save(update_fields=["is_registrable"])
    for low in steps:
        advance_order(order=order, actor=ACTOR, to=low)

    with refused(alice_tenant, "results_not_expected"):
        make_results(order=order)


def _place(tenant, method):
    """An order of a method, at `ordered`, with all that production asks for."""
    lab = make_lab()
    make_lab_account(tenant=tenant, lab=lab)
    panel = make_lab_test(tenant=tenant, lab=lab, method=method)
    # As of a time with a provider of at-home visits, which production has not yet.
    with patch("labs.operations.production.offers_home_visits", return_value=True):
        return make_order(tenant=tenant, lab_test=panel, physician=PHYSICIAN)


def test_a_delivery_of_nothing_is_refused(alice_tenant):
    order = make_order_awaiting_results(tenant=alice_tenant)

    with refused(alice_tenant, "results_missing"):
        store_result_delivery(
            order=order, actor=ACTOR, delivery=replace(delivery(), results=())
        )


def test_results_of_an_order_that_was_completed_without_them_are_no_correction(
    alice_tenant,
):
    order = make_order_awaiting_results(tenant=alice_tenant)
    advance_order(order=order, actor=ACTOR, to="completed")

    version = make_results(order=order)

    assert lows(order)[-1] == "completed"
    assert (version.number, version.is_correction) == (1, False)
    assert emitted(alice_tenant)[-1]["data"]["interpretation"] == "normal"


def test_two_results_of_one_code_are_told_apart_by_their_sub_id(alice_tenant):
    order = make_order_awaiting_results(tenant=alice_tenant)

    make_results(
        order=order,
        results=(
            make_reported_result(text="85", sub_id="1"),
            make_reported_result(text="99", sub_id="2"),
        ),
    )

    rows = list_results_of_version(find_current_result_version(order=order))
    assert [(row.sub_id, row.result) for row in rows] == [("1", "85"), ("2", "99")]


def test_storing_costs_the_same_for_one_result_and_for_a_hundred(alice_tenant):
    counts = []
    for number in (1, 100):
        order = make_order_awaiting_results(tenant=alice_tenant)
        many = tuple(make_reported_result(f"Result {index}") for index in range(number))
        with count_statements() as sent:
            make_results(order=order, results=many)
        counts.append(len(sent))

    assert counts[0] == counts[1]


@pytest.mark.parametrize(
    ("method", "steps"),
    [
        ("walk_in_test", ["cancelled"]),
        ("walk_in_test", ["requisition_created", "redraw_available"]),
        ("walk_in_test", ["requisition_created", "sample_error"]),
        ("testkit", _LOST),
        ("testkit", ["requisition_created", "do_not_process"]),
        ("testkit", [*_LOST[:2], "failure_to_deliver_to_customer"]),
    ],
)
def test_results_after_an_order_s_end_are_stored_and_no_step_is_added(
    alice_tenant, method, steps
):
    order = _place(alice_tenant, method)
    for low in steps:
        advance_order(order=order, actor=ACTOR, to=low)
    before, sent = lows(order), emitted_types(alice_tenant)

    version = store_result_delivery_after_end(
        order=order,
        actor=ACTOR,
        delivery=delivery(make_reported_result(flag="HH")),
    )

    kept = Order.objects.for_tenant(alice_tenant).get()
    assert (version.number, version.status, version.is_correction) == (
        *(1, "final"),
        False,
    )
    assert (kept.status, lows(order)) == (order.status, before)
    assert kept.interpretation == "critical"
    assert emitted_types(alice_tenant)[len(sent) :] == [
        "labtest.order.updated",
        "labtest.result.critical",
    ]
    assert emitted(alice_tenant)[-2]["data"]["status"] == order.status_parts.top
    assert CriticalAlert.objects.for_tenant(alice_tenant).get().order_id == order.pk
    assert changes_of(alice_tenant, "store_results") == {"version": [None, 1]}


def test_partial_results_after_an_end_are_sent_where_the_team_asks_for_it(
    alice_tenant,
):
    order = _place(alice_tenant, "walk_in_test")
    advance_order(order=order, actor=ACTOR, to="cancelled")
    sent = emitted_types(alice_tenant)

    version = store_result_delivery_after_end(
        order=order,
        actor=ACTOR,
        delivery=delivery(make_reported_result(), status="partial"),
    )

    assert version.status == "partial"
    assert emitted_types(alice_tenant) == sent
    assert lows(order) == ["ordered", "cancelled"]


@pytest.mark.parametrize("steps", [[], ["requisition_created"]])
def test_an_order_that_goes_on_takes_no_results_as_an_ended_one(alice_tenant, steps):
    order = _place(alice_tenant, "walk_in_test")
    for low in steps:
        advance_order(order=order, actor=ACTOR, to=low)

    with refused(alice_tenant, "order_not_ended"):
        store_result_delivery_after_end(
            order=order, actor=ACTOR, delivery=delivery(make_reported_result())
        )


def test_a_delivery_of_nothing_is_refused_after_an_end_too(alice_tenant):
    order = _place(alice_tenant, "walk_in_test")
    advance_order(order=order, actor=ACTOR, to="cancelled")

    with refused(alice_tenant, "results_missing"):
        store_result_delivery_after_end(
            order=order, actor=ACTOR, delivery=replace(delivery(), results=())
        )
