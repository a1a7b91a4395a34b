"""Export of all data about one user as an archive.

Tables come from the data map, so that a new one is in the archive by existing.
"""

from __future__ import annotations

import base64
import hashlib
import zipfile
from datetime import UTC, date, datetime, time, timedelta
from functools import partial
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any
from uuid import UUID, uuid4

import orjson
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from accounts.operations.audit.entries import record_change
from portal.lib import storage
from portal.lib.errors import DomainError
from portal.lib.jobs import jobs
from portal.lib.table_rules import find_table_rules
from users.analysis.explorer import SampleRequest, iterate_samples_by_time
from users.models import PhoneUpload, User
from users.models.user_export import EXPORT_RETENTION, UserExport
from users.queries import lock_user
from users.queries.phones import read_kept_content
from users.queries.users.data_map import list_tables_with_user_data
from users.wearables.timeseries import TIMESERIES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from accounts.models import Tenant
    from portal.lib.actor import Actor
    from users.queries.users.data_map import MappedTable

EXPORT_JOB = "users.export"
FOLDER = "exports"
ABOUT = """All data stored about user {user} of {team} ({environment}).

user.json            describes this archive and the number of rows in each file
tables/*.ndjson      rows of each table, one JSON object per line; times in UTC
timeseries/*.ndjson  samples in the format of the API, by time
files/               documents as uploaded, under the names that the rows use
files/phones/        batches of phones that are still kept, as they came

Not included: the access tokens of sources and phones.
"""
# Samples are written as the API has them; tokens open more than what is kept here.
_ELSEWHERE = frozenset({"users.Sample", "users.SampleExtra"})
_SECRET = frozenset({"users.SourceGrant"})
_FIRST = datetime(1970, 1, 1, tzinfo=UTC)
_CHUNK = 2_000
# A younger file may be one that is being made.
_ORPHAN_AGE = timedelta(days=1)
_NEWEST_SAMPLE = timedelta(days=366)


@transaction.atomic
def request_user_export(*, user: User, actor: Actor) -> UserExport:
    """Enqueue an archive of all data about a live user.

    Raises: not_found; export_open while one is being made. Source: Ours (a person may
    ask for a copy of their data).
    """
    user = lock_user(user)
    mine = UserExport.objects.for_tenant(user.tenant).filter(user=user)
    if mine.filter(finished_at=None, failed_at=None).exists():
        raise DomainError(
            "export_open", _("An archive of this user is already being created.")
        )
    export = UserExport(tenant=user.tenant, user=user, asked_by=actor.label)
    export.save(force_insert=True)
    record_change(
        tenant=user.tenant,
        actor=actor,
        verb="export_user",
        subject="user_export",
        subject_id=export.pk,
        user_uuid=user.uuid,
    )
    jobs.enqueue_job(EXPORT_JOB, tenant=user.tenant, export_id=str(export.pk))
    return export


def run_user_export(*, tenant: Tenant, export_id: UUID) -> bool:
    """Create a requested archive; return whether it was still open.

    A run that was cut off leaves a file without a row, which the sweep removes.
    """
    rows = UserExport.objects.for_tenant(tenant)
    export: UserExport | None = rows.filter(pk=export_id).select_related("user").first()
    if export is None or not export.is_open:
        return False
    user = export.user
    user.tenant = tenant
    word = uuid4().hex
    name = f"{FOLDER}/{word[:2]}/{word}"
    with storage.write_stored_file(name) as opened:
        write_user_data_archive(user=user, target=opened)
        opened.flush()
        written = Path(opened.name)
        size, digest = written.stat().st_size, _digest(written)
    done = rows.filter(pk=export_id, finished_at=None).update(
        finished_at=timezone.now(),
        stored_as=name,
        size=size,
        sha256=digest,
    )
    if not done:  # erased meanwhile, with its user
        storage.delete_stored_files([name])
    return bool(done)


def mark_user_export_failed(*, tenant: Tenant, export_id: UUID) -> None:
    """Mark an export as failed."""
    rows = UserExport.objects.for_tenant(tenant).filter(pk=export_id)
    rows.filter(finished_at=None).update(failed_at=timezone.now())


