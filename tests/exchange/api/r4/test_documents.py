"""A laboratory report as a document of HL7 Europe, or what it lacks for one.

The rules are the invariants that the guide states in FHIRPath (Laboratory Report 2.0.0,
CC0), evaluated by fhirpathpy; the cardinalities of its profiles are asserted beside.
"""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest
from fhirpathpy import evaluate
from fhirpathpy.models import models

from accounts.models import AuditEntry
from accounts.operations.api_keys.api_keys import KeyRules, create_api_key
from reports.models import OutsideReport, ParsingJob
from tests.clients import ApiClient
from tests.factories.accounts import ACTOR
from tests.factories.clinical import COLLECTED_AT, make_chart
from tests.factories.results import (
    make_order_awaiting_results,
    make_reported_result,
    make_results,
)
from tests.fhir_judges import find_faults
from tests.reports.desk import NORA
from tests.users.holdings import stored_rows
from users.models import UserInfo

pytestmark = pytest.mark.django_db
R4 = "/fhir/R4"
EU = "http://hl7.eu/fhir/laboratory/StructureDefinition/"
C, D = "entry.resource.ofType(Composition)", "entry.resource.ofType(DiagnosticReport)"
INVARIANTS = {
    "one-comp": f"{C}.count() = 1",
    "one-dr": f"{D}.count() = 1",
    "dr-comp-subj": f"{C}.subject = {D}.subject",
    "dr-comp-enc": f"{C}.encounter.empty() and {D}.encounter.empty()",
    "dr-comp-type": f"{C}.type.coding.intersect({D}.code.coding).exists()",
    "dr-comp-category": f"{C}.category.coding.intersect({D}.category.coding).exists()",
    "dr-comp-identifier": f"{C}.identifier.intersect({D}.identifier).exists()",
    "eu-lab-1": "entry.resource.ofType(Observation).all(status = 'registered'"
    " or status = 'cancelled' or value.exists() or dataAbsentReason.exists())",
    "eu-pat-1": "entry.resource.ofType(Patient).name.all(family.exists()"
    " or given.exists() or text.exists() or extension.exists())",
}


@pytest.fixture
def chart(alice_tenant):
    return make_chart(tenant=alice_tenant)


def read_document(client, id_):
    answer = client.get(f"{R4}/Composition/{id_}/$document")
    assert answer.status_code == 200, answer.content
    document = answer.json()
    assert find_faults(document) == []
    for name, rule in INVARIANTS.items():
        assert evaluate(document, rule, {}, models["r4"]) == [True], name
    assert document["type"] == "document"
    assert re.fullmatch(r"urn:uuid:[0-9a-f-]{36}", document["identifier"]["value"])
    by_type = {}
    for entry in document["entry"]:
        resource = entry["resource"]
        by_type.setdefault(resource["resourceType"], []).append(resource)
    known = {entry["fullUrl"] for entry in document["entry"]} | {
        f"{entry['resource']['resourceType']}/{entry['resource']['id']}"
        for entry in document["entry"]
    }
    assert set(list_references(document)) <= known  # it stands by itself
    for observation in by_type["Observation"]:
        assert observation["effectiveDateTime"]
        assert all("reference" in one for one in observation["performer"])
        assert f"{EU}Observation-resultslab-eu-lab" in observation["meta"]["profile"]
    assert document["entry"][0]["resource"] == by_type["Composition"][0]
    return document, by_type


def list_references(part):
    if isinstance(part, list):
        return [found for one in part for found in list_references(one)]
    if not isinstance(part, dict):
        return []
    own = [part["reference"]] if isinstance(part.get("reference"), str) else []
    return own + [found for one in part.values() for found in list_references(one)]


def write_narrative(part):
    xhtml = ElementTree.fromstring(part["div"])  # noqa: S314 - our own
    return " ".join(xhtml.itertext())


def missing_of(client, id_):
    answer = client.get(f"{R4}/Composition/{id_}/$document")
    assert answer.status_code == 422, answer.content
    outcome = answer.json()
    assert find_faults(outcome) == []
    assert {(one["severity"], one["code"]) for one in outcome["issue"]} == {
        ("error", "required")
    }
    return [one["expression"] for one in outcome["issue"]]


