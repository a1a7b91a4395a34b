"""One file that holds an installation: its database, uploads, the folders beside it.

A tar: `database.dump` (pg_dump, custom format), `files/<folder>/…`, and last
`manifest.json` with the rows of each table, a hash of each file and fingerprints of the
keys. The keys themselves are never in it: who holds both reads every secret. Must not
be here: what the rows mean.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import tarfile
import tempfile
from contextlib import contextmanager, nullcontext
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import IO, TYPE_CHECKING

import orjson
from django.conf import settings
from django.core.management import call_command
from django.db import connection, transaction
from django.db.migrations.recorder import MigrationRecorder
from django.utils import timezone
from psycopg import sql

from exchange.operations.lake.erasure import mark_lake_stale
from portal.lib import storage
from portal.lib.embedded.base import embedded_postgres_data_folder
from portal.lib.embedded.programs import find_postgres_account, find_postgres_programs
from portal.lib.secrets import encryption
from portal.lib.tenancy import ALL_TENANTS, across_tenants
from users.store.distribution import (
    has_citus,
    hold_sample_writes,
    list_distributed_tables,
    list_extensions_besides_citus,
    return_to_one_machine,
)

if TYPE_CHECKING:
    from collections.abc import Container, Iterator, Mapping
    from contextlib import AbstractContextManager

FORMAT = 1
DUMP = "database.dump"
MANIFEST = "manifest.json"
FILES = "files"
UPLOADS = "uploads"

# Each has a connection, and the memory below for the index that it makes.
_MOST_JOBS = 4
# What is lost with the machine is restored anew. An index in memory is sorted once.
_WHILE_LOADING = {"synchronous_commit": "off", "maintenance_work_mem": "256MB"}

# Without the one that is always empty, and there only while samples are distributed.
_TABLES = """
SELECT relname FROM pg_class
WHERE relkind IN ('r', 'p') AND NOT relispartition
    AND relnamespace = 'public'::regnamespace AND relname <> 'users_commitmark'
ORDER BY relname
"""


class BackupFailed(Exception):
    """A backup can't be made or restored; the message says why and quotes no data."""


@dataclass(frozen=True, slots=True)
class Manifest:
    """What a backup holds; `tables` are rows, `files` SHA-256 by path in the tar."""

    format: int
    made_at: datetime
    postgres: int
    migrations: list[str]
    keys: list[str]
    tables: dict[str, int]
    files: dict[str, str]


def create_backup(out: IO[bytes]) -> Manifest:
    """Write a backup while the server goes on working.

    The database is one snapshot. Files are copied after it: a row's file is stored
    before the row, so none that the snapshot names is missing but what was erased
    since. Raises: BackupFailed.
    """
    with _scratch() as scratch, tarfile.open(fileobj=out, mode="w|") as tar:
        dump = scratch / DUMP
        tables = _dump(dump)
        tar.add(dump, arcname=DUMP, filter=_anonymous)
        dump.unlink()
        files = {}
        for arcname, opening in _stored_files():
            try:
                with opening as path:
                    files[arcname] = _add_file(tar, path, arcname)
            except FileNotFoundError:  # just erased
                continue
        manifest = Manifest(
            format=FORMAT,
            made_at=timezone.now(),
            postgres=connection.pg_version // 10_000,  # type: ignore[attr-defined]  # PostgreSQL's backend alone has it
            migrations=_applied(),
            keys=encryption.list_encryption_key_fingerprints(),
            tables=tables,
            files=files,
        )
        written = scratch / MANIFEST
        written.write_bytes(orjson.dumps(asdict(manifest), option=orjson.OPT_INDENT_2))
        tar.add(written, arcname=MANIFEST, filter=_anonymous)
    return manifest


def restore_backup(source: IO[bytes], *, without_keys: bool = False) -> Manifest:
    """Fill an empty database and empty folders from a backup, then migrate.

    Everything is read and checked before anything is written; rows are counted before
    they are migrated. `without_keys` goes on although secrets will be unreadable.
    Raises: BackupFailed.
    """
    _refuse_what_is_not_empty()
    with _scratch() as scratch:
        manifest = _unpack(source, scratch)
        if not without_keys:
            _check_keys(manifest)
        _load(scratch / DUMP)
        with across_tenants(why="the rows of all tenants are counted"):
            counted = _count_rows()
        if counted != manifest.tables:
            raise BackupFailed("the database does not hold the rows of the backup")
        for name, place in _places().items():
            if (scratch / FILES / name).exists():
                place.parent.mkdir(parents=True, exist_ok=True)
                shutil.rmtree(place, ignore_errors=True)  # empty, as was checked
                # Usually on one disk with it: nothing is copied twice.
                shutil.move(scratch / FILES / name, place)
        _restore_uploads(scratch / FILES / UPLOADS)
    return_to_one_machine()
    call_command("migrate", interactive=False, verbosity=0)
    with across_tenants(why="files of all tenants may be newer than the backup"):
        mark_lake_stale()
    return manifest


