"""`manage.py import_from PLATFORM`: move a team in from another platform."""

from __future__ import annotations

import os
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from accounts.models import Tenant
from accounts.states import Environment
from portal.lib.actor import Actor
from portal.lib.tenancy import acting_for
from users.gateways.moving.base import PlatformUnavailable
from users.gateways.moving.http import Pace
from users.gateways.moving.platforms import PLATFORMS, ClientMissing, open_platform
from users.operations.moving.run import MoveCounts, import_platform
from users.operations.moving.storing import RESOURCES

if TYPE_CHECKING:
    from django.core.management.base import CommandParser

KEY_VARIABLE = "IMPORT_FROM_KEY"


class Command(BaseCommand):
    """Import users, sources and data; the key is read from IMPORT_FROM_KEY."""

    help = (
        "Import all users of another platform with their sources (to be consented"
        f" again) and data. The platform's key is read from {KEY_VARIABLE}. An import"
        " that was cut off goes on where it was."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("platform", choices=sorted(PLATFORMS))
        parser.add_argument("--url", required=True, help="base URL of its API")
        parser.add_argument("--team", required=True, metavar="SLUG")
        parser.add_argument(
            "--environment", choices=Environment.values, default=Environment.SANDBOX
        )
        parser.add_argument(
            "--rate", type=float, default=10, help="calls a second at most"
        )
        parser.add_argument(
            "--dry-run", action="store_true", help="read and count, write nothing"
        )
        parser.add_argument(
            "--again-after",
            type=float,
            default=12,
            metavar="HOURS",
            help="read users again who are whole for so long (0: all), for what arrived"
            " there since",
        )
        parser.add_argument(
            "--webhooks",
            action="store_true",
            help="emit one historical event of each resource of a source",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        tenant = find_tenant(options)
        try:
            platform = open_platform(
                options["platform"],
                url=options["url"],
                key=read_key(KEY_VARIABLE),
                pace=Pace(read_rate(options)),
                resources=RESOURCES,
            )
            with acting_for(tenant):
                counts = import_platform(
                    tenant=tenant,
                    actor=Actor.system(f"import_from {options['platform']}"),
                    platform=platform,
                    is_dry=options["dry_run"],
                    emits=options["webhooks"],
                    again_before=timezone.now()
                    - timedelta(hours=options["again_after"]),
                    report=self._report,
                )
        except (ClientMissing, PlatformUnavailable) as error:
            raise CommandError(str(error)) from None
        self.stdout.write(f"Users: {counts.users}, done before: {counts.done_before}")
        for title, numbers in (
            ("Read", counts.read),
            ("Would store" if options["dry_run"] else "Stored", counts.stored),
            ("New or changed", counts.changed),
            ("Skipped", counts.skipped),
            ("Users refused", counts.refused),
            ("Users not read to the end", counts.unread),
        ):
            for name, number in sorted((+numbers).items()):
                self.stdout.write(f"{title} {name}: {number}")
        if counts.unread:
            raise CommandError(
                f"{counts.unread.total()} users were not read to the end. Run it again:"
                " it goes on with them."
            )

    def _report(self, counts: MoveCounts) -> None:
        if counts.users % 50 == 0:
            self.stdout.write(f"{counts.users} users")
            self.stdout.flush()


def find_tenant(options: dict[str, Any]) -> Tenant:
    """Return the team's environment that --team and --environment name."""
    tenant: Tenant | None = (
        Tenant.objects.select_related("team")
        .filter(team__slug=options["team"], environment=options["environment"])
        .first()
    )
    if tenant is None:
        raise CommandError(f"No team has the slug {options['team']}.")
    return tenant


def read_key(variable: str) -> str:
    """Return a key from the environment: an argument is seen by all processes."""
    key = os.environ.get(variable, "")  # noqa: TID251 - a secret of one run
    if not key:
        raise CommandError(f"Set {variable} to the key.")
    return key


def read_rate(options: dict[str, Any]) -> float:
    """Return --rate, which must be above 0."""
    rate: float = options["rate"]
    if rate <= 0:
        raise CommandError("--rate must be above 0.")
    return rate
