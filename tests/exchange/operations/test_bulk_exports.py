"""Bulk exports: kick-off, files, cancellation, erasure and refusals."""

from __future__ import annotations

from datetime import timedelta

import orjson
import pytest
import time_machine
from django.utils import timezone

from accounts.models import AuditEntry
from accounts.operations.api_keys.api_keys import KeyRules, create_api_key
from exchange.models import BulkExport, BulkExportFile
from exchange.operations import bulk_exports
from exchange.operations.bulk_exports import (
    delete_old_bulk_exports,
    mark_bulk_export_failed,
    remove_exports_with_user,
    run_bulk_export,
)
from portal.lib import storage
from tests.clients import ApiClient
from tests.factories.accounts import ACTOR, make_api_key
from tests.factories.clinical import make_chart
from tests.factories.users import make_user
from tests.fhir_judges import find_faults
from tests.jobs import queued

pytestmark = pytest.mark.django_db
R4 = "/fhir/R4"
ASYNC = {"Prefer": "respond-async"}


def start(client, path="$export", **headers):
    answer = client.get(f"{R4}/{path}", headers={**ASYNC, **headers})
    assert answer.status_code == 202, answer.content
    return answer["Content-Location"]


def finish(tenant):
    for export in BulkExport.objects.for_tenant(tenant):
        run_bulk_export(tenant=tenant, export_id=export.pk)


def code_of(answer):
    return answer.json()["issue"][0]["details"]["coding"][0]["code"]


def lines_of(client, output):
    answer = client.get(output["url"])
    assert answer["Content-Type"] == "application/fhir+ndjson"
    lines = b"".join(answer.streaming_content).splitlines()
    assert len(lines) == output["count"]
    return [orjson.loads(line) for line in lines]


