"""What a signed report makes of its order's results."""

from __future__ import annotations

from dataclasses import replace

import pytest
from django.utils import timezone

from labs.models import CriticalAlert, LabDocument, Order, Result, ResultVersion
from labs.operations.order_status.status import advance_order
from labs.queries.results.results import (
    find_current_result_version,
    list_missing_results_of_version,
    list_results_of_version,
)
from portal.lib.errors import DomainError
from reports.models import Signature
from reports.operations.orders.missing import mark_ordered_result_missing
from reports.operations.review.gates import (
    CriticalNotification,
    record_critical_value_notification,
)
from reports.operations.review.reviews import claim_review
from reports.operations.review.rows import edit_review_row_text, exclude_review_row
from reports.operations.signing.amending import open_amendment_review
from reports.operations.signing.signed_values import list_signed_values_with_loinc
from reports.operations.signing.signing import is_review_unchanged_since_signing
from reports.parser.report import Interpretation
from reports.states import ReviewStatus
from tests.factories.accounts import ACTOR
from tests.outbox import emitted_types
from tests.reports.by_document import make_order_by_document, read_report, read_row
from tests.reports.desk import NORA, decide_all, ref_of, sign, tenant_and_actor, text_of

pytestmark = pytest.mark.django_db
ALL = (
    read_row("Glucose", "85"),
    read_row("Potassium", "4.1"),
    read_row("Sodium", "140"),
)


@pytest.fixture
def order(alice_tenant):
    alice_tenant.lab_report_human_review_enabled = True
    alice_tenant.partial_webhooks_enabled = True
    alice_tenant.save()
    return make_order_by_document(tenant=alice_tenant)


def sign_all(review):
    decide_all(review)
    if review.job.hold_reasons:
        raise AssertionError(review.job.hold_reasons)
    return sign(review)


def stored(order):
    version = find_current_result_version(order=order)
    return {
        row.name: (row.result, row.unit) for row in list_results_of_version(version)
    }


def status_of(order):
    return Order.objects.for_tenant(order.tenant).get(pk=order.pk).status


def test_a_signed_report_is_the_result_of_its_order(order):
    review = read_report(order, *ALL)
    assert status_of(order) == "received.walk_in_test.requisition_created"

    sign_all(review)

    assert status_of(order) == "completed.walk_in_test.completed"
    version = find_current_result_version(order=order)
    assert (version.number, version.status, version.is_correction) == (
        1,
        "final",
        False,
    )
    assert version.collected_at.date().isoformat() == "2026-11-20"
    assert stored(order) == {
        "Glucose": ("85", "mg/dL"),
        "Potassium": ("4.1", "mmol/L"),
        "Sodium": ("140", "mmol/L"),
    }
    rows = list_results_of_version(version)
    assert [row.expected_result.name for row in rows] == [r.name for r in rows]
    # Each value opens at its ink: the row of the report's page.
    assert {(r.parsed_report_id, r.parsed_position) for r in rows} == {
        (review.job_id, position) for position in range(3)
    }
    assert "labtest.order.updated" in emitted_types(order.tenant)
    document = LabDocument.objects.for_tenant(order.tenant).get()
    assert (document.status, document.results_version) == ("held", 1)
    review.refresh_from_db()
    assert is_review_unchanged_since_signing(tenant=order.tenant, review=review)
    # It is in trends once: as the order's, not as an uploaded report's.
    assert list_signed_values_with_loinc(order.tenant, order.user.uuid, None) == []


def test_a_partial_report_gives_partial_results_and_the_next_one_the_rest(order):
    sign_all(read_report(order, *ALL[:2], metadata={"date_reported": "2026-11-21"}))

    assert status_of(order) == "sample_with_lab.walk_in_test.partial_results"
    assert find_current_result_version(order=order).status == "partial"

    sign_all(read_report(order, ALL[2], metadata={"date_reported": "2026-11-22"}))

    assert status_of(order) == "completed.walk_in_test.completed"
    assert len(stored(order)) == 3


