"""Create the HL7 folders of a team's lab accounts and print their paths."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.core.management.base import BaseCommand, CommandError

from accounts.models import Tenant
from accounts.states import Environment
from labs.operations.inbound.files import create_hl7_drop_folders
from portal.lib.tenancy import acting_for

if TYPE_CHECKING:
    from django.core.management.base import CommandParser


class Command(BaseCommand):
    """`manage.py hl7_folders --team SLUG [--environment production]`."""

    help = "Create the HL7 folders of a team's lab accounts and print their paths."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--team", required=True, metavar="SLUG")
        parser.add_argument(
            "--environment", choices=Environment.values, default=Environment.PRODUCTION
        )

    def handle(self, *args: Any, **options: Any) -> None:
        tenant = (
            Tenant.objects.select_related("team")
            .filter(team__slug=options["team"], environment=options["environment"])
            .first()
        )
        if tenant is None:
            raise CommandError(
                f'No team has the slug "{options["team"]}" in this environment.'
            )
        with acting_for(tenant):
            folders = create_hl7_drop_folders(tenant=tenant)
            if not folders:
                raise CommandError(
                    f"The team has no lab account in {tenant.environment}. Add one"
                    " under Lab accounts first."
                )
            for account, drop in folders:
                number = account.provider_account_id
                self.stdout.write(f"{account.lab.name}, account {number}: {drop.path}")
