from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from django.db import connection

from labs.gateways.sandbox_results import SimulationFlags
from labs.models import ExpectedResult, LabTest, Order, Result, ResultVersion
from labs.operations.orders.kits import KitRequest, order_kit
from labs.operations.orders.placing import cancel_order
from labs.operations.results.critical import MAIL_JOB
from labs.operations.simulation.orders import (
    SIMULATE_JOB,
    report_unknown_sandbox_status,
    simulate_order_progress,
)
from labs.queries.orders.history import find_last_order_event_id
from labs.queries.orders.orders import get_order_with_details
from labs.queries.results.results import (
    compare_result_versions,
    find_current_result_version,
    list_missing_results_of_version,
    list_result_versions,
    list_results_of_version,
)
from labs.states.catalogue import CollectionMethod, ResultType
from labs.states.orders import DEFAULT_WALKS, REGISTRABLE_WALK, Interpretation
from portal.lib.errors import DomainError, NotAllowed
from tests.factories.accounts import ACTOR
from tests.factories.labs import ADDRESS, make_lab_test, make_order
from tests.factories.results import make_expected_result
from tests.factories.users import make_user
from tests.jobs import make_all_due, queued
from tests.labs.holdings import holdings, refused
from tests.outbox import emitted_types

pytestmark = pytest.mark.django_db


def lows(order):
    kept = get_order_with_details(tenant=order.tenant, order_id=order.pk)
    return [event.status.split(".")[2] for event in kept.events.order_by("pk")]


@pytest.mark.parametrize("method", CollectionMethod)
def test_the_usual_walk_ends_completed_one_event_a_step(alice_tenant, method):
    panel = make_lab_test(tenant=alice_tenant, method=method)
    order = make_order(tenant=alice_tenant, lab_test=panel)
    alice_tenant.partial_webhooks_enabled = True

    simulate_order_progress(order=order, actor=ACTOR)

    walk = DEFAULT_WALKS[method].split()
    assert lows(order) == walk
    sent = emitted_types(alice_tenant)
    assert sent.count("labtest.order.created") == 1
    assert sent.count("labtest.order.updated") == len(walk) - 1
    kept = Order.objects.for_tenant(alice_tenant).get()
    assert kept.status == f"completed.{method}.completed"
    assert kept.sample_id.startswith("SB")


def test_a_kit_to_register_is_registered_on_its_way(alice_tenant):
    panel = make_lab_test(tenant=alice_tenant, method=CollectionMethod.TESTKIT)
    user = make_user(tenant=alice_tenant)
    kit = order_kit(
        tenant=alice_tenant,
        actor=ACTOR,
        request=KitRequest(
            user_id=user.uuid,
            lab_test_id=panel.pk,
            shipping_address={**ADDRESS, "receiver_name": "Ada Example"},
        ),
    )

    simulate_order_progress(order=kit, actor=ACTOR)

    assert lows(kit) == REGISTRABLE_WALK.split()
    assert (
        Order.objects.for_tenant(alice_tenant).get().patient_name == "Sandbox Patient"
    )


@pytest.mark.parametrize(
    ("method", "goal", "walked"),
    [
        (
            "walk_in_test",
            "received.walk_in_test.requisition_created",
            ["ordered", "requisition_created"],
        ),
        (
            "testkit",
            "collecting_sample.testkit.problem_in_transit_customer",
            [
                "ordered",
                "requisition_created",
                "transit_customer",
                "problem_in_transit_customer",
            ],
        ),
        (
            "walk_in_test",
            "collecting_sample.walk_in_test.appointment_scheduled",
            [
                "ordered",
                "requisition_created",
                "appointment_pending",
                "appointment_scheduled",
            ],
        ),
        ("walk_in_test", "cancelled.walk_in_test.cancelled", ["ordered", "cancelled"]),
    ],
)
def test_any_status_is_a_goal(alice_tenant, method, goal, walked):
    panel = make_lab_test(tenant=alice_tenant, method=method)
    order = make_order(tenant=alice_tenant, lab_test=panel)

    simulate_order_progress(order=order, actor=ACTOR, final_status=goal)

    assert lows(order) == walked


def test_a_simulated_redraw_places_the_redraw(alice_tenant):
    order = make_order(tenant=alice_tenant)

    simulate_order_progress(
        order=order,
        actor=ACTOR,
        final_status="collecting_sample.walk_in_test.redraw_available",
    )

    origins = Order.objects.for_tenant(alice_tenant).values_list("origin", flat=True)
    assert sorted(origins) == ["initial", "redraw"]


