from __future__ import annotations

import zipfile
from datetime import date, timedelta
from io import BytesIO

import pytest

from tests.audit import changes_of
from tests.factories.accounts import ACTOR
from tests.factories.apple_health import make_archive, make_export, quantity, wrap
from tests.factories.health_exports import HEALTH_EXPORTS
from tests.factories.summaries import record
from tests.outbox import emitted
from tests.packed import list_samples
from tests.users.holdings import stored_rows
from tests.users.operations.imports.beats import BEATS, NOON, beat, files, lines, start
from users.models import Device, ImportJob, Summary, WorkoutStream
from users.operations.imports import runs
from users.operations.imports.parts import store_import_part
from users.operations.imports.runs import mark_health_data_import_failed
from users.operations.imports.status import cancel_health_data_import
from users.operations.users.users import (
    UserChanges,
    delete_user,
    erase_user,
    update_user,
)
from users.states.imports import ImportStatus
from users.wearables.formats import staging
from users.wearables.formats.parts import read_import_file_parts

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("noon")]


def test_a_file_is_stored_and_counted(user, alice_tenant, run):
    job = run(start(user, lines(beat(0, 60), beat(1, 61), {"resource": "moods"})))

    assert job.status == ImportStatus.COMPLETED
    assert (job.rows_read, job.rows_accepted, job.rows_dropped) == (3, 2, 1)
    assert job.drops == {"unknown_kind": {"moods": 1}}
    assert job.counts == {
        "heartrate": {
            "created": 2,
            "updated": 0,
            "unchanged": 0,
            "first": "2026-02-28T10:00:00+00:00",
            "last": "2026-02-28T10:01:00+00:00",
        }
    }
    assert [each.value for each in list_samples(user.pk)] == [60.0, 61.0]


def test_what_cannot_be_told_at_once_is_refused_by_the_worker(user, run):
    members = BytesIO()
    with zipfile.ZipFile(members, "w") as archive:
        for number in range(15_000):  # a directory of 1.3 MB
            archive.writestr(f"apple_health_export/route_{number}.gpx", b"")

    job = start(user, members.getvalue(), "export.zip")
    waiting = job.status
    ended = run(job)

    assert waiting == ImportStatus.WAITING
    assert (ended.status, ended.failure) == (ImportStatus.REFUSED, "no_export_inside")
    assert not files()


def test_an_export_is_stored_whole_and_told_of_once_a_resource(user, alice_tenant, run):
    before = len(emitted(alice_tenant))

    job = run(start(user, make_archive(make_export(days=1)), name="export.zip"))

    assert job.status == ImportStatus.COMPLETED
    assert (job.provider, job.percent) == ("apple_health_kit", 100)
    assert {name: count["created"] for name, count in job.counts.items()} == {
        "activity": 1,
        "blood_oxygen": 6,
        "blood_pressure": 1,
        "body": 1,
        "calories_active": 84,
        "heartrate": 288,
        "profile": 1,
        "respiratory_rate": 6,
        "sleep": 1,
        "sleep_cycle": 1,
        "stand_hour": 12,
        "steps": 168,
        "weight": 1,
        "workout_stream": 1,
        "workouts": 1,
    }
    events = emitted(alice_tenant)[before:]
    items = [e for e in events if e["event_type"].startswith("historical.data.")]
    assert [e["event_type"] for e in items] == [
        f"historical.data.{name}.created" for name in sorted(job.counts)
    ]
    assert items[5]["data"] == {
        "user_id": str(user.uuid),
        "start_date": "2026-02-27T23:00:00+00:00",
        "end_date": "2026-02-28T22:55:00+00:00",
        "provider": "apple_health_kit",
    }
    assert not [e for e in events if e["event_type"].startswith("daily.data.")]
    devices = Device.objects.for_tenant(alice_tenant).filter(user=user)
    assert set(devices.values_list("source_type", "device_model")) == {
        ("watch", "Watch7,5"),
        ("phone", "iPhone15,4"),
    }
    assert files() == []
    assert changes_of(alice_tenant, "finish_import") == {"rows": 578}


def test_the_same_file_again_changes_nothing(user, alice_tenant, run):
    content = make_archive(make_export(days=1))
    first = run(start(user, content))
    samples = list_samples(user.pk)
    summaries = list(Summary.objects.for_tenant(alice_tenant).order_by("pk").values())
    events = emitted(alice_tenant)

    again = run(start(user, content))

    assert again.sha256 == first.sha256
    assert {
        (count["created"], count["updated"]) for count in again.counts.values()
    } == {(0, 0)}
    assert again.counts["heartrate"]["unchanged"] == 288
    assert list_samples(user.pk) == samples
    assert (
        list(Summary.objects.for_tenant(alice_tenant).order_by("pk").values())
        == summaries
    )
    assert emitted(alice_tenant) == events


