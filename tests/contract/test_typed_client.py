"""The typed client that the contract follows (its introduction), against this server.

It sends as it is published and refuses what it can't read. `check_answer` reads every
checked answer of the suite by its models; here is what it writes, and events.
"""

from __future__ import annotations

from datetime import UTC, datetime

import httpx
import junction
import pytest
from django.core.handlers.wsgi import WSGIHandler
from django.test import Client
from django.urls import resolve
from junction.core.api_error import ApiError
from junction.core.pydantic_utilities import parse_obj_as

from accounts.webhooks.catalogue import ATTEMPT_EXHAUSTED, load_event_types
from accounts.webhooks.examples import build_example_event
from labs.models import ServiceCenter
from portal.api_docs.not_offered import CODE
from tests.contract.typed_client import calls, events
from tests.factories.accounts import make_api_key
from tests.factories.appointments import booking_lab, make_center
from tests.factories.inbound import make_order_sent_to_lab, make_unmatched
from tests.factories.labs import ADDRESS as PLACE
from tests.factories.labs import PATIENT, make_lab_test
from tests.factories.reports import make_pdf
from tests.outbox import emitted

NOW = datetime(2026, 3, 2, 16, tzinfo=UTC)  # a Monday, nine in Phoenix
HOST = "http://testserver"
# Events of ours that the client does not know.
OF_OURS = {
    "historical.data.outside_lab_report.created",
    "lab_report.unmatched_document.created",
    "lab_report.unmatched_document.updated",
    ATTEMPT_EXHAUSTED,
    "provider.gap.opened",
    "provider.gap.closed",
}
ADDRESS = junction.Address(**PLACE)
GUARANTOR = junction.GuarantorDetails(
    first_name="Eve", last_name="Example", address=ADDRESS, phone_number="+15550102"
)
DETAILS = junction.PatientDetailsWithValidation(**PATIENT, medical_proxy=GUARANTOR)
LIVES_AT = junction.PatientAddressWithValidation(**PLACE)
PHYSICIAN = junction.PhysicianCreateRequest(
    first_name="Dana", last_name="Example", npi="1234567893", licensed_states=["AZ"]
)
CONSENTS = [
    junction.Consent(consent_type="hipaa-authorization", time_of_consent=NOW),
    junction.Consent(consent_type="terms-of-use"),
]


@pytest.fixture
def client(alice_tenant, time_machine, _one_connection):
    time_machine.move_to(NOW, tick=False)
    key = make_api_key(tenant=alice_tenant)
    return junction.Junction(
        base_url=HOST,
        api_key="not read",  # Contract D1
        headers={"x-service-api-key": key},
        httpx_client=httpx.Client(transport=httpx.WSGITransport(app=WSGIHandler())),
        max_retries=0,
    )


@pytest.fixture
def person(client):
    return client.user.create(
        client_user_id="team a/u 1",
        fallback_time_zone="America/Phoenix",
        fallback_birth_date="1990-05-17",
        ingestion_start=None,
    )


def check_events(tenant):
    """The client reads every event that was emitted."""
    for event in emitted(tenant):
        parse_obj_as(events()[event["event_type"]], event)


def test_every_call_of_the_client_is_served_or_says_why_not():
    """Contract 10: what is out of scope answers `not_offered` and what to use."""
    reasons = {}
    for method, path in calls():
        told = path.replace("{}", "00000000-0000-4000-8000-000000000001")
        if resolve(told).url_name == CODE:
            reply = Client().generic(method, told)
            assert (reply.status_code, reply.json()["code"]) == (404, CODE)
            reasons[path] = reply.json()["detail"]

    assert {path.split("/")[1] + "/" + path.split("/")[2] for path in reasons} == {
        *("aggregate/v1", "checkout/v1", "v2/link", "v2/team"),
        "v3/unmatched_result_test",
    }
    assert len(reasons) == 16
    assert all(reasons.values())


def test_the_client_reads_the_example_of_each_event():
    unread = {name for name in load_event_types() if name not in events()}

    assert unread == OF_OURS
    for name in set(load_event_types()) - OF_OURS:
        parse_obj_as(events()[name], build_example_event(name))