@pytest.mark.parametrize(
    ("goal", "code"),
    [
        ("completed.testkit.completed", "final_status_unknown"),
        ("completed.walk_in_test.corrected.", "final_status_unknown"),
        ("failed.walk_in_test.completed", "final_status_unknown"),
        ("in_orbit", "final_status_unknown"),
        ("received.walk_in_test.ordered", "final_status_unreachable"),
    ],
)
def test_a_goal_that_is_none_is_refused(alice_tenant, goal, code):
    order = make_order(tenant=alice_tenant)

    with refused(alice_tenant, code):
        simulate_order_progress(order=order, actor=ACTOR, final_status=goal)


def test_a_finished_order_is_walked_nowhere(alice_tenant):
    order = make_order(tenant=alice_tenant)
    cancel_order(order=order, actor=ACTOR)
    order = get_order_with_details(tenant=alice_tenant, order_id=order.pk)

    with refused(alice_tenant, "final_status_unreachable"):
        simulate_order_progress(order=order, actor=ACTOR)


def test_production_is_never_simulated(alice_production):
    order = make_order(tenant=alice_production)

    with refused(alice_production, "not_a_sandbox") as caught:
        simulate_order_progress(order=order, actor=ACTOR)

    assert isinstance(caught.value, NotAllowed)


@pytest.mark.parametrize("seconds", [-1, 3601])
def test_a_delay_has_bounds(alice_tenant, seconds):
    order = make_order(tenant=alice_tenant)

    with refused(alice_tenant, "delay_out_of_range"):
        simulate_order_progress(
            order=order, actor=ACTOR, delay=timedelta(seconds=seconds)
        )


@pytest.mark.django_db(transaction=True)
def test_a_delayed_walk_is_a_job_that_minds_what_happened_since(alice_tenant, run_jobs):
    walked, cancelled = (make_order(tenant=alice_tenant) for _ in "12")
    flags = SimulationFlags(
        interpretation=Interpretation.CRITICAL, result_types=(ResultType.RANGE,)
    )
    for order in (walked, cancelled):
        simulate_order_progress(
            order=order, actor=ACTOR, delay=timedelta(seconds=3600), flags=flags
        )
    cancel_order(order=cancelled, actor=ACTOR)
    before = holdings(alice_tenant)

    run_jobs()
    early = holdings(alice_tenant)
    make_all_due()
    run_jobs()

    walks = [job.name for job in queued() if job.name != MAIL_JOB]
    assert walks == [SIMULATE_JOB] * 2
    assert early == before
    assert lows(walked)[-1] == "completed"
    rows = list_results_of_version(find_current_result_version(order=walked))
    assert {(row.type, row.interpretation) for row in rows} == {("range", "critical")}
    assert lows(cancelled)[-1] == "cancelled"


def test_of_two_who_act_on_the_same_sight_one_is_refused(alice_tenant):
    order = make_order(tenant=alice_tenant)
    seen = find_last_order_event_id(order)
    goal = "received.walk_in_test.requisition_created"
    simulate_order_progress(order=order, actor=ACTOR, final_status=goal, seen=seen)

    with refused(alice_tenant, "order_moved"):
        simulate_order_progress(order=order, actor=ACTOR, seen=seen)


@pytest.mark.django_db(transaction=True)
def test_of_racing_walks_one_is_taken(alice_tenant):
    order = make_order(tenant=alice_tenant)
    goal = "received.walk_in_test.requisition_created"

    def walk(_):
        try:
            mine = get_order_with_details(tenant=alice_tenant, order_id=order.pk)
            simulate_order_progress(order=mine, actor=ACTOR, final_status=goal)
            return "walked"
        except DomainError as refusal:
            return refusal.code
        finally:
            connection.close()

    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(walk, range(4)))

    assert sorted(answers) == ["final_status_unreachable"] * 3 + ["walked"]
    assert lows(order) == ["ordered", "requisition_created"]


@pytest.mark.parametrize("method", CollectionMethod)
def test_a_status_of_the_future_is_kept_and_does_not_stop_the_walk(
    alice_tenant, method
):
    panel = make_lab_test(tenant=alice_tenant, method=method)
    order = make_order(tenant=alice_tenant, lab_test=panel)

    report_unknown_sandbox_status(
        order=order, actor=ACTOR, status=f"received.{method}.pooled"
    )
    order = get_order_with_details(tenant=alice_tenant, order_id=order.pk)
    simulate_order_progress(order=order, actor=ACTOR)

    walk = DEFAULT_WALKS[method].split()
    assert lows(order) == [walk[0], "pooled", *walk[1:]]


def test_a_status_that_is_known_is_none_of_the_future(alice_tenant):
    order = make_order(tenant=alice_tenant)

    with refused(alice_tenant, "status_known"):
        report_unknown_sandbox_status(
            order=order, actor=ACTOR, status="completed.walk_in_test.completed"
        )


def test_production_hears_nothing_of_the_future(alice_production):
    order = make_order(tenant=alice_production)

    with refused(alice_production, "not_a_sandbox"):
        report_unknown_sandbox_status(order=order, actor=ACTOR, status="received.x.y")


