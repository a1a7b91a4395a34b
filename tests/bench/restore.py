"""How long an installation takes to come back from a backup.

Run `python -m tests.bench.restore [--megabytes N] [--folder PATH]`. In the folder a
PostgreSQL of its own is filled until its database and uploads are so large: a third
each packed days of samples, samples as rows, which have indexes to be made again, and
files. `manage.py backup` writes them to a file; then, as after the loss of a machine,
`manage.py restore` fills an empty second server and empty folders from it. Hashes of
the large tables and of all files are compared, `doctor`'s database checks and
`verify_audit` are run on the restored one, all by the command line of the drill
(docs/guides/back-up-and-upgrade.md). Everything is gone at the end.

Prints sizes and seconds, also of processor, as others may be at work too, and what they
make of 21 GB. Must: 60 minutes for 21 GB, by a
straight line from 1 % of it; 1 where that is missed, or anything differs.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import resource
import secrets
import subprocess
import sys
import tempfile
import time
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from portal.lib.embedded.programs import find_postgres_account, find_postgres_programs
from portal.lib.embedded.server import default_postgres_data_folder
from tests.bench.stage import TICKS, private_database
from tests.private_server import PrivateServer

if TYPE_CHECKING:
    from collections.abc import Sequence

ROOT = Path(__file__).parents[2]
WHOLE_MB, MUST_MINUTES = 21_000, 60
FILE_MB = 1
USERS, HOT_USERS = 4, 20
# Rows and columns of each, in an order that the server can't choose.
HASHED = ("users_packedday", "users_sample", "users_user", "accounts_auditentry")
_HASH = """
    SELECT coalesce(sum(hashtextextended(kept::text, 0)::numeric), 0) FROM {} AS kept
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--megabytes", type=int, default=WHOLE_MB // 100)
    parser.add_argument("--folder", type=Path, default=Path("/var/tmp"))  # noqa: S108 - what is made there nobody guesses
    given = parser.parse_args()
    with (
        private_database(folder=given.folder),
        tempfile.TemporaryDirectory(dir=given.folder) as scratch,
    ):
        is_well = run(given.megabytes, given.folder, Path(scratch))
    if not is_well:
        sys.exit("FAILED")


def run(megabytes: int, folder: Path, scratch: Path) -> bool:
    """Fill, back up, lose everything, restore and compare; whether it is well."""
    from django.conf import settings
    from django.db import connection

    from tests.bench.users.packing import ask

    uploads = Path(settings.UPLOADS_DIR)
    fill(megabytes / 3 * 1e6, uploads)
    size = ask("SELECT pg_database_size(current_database())")
    stored = sum(path.stat().st_size for path in files_of(uploads))
    total = (size + stored) / 1e6
    print(
        f"{size / 1e6:.0f} MB of database, {stored / 1e6:.0f} MB of files", flush=True
    )
    before = hash_tables(), hash_files(uploads)
    archive, keys = scratch / "assay.tar", scratch / "assay.keys"
    backup = manage("backup", str(archive), "--keys", str(keys))
    print(f"backed up in {backup:.1f} s, {archive.stat().st_size / 1e6:.0f} MB")
    connection.close()

    target = PrivateServer(options=(), folder=folder)
    try:
        surroundings = {
            "DATABASE_URL": target.url(),
            "VAR_DIR": str(scratch / "var"),
            **dict(
                line.split("=", 1) for line in keys.read_text().splitlines() if line
            ),
        }
        used = cpu_seconds(target)
        seconds = manage("restore", str(archive), **surroundings)
        used = cpu_seconds(target) - used
        checked = manage("verify_audit", **surroundings)
        restored = target.connect()
        with restored, restored.cursor() as cursor:
            cursor.execute("SET assay.tenant = '*'")  # as its owner
            hashes = {}
            for table in HASHED:
                cursor.execute(_HASH.format(table))
                (hashes[table],) = cursor.fetchone() or (0,)
        after = hashes, hash_files(scratch / "var/uploads")
    finally:
        target.remove()
    minutes = seconds * WHOLE_MB / total / 60
    print(
        f"restored in {seconds:.1f} s, {used:.1f} of processor;"
        f" audit verified in {checked:.1f} s"
    )
    print(
        f"21 GB by a straight line: {minutes:.0f} minutes (must {MUST_MINUTES}),"
        f" {used * WHOLE_MB / total / 60:.0f} of processor;"
        f" backup {backup * WHOLE_MB / total / 60:.0f} minutes"
    )
    is_same = before == after
    print(f"{sum(map(len, before))} hashes of tables and files compared: ", end="")
    print("the same" if is_same else "they DIFFER")
    return is_same and minutes <= MUST_MINUTES


def fill(part: float, uploads: Path) -> None:
    """Write packed days, rows and files of so many bytes each."""
    from django.utils import timezone

    from tests.bench.users import billion, user_list
    from tests.bench.users.packing import _SIZE, DAY, START, ask
    from tests.factories.accounts import make_team, make_tenant
    from users.models import User
    from users.store.partitions import ensure_sample_partitions

    tenant = make_tenant(team=make_team("Drill"), environment="production")
    user_list.fill(tenant, USERS + HOT_USERS)
    rows = User.objects.for_tenant(tenant).order_by("pk")
    people = list(rows.values_list("pk", flat=True))
    early = START.date() - timedelta(days=3650)
    ensure_sample_partitions(START.date(), START.date() + timedelta(days=60))
    for number in range(10_000):
        first = early + timedelta(days=billion.CHUNK * (number // USERS))
        user = people[number % USERS]
        billion.write(billion.Task((user,), first, billion.CHUNK, is_packed=True))
        if number % 20 == 0 and ask(_SIZE, ["users_packedday"]) >= part:
            break
    for day in range(60):
        task = billion.Task(
            tuple(people[USERS:]), (START + day * DAY).date(), 1, is_packed=False
        )
        billion.write(task)
        if ask(_SIZE, ["users_sample%"]) >= part:
            break
    for number in range(int(part / 1e6 / FILE_MB)):
        place = uploads / "drill" / f"{number:04}"
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(secrets.token_bytes(FILE_MB * 1_000_000))
    print(f"filled, {timezone.now():%H:%M:%S}", flush=True)


def manage(*command: str, **surroundings: str) -> float:
    """Run a command as an operator does; return its seconds."""
    began = time.monotonic()
    subprocess.run(
        [sys.executable, "manage.py", *command],
        cwd=ROOT,
        env=os.environ | {"PATH": f"{programs()}:{os.environ['PATH']}"} | surroundings,
        check=True,
    )
    return time.monotonic() - began


def programs() -> Path:
    """The bundled server's client programs, which are as new as it is."""
    return find_postgres_programs(
        default_postgres_data_folder(), find_postgres_account()
    )


def cpu_seconds(server: PrivateServer) -> float:
    """What commands and a server's processes that have ended have used so far."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    stat = Path(f"/proc/{server.pid()}/stat").read_text().rpartition(")")[2].split()
    return used.ru_utime + used.ru_stime + sum(map(int, stat[11:15])) / TICKS


def hash_tables() -> dict[str, int]:
    from tests.bench.users.packing import ask

    return {table: ask(_HASH.format(table)) for table in HASHED}


def hash_files(folder: Path) -> dict[str, str]:
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in files_of(folder)
    }


def files_of(folder: Path) -> Sequence[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


if __name__ == "__main__":
    main()
