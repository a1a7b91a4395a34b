"""A user with a row of all that FHIR serves; the person is made up."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, Any

from labs.gateways.results import ReportedGap, ReportedSample
from tests.factories.accounts import ACTOR
from tests.factories.appointments import make_appointment, make_bookable_order
from tests.factories.fhir import make_outside_report
from tests.factories.inbound import make_lab_document
from tests.factories.reports import make_parsed, make_parsed_result, make_review
from tests.factories.results import (
    make_order_awaiting_results,
    make_reported_result,
    make_results,
)
from tests.factories.summaries import record
from tests.factories.timeseries import push_samples, sample
from tests.factories.users import make_user
from tests.reports.desk import NORA, decide_all, sign
from users.operations.sources.devices import DeviceDetails, record_device_details
from users.operations.users.demographics import (
    Address,
    UserInfoRequest,
    record_user_info,
)

if TYPE_CHECKING:
    from labs.models import Order
    from reports.models import Review
    from users.models import User

COLLECTED_AT = datetime(2026, 11, 19, 8, 0, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Chart:
    """What a user has: an order with results, a signed report, and the rest."""

    user: User
    order: Order
    review: Review


def make_chart(*, tenant: Any) -> Chart:
    """A user with lab results, a signed report, vital signs, a visit and documents."""
    user = make_user(tenant=tenant, client_user_id="rosa-17")
    record_user_info(
        user=user,
        actor=ACTOR,
        request=UserInfoRequest(
            first_name="Rosa",
            last_name="Example",
            email="rosa@assay.example",
            phone_number="+16025550123",
            gender="female",
            dob=date(1988, 4, 2),
            address=Address("1 Sample Street", "US", "85004", "Phoenix", "AZ"),
            race="white_caucasian",
            ethnicity="non_hispanic",
        ),
    )
    order = make_order_awaiting_results(tenant=tenant, user=user)
    make_results(
        order=order,
        results=(
            make_reported_result("Glucose", "85.10", loinc="2345-7", sample_id="S-1"),
            make_reported_result("CRP", "<0.5", unit="mg/L", loinc="1988-5"),
            make_reported_result(
                "Potassium",
                "6.9",
                unit="mmol/L",
                reference_range="3.5-5.1",
                flag="HH",
                is_preliminary=True,
            ),
            make_reported_result("Culture", "No growth", unit="", reference_range=""),
        ),
        missing=(ReportedGap("Ferritin", provider_id="FERR", note="Too little serum"),),
        samples=(ReportedSample("S-1", collected_at=COLLECTED_AT, fasting=True),),
        collected_at=COLLECTED_AT,
        status="partial",
    )
    make_lab_document(order=order)
    make_appointment(order=make_bookable_order(tenant=tenant, user=user))
    review = make_review(
        user=user,
        report=make_parsed(results=(make_parsed_result(),)),
        claimed_by=NORA,
        metadata={"lab_name": "Example Laboratory", "date_collected": "2026-03-02"},
    )
    decide_all(review)
    sign(review)
    make_outside_report(user=user)
    device = record_device_details(
        user=user, details=DeviceDetails("oura", "ring-1", device_model="Ring 4")
    )
    push_samples(user, "heartrate", sample("heartrate", value=61), device_id=device)
    push_samples(
        user,
        "blood_pressure",
        sample("blood_pressure", systolic=121, diastolic=79),
        provider="withings",
    )
    push_samples(user, "body_temperature", sample("body_temperature", value=36.7))
    record(
        user,
        "body",
        {"calendar_date": "2026-02-28", "weight": 61.5, "body_mass_index": 22.1},
        provider="garmin",
    )
    return Chart(user, order, review)