def _places() -> dict[str, Path]:
    """Folders, and one file, that this machine has beside uploads; by name in the tar.

    Uploads may be in a bucket: portal.lib.storage has them.
    """
    return {
        "hl7": Path(settings.HL7_DIR),
        "loinc": Path(settings.LOINC_DIR),
        "audit-anchors.ndjson": Path(settings.AUDIT_ANCHORS),
    }


def _stored_files() -> Iterator[tuple[str, AbstractContextManager[Path]]]:
    """Everything to be copied, by path in the tar; what was erased since raises.

    Not the lake, which is made of the database.
    """
    for found in storage.list_stored_files(""):
        yield f"{FILES}/{UPLOADS}/{found.name}", storage.open_local_copy(found.name)
    for name, place in _places().items():
        if place.is_file():
            yield f"{FILES}/{name}", nullcontext(place)
        for path in sorted(place.rglob("*")):
            if path.is_file():
                yield f"{FILES}/{name}/{path.relative_to(place)}", nullcontext(path)


def _restore_uploads(folder: Path) -> None:
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            storage.store_local_file(path, path.relative_to(folder).as_posix())


def _dump(path: Path) -> dict[str, int]:
    """Dump one snapshot, and say how many rows each table has in it."""
    is_distributed = bool(list_distributed_tables())
    # Only a superuser may make Citus, so a restore would stop at it.
    extensions = list_extensions_besides_citus() or ()
    with (
        across_tenants(why="a backup holds the rows of all"),
        transaction.atomic(),
        connection.cursor() as cursor,
    ):
        cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
        if is_distributed:
            hold_sample_writes()
        cursor.execute("SELECT pg_export_snapshot()")
        (snapshot,) = cursor.fetchone()
        _run(
            "pg_dump",
            "--enable-row-security",  # else it refuses tables that have a policy
            "--format=custom",
            f"--snapshot={snapshot}",
            f"--file={path}",
            *(f"--extension={name}" for name in extensions),
        )
        return _count_rows()


def _load(path: Path) -> None:
    """Make the tables, then fill them and make their indexes on several processors."""
    ours = (
        "--no-owner",
        "--no-privileges",
        "--exit-on-error",
        f"--dbname={connection.get_connection_params()['dbname']}",
        str(path),
    )
    # Tables are made on this server alone; `distribute_samples` spreads them again.
    alone = {"citus.enable_ddl_propagation": "off"} if has_citus() else {}
    _run(
        *("pg_restore", "--single-transaction", "--section=pre-data"),
        *ours,
        options=alone,
    )
    jobs = min(len(os.sched_getaffinity(0)), _MOST_JOBS)
    try:
        _run(
            "pg_restore",
            f"--jobs={jobs}",
            "--enable-row-security",  # policies may come before foreign keys
            "--section=data",
            "--section=post-data",
            *ours,
            options=_WHILE_LOADING | alone,
        )
    except BackupFailed as error:
        raise BackupFailed(
            f"{error}; make a new database before you try again"
        ) from None


def _count_rows() -> dict[str, int]:
    with connection.cursor() as cursor:
        cursor.execute(_TABLES)
        names = [name for (name,) in cursor.fetchall()]
        counts = {}
        for name in names:
            cursor.execute(
                sql.SQL("SELECT count(*) FROM {}").format(sql.Identifier(name))
            )
            (counts[name],) = cursor.fetchone()
    return counts


