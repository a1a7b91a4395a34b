"""Transaction Bundles by HTTP: results of orders, outside reports, and faults."""

from __future__ import annotations

import copy
import json

import pytest

from accounts.models import AuditEntry
from accounts.operations.api_keys.api_keys import KeyRules, create_api_key
from labs.models import CriticalAlert, ResultVersion
from reports.models import OutsideReport
from tests.clients import ApiClient
from tests.factories.accounts import ACTOR
from tests.factories.results import make_order_awaiting_results
from tests.factories.users import make_user
from tests.fhir_judges import find_faults
from tests.users.holdings import stored_rows

pytestmark = pytest.mark.django_db
R4 = "/fhir/R4"


@pytest.fixture
def user(alice_tenant):
    return make_user(tenant=alice_tenant, client_user_id="rosa-17")


@pytest.fixture
def order(alice_tenant, user):
    return make_order_awaiting_results(tenant=alice_tenant, user=user)


def entry(type_, number, **fields):
    return {
        "fullUrl": f"urn:uuid:00000000-0000-4000-8000-{number:012}",
        "resource": {"resourceType": type_, **fields},
        "request": {"method": "POST", "url": type_},
    }


def quantity(value, unit="mg/dL"):
    system = "http://unitsofmeasure.org"
    return {"value": value, "unit": unit, "system": system, "code": unit}


def observation(number, code, name, **fields):
    coding = [{"system": "http://loinc.org", "code": code, "display": name}]
    return entry(
        "Observation",
        number,
        **{
            "status": "final",
            "code": {"coding": coding, "text": name},
            "effectiveDateTime": "2026-11-19T08:00:00Z",
            **fields,
        },
    )


def make_bundle(user, *observations, based_on="", patient="", **fields):
    """A transaction of a report with these Observations; a specimen and a lab too."""
    urls = [one["fullUrl"] for one in observations]
    report = entry(
        "DiagnosticReport",
        1,
        identifier=[{"system": "urn:example:lab", "value": "R-1"}],
        status="final",
        code={"text": "Panel"},
        subject={"reference": patient or f"Patient/{user.uuid}"},
        effectiveDateTime="2026-11-19T08:00:00Z",
        issued="2026-11-20T09:30:00Z",
        performer=[{"reference": entry("Organization", 3)["fullUrl"]}],
        result=[{"reference": url} for url in urls],
        **fields,
    )
    if based_on:
        report["resource"]["basedOn"] = [{"reference": f"ServiceRequest/{based_on}"}]
    collected = {"collectedDateTime": "2026-11-19T08:00:00Z"}
    return {
        "resourceType": "Bundle",
        "type": "transaction",
        "entry": [
            report,
            entry("Organization", 3, name="Example Laboratory"),
            entry("Specimen", 2, identifier=[{"value": "S-1"}], collection=collected),
            *observations,
        ],
    }


GLUCOSE = observation(
    10,
    "2345-7",
    "Glucose",
    # Digits as written: 85.10 stays 85.10.
    valueQuantity=quantity(0),
    specimen={"reference": entry("Specimen", 2)["fullUrl"]},
    referenceRange=[{"low": quantity(65), "high": quantity(99)}],
)
POTASSIUM = observation(
    11,
    "2823-3",
    "Potassium",
    valueQuantity=quantity(6.9, "mmol/L"),
    interpretation=[
        {
            "coding": [
                {
                    "system": "http://terminology.hl7.org/CodeSystem/"
                    "v3-ObservationInterpretation",
                    "code": "HH",
                }
            ]
        }
    ],
)


def post(client, bundle, path=R4):
    body = bundle if isinstance(bundle, bytes) else json.dumps(bundle).encode()
    body = body.replace(b'"value": 0,', b'"value": 85.10,')
    return client.post(path, body, content_type="application/fhir+json")


def fault_of(answer):
    [issue] = answer.json()["issue"]
    return (
        answer.status_code,
        issue["details"]["coding"][0]["code"],
        issue.get("expression", [""])[0],
    )


