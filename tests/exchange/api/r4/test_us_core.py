"""The searches that US Core 8 requires of the types that are served.

Source: US Core 8.0.0, CapabilityStatement of the server: SHALL, and combinations of it.
"""

from __future__ import annotations

import pytest

from tests.factories.clinical import make_chart

pytestmark = pytest.mark.django_db
LOINC = "http://loinc.org"
LAB = "http://terminology.hl7.org/CodeSystem/v2-0074|LAB"
PROCEDURE = "http://snomed.info/sct|108252007"
# What finds something in the chart, and with another value for its last part nothing.
SEARCHES = (
    ("Patient?_id={patient}", "_id=x"),
    ("Patient?identifier=rosa-17", "identifier=rosa"),
    ("Patient?name=exam", "name=xam"),
    ("Patient?name=Rosa&birthdate=1988-04-02", "birthdate=1988-04-03"),
    ("Patient?name=Rosa&gender=female", "gender=male"),
    ("Observation?patient={patient}&category=laboratory", "category=imaging"),
    ("Observation?patient={patient}&category=vital-signs", "category=survey"),
    (f"Observation?patient={{patient}}&code={LOINC}|2345-7", f"code={LOINC}|1-1"),
    (
        "Observation?patient={patient}&category=laboratory&date=ge2026-11-19",
        "date=lt2026-01-01",
    ),
    (
        "Observation?patient={patient}&category=laboratory&status=final",
        "status=registered",
    ),
    (f"DiagnosticReport?patient={{patient}}&category={LAB}", "category=RAD"),
    (f"DiagnosticReport?patient={{patient}}&code={LOINC}|11502-2", "code=1-1"),
    (
        f"DiagnosticReport?patient={{patient}}&category={LAB}&date=ge2026-11-19",
        "date=gt2027-01-01",
    ),
    ("DiagnosticReport?patient={patient}&status=final", "status=registered"),
    ("DocumentReference?patient={patient}", "type=1-1"),
    (f"DocumentReference?patient={{patient}}&type={LOINC}|11502-2", "type=1-1"),
    (f"DocumentReference?patient={{patient}}&category={LOINC}|26436-6", "category=x"),
    (
        f"DocumentReference?patient={{patient}}&category={LOINC}|26436-6"
        "&date=ge2026-01-01",
        "date=lt2020-01-01",
    ),
    ("DocumentReference?patient={patient}&status=current", "status=superseded"),
    ("ServiceRequest?patient={patient}", "status=draft"),
    (f"ServiceRequest?patient={{patient}}&category={PROCEDURE}", "category=x"),
    (
        f"ServiceRequest?patient={{patient}}&category={PROCEDURE}&authored=ge2026-01-01",
        "authored=lt2020-01-01",
    ),
    ("ServiceRequest?patient={patient}&status=active", "status=draft"),
    ("Specimen?patient={patient}", "type=x"),
    ("Organization?name={lab}", "name=Nowhere"),
    ("Organization?address={city}", "address=Nowhere"),
)


def test_each_required_search_finds_what_it_should_and_nothing_else(
    alice_tenant, alice_api
):
    chart = make_chart(tenant=alice_tenant)
    lab = chart.order.lab
    values = {"patient": chart.user.uuid, "lab": lab.name, "city": lab.city}

    def count(path):
        answer = alice_api.get(
            f"/fhir/R4/{path}", headers={"Prefer": "handling=strict"}
        )
        assert answer.status_code == 200, (path, answer.content)
        return len(answer.json().get("entry", []))

    for path, other in SEARCHES:
        wanted = path.format(**values)
        assert count(wanted) > 0, wanted
        kept = "&".join(
            one
            for one in wanted.partition("?")[2].split("&")
            if one.partition("=")[0] != other.partition("=")[0]
        )
        assert count(f"{wanted.partition('?')[0]}?{kept}&{other}") == 0, (path, other)
