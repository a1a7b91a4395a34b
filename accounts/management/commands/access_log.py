"""Print the access log of one user as CSV, by day."""

from __future__ import annotations

import csv
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, Any
from uuid import UUID
from zoneinfo import ZoneInfo

from django.core.management.base import BaseCommand, CommandError

from accounts.models import Tenant
from accounts.operations.audit.entries import record_read
from accounts.queries.audit import has_audit_entries_of_user, list_accesses_to_user_data
from accounts.states import Environment
from portal.lib.actor import Actor
from portal.lib.tenancy import acting_for
from portal.lib.web.csv_files import escape_spreadsheet_formula, format_csv_timestamp

if TYPE_CHECKING:
    from django.core.management.base import CommandParser

COLUMNS = ("day", "kind", "who", "verb", "subject", "times", "first_at", "last_at")


class Command(BaseCommand):
    """`manage.py access_log --team SLUG --user UUID [--since DAY]`."""

    help = (
        "Print the access log of one user: one line per day, person "
        "or key, and action. Days are in the team's time zone."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--team", required=True, metavar="SLUG")
        parser.add_argument(
            "--environment", choices=Environment.values, default=Environment.SANDBOX
        )
        parser.add_argument("--user", required=True, type=UUID, metavar="UUID")
        parser.add_argument("--since", type=date.fromisoformat, metavar="YYYY-MM-DD")

    def handle(self, *args: Any, **options: Any) -> None:
        tenant = (
            Tenant.objects.select_related("team")
            .filter(team__slug=options["team"], environment=options["environment"])
            .first()
        )
        if tenant is None:
            raise CommandError(f"No team has the slug {options['team']}.")
        zone = ZoneInfo(tenant.team.time_zone)
        day: date | None = options["since"]
        since = datetime(day.year, day.month, day.day, tzinfo=zone) if day else None
        user_uuid: UUID = options["user"]
        with acting_for(tenant):
            if not has_audit_entries_of_user(tenant=tenant, user_uuid=user_uuid):
                raise CommandError("No audit entry names this user.")
            looks = list_accesses_to_user_data(
                tenant=tenant, user_uuid=user_uuid, since=since, zone=zone
            )
            record_read(
                tenant=tenant,
                actor=Actor.system("access_log"),
                subject="audit",
                subject_id=user_uuid,
                user_uuid=user_uuid,
            )
        writer = csv.writer(self.stdout)
        writer.writerow(COLUMNS)
        for look in looks:
            writer.writerow(
                (
                    look.day.isoformat(),
                    look.actor_kind,
                    escape_spreadsheet_formula(look.actor_label),
                    look.verb,
                    look.subject,
                    look.times,
                    format_csv_timestamp(look.first_at.astimezone(UTC)),
                    format_csv_timestamp(look.last_at.astimezone(UTC)),
                )
            )
