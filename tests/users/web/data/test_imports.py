from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import PurePosixPath

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from tests.audit import audited
from tests.factories.apple_health import make_export
from tests.factories.imports import make_import
from tests.factories.users import make_user
from tests.jobs import queued
from tests.packed import list_samples
from tests.statements import count_statements
from tests.users.holdings import stored_rows
from users.models import ImportJob
from users.operations.imports.runs import IMPORT_JOB, run_health_data_import
from users.states.imports import ImportStatus

pytestmark = pytest.mark.django_db
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
BEAT = b'{"resource":"heartrate","timestamp":"2026-02-28T10:00:00Z","value":61}\n'


@pytest.fixture(autouse=True)
def _noon(time_machine):
    time_machine.move_to(NOON, tick=False)


@pytest.fixture
def user(alice_tenant):
    return make_user(tenant=alice_tenant)


def address(user, rest=""):
    slug = user.tenant.team.slug
    return f"/t/{slug}/{user.tenant.environment}/users/{user.uuid}/imports/{rest}"


def post(web, user, content=BEAT, **headers):
    file = SimpleUploadedFile("beats.ndjson", content)
    return web.post(address(user), {"file": file}, headers=headers)


def test_an_upload_leads_to_its_own_page(alice_web, alice_tenant, user):
    reply = post(alice_web, user)

    job = ImportJob.objects.for_tenant(alice_tenant).get()
    assert (reply.status_code, reply["Location"]) == (302, address(user, f"{job.id}/"))
    assert (job.file_name, job.provider) == ("beats.ndjson", "manual")
    assert [each.name for each in queued()].count(IMPORT_JOB) == 1


def test_an_upload_is_planned_and_stored_on_confirmation(alice_web, alice_tenant, user):
    post(alice_web, user)
    job = ImportJob.objects.for_tenant(alice_tenant).get()
    run_health_data_import(tenant_pk=alice_tenant.pk, job_id=job.id)

    page = alice_web.get(address(user, f"{job.id}/"))

    (planned,) = page.context["plan"]
    assert planned[0] == "heartrate"
    assert b"Store 1 record" in page.content
    assert page.context["poll_seconds"] == 0
    assert list_samples(user.pk) == []
    for _ in range(2):
        reply = alice_web.post(address(user, f"{job.id}/confirm/"))
        assert reply["Location"] == address(user, f"{job.id}/")
    run_health_data_import(tenant_pk=alice_tenant.pk, job_id=job.id)
    job.refresh_from_db()
    assert job.status == ImportStatus.COMPLETED
    assert len(list_samples(user.pk)) == 1


def test_with_script_the_answer_says_where_to_go(alice_web, user):
    reply = post(alice_web, user, **{"HX-Request": "true"})

    assert reply.status_code == 204
    assert PurePosixPath(reply["HX-Redirect"]).parent.name == "imports"


def test_a_refused_upload_shows_why_and_keeps_nothing(alice_web, alice_tenant, user):
    before = stored_rows(alice_tenant)

    reply = post(alice_web, user, b"%PDF-1.7")

    assert reply.status_code == 422
    assert "file" in reply.context["form"].errors
    after = stored_rows(alice_tenant)
    assert {name for name in before if before[name] != after[name]} == {"AuditEntry"}


@pytest.mark.parametrize(
    ("content", "said", "code"),
    [
        (
            make_export(days=1)[:-60],
            "The file is damaged or incomplete. Recognized as: an Apple Health export.",
            "file_damaged",
        ),
        (
            b'{"resource":"moods"}\n',
            "The file contains no records that can be stored. Recognized as: NDJSON of"
            " samples.",
            "nothing_to_import",
        ),
    ],
)
def test_a_file_that_the_worker_refuses_is_named_too(
    alice_web, alice_tenant, user, content, said, code
):
    post(alice_web, user, content)
    job = ImportJob.objects.for_tenant(alice_tenant).get()
    run_health_data_import(tenant_pk=alice_tenant.pk, job_id=job.id)

    page = alice_web.get(address(user, f"{job.id}/")).content.decode()

    assert f"<b>{said}</b> Nothing was stored. <code>{code}</code>" in page
    assert list_samples(user.pk) == []


def test_the_list_has_the_newest_first_in_a_constant_number_of_queries(
    alice_web, user, alice_tenant
):
    first = make_import(user=user)
    alice_web.get(address(user))
    with count_statements() as one:
        alice_web.get(address(user))
    second = make_import(user=user, created_at=NOON + timedelta(minutes=1))

    with count_statements() as two:
        reply = alice_web.get(address(user))

    assert reply.context["jobs"] == [second, first]
    assert len(two) == len(one)
    assert ("read", "import_list", str(user.uuid)) in audited(alice_tenant)


def test_a_running_import_asks_again_and_one_that_has_ended_does_not(alice_web, user):
    running = make_import(
        user=user,
        status=ImportStatus.READING,
        bytes_read=50,
        bytes_total=100,
        rows_read=7,
    )
    ended = make_import(user=user, status=ImportStatus.COMPLETED)

    open_page = alice_web.get(address(user, f"{running.id}/"))
    page = alice_web.get(address(user, f"{ended.id}/"))

    assert open_page.context["poll_seconds"] == 2
    assert b'hx-trigger="every 2s"' in open_page.content
    assert b'value="25"' in open_page.content
    assert page.context["poll_seconds"] == 0
    assert b'hx-trigger="every' not in page.content


def test_what_was_left_out_is_told_by_reason_most_rows_first(alice_web, user):
    whats = {f"kind{number}": number for number in range(1, 11)}
    job = make_import(
        user=user,
        status=ImportStatus.COMPLETED,
        drops={
            "no_value": {"HeartRate": 3},
            "unknown_kind": whats,
            "odd_fault": {"": 1},
        },
    )

    reply = alice_web.get(address(user, f"{job.id}/"))

    (unknown, no_value, odd) = reply.context["drops"]
    assert unknown[1:3] == ("unknown_kind", 55)
    assert unknown[3][:2] == [("kind10", 10), ("kind9", 9)]
    assert (len(unknown[3]), unknown[4]) == (8, 2)
    assert no_value[1:] == ("no_value", 3, [("HeartRate", 3)], 0)
    assert odd[0] == "Odd fault"


def test_the_same_file_is_pointed_at(alice_web, user, time_machine):
    first = make_import(user=user, status=ImportStatus.COMPLETED)
    time_machine.move_to(NOON.replace(hour=13), tick=False)
    second = make_import(user=user)

    reply = alice_web.get(address(user, f"{second.id}/"))

    assert reply.context["before"] == first


def test_an_import_is_cancelled_once(alice_web, user):
    job = make_import(user=user)

    for _ in range(2):
        reply = alice_web.post(address(user, f"{job.id}/cancel/"))
        assert reply["Location"] == address(user, f"{job.id}/")

    job.refresh_from_db()
    assert job.status == ImportStatus.CANCELLED


def test_an_import_of_another_user_is_not_found(alice_web, user, alice_tenant):
    other = make_import(user=make_user(tenant=alice_tenant))

    assert alice_web.get(address(user, f"{other.id}/")).status_code == 404
    assert alice_web.post(address(user, f"{other.id}/cancel/")).status_code == 404
    assert alice_web.get(address(user, "nonsense/")).status_code == 404
