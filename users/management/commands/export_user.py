"""`manage.py export_user`: write all data about one user into an archive."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from django.core.management.base import BaseCommand, CommandError

from accounts.models import Tenant
from accounts.operations.audit.entries import record_read
from accounts.states import Environment
from portal.lib.actor import Actor
from portal.lib.tenancy import acting_for
from users.models import User
from users.operations.users.export import write_user_data_archive

if TYPE_CHECKING:
    from django.core.management.base import CommandParser


class Command(BaseCommand):
    """`manage.py export_user FILE --team SLUG --user CLIENT_USER_ID`."""

    help = "Write all data about one user into a zip archive of NDJSON and files."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path)
        parser.add_argument("--team", required=True, metavar="SLUG")
        parser.add_argument(
            "--environment", choices=Environment.values, default=Environment.SANDBOX
        )
        parser.add_argument("--user", required=True, metavar="CLIENT_USER_ID")

    def handle(self, *args: Any, **options: Any) -> None:
        tenant = (
            Tenant.objects.select_related("team")
            .filter(team__slug=options["team"], environment=options["environment"])
            .first()
        )
        if tenant is None:
            raise CommandError(f"No team has the slug {options['team']}.")
        with acting_for(tenant):
            users = User.objects.for_tenant(tenant).live()
            user = users.filter(client_user_id=options["user"]).first()
            if user is None:
                raise CommandError(f"No user has the client_user_id {options['user']}.")
            user.tenant = tenant
            record_read(
                tenant=tenant,
                actor=Actor.system("export_user"),
                subject="user_export",
                subject_id=user.uuid,
                user_uuid=user.uuid,
            )
            try:
                with options["file"].open("xb") as target:
                    options["file"].chmod(0o600)
                    counts = write_user_data_archive(user=user, target=target)
            except OSError as error:
                raise CommandError(f"{error.filename}: {error.strerror}.") from None
        self.stdout.write(
            f"Wrote {sum(counts.values())} rows and files in {len(counts)} parts."
        )