def test_results_of_an_order_are_a_document_of_their_lab(chart, alice_api):
    name = "A <b>1c"  # a name is text, whatever it looks like
    make_results(
        order=chart.order,
        results=(
            make_reported_result("Glucose", "85.10", loinc="2345-7", sample_id="S-1"),
            make_reported_result(name, "<0.5", unit="%"),
        ),
        collected_at=COLLECTED_AT,
    )
    id_ = str(chart.order.pk)

    document, found = read_document(alice_api, id_)
    read = alice_api.get(f"{R4}/Composition/{id_}")
    posted = alice_api.post(f"{R4}/Composition/{id_}/$document", {})

    [composition] = found["Composition"]
    [report] = found["DiagnosticReport"]
    [lab] = found["Organization"]
    assert read.json() == composition
    assert posted.json()["entry"] == document["entry"]
    assert posted.json()["identifier"] != document["identifier"]
    assert (composition["status"], composition["title"]) == (
        "final",
        "Laboratory report",
    )
    assert composition["author"] == [
        {"reference": f"Organization/{lab['id']}", "display": lab["name"]}
    ]
    assert "attester" not in composition
    assert [one["url"] for one in composition["extension"]] == [
        "http://hl7.eu/fhir/extensions/StructureDefinition/"
        "composition-diagnosticReportReference"
    ]
    assert report["extension"][0]["valueReference"] == {
        "reference": f"Composition/{id_}"
    }
    assert report["code"]["coding"][0]["code"] == "11502-2"
    [section] = composition["section"]
    assert len(section["entry"]) == len(found["Observation"]) == 6
    told = write_narrative(section["text"])
    assert "85.10 mg/dL" in told
    assert f"{name} <0.5 %" in told
    assert "Rosa Example" in write_narrative(composition["text"])
    assert found["ServiceRequest"][0]["identifier"][0]["value"] == id_
    assert found["Patient"][0]["birthDate"] == "1988-04-02"
    reads = AuditEntry.unscoped.filter(verb="read", subject="fhir_diagnosticreport")
    assert set(reads.values_list("user_uuid", flat=True)) == {chart.user.uuid}


def test_a_signed_report_names_its_signer_and_a_partial_one_is_preliminary(
    chart, alice_api
):
    job = chart.review.job

    _, signed = read_document(alice_api, f"report-{job.pk.hex}")
    _, partial = read_document(alice_api, str(chart.order.pk))

    [composition] = signed["Composition"]
    [practitioner] = signed["Practitioner"]
    [lab] = signed["Organization"]
    assert practitioner["name"] == [{"text": NORA.label}]
    assert lab["name"] == "Example Laboratory"
    [attester] = composition["attester"]
    assert (attester["mode"], attester["party"]) == (
        "professional",
        composition["author"][0],
    )
    assert attester["party"]["display"] == NORA.label
    assert partial["Composition"][0]["status"] == "preliminary"
    statuses = {one["status"] for one in partial["Observation"]}
    assert statuses == {"final", "preliminary", "cancelled"}


def test_what_a_report_lacks_is_named_and_nothing_takes_its_place(
    chart, alice_tenant, alice_api
):
    job = ParsingJob.objects.for_tenant(alice_tenant).filter(pk=chart.review.job.pk)
    job.update(metadata={})
    unknown = make_order_awaiting_results(tenant=alice_tenant)
    make_results(order=unknown)
    outside = OutsideReport.objects.for_tenant(alice_tenant).get()
    before = stored_rows(alice_tenant)
    report = f"report-{job.get().pk.hex}"
    observation = f"Observation.where(id = '{report}-0')"

    of_unknown = missing_of(alice_api, unknown.pk)
    of_report = missing_of(alice_api, report)
    of_outside = missing_of(alice_api, f"outside-{outside.pk.hex}")
    assert stored_rows(alice_tenant) == before
    UserInfo.objects.for_tenant(alice_tenant).filter(user=chart.user).delete()
    without_birth_date = missing_of(alice_api, report)

    [[untimed]] = of_unknown
    assert re.fullmatch(r"Observation\.where\(id = 'result-.+'\)\.effective", untimed)
    assert of_report == [[f"{observation}.effective"], [f"{observation}.performer"]]
    assert ["Composition.author"] in of_outside
    born = [f"Patient.where(id = '{chart.user.uuid}').birthDate"]
    assert sorted(without_birth_date) == sorted([*of_report, born])
    # An order says who it is for; that is served of its results, and of no others.
    _, ordered = read_document(alice_api, str(chart.order.pk))
    details = chart.order.patient_details
    [patient] = ordered["Patient"]
    assert patient["birthDate"] == details["dob"]
    assert patient["name"] == [
        {"family": details["last_name"], "given": [details["first_name"]]}
    ]


def test_who_may_not_read_all_of_a_document_reads_nothing_of_it(
    chart, alice_tenant, alice_api, charlie_api
):
    place = f"{R4}/Composition/{chart.order.pk}/$document"
    _, text = create_api_key(
        tenant=alice_tenant,
        actor=ACTOR,
        label="results",
        rules=KeyRules(scopes=frozenset({"orders:read", "patient_details:read"})),
    )
    strict = {"Prefer": "handling=strict"}

    answers = [
        (ApiClient(text).get(place), 403, "scope_missing"),
        (charlie_api.get(place), 404, "not_found"),
        (alice_api.get(f"{R4}/Composition/x/$document"), 404, "not_found"),
        (alice_api.get(f"{place}?persist=true"), 400, "parameter_unknown"),
        (alice_api.get(f"{place}?graph=x", headers=strict), 400, "parameter_unknown"),
    ]

    codes = [
        (one.status_code, one.json()["issue"][0]["details"]["coding"][0]["code"])
        for one, *_ in answers
    ]
    assert codes == [(status, code) for _, status, code in answers]
    assert alice_api.get(f"{place}?graph=x").status_code == 200