def test_the_client_writes_a_user_and_reads_it_back(client, person, alice_tenant):
    user = client.user.get_by_client_user_id("team a/u 1")
    (found,) = client.team.get_user_by_id(query_id="TEAM a/")
    (ranking,) = client.team.get_source_priorities(data_type="timeseries")
    assert client.team.update_source_priorities() == [ranking]
    client.user.patch(person.user_id, fallback_birth_date=None, ingestion_end=None)
    info = client.user.upsert_user_info(
        person.user_id,
        **{key: PATIENT[key] for key in ("first_name", "last_name", "gender", "dob")},
        email=PATIENT["email"],
        phone_number=PATIENT["phone_number"],
        address=junction.UserAddress(**PLACE),
        race="asian",
    )
    payor = client.payor.create_payor(name="Own Plan", address=ADDRESS)
    insured = junction.VitalCoreSchemasDbSchemasLabTestInsurancePersonDetails(
        **PATIENT, address=ADDRESS
    )
    client.user.create_insurance(
        person.user_id,
        payor_code=payor.payor_code,
        member_id="M-1",
        relationship="Self",
        insured=insured,
        guarantor=GUARANTOR,
    )
    insurance = client.user.get_latest_insurance(person.user_id, is_primary=True)
    refused = []
    for again in (person.client_user_id, ""):
        with pytest.raises(ApiError) as error:
            client.user.create(client_user_id=again)
        refused.append(error.value)

    assert user == found
    assert user.fallback_time_zone.id == "America/Phoenix"
    assert person.fallback_birth_date.value == "1990-05-17"
    assert client.user.get(person.user_id).fallback_birth_date is None
    assert (info.address.zip, info.race) == ("85004", "asian")
    assert (insurance.relationship, insurance.company.name) == ("Self", "Own Plan")
    assert [error.status_code for error in refused] == [400, 422]
    assert refused[0].body["detail"]["error_type"] == "INVALID_REQUEST"
    assert refused[1].body.detail[0]["loc"] == ["body", "client_user_id"]
    check_events(alice_tenant)


def test_the_client_takes_an_order_to_its_results(client, person, alice_tenant):
    ServiceCenter.objects.all().delete()
    make_center()
    panel = make_lab_test(tenant=alice_tenant, lab=booking_lab())
    fields = {
        "user_id": person.user_id,
        "order_set": junction.OrderSetRequest(lab_test_ids=[str(panel.pk)]),
        "patient_details": DETAILS,
        "patient_address": LIVES_AT,
        "physician": PHYSICIAN,
        "consents": CONSENTS,
        "priority": True,
        "clinical_notes": "Fasting since ten.",
        "idempotency_key": "one",
    }
    orders = client.lab_tests
    estimate = orders.estimate_order_set_pricing(
        order_sets=[fields["order_set"]], modality="walk_in_test", us_state="AZ"
    )
    order = orders.create_order(**fields).order
    again = orders.create_order(**fields).order
    orders.simulate_order_process(
        order.id, final_status="received.walk_in_test.requisition_created"
    )
    days = orders.get_psc_appointment_availability(
        lab="quest", zip_code="85004", radius="50", start_date="2026-03-03"
    ).slots
    keys = [slot.booking_key for day in days for slot in day.slots]
    orders.book_psc_appointment(order.id, booking_key=keys[0], idempotency_key="two")
    orders.reschedule_psc_appointment(order.id, booking_key=keys[1])
    reason = orders.get_psc_appointment_cancellation_reason()[0]
    called_off = orders.cancel_psc_appointment(
        order.id, cancellation_reason_id=reason.id, note="Away"
    )
    labels = b"".join(orders.get_labels_pdf(order.id, collection_date=NOW))
    flags = junction.SimulationFlags(interpretation="critical")
    orders.simulate_order_process(order.id, request=flags)
    result = orders.get_result_raw(order.id)
    merged = client.order_transaction.get_transaction_result(order.order_transaction.id)
    page = orders.get_orders(
        user_id=person.user_id,
        start_date=NOW,
        end_date=NOW,
        status=["completed"],
        order_type=["walk_in_test", "testkit"],
        interpretation="critical",
        is_critical=True,
        order_ids=[order.id],
    )

    assert estimate.data[0].aggregate_pricing == estimate.data[0].components[0].pricing
    assert again.id == order.id
    assert order.patient_details.medical_proxy == GUARANTOR
    assert [day.date for day in days] == [f"2026-03-{3 + day:02}" for day in range(14)]
    assert called_off.status == "cancelled"
    assert labels.startswith(b"%PDF")
    assert result.results == merged.results
    assert result.results[0].interpretation == "critical"
    assert [one.id for one in page.orders] == [order.id]
    assert client.order.resend_events(start_at=NOW).order_ids == [order.id]
    check_events(alice_tenant)


