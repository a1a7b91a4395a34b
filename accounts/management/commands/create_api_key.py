"""Make an API key and print it: the only time it is shown."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.core.management.base import BaseCommand, CommandError

from accounts.models import Tenant
from accounts.operations.api_keys import create_api_key
from accounts.states import Environment
from portal.lib.actor import Actor
from portal.lib.errors import DomainError
from portal.lib.tenancy import acting_for

if TYPE_CHECKING:
    from django.core.management.base import CommandParser


class Command(BaseCommand):
    """`manage.py create_api_key --team SLUG [--environment sandbox] --label TEXT`."""

    help = "Make an API key of a team and print the key alone."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--team", required=True, metavar="SLUG")
        parser.add_argument(
            "--environment", choices=Environment.values, default=Environment.SANDBOX
        )
        parser.add_argument("--label", required=True)

    def handle(self, *args: Any, **options: Any) -> None:
        tenant = (
            Tenant.objects.select_related("team")
            .filter(team__slug=options["team"], environment=options["environment"])
            .first()
        )
        if tenant is None:
            raise CommandError(f"No team has the slug {options['team']}.")
        try:
            with acting_for(tenant):
                _, text = create_api_key(
                    tenant=tenant,
                    actor=Actor.system("create_api_key"),
                    label=options["label"],
                )
        except DomainError as refused:
            raise CommandError(refused.message) from None
        self.stdout.write(text)