@pytest.mark.parametrize("cloud_first", [True, False])
def test_the_stream_of_a_file_is_of_the_workout_that_its_cloud_named(
    user, run, cloud_first
):
    def sync():
        times = {
            "time_start": "2026-02-28T10:00:00+01:00",
            "time_end": "2026-02-28T10:10:00+01:00",
        }
        element = {"external_id": "cloud-7", **times}
        record(user, "workouts", element, provider="apple_health_kit")

    run_of = '<Workout workoutActivityType="HKWorkoutActivityTypeRunning" {}/>'.format(
        'sourceName="Watch" startDate="2026-02-28 10:00:00 +0100"'
        ' endDate="2026-02-28 10:10:00 +0100"'
    )
    beats = [
        quantity(
            "HeartRate", 120 + n, "count/min", start=f"2026-02-28 10:0{n}:00 +0100"
        )
        for n in (1, 2)
    ]
    export = make_archive(wrap(run_of, *beats))
    if cloud_first:
        sync()
    job = run(start(user, export, "export.zip"))
    if not cloud_first:
        sync()
    again = run(start(user, export, "export.zip"))

    workout = Summary.objects.for_tenant(user.tenant).get(user=user, kind="workouts")
    stream = WorkoutStream.objects.for_tenant(user.tenant).get()
    assert stream.workout_id == workout.pk
    assert workout.raw["external_id"] == "cloud-7"
    assert job.counts["workout_stream"]["created"] == 1
    assert again.counts["workout_stream"]["unchanged"] == 1


@pytest.mark.parametrize("vendor", sorted(HEALTH_EXPORTS))
def test_an_export_of_each_vendor_again_changes_nothing(
    user, alice_tenant, run, vendor
):
    first = run(start(user, HEALTH_EXPORTS[vendor](), "export"))
    before = kept(user)
    events = emitted(alice_tenant)

    again = run(start(user, HEALTH_EXPORTS[vendor](), "export"))

    assert (first.status, again.status) == (ImportStatus.COMPLETED,) * 2
    assert {
        name: (count["created"], count["updated"], count["unchanged"])
        for name, count in again.counts.items()
    } == {name: (0, 0, count["created"]) for name, count in first.counts.items()}
    assert kept(user) == before
    assert emitted(alice_tenant) == events


def kept(user):
    """The rows of a user that files become."""
    rows = [
        Summary.objects.for_tenant(user.tenant).order_by("pk"),
        WorkoutStream.objects.for_tenant(user.tenant).order_by("workout_id"),
    ]
    return [list_samples(user.pk), *(list(each.values()) for each in rows)]


def test_a_file_that_breaks_off_stores_nothing(user, alice_tenant, monkeypatch, run):
    monkeypatch.setattr(staging, "_PART_SAMPLES", 10)
    job = start(user, make_export(days=1)[:-60])
    before = stored_rows(alice_tenant)

    job = run(job)

    assert (job.status, job.failure) == (ImportStatus.REFUSED, "file_damaged")
    assert job.finished_at == NOON
    after = stored_rows(alice_tenant)
    assert {name for name in before if before[name] != after[name]} == {
        "ImportJob",
        "AuditEntry",
    }
    assert files() == []


def test_a_file_of_nothing_that_is_kept_is_refused_with_the_reasons(user, run):
    job = run(start(user, lines({"resource": "moods"})))

    assert (job.status, job.failure) == (ImportStatus.REFUSED, "nothing_to_import")
    assert job.drops == {"unknown_kind": {"moods": 1}}


def test_days_outside_of_ingestion_are_dropped(user, run):
    update_user(
        user=user, actor=ACTOR, changes=UserChanges(ingestion_start=date(2026, 2, 28))
    )
    early = {**beat(0, 60), "timestamp": "2026-02-27T10:00:00+00:00"}

    job = run(start(user, lines(early, beat(1, 61))))

    assert (job.rows_accepted, job.rows_dropped) == (1, 1)
    assert job.drops == {"out_of_bounds": {"heartrate": 1}}


