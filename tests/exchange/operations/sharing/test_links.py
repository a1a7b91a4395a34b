"""Shared links: made, opened by an independent JWE library, guessed, and ended."""

from __future__ import annotations

import base64
import json
from datetime import timedelta

import orjson
import pytest
import time_machine
from django.test import Client
from django.utils import timezone
from jwcrypto import jwe, jwk

from accounts.models import AuditEntry
from accounts.operations.api_keys.call_limits import clear_rate_limit_cache
from exchange.models import SharedFile, SharedLink
from exchange.operations.sharing.links import (
    LINK_RETENTION,
    OPEN_AT_MOST,
    ShareRequest,
    create_shared_link,
    delete_ended_shared_links,
    revoke_shared_link,
)
from exchange.queries.shareable import list_shareable_reports
from exchange.web.public import CALLS_PER_MINUTE
from portal.lib.errors import DomainError
from tests.audit import audited
from tests.factories.accounts import ACTOR
from tests.factories.clinical import COLLECTED_AT, make_chart
from tests.factories.results import make_order_awaiting_results, make_results
from tests.fhir_judges import find_faults
from tests.users.holdings import stored_rows
from users.operations.users.users import delete_user

pytestmark = pytest.mark.django_db
READER = {"recipient": "Dr. Reader, Example Clinic"}


@pytest.fixture(autouse=True)
def _no_calls_before():
    clear_rate_limit_cache()
    yield
    clear_rate_limit_cache()


@pytest.fixture
def chart(alice_tenant):
    return make_chart(tenant=alice_tenant)


@pytest.fixture
def reports(chart):
    """Ids of what the chart's user can share."""
    listed = list_shareable_reports(tenant=chart.user.tenant, user_uuid=chart.user.uuid)
    return [one.id for one in listed]


@pytest.fixture
def made(chart, reports):
    return create_shared_link(
        user=chart.user, actor=ACTOR, request=ShareRequest(reports=reports)
    )


def payload_of(url):
    viewer, _, written = url.partition("#shlink:/")
    assert viewer.endswith("/shl/")
    return json.loads(base64.urlsafe_b64decode(written + "=" * (-len(written) % 4)))


def path_of(url):
    return "/" + url.split("/", 3)[3]


def ask(url, body=None, **options):
    """POST a manifest request as a client without cookies."""
    return Client().post(
        path_of(payload_of(url)["url"]),
        data=json.dumps(READER if body is None else body),
        content_type="application/json",
        **options,
    )


def decrypt(text, key):
    box = jwe.JWE()
    box.deserialize(text, jwk.JWK(kty="oct", k=key))
    header = json.loads(box.objects["protected"])
    return header, json.loads(box.payload)


def test_a_link_opens_with_an_independent_library_and_keeps_no_key(
    chart, reports, alice_tenant
):
    make_results(order=chart.order, status="final")
    with pytest.raises(DomainError) as wanting:
        create_shared_link(user=chart.user, actor=ACTOR, request=ShareRequest(["x"]))
    order = str(chart.order.pk)
    made = create_shared_link(
        user=chart.user,
        actor=ACTOR,
        request=ShareRequest([*reports, order], label="For Dr. Reader"),
    )
    payload = payload_of(made.url)

    answer = ask(made.url, {**READER, "passcode": made.passcode})
    small = ask(
        made.url, {**READER, "passcode": made.passcode, "embeddedLengthMax": 0}
    ).json()["files"]

    assert wanting.value.code == "report_unknown"
    assert payload["flag"] == "P"
    assert payload["label"] == "For Dr. Reader"
    assert payload["exp"] == int(made.link.expires_at.timestamp())
    assert len(payload["key"]) == 43
    assert len(payload["url"].rpartition("/")[2]) == 43
    assert len(payload["url"]) <= 128
    assert (answer.status_code, answer["Content-Type"]) == (200, "application/json")
    assert "no-store" in answer["Cache-Control"]
    assert answer["Access-Control-Allow-Origin"] == "*"
    files = answer.json()["files"]
    assert {(one["contentType"], one["status"]) for one in files} == {
        ("application/fhir+json", "finalized")
    }
    header, bundle = decrypt(files[0]["embedded"], payload["key"])
    assert header == {
        "alg": "dir",
        "enc": "A256GCM",
        "cty": "application/fhir+json",
        "zip": "DEF",
    }
    kinds = {}
    for entry in bundle["entry"]:
        resource = entry["resource"]
        kinds.setdefault(resource["resourceType"], []).append(resource)
        assert find_faults(resource) == []
    assert sorted(one["id"] for one in kinds["DiagnosticReport"]) == sorted(
        [*reports, order]
    )
    assert {"Observation", "Organization", "ServiceRequest"} < set(kinds)
    [patient] = kinds["Patient"]
    assert patient["birthDate"] == "1988-04-02"
    assert not {"address", "telecom"} & set(patient)
    documents = [decrypt(one["embedded"], payload["key"])[1] for one in files[1:]]
    assert len(documents) == 2
    ivs = {one["embedded"].split(".")[2] for one in files}
    assert len(ivs) == 3
    for document in documents:
        assert find_faults(document) == []
        [content] = document["content"]
        assert base64.b64decode(content["attachment"]["data"]).startswith(b"%PDF")
    assert all("embedded" not in one for one in small)
    file = Client().get(path_of(small[0]["location"]))
    assert (file["Content-Type"], file.content.decode()) == (
        "application/jose",
        files[0]["embedded"],
    )
    # The key, the address and the passcode are nowhere: not in rows, not in the audit.
    stored = orjson.dumps(
        [
            *SharedLink.unscoped.values(),
            *SharedFile.unscoped.values(),
            *AuditEntry.unscoped.values("changes", "subject_id", "actor_label"),
        ]
    ).decode()
    token = payload["url"].rpartition("/")[2]
    for secret in (payload["key"], token, f'"{made.passcode}"'):
        assert secret not in stored
    link = SharedLink.objects.for_tenant(alice_tenant).get()
    assert (link.openings, link.last_recipient) == (2, READER["recipient"])
    reads = AuditEntry.unscoped.filter(subject="shared_link", verb="read")
    assert set(reads.values_list("actor_label", "user_uuid")) == {
        (READER["recipient"], chart.user.uuid)
    }


