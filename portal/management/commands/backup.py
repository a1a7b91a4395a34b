"""`manage.py backup FILE`: the database and the files beside it, in one file."""

from __future__ import annotations

import os
import sys
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from portal.lib.errors import Unavailable
from portal.ops.backup_notes import record_backup_time
from portal.ops.backups import BackupFailed, create_backup

if TYPE_CHECKING:
    from collections.abc import Iterator


class Command(BaseCommand):
    """Back up while the server goes on working."""

    help = (
        "Back up the database, uploads, lab files and the LOINC table to one tar file."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", help="a new file, or - for standard output")
        parser.add_argument(
            "--keys",
            metavar="FILE",
            help="write SECRET_KEY and ENCRYPTION_KEYS here; keep them apart from the"
            " backup, which can't be used without them",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Files are for their owner alone; what failed leaves nothing behind."""
        with ExitStack() as made:
            if options["keys"]:
                keys = made.enter_context(_new_file(options["keys"]))
                keys.write(_keys().encode())
            if options["file"] == "-":
                self._write(sys.stdout.buffer)
                return
            self._write(made.enter_context(_new_file(options["file"])))

    def _write(self, out: Any) -> None:
        try:
            manifest = create_backup(out)
        except BackupFailed as error:
            raise CommandError(str(error)) from None
        except Unavailable as error:
            raise CommandError(error.message) from None
        record_backup_time()
        rows = sum(manifest.tables.values())
        # Standard output may be the backup.
        self.stderr.write(f"{rows} rows and {len(manifest.files)} files", ending="\n")


@contextmanager
def _new_file(path: str) -> Iterator[BinaryIO]:
    """A file that is on the disk at the end, or not there at all.

    One that is there already is left alone.
    """
    try:
        opened = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
    except OSError as error:
        raise CommandError(f"{path} can't be created: {error.strerror}") from None
    try:
        with os.fdopen(opened, "wb") as out:
            yield out
            out.flush()
            os.fsync(out.fileno())
    except BaseException:
        Path(path).unlink(missing_ok=True)
        raise


def _keys() -> str:
    named = {
        "SECRET_KEY": settings.SECRET_KEY,
        "SECRET_KEY_FALLBACKS": ",".join(settings.SECRET_KEY_FALLBACKS),
        "ENCRYPTION_KEYS": ",".join(settings.ENCRYPTION_KEYS),
    }
    return "".join(f"{name}={value}\n" for name, value in named.items())