def test_a_bundle_becomes_results_of_its_order_once(
    alice_tenant, alice_api, user, order
):
    bundle = make_bundle(user, GLUCOSE, POTASSIUM, based_on=order.pk)

    first = post(alice_api, bundle)
    again = post(alice_api, bundle, f"{R4}/")
    changed = copy.deepcopy(bundle)
    changed["entry"][0]["resource"]["status"] = "corrected"
    changed["entry"][4]["resource"] |= {
        "status": "corrected",
        "valueQuantity": quantity(4.1, "mmol/L"),
        "interpretation": [],
    }
    third = post(alice_api, changed)

    assert (first.status_code, first["Content-Type"]) == (200, "application/fhir+json")
    answer = first.json()
    assert find_faults(answer) == []
    assert answer["type"] == "transaction-response"
    responses = [one["response"] for one in answer["entry"]]
    assert [one["status"] for one in responses] == [
        "201 Created",
        "200 OK",
        "200 OK",
        "201 Created",
        "201 Created",
    ]
    assert responses[0]["location"].endswith(
        f"/fhir/R4/DiagnosticReport/{order.pk}/_history/1"
    )
    place = responses[3]["location"].partition("/_history/")[0]
    read = alice_api.get("/" + place.split("/", 3)[3])
    assert read.status_code == 200
    assert b'"value":85.10,' in read.content
    result = read.json()
    assert result["basedOn"] == [{"reference": f"ServiceRequest/{order.pk}"}]
    assert result["referenceRange"][0]["high"]["value"] == 99
    assert "Specimen/" in result["specimen"]["reference"]
    [alert] = CriticalAlert.objects.for_tenant(alice_tenant)
    assert alert.order_id == order.pk
    assert [one["response"]["status"] for one in again.json()["entry"]] == [
        "200 OK"
    ] * 5
    assert third.json()["entry"][0]["response"]["etag"] == 'W/"2"'
    versions = ResultVersion.objects.for_tenant(alice_tenant).filter(order=order)
    assert [
        (one.number, one.is_correction, one.laboratory)
        for one in versions.order_by("number")
    ] == [(1, False, "Example Laboratory"), (2, True, "Example Laboratory")]


def test_a_bundle_without_order_becomes_an_outside_report_in_versions(
    alice_tenant, alice_api, user
):
    system = alice_api.get(f"{R4}/Patient/{user.uuid}").json()["identifier"][0]
    search = f"identifier={system['system']}|rosa-17"
    person = entry("Patient", 9)
    person["request"]["ifNoneExist"] = search
    bundle = make_bundle(user, GLUCOSE, POTASSIUM, patient=person["fullUrl"])
    bundle["entry"].append(person)

    first = post(alice_api, bundle)
    again = post(alice_api, make_bundle(user, GLUCOSE, POTASSIUM))
    third = post(
        alice_api,
        make_bundle(user, GLUCOSE, patient=f"Patient?{search}", conclusion="Normal"),
    )

    assert first.status_code == 200, first.content
    responses = [one["response"] for one in first.json()["entry"]]
    assert responses[5] == {
        "status": "200 OK",
        "location": responses[5]["location"],
    }
    assert responses[5]["location"].endswith(f"/Patient/{user.uuid}")
    place = responses[3]["location"].partition("/_history/")[0]
    read = alice_api.get("/" + place.split("/", 3)[3])
    assert b'"value":85.10,' in read.content
    assert again.json()["entry"][0]["response"]["status"] == "200 OK"
    assert third.json()["entry"][0]["response"]["etag"] == 'W/"2"'
    reports = OutsideReport.objects.for_tenant(alice_tenant).order_by("number")
    assert [(one.number, one.is_current, len(one.results)) for one in reports] == [
        (1, False, 2),
        (2, True, 1),
    ]
    void = make_bundle(user, GLUCOSE)
    void["entry"][0]["resource"]["status"] = "entered-in-error"
    assert post(alice_api, void).status_code == 200
    shown = alice_api.get(f"{R4}/DiagnosticReport?patient={user.uuid}").json()
    [report] = [one["resource"] for one in shown["entry"]]
    assert (report["status"], "result" in report) == ("entered-in-error", False)
    # What another institution reported was that institution's to act on.
    assert not CriticalAlert.objects.for_tenant(alice_tenant).exists()
    stored = AuditEntry.unscoped.filter(verb="store_outside_report")
    assert [one.user_uuid for one in stored] == [user.uuid] * 3


def set_in(bundle, path, value):
    """A copy with one thing changed, at a path such as ("entry", 3, "resource")."""
    changed = copy.deepcopy(bundle)
    *parents, last = path
    place = changed
    for each in parents:
        place = place[each]
    place[last] = value
    return changed


