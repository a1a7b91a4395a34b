"""The restore drill: what was backed up is all there in another database."""

from __future__ import annotations

import stat
import tarfile
from contextlib import ExitStack
from io import BytesIO

import orjson
import pytest
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.core.management import CommandError, call_command
from django.db import connection
from django.test import override_settings

from accounts.models import Team
from accounts.webhooks.models import Endpoint
from portal.lib.secrets.encryption import decrypt_secret
from portal.ops.backup_notes import find_last_backup_time
from tests.buckets import keeping_at
from tests.database import PREFIX
from tests.factories.accounts import make_tenant
from tests.factories.samples import put_samples
from tests.factories.users import make_user
from tests.factories.webhooks import make_endpoint
from tests.packed import EVER, list_samples
from users.models import PackedDay, User
from users.store.packed.checking import check_packed_days
from users.store.packed.packing import pack_days_of_user

REPORT = "reports/one.pdf"


@pytest.fixture
def installation(transactional_db, settings, tmp_path):
    """A team with a user, a secret, an uploaded file and an anchor of the audit."""
    settings.LOINC_DIR = tmp_path / "loinc"
    settings.AUDIT_ANCHORS = settings.VAR_DIR / "audit-anchors.ndjson"
    settings.VAR_DIR.mkdir()
    settings.AUDIT_ANCHORS.write_text('{"anchor": 1}\n')
    default_storage.save(REPORT, ContentFile(b"%PDF-1.7 of nobody"))
    tenant = make_tenant()
    user = make_user(tenant=tenant, client_user_id="mbr_1")
    put_samples(user, "heartrate", *((f"2026-03-01T{h:02}:00", 0, h) for h in range(9)))
    pack_days_of_user(user_id=user.pk, before=EVER)
    put_samples(user, "heartrate", ("2026-03-01T09:00", 1, 0.1))
    make_endpoint(tenant=tenant, secret="whsec_" + "A" * 32)
    return tenant


@pytest.fixture
def elsewhere(transactional_db, bucket_server, tmp_path):
    """Enter an empty database, empty folders and an empty bucket: another machine."""
    here = connection.settings_dict["NAME"]
    name = f"{PREFIX}restored_{here.rpartition('_')[2]}"
    with connection.cursor() as cursor:
        cursor.execute(f"DROP DATABASE IF EXISTS {name}")
        cursor.execute(f"CREATE DATABASE {name} TEMPLATE template0")
    base = tmp_path / "elsewhere"
    places = {
        "VAR_DIR": base,
        "HL7_DIR": base / "hl7",
        "LOINC_DIR": base / "loinc",
        "AUDIT_ANCHORS": base / "audit-anchors.ndjson",
    }
    entered = ExitStack()

    def enter():
        entered.enter_context(override_settings(**places))
        entered.enter_context(keeping_at(bucket_server.url))
        connection.close()
        connection.settings_dict["NAME"] = name
        return base

    yield enter
    connection.close()
    connection.settings_dict["NAME"] = here
    entered.close()
    with connection.cursor() as cursor:
        cursor.execute(f"DROP DATABASE {name}")


def tables():
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FROM pg_class"
            " WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace"
        )
        return cursor.fetchone()[0]


def refusal(path, *options):
    with pytest.raises(CommandError) as refused:
        call_command("restore", str(path), *options)
    return str(refused.value)


def manifest(path):
    with tarfile.open(path) as tar:
        found = orjson.loads(tar.extractfile("manifest.json").read())
    return {**found, "made_at": None}


def rewritten(path, change):
    """A copy of a backup whose members went through `change`, by name and bytes."""
    changed = path.with_name("changed.tar")
    with tarfile.open(path) as source, tarfile.open(changed, "w") as target:
        for member in source:
            data = change(member, source.extractfile(member).read())
            if data is not None:
                member.size = len(data)
                target.addfile(member, BytesIO(data))
    return changed


