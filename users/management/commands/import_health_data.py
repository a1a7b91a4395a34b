"""`manage.py import_health_data FILE`: import a file of a user's health data."""

from __future__ import annotations

import tempfile
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from accounts.models import Tenant
from accounts.states import Environment
from portal.lib.actor import Actor
from portal.lib.errors import DomainError, NotFound
from portal.lib.tenancy import acting_for
from users.operations.imports.runs import DEFAULT_PROVIDER, run_health_data_import
from users.operations.imports.status import explain_refused_import
from users.operations.imports.submission import ImportRequest, create_health_data_import
from users.queries import find_user_by_client_user_id, live_user
from users.states.imports import DropReason, ImportStatus
from users.wearables.formats.sniffing import detect_file_format
from users.wearables.formats.staging import parse_file_into_parts
from users.wearables.providers import PROVIDERS
from users.wearables.readings import build_batch_parsing_context

if TYPE_CHECKING:
    from django.core.management.base import CommandParser

    from users.models import ImportJob, User

ACTOR = Actor.system("import_health_data")
_CHUNK_BYTES = 1024**2


class Command(BaseCommand):
    """Import a file without a worker; exit 1 with the reason if it is refused."""

    help = (
        "Import a file of a user's health data: an export of Apple Health, LibreView,"
        " Dexcom Clarity, Google Fit, Fitbit, Samsung Health, Garmin Connect, Strava,"
        " WHOOP, Withings, Oura, Health Connect or Nightscout, an activity (FIT, GPX,"
        " TCX), or samples as CSV or NDJSON. The whole file is checked before anything"
        " is stored. Importing a file again changes nothing."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path, metavar="FILE")
        parser.add_argument("--team", required=True, metavar="SLUG")
        parser.add_argument(
            "--environment", choices=Environment.values, default=Environment.SANDBOX
        )
        parser.add_argument(
            "--user", required=True, help="the user's user_id or client_user_id"
        )
        parser.add_argument(
            "--provider",
            choices=sorted(PROVIDERS),
            default=DEFAULT_PROVIDER,
            metavar="SLUG",
            help="source of the rows of a CSV or NDJSON file (default: manual)",
        )
        parser.add_argument(
            "--plan",
            action="store_true",
            help="only print what would be stored, from when to when and how much",
        )

    def handle(self, *_args: Any, **options: Any) -> None:
        tenant = (
            Tenant.objects.select_related("team")
            .filter(team__slug=options["team"], environment=options["environment"])
            .first()
        )
        if tenant is None:
            raise CommandError(f"No team has the slug {options['team']}.")
        try:
            with acting_for(tenant):
                user = _find_user(tenant, options["user"])
                if options["plan"]:
                    self._plan(user, options["file"], options["provider"])
                    return
                job = self._import(user, options["file"], options["provider"])
        except DomainError as refused:
            raise CommandError(f"{refused.message} ({refused.code})") from None
        except OSError as error:
            raise CommandError(f"Cannot read the file: {error.strerror}.") from None
        self._report(job)

    def _import(self, user: User, path: Path, provider: str) -> ImportJob:
        with path.open("rb") as opened:
            chunks = iter(partial(opened.read, _CHUNK_BYTES), b"")
            request = ImportRequest(path.name, chunks, provider)
            job = create_health_data_import(user=user, actor=ACTOR, request=request)
        run_health_data_import(
            tenant_pk=job.tenant_id, job_id=job.id, watch=self._show_progress
        )
        job.refresh_from_db()
        return job

    def _plan(self, user: User, path: Path, provider: str) -> None:
        """Print what an import would store; nothing is stored."""
        context = build_batch_parsing_context(
            user=user, provider=provider, now=timezone.now()
        )
        with tempfile.NamedTemporaryFile(prefix="assay-plan-") as parts:
            staged = parse_file_into_parts(
                path,
                Path(parts.name),
                format_=detect_file_format(path, path.name),
                file_name=path.name,
                context=context,
                on_progress=lambda _: None,
            )
        for resource, planned in sorted(staged.plan.items()):
            first, last = planned["first"][:10], planned["last"][:10]
            self.stdout.write(f"{resource}: {planned['rows']}, {first} to {last}")
        self._report_drops(staged.drops)
        self.stdout.write(f"Times without a zone are read in {context.time_zone}.")
        self.stdout.write("Nothing was stored.")

    def _report_drops(self, drops: dict[str, dict[str, int]]) -> None:
        for code, whats in sorted(drops.items()):
            known = DropReason.known(code)
            rows = sum(whats.values())
            self.stderr.write(f"skipped {rows}: {known.label if known else code}")

    def _show_progress(self, job: ImportJob) -> None:
        if self.stderr.isatty():
            text = f"{job.percent:3}%  {job.status}, {job.rows_read} rows read"
            self.stderr.write(f"\r{text}", ending="")

    def _report(self, job: ImportJob) -> None:
        if self.stderr.isatty():
            self.stderr.write("")
        self._report_drops(job.drops)
        if job.status != ImportStatus.COMPLETED:
            said = f"The import is {job.status}."
            if job.failure:
                said = explain_refused_import(job)
            raise CommandError(f"{said} ({job.failure or job.status})")
        for resource, count in sorted(job.counts.items()):
            self.stdout.write(
                f"{resource}: {count['created']} new, {count['updated']} changed,"
                f" {count['unchanged']} unchanged"
            )


def _find_user(tenant: Tenant, named: str) -> User:
    """Return the user with this client_user_id or user_id. Raises: not_found."""
    found = find_user_by_client_user_id(tenant=tenant, client_user_id=named)
    try:
        user_id = UUID(named) if found is None else found.user.uuid
    except ValueError:
        raise NotFound("not_found", "User not found.") from None
    return live_user(tenant=tenant, user_id=user_id)
