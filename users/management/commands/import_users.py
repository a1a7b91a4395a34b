"""`manage.py import_users`: create the users of a CSV file, or preview it."""

from __future__ import annotations

import csv
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

from django.core.management.base import BaseCommand, CommandError

from accounts.models import Tenant
from accounts.states import Environment
from portal.lib.actor import Actor
from portal.lib.errors import DomainError
from portal.lib.secrets.private_files import open_owner_only_file
from portal.lib.tenancy import acting_for
from users.operations.users.csv_import import EXISTS, RowNote, import_users_from_csv

if TYPE_CHECKING:
    from django.core.management.base import CommandParser


class Command(BaseCommand):
    """`manage.py import_users FILE --team SLUG [--dry-run] [--notes FILE]`."""

    help = (
        "Create the missing users of a CSV file. Columns: client_user_id,"
        " fallback_time_zone, fallback_birth_date, ingestion_start, ingestion_end."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path)
        parser.add_argument("--team", required=True, metavar="SLUG")
        parser.add_argument(
            "--environment", choices=Environment.values, default=Environment.SANDBOX
        )
        parser.add_argument("--dry-run", action="store_true", help="store nothing")
        parser.add_argument(
            "--notes",
            type=Path,
            metavar="FILE",
            help="write each skipped row to this CSV file (default: stderr)",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        tenant = (
            Tenant.objects.select_related("team")
            .filter(team__slug=options["team"], environment=options["environment"])
            .first()
        )
        if tenant is None:
            raise CommandError(f"No team has the slug {options['team']}.")
        notes: Path | None = options["notes"]
        try:
            with (
                options["file"].open("rb") as file,
                open_owner_only_file(notes, "w", newline="")
                if notes
                else nullcontext(self.stderr) as report,
                acting_for(tenant),
            ):
                writer = csv.writer(report)
                done = import_users_from_csv(
                    tenant=tenant,
                    actor=Actor.system("import_users"),
                    file=file,
                    is_dry_run=options["dry_run"],
                    note=lambda note: writer.writerow(_cells(note)),
                )
        except OSError as error:
            raise CommandError(f"{error.filename}: {error.strerror}.") from None
        except DomainError as refused:
            raise CommandError(refused.message) from None
        verb = "would be created" if options["dry_run"] else "created"
        self.stdout.write(
            f"{done.rows} rows: {done.created} {verb}, {done.existing} already exist,"
            f" {done.refused} rejected."
        )
        if done.ignored:
            self.stdout.write(f"Ignored columns: {', '.join(done.ignored)}.")


def _cells(note: RowNote) -> tuple[object, ...]:
    outcome = "exists" if note.code == EXISTS else "refused"
    return note.line, outcome, note.column, note.code, note.message
