from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from threading import Barrier

import pytest
from django.db import connection
from django.utils import timezone

from labs.models import OrderEvent, Shipment, ShipmentEvent
from labs.operations.shipments.events import ReportedShipment, record_shipment_event
from labs.states.shipments import ShipmentReporter, ShipmentStatus
from portal.lib.tenancy import acting_for
from tests.factories.accounts import ACTOR
from tests.factories.shipments import make_kit, report_shipment
from tests.labs.holdings import holdings, refused
from tests.outbox import emitted_types

pytestmark = pytest.mark.django_db


def sent(**fields):
    return ReportedShipment(
        **{
            "status": ShipmentStatus.TRANSIT_CUSTOMER,
            "occurred_at": timezone.now() - timedelta(hours=1),
            "tracking_number": "OUT-1",
            **fields,
        }
    )


def record(order, reported):
    return record_shipment_event(
        order=order, actor=ACTOR, reported=reported, reporter=ShipmentReporter.API
    )


@pytest.mark.django_db(transaction=True)
def test_two_workers_with_one_event_record_it_once(alice_tenant):
    kit, reported, start = make_kit(tenant=alice_tenant), sent(), Barrier(2)
    told = len(emitted_types(alice_tenant))

    def work(_number):
        try:
            with acting_for(alice_tenant):
                start.wait()
                return record(kit, reported).status
        finally:
            connection.close()

    with ThreadPoolExecutor(2) as pool:
        statuses = list(pool.map(work, range(2)))

    assert statuses == ["collecting_sample.testkit.transit_customer"] * 2
    assert ShipmentEvent.objects.for_tenant(alice_tenant).count() == 1
    assert OrderEvent.objects.for_tenant(alice_tenant).count() == 3
    assert emitted_types(alice_tenant)[told:] == ["labtest.order.updated"]


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    "place",
    [
        "labs.models.ShipmentEvent.save",
        "labs.operations.shipments.events.audit_order_change",
        "labs.operations.shipments.events.advance_order",
    ],
)
def test_a_worker_that_dies_between_leaves_nothing_and_the_next_records_it(
    alice_tenant, monkeypatch, place
):
    kit, reported = make_kit(tenant=alice_tenant), sent()
    before = holdings(alice_tenant)

    def die(*_given, **_named):
        raise SystemExit

    with monkeypatch.context() as patched:
        patched.setattr(place, die)
        with pytest.raises(SystemExit):
            record(kit, reported)

    assert holdings(alice_tenant) == before
    assert not Shipment.objects.for_tenant(alice_tenant).exists()
    assert not ShipmentEvent.objects.for_tenant(alice_tenant).exists()
    assert record(kit, reported).status.endswith(".transit_customer")
    assert ShipmentEvent.objects.for_tenant(alice_tenant).count() == 1


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"tracking_number": "x" * 101}, "tracking_number_too_long"),
        ({"note": "x" * 201}, "note_too_long"),
    ],
)
def test_what_is_too_long_is_refused(alice_tenant, fields, code):
    kit = make_kit(tenant=alice_tenant)

    with refused(alice_tenant, code):
        record(kit, sent(**fields))


def test_steps_entered_in_whole_minutes_may_share_one(alice_tenant):
    kit = make_kit(tenant=alice_tenant)
    moment = timezone.now().replace(second=40, microsecond=0) - timedelta(minutes=9)
    report_shipment(kit, "transit_customer", at=moment)

    kept = record(
        kit,
        sent(status=ShipmentStatus.WITH_CUSTOMER, occurred_at=moment.replace(second=0)),
    )

    assert kept.status == "collecting_sample.testkit.with_customer"


def test_an_imported_kit_may_have_been_sent_before_its_import(alice_tenant):
    kit = make_kit(tenant=alice_tenant, ago=timedelta())
    OrderEvent.objects.for_tenant(alice_tenant).filter(
        status__endswith="requisition_created"
    ).update(status="received.testkit.requisition_bypassed")

    kept = record(kit, sent(occurred_at=timezone.now() - timedelta(days=9)))

    assert kept.status == "collecting_sample.testkit.transit_customer"