def test_a_run_that_dies_is_gone_on_with_behind_the_last_part(user, monkeypatch, run):
    monkeypatch.setattr(staging, "_PART_SAMPLES", 2)
    job = start(user, lines(*(beat(minute, 60) for minute in range(6))))
    stored = []

    def die_at_the_second(**part):
        if len(stored) == 1:
            raise RuntimeError
        stored.append(part["part"].first)
        return store_import_part(**part)

    monkeypatch.setattr(runs, "store_import_part", die_at_the_second)
    with pytest.raises(RuntimeError):
        run(job)
    job.refresh_from_db()
    assert (job.status, job.batches_done) == (ImportStatus.STORING, 1)

    monkeypatch.setattr(runs, "store_import_part", store_import_part)
    job = run(job)

    assert (job.status, job.batches, job.batches_done) == ("completed", 3, 3)
    assert job.counts["heartrate"]["created"] == 6
    assert job.counts["heartrate"]["unchanged"] == 0


def test_two_runs_at_once_store_a_part_once(user, monkeypatch, run):
    job = start(user, BEATS)

    def another_is_quicker(**part):
        ImportJob.unscoped.filter(id=job.id).update(batches_done=1)
        return store_import_part(**part)

    monkeypatch.setattr(runs, "store_import_part", another_is_quicker)
    job = run(job)

    # With this run's part its sign of the other one is undone as well.
    assert (job.status, job.batches_done) == (ImportStatus.STORING, 0)
    assert list_samples(user.pk) == []


def test_cancelling_halfway_keeps_what_is_stored(user, monkeypatch, run):
    monkeypatch.setattr(staging, "_PART_SAMPLES", 2)
    job = start(user, lines(*(beat(minute, 60) for minute in range(6))))

    def cancel_after_the_first(path):
        for number, part in enumerate(read_import_file_parts(path)):
            if number == 1:
                cancel_health_data_import(
                    job=ImportJob.unscoped.get(id=job.id), actor=ACTOR
                )
            yield part

    monkeypatch.setattr(runs, "read_import_file_parts", cancel_after_the_first)
    job = run(job)

    assert (job.status, job.batches_done) == (ImportStatus.CANCELLED, 1)
    assert len(list_samples(user.pk)) == 2
    assert files() == []


def test_deleting_the_user_ends_an_import(user, run):
    job = start(user, BEATS)
    delete_user(user=user, actor=ACTOR)

    job = run(job)

    assert job.status == ImportStatus.CANCELLED
    assert files() == []


def test_erasing_the_user_takes_the_file_along(user, alice_tenant, commits):
    start(user, BEATS)
    delete_user(user=user, actor=ACTOR)

    with commits():
        erase_user(
            tenant=alice_tenant,
            actor=ACTOR,
            user_uuid=user.uuid,
            grace=timedelta(0),
        )

    assert not ImportJob.objects.for_tenant(alice_tenant).exists()
    assert files() == []


def test_what_no_run_can_finish_is_given_up(user, commits):
    job = start(user, BEATS)

    with commits():
        mark_health_data_import_failed(tenant_pk=job.tenant_id, job_id=job.id)

    job.refresh_from_db()
    assert (job.status, job.failure) == (ImportStatus.FAILED, "processing_error")
    assert files() == []


def test_how_far_the_reading_is_can_be_seen_meanwhile(user, monkeypatch, run):
    monkeypatch.setattr(runs, "_TOLD_EVERY_SECONDS", 0)
    monkeypatch.setattr(staging, "_TELL_EVERY", 2)
    job = start(user, lines(*(beat(minute, 60) for minute in range(6))))
    seen = []
    touch = runs._write_progress

    def look(job, **changes):
        touch(job, **changes)
        seen.append((job.status, job.rows_read, job.percent))

    monkeypatch.setattr(runs, "_write_progress", look)
    run(job)

    assert seen == [
        ("reading", 1, 8),
        ("reading", 3, 25),
        ("reading", 5, 41),
        ("storing", 6, 99),
    ]


def test_cancelling_while_the_file_is_read_leaves_nothing(user, monkeypatch, run):
    job = start(user, BEATS)

    def cancel_at_the_end(*args, **given):
        staged = staging.parse_file_into_parts(*args, **given)
        cancel_health_data_import(job=ImportJob.unscoped.get(id=job.id), actor=ACTOR)
        return staged

    monkeypatch.setattr(runs, "parse_file_into_parts", cancel_at_the_end)
    job = run(job)

    assert (job.status, job.batches) == (ImportStatus.CANCELLED, 0)
    assert list_samples(user.pk) == []
    assert files() == []