def reference_order(tenant, slug="quest-essential-health"):
    panel = LabTest.objects.for_tenant(tenant).get(reference_slug=slug)
    return make_order(tenant=tenant, lab_test=panel)


@pytest.mark.parametrize("asked", Interpretation)
def test_the_sandbox_lab_reports_as_flags_ask_for(alice_tenant, asked):
    order = reference_order(alice_tenant)

    simulate_order_progress(
        order=order, actor=ACTOR, flags=SimulationFlags(interpretation=asked)
    )

    kept = Order.objects.for_tenant(alice_tenant).get()
    version = find_current_result_version(order=kept)
    expected = ExpectedResult.objects.filter(marker__in=order.lab_test.markers.all())
    assert kept.interpretation == asked
    assert kept.has_missing_results is False
    assert (version.number, version.status) == (2, "final")
    assert {row.expected_result_id for row in list_results_of_version(version)} == {
        one.pk for one in expected
    }
    assert emitted_types(alice_tenant).count("labtest.result.critical") == (
        1 if asked == "critical" else 0
    )


@pytest.mark.parametrize("kind", ResultType)
def test_the_sandbox_lab_reports_by_the_type_asked_for(alice_tenant, kind):
    order = reference_order(alice_tenant)

    simulate_order_progress(
        order=order,
        actor=ACTOR,
        flags=SimulationFlags(
            interpretation=Interpretation.ABNORMAL, result_types=(kind,)
        ),
    )

    rows = Result.objects.for_tenant(alice_tenant).filter(version__is_current=True)
    assert set(rows.values_list("type", flat=True)) == {kind}
    assert Order.objects.for_tenant(alice_tenant).get().interpretation == "abnormal"


def test_a_critical_result_is_one_that_labs_telephone_about(alice_tenant):
    order = reference_order(alice_tenant)

    simulate_order_progress(
        order=order,
        actor=ACTOR,
        final_status="sample_with_lab.walk_in_test.partial_results",
        flags=SimulationFlags(interpretation=Interpretation.CRITICAL, seed="one"),
    )

    row = Result.objects.for_tenant(alice_tenant).get(interpretation="critical")
    told = (row.name, row.result, row.source_interpretation)
    assert told == ("Glucose", "464", "HH")


def test_a_missing_result_is_told_with_why_it_is_missing(alice_tenant):
    order = reference_order(alice_tenant)

    simulate_order_progress(
        order=order, actor=ACTOR, flags=SimulationFlags(has_missing_results=True)
    )

    kept = Order.objects.for_tenant(alice_tenant).get()
    missing = list_missing_results_of_version(find_current_result_version(order=kept))
    assert kept.has_missing_results is True
    assert [row.failure_type for row in missing] == ["quantity_not_sufficient_failure"]


def test_a_correction_puts_right_what_was_worse_than_asked_for(alice_tenant):
    order = reference_order(alice_tenant)
    abnormal = SimulationFlags(interpretation=Interpretation.ABNORMAL)
    simulate_order_progress(order=order, actor=ACTOR, flags=abnormal)

    simulate_order_progress(
        order=order, actor=ACTOR, final_status="completed.walk_in_test.corrected"
    )

    kept = Order.objects.for_tenant(alice_tenant).get()
    version = find_current_result_version(order=kept)
    assert kept.status == "completed.walk_in_test.corrected"
    assert kept.interpretation == "normal"
    assert (version.number, version.is_correction) == (3, True)
    changes = compare_result_versions(
        before=list_result_versions(order=kept)[1], after=version
    )
    assert {change.before.interpretation for change in changes} == {"abnormal"}
    assert {change.after.interpretation for change in changes} == {"normal"}


def test_partial_results_come_in_parts_and_the_last_is_preliminary(alice_tenant):
    panel = make_lab_test(tenant=alice_tenant)
    make_expected_result(marker=panel.markers.get())
    make_expected_result(marker=panel.markers.get())
    order = make_order(tenant=alice_tenant, lab_test=panel)
    partial = "sample_with_lab.walk_in_test.partial_results"

    for _ in range(3):
        order = get_order_with_details(tenant=alice_tenant, order_id=order.pk)
        simulate_order_progress(order=order, actor=ACTOR, final_status=partial)

    versions = list_result_versions(order=order)
    flags = [
        [row.is_preliminary for row in list_results_of_version(version)]
        for version in versions
    ]
    assert flags == [[False, True], [False, True], [False]]


def test_one_seed_gives_one_set_of_values(alice_tenant):
    for _ in range(2):
        simulate_order_progress(
            order=reference_order(alice_tenant, "quest-lipid-panel"),
            actor=ACTOR,
            flags=SimulationFlags(seed="fixed"),
        )

    first, second = (
        [(row.name, row.result) for row in list_results_of_version(version)]
        for version in ResultVersion.objects.for_tenant(alice_tenant).filter(
            is_current=True
        )
    )
    assert first == second