def test_five_wrong_passcodes_in_all_end_a_link(made, alice_tenant):
    right = {**READER, "passcode": made.passcode}
    wrong = {**READER, "passcode": "no"}

    replies = [
        ask(made.url),
        ask(made.url, wrong),
        ask(made.url, wrong),
        ask(made.url, right),
        ask(made.url, wrong),
        ask(made.url, wrong),
        ask(made.url, wrong),
        ask(made.url, right),
    ]

    assert [
        (each.status_code, each.json().get("remainingAttempts")) for each in replies
    ] == [
        (401, 5),  # none was given, none is counted
        (401, 4),
        (401, 3),
        (200, None),
        (401, 2),
        (401, 1),
        (401, 0),
        (404, None),
    ]
    verbs = [verb for verb, subject, _ in audited(alice_tenant) if "shared" in subject]
    assert verbs.count("refuse_passcode") == 6
    assert verbs.count("read") == 1
    delete_ended_shared_links()
    assert not SharedFile.objects.for_tenant(alice_tenant).exists()


def test_bad_requests_and_guesses_open_nothing(made, alice_tenant):
    url = payload_of(made.url)["url"]
    before = stored_rows(alice_tenant)

    bodies = [b"", b"[", b"[]", b"{}", b'{"recipient":7}', b'{"recipient":" "}']
    bodies += [b'{"recipient":"a","passcode":1}', b'{"recipient":"a\\u0000"}']
    bodies += [b'{"recipient":"a","embeddedLengthMax":-1}', b'"' + b"a" * 9000 + b'"']
    statuses = [
        Client()
        .post(path_of(url), data=body, content_type="application/json")
        .status_code
        for body in bodies
    ]
    others = [
        Client().get(path_of(url)).status_code,
        Client().options(path_of(url)).status_code,
        Client().get(f"{path_of(url)}/0").status_code,
        Client().get(f"{path_of(url)}/0?s=x:y").status_code,
    ]
    clear_rate_limit_cache()
    guesses = [
        Client(REMOTE_ADDR="203.0.113.9").post(
            f"/shl/{'A' * 40}{number:03}",
            data=json.dumps({**READER, "passcode": "000000"}),
            content_type="application/json",
        )
        for number in range(1000)
    ]

    assert statuses == [400] * len(bodies)
    assert others == [405, 204, 404, 404]
    codes = [each.status_code for each in guesses]
    assert codes == [404] * CALLS_PER_MINUTE + [429] * (1000 - CALLS_PER_MINUTE)
    assert int(guesses[-1]["Retry-After"]) <= 60
    assert stored_rows(alice_tenant) == before


def test_a_link_ends_with_its_time_its_user_and_when_it_is_revoked(
    chart, reports, alice_tenant
):
    request = ShareRequest(reports, lasts=timedelta(days=1), has_passcode=False)
    revoked, expiring = (
        create_shared_link(user=chart.user, actor=ACTOR, request=request)
        for _ in range(2)
    )
    location = ask(revoked.url, {**READER, "embeddedLengthMax": 1}).json()["files"][0]
    opened = ask(expiring.url)

    revoke_shared_link(user=chart.user, actor=ACTOR, link_id=revoked.link.pk)
    gone = [
        ask(revoked.url).status_code,
        Client().get(path_of(location["location"])).status_code,
    ]
    with pytest.raises(DomainError) as again:
        revoke_shared_link(user=chart.user, actor=ACTOR, link_id=revoked.link.pk)
    with time_machine.travel(timezone.now() + timedelta(minutes=11), tick=False):
        late = ask(expiring.url, {**READER, "embeddedLengthMax": 1}).json()
    place = path_of(late["files"][0]["location"])
    with time_machine.travel(timezone.now() + timedelta(minutes=22), tick=False):
        late_file = Client().get(place).status_code
    with time_machine.travel(timezone.now() + timedelta(days=1), tick=False):
        expired = ask(expiring.url).status_code
        removed = delete_ended_shared_links()
    left = SharedLink.objects.for_tenant(alice_tenant).count()
    with time_machine.travel(
        timezone.now() + timedelta(days=2) + LINK_RETENTION, tick=False
    ):
        removed_later = delete_ended_shared_links()

    assert "flag" not in payload_of(revoked.url)
    assert opened.status_code == 200
    assert gone == [404, 404]
    assert again.value.code == "link_ended"
    assert (late_file, expired) == (404, 404)
    assert (removed, left, removed_later) == (0, 2, 2)
    other = create_shared_link(user=chart.user, actor=ACTOR, request=request)
    delete_user(user=chart.user, actor=ACTOR)
    assert ask(other.url).status_code == 404


