"""Every resource that is served is valid R4, and says what our rows say and no more.

Validators: the R4B models of fhir.resources, fhirkit, which is generated from the
published R4 definitions, and the published JSON schema of R4.
"""

from __future__ import annotations

import pytest

from accounts.models import AuditEntry
from exchange.resources.registry import RESOURCE_TYPES
from tests.factories.clinical import make_chart
from tests.factories.reports import make_parsed, make_review
from tests.factories.users import make_user
from tests.fhir_judges import find_faults
from tests.reports.desk import NORA

pytestmark = pytest.mark.django_db
R4 = "/fhir/R4"


@pytest.fixture
def chart(alice_tenant):
    return make_chart(tenant=alice_tenant)


def resources_of(bundle):
    return [entry["resource"] for entry in bundle.get("entry", [])]


def search(client, path, **headers):
    answer = client.get(f"{R4}/{path}", headers=headers)
    assert answer.status_code == 200, answer.content
    assert answer["Content-Type"] == "application/fhir+json"
    return answer.json()


def test_all_that_is_served_is_valid_and_read_again_by_its_id(chart, alice_api):
    patient = chart.user.uuid
    seen = {}
    for name, resource in RESOURCE_TYPES.items():
        named = any(one.name == "patient" for one in resource.params)
        bundle = search(alice_api, f"{name}?patient={patient}" if named else name)
        assert find_faults(bundle) == [], name
        seen[name] = resources_of(bundle)
        for one in seen[name]:
            assert find_faults(one) == [], one
            again = alice_api.get(f"{R4}/{name}/{one['id']}")
            assert again.json() == one
    statement = search(alice_api, "metadata")

    assert find_faults(statement) == []
    assert {name: len(found) for name, found in seen.items()} == {
        "Patient": 1,
        "Observation": 12,
        "DiagnosticReport": 3,
        "ServiceRequest": 2,
        "Specimen": 1,
        "Appointment": 1,
        "Device": 1,
        "DocumentReference": 2,
        "Provenance": 2,
        "Organization": 3,
    }
    reads = AuditEntry.unscoped.filter(verb="read", user_uuid=patient)
    assert {"fhir_patient", "fhir_observation", "fhir_provenance"} <= set(
        reads.values_list("subject", flat=True)
    )


def test_results_say_what_the_lab_said(chart, alice_api):
    bundle = search(
        alice_api, f"Observation?patient={chart.user.uuid}&category=laboratory"
    )
    found = {
        one["code"]["text"]: one for one in resources_of(bundle) if "basedOn" in one
    }
    raw = alice_api.get(f"{R4}/Observation/{found['Glucose']['id']}").content

    glucose, crp = found["Glucose"], found["CRP"]
    assert glucose["status"] == "final"
    assert b'"value":85.10,' in raw  # the digits that the lab printed
    assert glucose["valueQuantity"] == {
        "value": 85.1,
        "unit": "mg/dL",
        "system": "http://unitsofmeasure.org",
        "code": "mg/dL",
    }
    assert glucose["code"]["coding"][0] == {
        "system": "http://loinc.org",
        "code": "2345-7",
    }
    assert glucose["effectiveDateTime"] == "2026-11-19T08:00:00+00:00"
    [specimen] = resources_of(search(alice_api, f"Specimen?patient={chart.user.uuid}"))
    assert glucose["specimen"] == {"reference": f"Specimen/{specimen['id']}"}
    assert crp["valueQuantity"] == {
        "comparator": "<",
        "value": 0.5,
        "unit": "mg/L",
        "system": "http://unitsofmeasure.org",
        "code": "mg/L",
    }
    assert found["Potassium"]["status"] == "preliminary"
    assert found["Potassium"]["interpretation"][0]["coding"][0]["code"] == "HH"
    assert found["Culture"]["valueString"] == "No growth"
    ferritin = found["Ferritin"]
    assert (ferritin["status"], ferritin["note"]) == (
        "cancelled",
        [{"text": "Too little serum"}],
    )
    assert ferritin["dataAbsentReason"]["coding"][0]["code"] == "unknown"
    assert not any(name.startswith("value") for name in ferritin)


def test_a_report_is_final_once_it_is_signed_and_its_ink_is_told(
    chart, alice_tenant, alice_api
):
    waiting = make_review(user=chart.user, report=make_parsed()).job
    held = make_review(user=chart.user, report=make_parsed()).job
    type(held).objects.for_tenant(alice_tenant).filter(pk=held.pk).update(
        hold_reasons=["hidden_text"]
    )
    job = chart.review.job

    bundle = search(alice_api, f"DiagnosticReport?patient={chart.user.uuid}")
    statuses = {one["id"]: one["status"] for one in resources_of(bundle)}
    results = search(
        alice_api,
        f"Observation?patient={chart.user.uuid}&_revinclude=Provenance:target"
        "&code=http://loinc.org|2345-7",
    )

    assert statuses[f"report-{job.pk.hex}"] == "final"
    assert statuses[f"report-{waiting.pk.hex}"] == "preliminary"
    assert f"report-{held.pk.hex}" not in statuses
    assert statuses[str(chart.order.pk)] == "partial"
    held_result = alice_api.get(f"{R4}/Observation/report-{held.pk.hex}-0")
    assert held_result.status_code == 404
    by_mode = {entry["search"]["mode"]: entry["resource"] for entry in results["entry"]}
    ink = by_mode["include"]
    assert ink["target"] == [{"reference": f"Observation/report-{job.pk.hex}-0"}]
    assert [agent["who"]["display"] for agent in ink["agent"]] == [
        "Assay, reading of lab reports",
        NORA.label,
    ]
    [place] = ink["entity"][0]["extension"]
    assert place["valueUrl"].partition("#")[2].startswith("page=1")
    file = alice_api.get(place["valueUrl"].partition("#")[0])
    assert file["Content-Type"] == "application/pdf"


def test_vital_signs_have_the_codes_and_units_of_their_profiles(chart, alice_api):
    bundle = search(
        alice_api, f"Observation?patient={chart.user.uuid}&category=vital-signs"
    )

    found = {
        one["code"]["coding"][0]["code"]: one.get("valueQuantity") or one["component"]
        for one in resources_of(bundle)
    }
    ucum = {"system": "http://unitsofmeasure.org"}
    assert found["8867-4"] == {
        "value": 61.0,
        "unit": "beats/minute",
        "code": "/min",
        **ucum,
    }
    assert [part["valueQuantity"]["value"] for part in found["85354-9"]] == [121, 79]
    assert found["8310-5"] == {"value": 36.7, "unit": "°C", "code": "Cel", **ucum}
    assert found["29463-7"]["value"] == 61.5
    assert found["39156-5"]["code"] == "kg/m2"
    only = search(
        alice_api,
        f"Observation?patient={chart.user.uuid}&code=http://loinc.org|8867-4"
        "&date=ge2026-02-28&date=lt2026-03-01&_include=Observation:device",
    )
    [heart, device] = resources_of(only)
    assert heart["effectiveDateTime"].startswith("2026-02-28T10:00:00")
    assert device["deviceName"] == [{"name": "Ring 4", "type": "model-name"}]


def test_a_user_without_demographics_is_a_patient_whose_name_is_not_known(
    alice_tenant, alice_api
):
    user = make_user(tenant=alice_tenant, client_user_id="nobody-yet")

    patient = alice_api.get(f"{R4}/Patient/{user.uuid}").json()

    assert find_faults(patient) == []
    assert patient["gender"] == "unknown"
    [name] = patient["name"]
    assert name["extension"][0]["valueCode"] == "unknown"
    assert "birthDate" not in patient