def write_user_data_archive(*, user: User, target: IO[bytes]) -> dict[str, int]:
    """Write all data about a user as a zip; return rows and files by name.

    Rows are read in parts and compressed as they come, so that memory stays bounded.
    """
    counts: dict[str, int] = {}
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, allowZip64=True) as archive:
        for table in list_tables_with_user_data():
            if table.label in _ELSEWHERE | _SECRET:
                continue
            number = _write(
                archive, f"tables/{table.label}.ndjson", _rows(table, user), counts
            )
            if number and _has_files(table):
                _write_files(archive, table, user, counts)
        _write_phone_batches(archive, user, counts)
        for name, resource in TIMESERIES.items():
            request = SampleRequest(
                resource=resource,
                start=_FIRST,
                end=timezone.now() + _NEWEST_SAMPLE,
                zone=UTC,
            )
            lines = (
                {**each.body, "source": each.source}
                for each in iterate_samples_by_time(user=user, request=request)
            )
            _write(archive, f"timeseries/{name}.ndjson", lines, counts)
        tenant = user.tenant
        fields = {
            "user_id": str(user.uuid),
            "client_user_id": user.client_user_id,
            "team_id": str(tenant.team.pk),
            "environment": tenant.environment,
            "made_at": timezone.now(),
            "counts": counts,
        }
        archive.writestr("user.json", _json(fields, orjson.OPT_INDENT_2))
        about = ABOUT.format(
            user=user.uuid, team=tenant.team.name, environment=tenant.environment
        )
        archive.writestr("README.txt", about)
    return counts


def _write(
    archive: zipfile.ZipFile,
    name: str,
    lines: Iterable[dict[str, Any]],
    counts: dict[str, int],
) -> int:
    """Write lines as NDJSON, without empty files; return how many."""
    number = 0
    opened: IO[bytes] | None = None
    for line in lines:
        opened = opened or archive.open(name, "w", force_zip64=True)
        opened.write(_json(line) + b"\n")
        number += 1
    if opened:
        opened.close()
        counts[name] = number
    return number


def _rows(table: MappedTable, user: User) -> Iterator[dict[str, Any]]:
    rules = find_table_rules(table.model)
    without = rules.archive_without if rules else ()
    names = [
        field.attname
        for field in table.model._meta.local_concrete_fields
        if field.attname not in without
    ]
    rows = table.rows_of(user).order_by()
    rows = rows.values(*names, **(rules.archive_values if rules else {}))
    yield from rows.iterator(chunk_size=_CHUNK)


def _has_files(table: MappedTable) -> bool:
    names = {field.name for field in table.model._meta.local_concrete_fields}
    return "stored_as" in names and table.model is not UserExport


def _write_files(
    archive: zipfile.ZipFile, table: MappedTable, user: User, counts: dict[str, int]
) -> None:
    names = table.rows_of(user).order_by().values_list("stored_as", flat=True)
    for name in names.exclude(stored_as="").iterator():
        try:
            with storage.open_local_copy(name) as path:
                archive.write(path, f"files/{name}")
        except FileNotFoundError:
            continue
        counts["files"] = counts.get("files", 0) + 1


def _write_phone_batches(
    archive: zipfile.ZipFile, user: User, counts: dict[str, int]
) -> None:
    """Write what phones sent and is still kept, as it came."""
    for upload in PhoneUpload.objects.for_tenant(user.tenant).filter(user=user):
        content = read_kept_content(upload)
        if content is not None:
            archive.writestr(f"files/phones/{upload.uuid}.json", content)
            counts["files"] = counts.get("files", 0) + 1


def _json(value: object, option: int = 0) -> bytes:
    return orjson.dumps(value, default=_plain, option=option | orjson.OPT_NON_STR_KEYS)


def _plain(value: object) -> object:
    match value:
        case bytes() | memoryview():
            return base64.b64encode(bytes(value)).decode()
        case timedelta():
            return value.total_seconds()
        case date() | time() | UUID():
            return str(value)
        case _:
            return str(value)


def _digest(path: Path) -> str:
    with path.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()


def erase_user_exports(tenant_pk: int, user_uuid: UUID) -> None:
    """Delete a user's archives: rows now, files on commit."""
    exports = UserExport.unscoped.filter(tenant_id=tenant_pk, user__uuid=user_uuid)
    names = list(exports.exclude(stored_as="").values_list("stored_as", flat=True))
    exports.delete()
    transaction.on_commit(partial(storage.delete_stored_files, names))


def delete_old_user_exports() -> int:
    """Delete archives older than EXPORT_RETENTION, and orphan files.

    Returns how many rows. Over all tenants.
    """
    now = timezone.now()
    before = now - EXPORT_RETENTION
    old = UserExport.unscoped.filter(asked_at__lt=before)
    names = set(old.values_list("stored_as", flat=True)) - {""}
    number = old.delete()[0]
    storage.delete_stored_files(names)
    for file in storage.list_stored_files(FOLDER):
        known = UserExport.unscoped.filter(stored_as=file.name)
        if file.modified_at < now - _ORPHAN_AGE and not known.exists():
            storage.delete_stored_files([file.name])
    storage.delete_unfinished_uploads(FOLDER)
    return number