def test_requests_at_fault_make_no_link(chart, reports, alice_tenant, settings):
    before = stored_rows(alice_tenant)

    codes = []
    for request in (
        ShareRequest(reports, is_users_own=True),  # off until the team turns it on
        ShareRequest([]),
        ShareRequest([f"outside-{chart.user.uuid.hex}"]),
        ShareRequest([str(chart.order.pk)]),  # partial, so nobody's last word
        ShareRequest(reports, lasts=timedelta(days=400)),
        ShareRequest(reports, label="x" * 81),
    ):
        with pytest.raises(DomainError) as refused:
            create_shared_link(user=chart.user, actor=ACTOR, request=request)
        codes.append(refused.value.code)

    settings.PUBLIC_URL = f"https://assay.example/{'p' * 59}"
    with pytest.raises(DomainError) as long:
        create_shared_link(user=chart.user, actor=ACTOR, request=ShareRequest(reports))

    assert long.value.code == "public_url_too_long"
    assert codes == [
        "sharing_disabled",
        "reports_missing",
        "report_unknown",
        "report_unknown",
        "lifetime_invalid",
        "label_too_long",
    ]
    assert stored_rows(alice_tenant) == before
    settings.PUBLIC_URL = f"https://assay.example/{'p' * 58}"
    longest = create_shared_link(
        user=chart.user, actor=ACTOR, request=ShareRequest(reports)
    )
    assert len(payload_of(longest.url)["url"]) == 128
    SharedLink.objects.for_tenant(alice_tenant).bulk_create(
        SharedLink(
            tenant=alice_tenant,
            user=chart.user,
            token_hash=str(number),
            expires_at=timezone.now() + timedelta(days=1),
        )
        for number in range(OPEN_AT_MOST)
    )
    with pytest.raises(DomainError) as many:
        create_shared_link(user=chart.user, actor=ACTOR, request=ShareRequest(reports))
    assert many.value.code == "links_open"


def test_a_report_alone_is_a_document_and_several_are_a_collection(
    chart, reports, alice_tenant
):
    make_results(order=chart.order, status="final", collected_at=COLLECTED_AT)
    order = str(chart.order.pk)

    found = {}
    for shared in ([order], reports, [*reports, order]):
        made = create_shared_link(
            user=chart.user, actor=ACTOR, request=ShareRequest(shared)
        )
        files = ask(made.url, {**READER, "passcode": made.passcode}).json()["files"]
        _, bundle = decrypt(files[0]["embedded"], payload_of(made.url)["key"])
        assert find_faults(bundle) == []
        found[tuple(shared)] = bundle

    assert [one["type"] for one in found.values()] == [
        "document",
        "document",
        "collection",
    ]
    document = found[(order,)]
    first, *others = [one["resource"] for one in document["entry"]]
    assert (first["resourceType"], first["status"]) == ("Composition", "final")
    [patient] = [one for one in others if one["resourceType"] == "Patient"]
    assert patient["birthDate"] == "1988-04-02"
    assert not {"address", "telecom", "extension"} & set(patient)
    # Addresses of files, which a reader could not open.
    assert not any("presentedForm" in one for one in others)


def test_a_user_without_demographics_has_the_name_of_the_order(alice_tenant):
    order = make_order_awaiting_results(tenant=alice_tenant)
    make_results(order=order)

    made = create_shared_link(
        user=order.user, actor=ACTOR, request=ShareRequest([str(order.pk)])
    )

    reply = ask(made.url, {**READER, "passcode": made.passcode})
    embedded = reply.json()["files"][0]["embedded"]
    _, bundle = decrypt(embedded, payload_of(made.url)["key"])
    [patient] = [
        one["resource"]
        for one in bundle["entry"]
        if one["resource"]["resourceType"] == "Patient"
    ]
    assert patient["name"] == [
        {
            "family": order.patient_details["last_name"],
            "given": [order.patient_details["first_name"]],
        }
    ]
    assert patient["birthDate"] == order.patient_details["dob"]
