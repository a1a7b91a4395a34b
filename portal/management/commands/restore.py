"""`manage.py restore FILE`: an empty installation from a backup."""

from __future__ import annotations

import sys
from contextlib import ExitStack
from pathlib import Path
from typing import IO, Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from portal.lib.errors import Unavailable
from portal.ops.backups import BackupFailed, restore_backup


class Command(BaseCommand):
    """Restore into an empty database and empty folders."""

    help = "Restore a backup into an empty database and empty folders, then migrate."
    requires_migrations_checks = False

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "file", help="a file made by `backup`, or - for standard input"
        )
        parser.add_argument(
            "--without-keys",
            action="store_true",
            help="restore without the keys: signing secrets, grants and second factors"
            " are then lost",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Refuses to write over anything."""
        try:
            with ExitStack() as stack:
                given: IO[bytes] = sys.stdin.buffer
                if options["file"] != "-":
                    given = stack.enter_context(Path(options["file"]).open("rb"))
                manifest = restore_backup(given, without_keys=options["without_keys"])
        except OSError as error:
            raise CommandError(f"{options['file']}: {error.strerror}") from None
        except BackupFailed as error:
            raise CommandError(str(error)) from None
        except Unavailable as error:
            raise CommandError(error.message) from None
        self.stdout.write(
            f"{sum(manifest.tables.values())} rows and {len(manifest.files)} files of"
            f" {manifest.made_at:%Y-%m-%d %H:%M} UTC restored; `manage.py doctor` and"
            " `manage.py verify_audit` look at them."
        )