def test_an_export_validates_to_the_last_line_and_holds_all_types(
    alice_tenant, alice_api, monkeypatch, django_capture_on_commit_callbacks
):
    chart = make_chart(tenant=alice_tenant)
    make_user(tenant=alice_tenant)
    monkeypatch.setattr(bulk_exports, "LINES_PER_FILE", 5)
    place = start(alice_api)
    [job] = [one for one in queued() if one.name == "exchange.bulk_export"]
    running = alice_api.get(place)

    with django_capture_on_commit_callbacks(execute=True):
        finish(alice_tenant)
    ready = alice_api.get(place)

    assert job.queue == "imports"
    assert (running.status_code, running["X-Progress"]) == (202, "0 resources written")
    manifest = ready.json()
    assert (ready.status_code, ready["Content-Type"]) == (200, "application/json")
    assert manifest["requiresAccessToken"] is True
    assert manifest["request"].endswith("/fhir/R4/$export")
    counts = {}
    for output in manifest["output"]:
        for resource in lines_of(alice_api, output):
            type_ = resource["resourceType"]
            assert type_ == output["type"]
            assert find_faults(resource) == []
            counts[type_] = counts.get(type_, 0) + 1
    assert counts == {
        "Patient": 2,
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
    verbs = AuditEntry.unscoped.filter(subject="bulk_export").values_list("verb")
    assert {verb for (verb,) in verbs} == {"request_bulk_export", "read"}
    read_users = AuditEntry.unscoped.filter(subject="bulk_export", verb="read")
    assert read_users.exclude(user_uuid=None).count() == counts["Patient"]
    assert read_users.filter(user_uuid=chart.user.uuid).count() == 1
    with django_capture_on_commit_callbacks(execute=True):
        remove_exports_with_user(alice_tenant.pk, chart.user.uuid)
    assert alice_api.get(place).status_code == 404
    assert list(storage.list_stored_files(bulk_exports.FOLDER)) == []


def test_an_export_holds_what_was_asked_for(alice_tenant, alice_api):
    with time_machine.travel("2026-01-01T00:00:00Z", tick=False):
        make_user(tenant=alice_tenant, client_user_id="old")
    user = make_user(tenant=alice_tenant, client_user_id="new")

    place = start(
        alice_api, "Patient/$export?_type=Patient,Device&_since=2026-06-01T00:00:00Z"
    )
    finish(alice_tenant)

    [output] = alice_api.get(place).json()["output"]
    assert [one["id"] for one in lines_of(alice_api, output)] == [str(user.uuid)]
    start(alice_api, "Group/all/$export?_outputFormat=ndjson")
    assert alice_api.get(f"{R4}/Group/2/$export", headers=ASYNC).status_code == 404


def test_a_cancelled_export_is_gone_with_its_files(
    alice_tenant, alice_api, django_capture_on_commit_callbacks
):
    make_user(tenant=alice_tenant)
    first, second = start(alice_api), start(alice_api)
    third = alice_api.get(f"{R4}/$export", headers=ASYNC)
    cancelled = alice_api.delete(first)
    with django_capture_on_commit_callbacks(execute=True):
        finish(alice_tenant)
    url = alice_api.get(second).json()["output"][0]["url"]
    with django_capture_on_commit_callbacks(execute=True):
        ended = alice_api.delete(second)

    assert (third.status_code, code_of(third)) == (429, "exports_open")
    assert (cancelled.status_code, ended.status_code) == (202, 202)
    for gone in (first, second, url):
        assert alice_api.get(gone).status_code == 404
    assert alice_api.delete(first).status_code == 404
    assert BulkExportFile.unscoped.count() == 0
    assert list(storage.list_stored_files(bulk_exports.FOLDER)) == []


def test_addresses_of_files_end_and_exports_are_removed_after_a_day(
    alice_tenant, alice_api, charlie_api
):
    make_user(tenant=alice_tenant)
    other_key = ApiClient(make_api_key(tenant=alice_tenant))
    place = start(alice_api)
    finish(alice_tenant)
    url = alice_api.get(place).json()["output"][0]["url"]

    assert alice_api.get(url.partition("?")[0]).status_code == 404
    for stranger in (charlie_api, other_key):
        assert stranger.get(place).status_code == 404
        assert stranger.get(url).status_code == 404
        assert stranger.delete(place).status_code == 404
    assert ApiClient().get(url).status_code == 401
    with time_machine.travel(timezone.now() + timedelta(minutes=61), tick=False):
        assert alice_api.get(url).status_code == 404
        again, *_ = alice_api.get(place).json()["output"]
        assert len(lines_of(alice_api, again)) == 1
    with time_machine.travel(timezone.now() + timedelta(days=1), tick=False):
        assert alice_api.get(place).status_code == 404
        assert delete_old_bulk_exports() == 1
    assert BulkExport.unscoped.count() == 0
    assert list(storage.list_stored_files(bulk_exports.FOLDER)) == []


def test_what_can_not_be_exported_is_refused_and_nothing_is_begun(
    alice_tenant, alice_api
):
    _, text = create_api_key(
        tenant=alice_tenant,
        actor=ACTOR,
        label="wearables",
        rules=KeyRules(scopes=frozenset({"users:read"})),
    )
    limited = ApiClient(text)

    refused = [
        (alice_api.get(f"{R4}/$export"), 400, "not_asynchronous"),
        *(
            (alice_api.get(f"{R4}/$export?{query}", headers=ASYNC), 400, code)
            for query, code in (
                ("_type=Medication", "type_unknown"),
                ("_type=Patient,Shoe", "type_unknown"),
                ("_since=2026-01-01", "instant_invalid"),
                ("_since=yesterday", "instant_invalid"),
                ("_outputFormat=csv", "format_unknown"),
                ("_typeFilter=x", "parameter_unknown"),
            )
        ),
        (
            limited.get(f"{R4}/$export?_type=Patient", headers=ASYNC),
            403,
            "scope_missing",
        ),
    ]

    assert [(one.status_code, code_of(one)) for one, *_ in refused] == [
        (status, code) for _, status, code in refused
    ]
    assert BulkExport.unscoped.count() == 0
    assert [one for one in queued() if one.name == "exchange.bulk_export"] == []


def test_an_export_that_failed_says_so(alice_tenant, alice_api):
    place = start(alice_api)
    export = BulkExport.objects.for_tenant(alice_tenant).get()

    mark_bulk_export_failed(tenant=alice_tenant, export_id=export.pk)

    failed = alice_api.get(place)
    assert (failed.status_code, code_of(failed)) == (500, "export_failed")
    assert not run_bulk_export(tenant=alice_tenant, export_id=export.pk)