def test_one_bad_entry_and_nothing_is_stored_and_its_place_is_named(
    alice_tenant, alice_api, charlie_tenant, user, order
):
    stranger = make_user(tenant=charlie_tenant)
    other = make_user(tenant=alice_tenant, client_user_id="other")
    good = make_bundle(user, GLUCOSE, POTASSIUM, based_on=order.pk)
    # A second report, so that the first would be stored without the rest.
    second = make_bundle(user)["entry"][0]
    second["fullUrl"] = "urn:uuid:second"
    good["entry"].append(second)
    resource = ("entry", 4, "resource")
    report = ("entry", 0, "resource")
    place = "Bundle.entry[4].resource"
    cases = [
        (("type",), "batch", "not_a_transaction", "Bundle.type"),
        (("entry",), {}, "entry_invalid", "Bundle.entry"),
        (("entry",), [], "reports_missing", "Bundle.entry"),
        (("entry", 4), 7, "entry_invalid", place),
        (resource, {}, "entry_invalid", place),
        ((*resource, "resourceType"), "Medication", "resource_unsupported", place),
        ((*resource, "status"), "done", "status_invalid", f"{place}.status"),
        ((*resource, "code"), {}, "code_missing", f"{place}.code"),
        (
            (*resource, "valueQuantity"),
            {"value": "6.9"},
            "value_invalid",
            f"{place}.valueQuantity",
        ),
        (
            (*resource, "effectiveDateTime"),
            "2026-11-19T08:00:00",
            "time_invalid",
            f"{place}.effectiveDateTime",
        ),
        (
            (*resource, "subject"),
            {"reference": f"Patient/{other.uuid}"},
            "patient_differs",
            f"{place}.subject",
        ),
        (
            ("entry", 4, "request", "method"),
            "DELETE",
            "request_unsupported",
            "Bundle.entry[4].request",
        ),
        (
            ("entry", 4, "fullUrl"),
            GLUCOSE["fullUrl"],
            "duplicate_full_url",
            "Bundle.entry[4].fullUrl",
        ),
        (
            (*report, "result", 1, "reference"),
            "urn:uuid:nowhere",
            "reference_unresolved",
            "Bundle.entry[0].resource.result[1]",
        ),
        (
            (*report, "result"),
            [],
            "observation_unreferenced",
            "Bundle.entry[3]",
        ),
        (
            (*report, "identifier"),
            [],
            "identifier_missing",
            "Bundle.entry[0].resource.identifier",
        ),
        (
            (*report, "subject"),
            {"reference": f"Patient/{stranger.uuid}"},
            "patient_unknown",
            "Bundle.entry[0].resource.subject",
        ),
        (
            ("entry", 5, "resource", "basedOn"),
            [{"reference": "ServiceRequest/00000000-0000-4000-8000-000000000000"}],
            "order_unknown",
            "Bundle.entry[5].resource.basedOn",
        ),
        (
            ("entry", 5, "resource", "subject"),
            {"reference": "Patient/nobody"},
            "patient_unknown",
            "Bundle.entry[5].resource.subject",
        ),
    ]
    before = stored_rows(alice_tenant)

    found = [
        fault_of(post(alice_api, set_in(good, path, value)))
        for path, value, *_ in cases
    ]
    broken = [fault_of(post(alice_api, body)) for body in (b"[", b"[]", b"[" * 100_000)]
    _, text = create_api_key(
        tenant=alice_tenant,
        actor=ACTOR,
        label="orders",
        rules=KeyRules(scopes=frozenset({"orders:write"})),
    )
    narrow = fault_of(post(ApiClient(text), good))

    assert found == [(400, code, where) for _, _, code, where in cases]
    assert {one[:2] for one in broken} == {(400, "json_invalid")}
    assert narrow[:2] == (403, "scope_missing")
    after = stored_rows(alice_tenant)
    assert {k: v for k, v in after.items() if k != "AuditEntry"} == {
        k: v for k, v in before.items() if k != "AuditEntry"
    }
    assert not ResultVersion.objects.for_tenant(alice_tenant).exists()
    assert not OutsideReport.objects.for_tenant(alice_tenant).exists()
    assert post(alice_api, good).status_code == 200


@pytest.mark.long
def test_a_bundle_of_10_000_entries_is_stored_whole_and_one_more_is_refused(
    alice_tenant, alice_api, user
):
    entries = []
    for number in range(10):
        size = 999 if number else 998
        observations = [
            observation(
                100_000 + number * 1000 + each,
                f"{number}{each}-0",
                f"Test {each}",
                valueQuantity=quantity(5),
            )
            for each in range(size)
        ]
        [report, lab, *_] = make_bundle(user, *observations)["entry"]
        report["fullUrl"] = f"urn:uuid:report-{number}"
        report["resource"]["identifier"][0]["value"] = f"R-{number}"
        entries += [report, *observations, *([] if number else [lab])]
    bundle = {"resourceType": "Bundle", "type": "transaction", "entry": entries}

    more = post(alice_api, {**bundle, "entry": [*entries, entries[0]]})
    last = copy.deepcopy(entries[-1])
    last["resource"]["status"] = "odd"
    bad = post(alice_api, {**bundle, "entry": [*entries[:-1], last]})
    none = OutsideReport.objects.for_tenant(alice_tenant).count()
    stored = post(alice_api, bundle)

    assert len(entries) == 10_000
    assert fault_of(more) == (400, "too_many_entries", "Bundle.entry")
    assert fault_of(bad) == (
        400,
        "status_invalid",
        "Bundle.entry[9999].resource.status",
    )
    assert none == 0
    assert stored.status_code == 200
    assert len(stored.json()["entry"]) == 10_000
    reports = OutsideReport.objects.for_tenant(alice_tenant)
    assert sum(len(one.results) for one in reports) == 9_989
