from __future__ import annotations

import io
import json
import zipfile
from datetime import timedelta
from io import StringIO
from pathlib import Path

import pytest
from django.core.files.storage import default_storage
from django.core.management import CommandError, call_command
from django.utils import timezone

from accounts.models import AuditEntry
from portal.lib.errors import DomainError
from tests.canaries import Planter
from tests.clients import confirm
from tests.factories.accounts import ACTOR
from tests.factories.phones import make_code, make_phone, make_record, store_all, sync
from tests.factories.samples import put_samples
from tests.factories.users import make_user
from tests.jobs import queued
from users.models import PhoneUpload, UserExport
from users.models.user_export import EXPORT_RETENTION
from users.operations.users.export import (
    delete_old_user_exports,
    mark_user_export_failed,
    request_user_export,
    run_user_export,
    write_user_data_archive,
)
from users.queries.users.data_map import list_tables_with_user_data

pytestmark = pytest.mark.django_db
WORD, OTHER = "canaryquince", "canaryplum"


def plant(tenant, word):
    user = make_user(tenant=tenant, client_user_id=word)
    Planter(user, word).plant_all()
    UserExport.unscoped.filter(user=user).delete()
    return user


def lines(archive, name):
    return [json.loads(line) for line in archive.read(name).splitlines()]


def test_an_archive_holds_every_table_sample_and_file_of_one_user(
    alice_tenant, alice_web
):
    user = plant(alice_tenant, WORD)
    plant(alice_tenant, OTHER)
    page = f"/t/alice-health/sandbox/users/{user.uuid}/exports/"

    refused = alice_web.post(page)
    none = UserExport.objects.for_tenant(alice_tenant).count()
    confirm(alice_web)
    asked = alice_web.post(page)
    export = UserExport.objects.for_tenant(alice_tenant).get()
    with pytest.raises(DomainError, match="export_open"):
        request_user_export(user=user, actor=ACTOR)
    assert run_user_export(tenant=alice_tenant, export_id=export.pk) is True
    file = alice_web.get(f"{page}{export.pk}/file/")

    content = b"".join(file.streaming_content)
    archive = zipfile.ZipFile(io.BytesIO(content))
    data = json.loads(archive.read("user.json"))
    everything = b"".join(archive.read(name) for name in archive.namelist()).decode()
    labels = {table.label for table in list_tables_with_user_data()}
    left_out = {"users.Sample", "users.SampleExtra", "users.SourceGrant"}
    found = {
        name.removeprefix("tables/").removesuffix(".ndjson")
        for name in archive.namelist()
        if name.startswith("tables/")
    }
    export.refresh_from_db()
    assert (refused.status_code, none) == (302, 0)
    assert (asked.status_code, asked["Location"]) == (302, page)
    assert found == labels - left_out - {"users.ErasureReceipt"}
    assert data["counts"]["tables/users.User.ndjson"] == 1
    assert data["counts"]["files"] == 4  # upload, report, document, lab's own
    assert lines(archive, "tables/users.User.ndjson")[0]["client_user_id"] == WORD
    assert WORD in everything
    assert OTHER not in everything
    assert "access_token" not in everything
    assert (export.size, len(export.sha256)) == (len(content), 64)
    assert run_user_export(tenant=alice_tenant, export_id=export.pk) is False
    audit = AuditEntry.objects.for_tenant(alice_tenant).filter(user_uuid=user.uuid)
    assert audit.filter(verb="export_user").count() == 1
    assert audit.filter(verb="read", subject="user_export").count() == 1


def test_samples_are_written_as_the_api_has_them(alice_tenant, tmp_path):
    user = make_user(tenant=alice_tenant, client_user_id="mbr_1")
    put_samples(user, "heartrate", ("2026-03-01T08:00", 0, 61), ("2019-01-01", 0, 58))
    path = tmp_path / "mbr_1.zip"
    arguments = ("export_user", str(path), "--team", alice_tenant.team.slug, "--user")
    out = StringIO()

    call_command(*arguments, "mbr_1", stdout=out)

    with zipfile.ZipFile(path) as archive:
        samples = lines(archive, "timeseries/heartrate.ndjson")
        assert lines(archive, "tables/users.User.ndjson")[0]["uuid"] == str(user.uuid)
    assert [(each["timestamp"][:10], each["value"]) for each in samples] == [
        ("2019-01-01", 58),
        ("2026-03-01", 61),
    ]
    assert {each["source"]["provider"] for each in samples} == {"oura"}
    assert path.stat().st_mode & 0o077 == 0
    for wrong in (path, tmp_path / "other.zip"):
        with pytest.raises(CommandError):
            call_command(
                *("export_user", str(wrong), "--team", alice_tenant.team.slug),
                *("--user", "mbr_1" if wrong == path else "nobody"),
            )


def test_an_archive_has_what_phones_sent_and_nothing_that_opens(alice_tenant, settings):
    settings.PHONE_UPLOADS_KEPT_DAYS = 7
    user = make_user(tenant=alice_tenant)
    make_code(user)
    phone, tokens = make_phone(user)
    record = make_record("HKQuantityTypeIdentifierNewThing", 3, "2026-03-08T10:00:00Z")
    sync(user, tokens, records=[record])
    assert store_all(user) == 1
    target = io.BytesIO()

    counts = write_user_data_archive(user=user, target=target)

    archive = zipfile.ZipFile(target)
    upload = PhoneUpload.objects.for_tenant(alice_tenant).get()
    (batch,) = lines(archive, f"files/phones/{upload.uuid}.json")
    assert batch["data"]["records"][0]["value"] == 3
    (row,) = lines(archive, "tables/users.PhoneUpload.ndjson")
    assert row["unknown"] == {"HKQuantityTypeIdentifierNewThing": 1}
    assert counts["files"] == 1
    everything = b"".join(archive.read(name) for name in archive.namelist()).decode()
    for secret in (phone.token_hash, phone.refresh_hash, upload.content, "code_hash"):
        assert secret not in everything


def test_an_archive_that_fails_may_be_asked_for_again(alice_tenant):
    user = make_user(tenant=alice_tenant)
    export = request_user_export(user=user, actor=ACTOR)

    mark_user_export_failed(tenant=alice_tenant, export_id=export.pk)
    again = request_user_export(user=user, actor=ACTOR)

    export.refresh_from_db()
    assert export.failed_at is not None
    assert again.is_open
    assert len(queued()) == 2


def test_archives_go_after_a_week_with_their_files(alice_tenant, time_machine):
    user = make_user(tenant=alice_tenant)
    export = request_user_export(user=user, actor=ACTOR)
    run_user_export(tenant=alice_tenant, export_id=export.pk)
    export.refresh_from_db()
    path = Path(default_storage.path(export.stored_as))
    assert delete_old_user_exports() == 0
    assert path.exists()

    time_machine.move_to(timezone.now() + EXPORT_RETENTION + timedelta(seconds=1))

    assert delete_old_user_exports() == 1
    assert not path.exists()
    assert UserExport.unscoped.count() == 0