def hostile_members(outside):
    """What nobody's backup begins with, each as bytes of a tar."""

    def member(name, kind=tarfile.REGTYPE, size=0, **more):
        made = tarfile.TarInfo(name)
        made.type, made.size = kind, size
        for key, value in more.items():
            setattr(made, key, value)
        return made

    exabyte = {"GNU.sparse.major": "1", "GNU.sparse.minor": "0"}
    exabyte |= {"GNU.sparse.name": "files/uploads/s", "GNU.sparse.realsize": "1" * 18}
    link = {"linkname": str(outside)}
    for made in (
        member("files/uploads/../../../escaped"),
        member(str(outside)),
        member(f"files/uploads/{outside}"),
        member("./files/uploads/unhashed"),
        member("files//uploads/unhashed"),
        member("elsewhere/unhashed"),
        member("files/uploads/link", tarfile.SYMTYPE, **link),
        member("files/uploads/link", tarfile.LNKTYPE, **link),
        member("files/uploads/device", tarfile.CHRTYPE),
        member("files/uploads/pipe", tarfile.FIFOTYPE),
        member("files/uploads/folder", tarfile.DIRTYPE),
        member("files/uploads/large", size=2**60),
        member("files/uploads/s", size=512, pax_headers=exabyte),
    ):
        yield made.tobuf(tarfile.PAX_FORMAT) + b"0\n".ljust(min(made.size, 512), b"\0")


def test_a_restored_installation_is_the_one_that_was_backed_up(
    installation, elsewhere, bucket_server, tmp_path
):
    backup, keys = tmp_path / "assay.tar", tmp_path / "keys"
    call_command("backup", str(backup), "--keys", str(keys))
    assert find_last_backup_time() is not None
    secret = decrypt_secret(Endpoint.objects.for_tenant(installation).get().secret)
    user = User.objects.for_tenant(installation).get()
    samples, packed = list_samples(user.pk), PackedDay.objects.get()
    assert len(samples) == 10

    base = elsewhere()
    call_command("restore", str(backup))

    assert Team.objects.get().pk == installation.team_id
    assert User.objects.for_tenant(installation).get().client_user_id == "mbr_1"
    assert list_samples(user.pk) == samples
    restored = PackedDay.objects.get()
    assert bytes(restored.payload) == bytes(packed.payload)
    assert check_packed_days().corrupt == []
    endpoint = Endpoint.objects.for_tenant(installation).get()
    assert decrypt_secret(endpoint.secret) == secret
    assert bucket_server.names == [REPORT]
    assert bucket_server.content(REPORT) == b"%PDF-1.7 of nobody"
    assert (base / "audit-anchors.ndjson").read_text() == '{"anchor": 1}\n'
    # Made anew the same, it is the same installation to the last row.
    again = tmp_path / "again.tar"
    call_command("backup", str(again))
    assert manifest(again) == manifest(backup)
    for path in (backup, keys):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert keys.read_text().startswith("SECRET_KEY=")
    kept = backup.read_bytes()
    assert secret.encode() not in kept
    with pytest.raises(CommandError):
        call_command("backup", str(backup), "--keys", str(tmp_path / "more"))
    assert backup.read_bytes() == kept
    assert not (tmp_path / "more").exists()


def test_what_can_not_be_restored_whole_is_not_begun(
    installation, elsewhere, bucket_server, tmp_path
):
    backup = tmp_path / "assay.tar"
    call_command("backup", str(backup))
    report = f"files/uploads/{REPORT}"
    cut = tmp_path / "cut.tar"
    cut.write_bytes(backup.read_bytes()[:-20_000])
    damaged = rewritten(
        backup, lambda member, data: b"changed" if member.name == report else data
    )

    over_itself = refusal(backup)
    base = elsewhere()
    for path in (cut, damaged):
        refusal(path)
    lacking = rewritten(
        backup, lambda member, data: None if member.name == report else data
    )
    refusal(lacking)
    for at, member in enumerate(hostile_members(tmp_path / "escaped")):
        hostile = tmp_path / f"hostile{at}.tar"
        hostile.write_bytes(member + backup.read_bytes())
        # Not because of what follows it, nor because it can't be read.
        assert "not all of one" not in refusal(hostile), at
    with override_settings(SECRET_KEY="another" * 10):
        refusal(backup)

    assert "not empty" in over_itself
    assert tables() == 0
    assert [path for path in base.rglob("*") if path.is_file()] == []
    assert not (tmp_path / "escaped").exists()
    assert bucket_server.names == []
    default_storage.save("kept.pdf", ContentFile(b"kept"))
    assert "STORAGE_URL" in refusal(backup)
    bucket_server.failing = "AccessDenied"
    refusal(backup)
    assert tables() == 0