def _run(program: str, *source: str, options: Mapping[str, str] | None = None) -> None:
    """Run a program of PostgreSQL on our database; its password is in no argument.

    `options` are settings of its connections.
    """
    parameters = connection.get_connection_params()
    names = {
        "host": "PGHOST",
        "port": "PGPORT",
        "user": "PGUSER",
        "dbname": "PGDATABASE",
    }
    names |= {"password": "PGPASSWORD", "sslmode": "PGSSLMODE"}
    names |= {"sslrootcert": "PGSSLROOTCERT"}
    # pg_dump sees what the role sees: every tenant's rows.
    given = {"assay.tenant": ALL_TENANTS, **(options or {})}
    environment = os.environ | {
        "PGOPTIONS": " ".join(f"-c {name}={value}" for name, value in given.items())
    }
    environment |= {
        variable: str(parameters[name])
        for name, variable in names.items()
        if parameters.get(name)
    }
    done = subprocess.run(  # noqa: S603 - our own command line
        [_program(program), *source],
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    if done.returncode:
        # Lines after the first may quote rows.
        first = done.stderr.strip().partition("\n")[0]
        raise BackupFailed(f"{program} failed: {first}")


def _program(name: str) -> str:
    if not settings.DATABASE_URL:
        return str(
            find_postgres_programs(
                embedded_postgres_data_folder(), find_postgres_account()
            )
            / name
        )
    found = shutil.which(name)
    if found is None:
        raise BackupFailed(f"{name} is not on the path; install PostgreSQL's client")
    return found


@contextmanager
def _scratch() -> Iterator[Path]:
    """A folder that only we may read, on the disk of what is restored."""
    Path(settings.VAR_DIR).mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="backup-", dir=settings.VAR_DIR) as folder:
        yield Path(folder)


def _add_file(tar: tarfile.TarFile, path: Path, arcname: str) -> str:
    """Add a file; returns its hash."""
    with path.open("rb") as opened:
        hashed = hashlib.file_digest(opened, "sha256").hexdigest()
        opened.seek(0)
        tar.addfile(_anonymous(tar.gettarinfo(arcname=arcname, fileobj=opened)), opened)
    return hashed


def _anonymous(member: tarfile.TarInfo) -> tarfile.TarInfo:
    """Names and ids of this machine's accounts mean nothing on the next."""
    member.uid = member.gid = 0
    member.uname = member.gname = ""
    member.mode = 0o600
    return member


def _unpack(source: IO[bytes], scratch: Path) -> Manifest:
    seen: dict[str, str] = {}
    try:
        with tarfile.open(fileobj=source, mode="r|") as tar:
            for member in tar:
                _check_member(member, scratch, known=seen)
                tar.extract(member, scratch, filter="data")
                if member.name.startswith(f"{FILES}/"):
                    with (scratch / member.name).open("rb") as opened:
                        digest = hashlib.file_digest(opened, "sha256")
                    seen[member.name] = digest.hexdigest()
        found = orjson.loads((scratch / MANIFEST).read_bytes())
        if found["format"] != FORMAT:
            raise BackupFailed("a newer version of Assay wrote this backup")
        found["made_at"] = datetime.fromisoformat(found["made_at"])
        manifest = Manifest(**found)
    except (tarfile.TarError, OSError, ValueError, KeyError, TypeError):
        raise BackupFailed("the file is no backup, or not all of one") from None
    if seen != manifest.files or not (scratch / DUMP).exists():
        raise BackupFailed("files are missing from the backup, or were changed")
    return manifest


def _check_member(
    member: tarfile.TarInfo, scratch: Path, known: Container[str]
) -> None:
    """Refuse what `create_backup` does not write, before a byte of it is unpacked.

    Of a sparse file a few bytes say that it is an exabyte; a name that is spelled in
    another way, or twice, would escape the manifest's hashes.
    """
    if not member.isreg() or member.issparse():
        raise BackupFailed("the file holds more than plain files")
    parts = member.name.split("/")
    is_ours = member.name in (DUMP, MANIFEST) or parts[0] == FILES
    if not is_ours or {"", ".", ".."} & set(parts) or member.name in known:
        raise BackupFailed("the file holds names that no backup has")
    if member.size > shutil.disk_usage(scratch).free:
        raise BackupFailed("the disk of VAR_DIR has too little room for the backup")


def _check_keys(manifest: Manifest) -> None:
    if missing := set(manifest.keys) - set(
        encryption.list_encryption_key_fingerprints()
    ):
        raise BackupFailed(
            f"{len(missing)} of the keys that the backup was made under are not here:"
            " set ENCRYPTION_KEYS, SECRET_KEY and SECRET_KEY_FALLBACKS as they were"
        )


def _refuse_what_is_not_empty() -> None:
    with connection.cursor() as cursor:
        cursor.execute(_TABLES)
        if cursor.fetchall():
            raise BackupFailed("the database is not empty; make a new one")
    for place in _places().values():
        if place.is_file() or any(place.rglob("*")):
            raise BackupFailed(f"{place} is not empty; move it away")
    if any(storage.list_stored_files("")):
        place = settings.UPLOADS_DIR
        where = "the bucket of STORAGE_URL" if settings.STORAGE_URL else f"{place}"
        raise BackupFailed(f"{where} is not empty; move it away")


def _applied() -> list[str]:
    applied = MigrationRecorder(connection).applied_migrations()
    return sorted(f"{app}.{name}" for app, name in applied)
