"""Searching and reading: pages, tags, refusals, scopes and strangers."""

from __future__ import annotations

from uuid import uuid4

import pytest

from accounts.models import AuditEntry
from accounts.operations.api_keys.api_keys import KeyRules, create_api_key
from tests.clients import ApiClient
from tests.factories.accounts import ACTOR
from tests.factories.clinical import make_chart
from tests.factories.timeseries import minute, push_samples, sample
from tests.factories.users import make_user

pytestmark = pytest.mark.django_db
R4 = "/fhir/R4"


def ids_of(bundle, mode="match"):
    return [
        entry["resource"].get("id")
        for entry in bundle.get("entry", [])
        if entry["search"]["mode"] == mode
    ]


def link_of(bundle, relation):
    found = {link["relation"]: link["url"] for link in bundle["link"]}
    return found.get(relation)


def code_of(answer):
    body = answer.json()
    assert answer["Content-Type"] == "application/fhir+json"
    assert body["resourceType"] == "OperationOutcome"
    return body["issue"][0]["details"]["coding"][0]["code"]


def test_pages_hold_each_match_once_and_stay_while_rows_come(alice_tenant, alice_api):
    chart = make_chart(tenant=alice_tenant)
    push_samples(
        chart.user,
        "heartrate",
        *(sample("heartrate", timestamp=minute(n), value=60) for n in range(1, 6)),
    )
    whole = alice_api.get(f"{R4}/Observation?patient=Patient/{chart.user.uuid}").json()
    first = alice_api.get(f"{R4}/Observation?patient={chart.user.uuid}&_count=4").json()

    pages, following = [ids_of(first)], link_of(first, "next")
    push_samples(
        chart.user, "heartrate", sample("heartrate", timestamp=minute(0), value=59)
    )
    while following:
        page = alice_api.get(following).json()
        pages.append(ids_of(page))
        following = link_of(page, "next")

    assert whole["total"] == 17
    assert "total" not in first
    assert all(len(page) <= 4 for page in pages)
    assert sorted(one for page in pages for one in page) == sorted(ids_of(whole))
    many = alice_api.get(f"{R4}/Observation?patient={chart.user.uuid}&_count=1000000")
    assert len(ids_of(many.json())) == 17


def test_a_tag_spares_what_is_known_and_changes_with_the_resource(
    alice_tenant, alice_api
):
    user = make_user(tenant=alice_tenant)
    path = f"{R4}/Patient/{user.uuid}"

    tag = alice_api.get(path)["ETag"]
    known = alice_api.get(path, headers={"If-None-Match": f'"x", {tag}'})
    other = alice_api.get(path, headers={"If-None-Match": 'W/"1"'})

    assert tag.startswith('W/"')
    assert (known.status_code, known.content, known["ETag"]) == (304, b"", tag)
    assert other.status_code == 200


REFUSED = (
    ("Observation", 400, "patient_missing"),
    ("Observation?patient=x&date=yesterday", 400, "date_invalid"),
    ("Observation?patient=x&date=ge2026-13", 400, "date_invalid"),
    ("Patient?_count=0", 400, "count_invalid"),
    ("Patient?_count=-1", 400, "count_invalid"),
    ("Patient?_count=x", 400, "count_invalid"),
    ("Patient?_cursor=x", 400, "cursor_invalid"),
    ("Patient?_cursor=WyIwIiwieDtkcm9wIl0", 400, "cursor_invalid"),
    ("Patient?gender=", 400, "value_missing"),
    ("Patient?_format=xml", 406, "not_acceptable"),
    ("Patient/unknown", 404, "not_found"),
    ("Observation/sample-x-1-1-1", 404, "not_found"),
    (
        "Observation/sample-" + "a" * 32 + "-2600-1-99999999999999999999",
        404,
        "not_found",
    ),
    ("Observation/result-1", 404, "not_found"),
    ("Binary/report-x", 404, "not_found"),
    ("Medication", 404, "not_found"),
    ("Medication/1", 404, "not_found"),
)


def test_each_refusal_is_an_operation_outcome(alice_api):
    answers = [(path, alice_api.get(f"{R4}/{path}")) for path, *_ in REFUSED]

    assert [
        (path, answer.status_code, code_of(answer)) for path, answer in answers
    ] == list(REFUSED)