def test_what_a_lab_did_not_perform_is_a_missing_result_of_a_final_order(order):
    review = read_report(order, *ALL[:2])
    sodium = order.placed.markers[2]
    key = f"{sodium.pk}:{sodium.expected_results.get().pk}"

    review = mark_ordered_result_missing(
        **tenant_and_actor(review), review_id=review.id, key=key, is_performed=False
    )
    sign_all(review)

    version = find_current_result_version(order=order)
    assert version.status == "final"
    (gap,) = list_missing_results_of_version(version)
    assert (gap.name, gap.failure_type) == ("Sodium", "unknown_failure")
    assert status_of(order) == "completed.walk_in_test.completed"


def test_what_a_report_has_can_not_be_said_to_be_missing(order):
    review = read_report(order, *ALL)
    marker = order.placed.markers[0]

    with pytest.raises(DomainError) as refusal:
        mark_ordered_result_missing(
            **tenant_and_actor(review),
            review_id=review.id,
            key=f"{marker.pk}:{marker.expected_results.get().pk}",
            is_performed=False,
        )

    assert refusal.value.code == "ordered_result_not_missing"
    review.refresh_from_db()
    assert review.not_performed == []


def test_a_corrected_report_makes_a_correction(order):
    sign_all(read_report(order, *ALL))

    second = read_report(
        order,
        read_row("Glucose", "185", interpretation=Interpretation.ABNORMAL),
        *ALL[1:],
        metadata={"date_reported": "2026-11-23"},
    )
    sign_all(second)

    version = find_current_result_version(order=order)
    assert (version.number, version.is_correction) == (2, True)
    assert version.interpretation == "abnormal"
    assert stored(order)["Glucose"] == ("185", "mg/dL")
    assert status_of(order) == "completed.walk_in_test.corrected"
    before = ResultVersion.objects.for_tenant(order.tenant).get(number=1)
    assert {r.result for r in before.results.all()} == {"85", "4.1", "140"}


def test_an_older_report_that_is_signed_later_replaces_nothing(order):
    sign_all(read_report(order, *ALL, metadata={"date_reported": "2026-11-22"}))

    sign_all(
        read_report(
            order, read_row("Glucose", "99"), metadata={"date_reported": "2026-11-20"}
        )
    )

    assert stored(order)["Glucose"] == ("85", "mg/dL")


def test_an_amendment_corrects_the_order_and_withdraws_what_it_excludes(order):
    review = read_report(order, *ALL)
    sign_all(review)
    amendment = open_amendment_review(
        tenant=order.tenant, actor=NORA, job_id=review.job_id, why="Misread."
    )
    claim_review(tenant=order.tenant, actor=NORA, review_id=amendment.id)
    edit_review_row_text(
        **tenant_and_actor(amendment),
        ref=ref_of(amendment),
        text=replace(text_of(amendment), value="95"),
    )
    exclude_review_row(
        **tenant_and_actor(amendment), ref=ref_of(amendment, 2), reason="Other patient."
    )
    decide_all(amendment)
    sign(amendment)

    assert stored(order) == {"Glucose": ("95", "mg/dL"), "Potassium": ("4.1", "mmol/L")}
    version = find_current_result_version(order=order)
    (gap,) = list_missing_results_of_version(version)
    assert gap.name == "Sodium"


def test_the_alert_of_a_critical_value_becomes_the_orders(order):
    review = read_report(order, read_row("Potassium", "6.9"), ALL[0], ALL[2])
    alert = CriticalAlert.objects.for_tenant(order.tenant).get()
    assert (alert.parsed_report_id, alert.order_id) == (review.job_id, None)
    opened_at = alert.opened_at

    decide_all(review)
    row = next(r for r in range(3) if text_of(review, r).value == "6.9")
    record_critical_value_notification(
        **tenant_and_actor(review),
        ref=ref_of(review, row),
        notice=CriticalNotification("Dr. Example", timezone.now(), "phone"),
    )
    sign(review)

    alert = CriticalAlert.objects.for_tenant(order.tenant).get()
    assert (alert.order_id, alert.parsed_report_id) == (order.pk, None)
    assert (alert.opened_at, alert.acknowledged_at) == (opened_at, None)
    assert alert.version is not None
    assert emitted_types(order.tenant).count("labtest.result.critical") == 1
    row = Result.objects.for_tenant(order.tenant).get(name="Potassium")
    assert row.interpretation == "critical"


