"""An Apple Health export of a real size: how fast it is taken in, in what memory.

Run `python -m tests.bench.users.import_health [--megabytes N] [--again]`. Makes an
export of that many MB of XML below a temporary folder, packs it, and imports it as a
worker would in a process of its own. Printed are seconds, records a second and the most
memory that the process had; the limit is 300 MB for an export of 1 GB. `--again`
imports the same file a second time, which must store nothing.
"""

from __future__ import annotations

import argparse
import multiprocessing
import resource
import tempfile
import time
import zipfile
from datetime import timedelta
from functools import partial
from pathlib import Path

from tests.bench.stage import database
from tests.factories.apple_health import LAST_DAY, export_pieces

LIMIT_MB = 300
_MB = 1024**2
# A watch that is worn day and night, as exports have it on average.
BEAT_SECONDS = 60


def make_file(path: Path, megabytes: int) -> int:
    """Pack an export of about so many MB; its length unpacked, in bytes."""
    a_day = sum(map(len, export_pieces(days=1, last=LAST_DAY, beat_seconds=60)))
    days = max(1, megabytes * _MB // a_day)
    pieces = export_pieces(days=days, last=LAST_DAY, beat_seconds=BEAT_SECONDS)
    written = 0
    with (
        zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive,
        archive.open("apple_health_export/export.xml", "w", force_zip64=True) as out,
    ):
        for piece in pieces:
            written += out.write(piece.encode())
    return written


def import_file(path: Path, times: int) -> None:
    """Import the file in this process, so often, and print what it took."""
    with database():
        from portal.lib.tenancy import acting_for
        from tests.factories.accounts import ACTOR, make_tenant
        from tests.factories.users import make_user
        from users.operations.imports.runs import run_health_data_import
        from users.operations.imports.submission import (
            ImportRequest,
            create_health_data_import,
        )

        tenant = make_tenant()
        with acting_for(tenant):
            user = make_user(tenant=tenant)
            for number in range(times):
                with path.open("rb") as opened:
                    job = create_health_data_import(
                        user=user,
                        actor=ACTOR,
                        request=ImportRequest(
                            path.name, iter(partial(opened.read, _MB), b"")
                        ),
                    )
                began = time.monotonic()
                cpu = time.process_time()
                run_health_data_import(tenant_pk=tenant.pk, job_id=job.id)
                seconds = time.monotonic() - began
                cpu = time.process_time() - cpu
                job.refresh_from_db()
                read_at = job.read_at or job.created_at
                reading = (read_at - job.created_at) / timedelta(seconds=1)
                new = sum(count["created"] for count in job.counts.values())
                changed = sum(count["updated"] for count in job.counts.values())
                print(
                    f"import {number + 1}: {job.status}, {job.rows_read:,} records,"
                    f" {new:,} new, {changed:,} changed, {seconds:.0f} s"
                    f" ({reading:.0f} s of it reading), {cpu:.0f} s of CPU,"
                    f" {job.rows_read / seconds:,.0f} records/s"
                )
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"memory at most {most:.0f} MB, limit {LIMIT_MB} MB, {most / LIMIT_MB:.2f}")


def main() -> None:
    """Make the file, then import it in a process that has made nothing."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--megabytes", type=int, default=1024)
    parser.add_argument("--again", action="store_true")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "export.zip"
        unpacked = make_file(path, given.megabytes)
        packed = path.stat().st_size
        print(f"export of {unpacked / _MB:.0f} MB, packed {packed / _MB:.0f} MB")
        work = multiprocessing.get_context("spawn").Process(
            target=import_file, args=(path, 1 + given.again)
        )
        work.start()
        work.join()


if __name__ == "__main__":
    main()