def test_other_refusals_are_outcomes_too(alice_api):
    nobody = ApiClient().get(f"{R4}/Patient")
    deleted = alice_api.delete(f"{R4}/Patient/{uuid4()}")
    xml = alice_api.get(f"{R4}/Patient", headers={"Accept": "application/fhir+xml"})

    assert (nobody.status_code, code_of(nobody)) == (401, "unauthenticated")
    assert nobody["WWW-Authenticate"]
    assert (deleted.status_code, code_of(deleted)) == (405, "method_not_allowed")
    assert (xml.status_code, code_of(xml)) == (406, "not_acceptable")
    alice_api.raise_request_exception = False
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("exchange.api.r4.views.run_search", lambda _search: 1 / 0)
        fault = alice_api.get(f"{R4}/Patient")
    assert (fault.status_code, code_of(fault)) == (500, "fault")
    assert b"division" not in fault.content


def test_an_unknown_parameter_is_ignored_and_named_or_refused(alice_tenant, alice_api):
    user = make_user(tenant=alice_tenant)
    path = f"{R4}/Patient?_id={user.uuid}&shoe=42&_sort=name"

    lenient = alice_api.get(path).json()
    strict = alice_api.get(path, headers={"Prefer": "handling=strict"})
    posted = alice_api.post(
        f"{R4}/Patient/_search",
        f"_id={user.uuid}",
        "application/x-www-form-urlencoded",
        headers={"Prefer": "respond-async; handling=strict"},
    )

    assert ids_of(lenient) == [str(user.uuid)]
    [outcome] = [
        entry["resource"]
        for entry in lenient["entry"]
        if entry["search"]["mode"] == "outcome"
    ]
    assert outcome["issue"][0]["diagnostics"] == "Ignored: _sort, shoe."
    assert "shoe" not in link_of(lenient, "self")
    assert (strict.status_code, code_of(strict)) == (400, "parameter_unknown")
    assert ids_of(posted.json()) == [str(user.uuid)]


def test_dates_and_codes_are_compared_as_fhir_says(alice_tenant, alice_api):
    user = make_chart(tenant=alice_tenant).user
    base = f"{R4}/Observation?patient={user.uuid}&category=laboratory"

    def count(query):
        return len(ids_of(alice_api.get(f"{base}&{query}").json()))

    assert count("date=2026-11-19") == 5
    assert count("date=ge2026-11-19T08:00:00Z") == 5
    assert count("date=gt2026-11-19") == 0
    assert count("date=2026") == 7
    assert count("date=sa2026-03-02&date=le2026-12") == 5
    assert count("date=ne2026-11-19") == 2
    assert count("code=2345-7,1988-5") == 3
    assert count("code=http://snomed.info/sct|2345-7") == 0
    assert count("status=preliminary,cancelled") == 2
    assert count("_lastUpdated=lt2000") == 0
    assert count("subject=Patient/none") == 0


def test_a_stranger_finds_and_reads_nothing(alice_tenant, alice_api, charlie_api):
    chart = make_chart(tenant=alice_tenant)
    patient = chart.user.uuid
    audited = AuditEntry.unscoped.count()

    for path in (f"Patient/{patient}", f"ServiceRequest/{chart.order.pk}"):
        assert charlie_api.get(f"{R4}/{path}").status_code == 404
    for path in (
        f"Observation?patient={patient}",
        f"DiagnosticReport?patient={patient}",
        f"Patient?_id={patient}",
        "Patient",
    ):
        found = charlie_api.get(f"{R4}/{path}")
        assert (found.status_code, ids_of(found.json())) == (200, [])
    results = ids_of(alice_api.get(f"{R4}/Observation?patient={patient}").json())
    after = AuditEntry.unscoped.count()
    for id_ in results:
        assert charlie_api.get(f"{R4}/Observation/{id_}").status_code == 404

    assert (after - audited, AuditEntry.unscoped.count()) == (1, after)


def test_a_key_sees_what_its_scopes_open_and_is_told_what_is_left_out(alice_tenant):
    user = make_chart(tenant=alice_tenant).user
    _, text = create_api_key(
        tenant=alice_tenant,
        actor=ACTOR,
        label="wearables",
        rules=KeyRules(scopes=frozenset({"users:read"})),
    )
    client = ApiClient(text)

    bundle = client.get(f"{R4}/Observation?patient={user.uuid}").json()
    patient = client.get(f"{R4}/Patient/{user.uuid}")
    orders = client.get(f"{R4}/ServiceRequest?patient={user.uuid}")

    categories = {
        entry["resource"]["category"][0]["coding"][0]["code"]
        for entry in bundle["entry"]
        if entry["search"]["mode"] == "match"
    }
    assert categories == {"vital-signs"}
    assert bundle["entry"][-1]["resource"]["issue"][0]["code"] == "suppressed"
    assert (patient.status_code, code_of(patient)) == (403, "scope_missing")
    assert (orders.status_code, code_of(orders)) == (403, "scope_missing")