@pytest.mark.parametrize(
    ("metadata", "rows", "reasons"),
    [
        # The name and the birth date of the order's patient: nothing holds it.
        ({}, ALL, []),
        # The sample ID alone, where no person is named.
        (
            {
                "patient_first_name": None,
                "patient_last_name": None,
                "dob": None,
                "specimen_number": "own",
            },
            ALL,
            [],
        ),
        # The sample ID below the requisition's barcode, beside the lab's own number.
        (
            {"dob": None, "specimen_number": "L-4711", "printed_numbers": ("own",)},
            ALL,
            [],
        ),
        # It confirms no other person.
        (
            {"patient_first_name": "Berta", "printed_numbers": ("own",)},
            ALL,
            ["name_mismatch"],
        ),
        # Another order's sample anywhere, but for one that names this one's as its own.
        ({"printed_numbers": ("555-0100", "other")}, ALL, ["order_mismatch"]),
        ({"printed_numbers": ("own", "other")}, ALL, ["order_mismatch"]),
        ({"specimen_number": "own", "printed_numbers": ("own", "other")}, ALL, []),
        # A number of the lab's own confirms nothing and contradicts nothing.
        ({"specimen_number": "L-4711"}, ALL, []),
        # Nobody and no number.
        (
            {"patient_first_name": None, "patient_last_name": None, "dob": None},
            ALL,
            ["order_unconfirmed"],
        ),
        # Another person.
        (
            {"patient_first_name": "Berta", "dob": "1980-01-01"},
            ALL,
            ["name_mismatch", "birth_date_mismatch", "order_unconfirmed"],
        ),
        # Another order's sample.
        ({"specimen_number": "other"}, ALL, ["order_mismatch"]),
        # Nothing that was ordered.
        ({}, (read_row("Ferritin", "18"),), ["order_mismatch"]),
    ],
)
def test_a_report_that_does_not_fit_its_order_is_held(order, metadata, rows, reasons):
    other = make_order_by_document(tenant=order.tenant)
    numbers = {"own": order.sample_id, "other": other.sample_id}
    if number := metadata.get("specimen_number"):
        metadata = {**metadata, "specimen_number": numbers.get(number, number)}
    if printed := metadata.get("printed_numbers"):
        read = tuple(numbers.get(one, one) for one in printed)
        metadata = {**metadata, "printed_numbers": read}

    review = read_report(order, *rows, metadata=metadata)

    assert review.job.hold_reasons == reasons
    assert status_of(order) == "received.walk_in_test.requisition_created"


def test_an_order_that_ended_takes_no_signature(order):
    review = read_report(order, *ALL)
    advance_order(order=order, actor=ACTOR, to="cancelled")
    decide_all(review)
    before = emitted_types(order.tenant)

    with pytest.raises(DomainError) as refusal:
        sign(review)

    assert refusal.value.code == "results_not_expected"
    assert not Signature.objects.for_tenant(order.tenant).exists()
    assert not ResultVersion.objects.for_tenant(order.tenant).exists()
    assert emitted_types(order.tenant) == before
    review.refresh_from_db()
    assert review.status == ReviewStatus.OPEN


def test_numbers_of_other_countries_are_stored_as_numbers(order):
    review = read_report(
        order,
        read_row("Potassium", "4,10", reference_range="3,5 - 5,1"),
        read_row("Glucose", "85,5"),
        read_row("Sodium", "< 140,5"),
    )
    sign_all(review)

    rows = {r.name: r for r in Result.objects.for_tenant(order.tenant)}
    assert (rows["Potassium"].result, rows["Potassium"].value) == ("4.10", 4.1)
    assert rows["Potassium"].min_range_value == 3.5
    assert rows["Sodium"].result == "<140.5"


def test_a_row_that_was_not_ordered_and_a_repeated_one_are_kept_beside(order):
    sign_all(
        read_report(
            order,
            *ALL,
            read_row("Ferritin", "18", units="ng/mL"),
            read_row("Sodium", "141"),
        )
    )

    rows = list(Result.objects.for_tenant(order.tenant).order_by("position"))
    assert [(r.name, r.result, r.sub_id) for r in rows] == [
        ("Glucose", "85", ""),
        ("Potassium", "4.1", ""),
        ("Sodium", "140", ""),
        ("Ferritin", "18", ""),
        ("Sodium", "141", "2"),
    ]
    assert find_current_result_version(order=order).status == "final"