def test_the_client_decides_about_unmatched_results(client, person, alice_tenant):
    order = make_order_sent_to_lab(tenant=alice_tenant)
    waiting = [make_unmatched(tenant=alice_tenant, lab=order.lab) for _ in range(2)]
    calls = client.lab_tests
    page = calls.list_unmatched_results(limit=1, status="pending_customer_review")
    rest = calls.list_unmatched_results(limit=1, next_cursor=page.next_cursor)
    first, second = page.data[0].id, rest.data[0].id
    found = calls.get_unmatched_result(first)
    unsure = calls.resolve_unmatched_result(first, action="unsure", note="Ask the lab")
    rejected = calls.resolve_unmatched_result(second, action="reject")
    accepted = calls.accept_unmatched_result(first, order_id=str(order.pk), note="Hers")
    with pytest.raises(ApiError) as refused:
        calls.accept_unmatched_result(second, order_id=str(order.pk))

    assert {first, second} == {str(one.pk) for one in waiting}
    assert (page.total, rest.next_cursor) == (2, None)
    assert (found.status, found.decision_code) == (
        "pending_customer_review",
        "no_match",
    )
    assert found.candidate_groups[0].candidates[0].order_id == str(order.pk)
    assert (unsure.status, unsure.note) == ("pending_ops_review", "Ask the lab")
    assert (rejected.status, rejected.resolution_action) == ("resolved", "reject")
    assert accepted.id == str(order.pk)
    assert refused.value.status_code == 400
    check_events(alice_tenant)


def test_the_client_orders_kits_and_hands_over_reports(client, person, alice_tenant):
    kit = make_lab_test(tenant=alice_tenant, method="testkit", lab=booking_lab())
    shipping = junction.ShippingAddressWithValidation(
        **PLACE, receiver_name="Ada Example", phone_number=PATIENT["phone_number"]
    )
    order = client.testkit.create_order(
        user_id=person.user_id, lab_test_id=str(kit.pk), shipping_details=shipping
    ).order
    client.lab_tests.simulate_order_process(
        order.id, final_status="collecting_sample.testkit.with_customer"
    )
    registered = client.testkit.register(
        sample_id=client.lab_tests.get_order(order.id).sample_id,
        patient_details=DETAILS,
        patient_address=LIVES_AT,
        consents=CONSENTS,
    ).order
    client.lab_tests.simulate_order_process(
        order.id, final_status="sample_with_lab.testkit.delivered_to_lab"
    )
    tracking = client.lab_tests.get_order_tracking(order.id)
    later = client.lab_tests.import_order(
        user_id=person.user_id,
        billing_type="client_bill",
        order_set=junction.OrderSetRequest(lab_test_ids=[str(kit.pk)]),
        collection_method="testkit",
        patient_details=DETAILS,
        patient_address=junction.PatientAddress(**PLACE, receiver_name="Ada Example"),
        sample_id="S-1",
    ).order
    job = client.lab_report.parser_create_job(
        file=[("report.pdf", make_pdf(), "application/pdf")],
        user_id=person.user_id,
        needs_human_review=True,
    )

    assert order.shipping_details.phone_number == PATIENT["phone_number"]
    assert registered.last_event.status == "received.testkit.registered"
    assert tracking.order_id == order.id
    assert tracking.collected_at.inferred_from == "dispatch_date"
    assert [marker.status for marker in tracking.markers] == ["pending"]
    assert later.last_event.status == "received.testkit.requisition_bypassed"
    assert client.lab_report.parser_get_job(job.id).needs_human_review is True
    check_events(alice_tenant)
