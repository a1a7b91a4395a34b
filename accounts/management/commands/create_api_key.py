"""Create an API key and print it: the only time it is shown."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from accounts.models import Tenant
from accounts.operations.api_keys.api_keys import KeyRules, create_api_key
from accounts.states import SCOPES, Environment
from portal.lib.actor import Actor
from portal.lib.errors import DomainError
from portal.lib.tenancy import acting_for

if TYPE_CHECKING:
    from django.core.management.base import CommandParser

DAYS_MAX = 3650


class Command(BaseCommand):
    """`manage.py create_api_key --team SLUG [--environment sandbox] --label TEXT`.

    `--scope` and `--network` may be repeated; without them nothing is limited.
    """

    help = "Create an API key for a team and print only the key."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--team", required=True, metavar="SLUG")
        parser.add_argument(
            "--environment", choices=Environment.values, default=Environment.SANDBOX
        )
        parser.add_argument("--label", required=True)
        parser.add_argument("--scope", action="append", choices=SCOPES, dest="scopes")
        parser.add_argument(
            "--network", action="append", default=[], metavar="CIDR", dest="networks"
        )
        parser.add_argument("--calls-per-minute", type=int, metavar="NUMBER")
        parser.add_argument(
            "--days", type=int, metavar="NUMBER", help="Expire after this many days."
        )

    def handle(self, *args: Any, **options: Any) -> None:
        tenant = (
            Tenant.objects.select_related("team")
            .filter(team__slug=options["team"], environment=options["environment"])
            .first()
        )
        if tenant is None:
            raise CommandError(f"No team has the slug {options['team']}.")
        scopes, days = options["scopes"], options["days"]
        if days is not None and not 1 <= days <= DAYS_MAX:
            raise CommandError(f"Give a number of days from 1 to {DAYS_MAX}.")
        rules = KeyRules(
            scopes=None if scopes is None else frozenset(scopes),
            networks=tuple(options["networks"]),
            calls_per_minute=options["calls_per_minute"],
            expires_at=timezone.now() + timedelta(days=days) if days else None,
        )
        try:
            with acting_for(tenant):
                _, text = create_api_key(
                    tenant=tenant,
                    actor=Actor.system("create_api_key"),
                    label=options["label"],
                    rules=rules,
                )
        except DomainError as refused:
            raise CommandError(refused.message) from None
        self.stdout.write(text)
