"""Create a management key and print it: the only time it is shown."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.core.management.base import BaseCommand, CommandError

from accounts.models import Team
from accounts.operations.api_keys.management_keys import create_management_key
from accounts.states import ManagementRole
from portal.lib.actor import Actor
from portal.lib.errors import DomainError
from portal.lib.tenancy import across_tenants

if TYPE_CHECKING:
    from django.core.management.base import CommandParser


class Command(BaseCommand):
    """`manage.py create_management_key --team SLUG --label TEXT`."""

    help = "Create a management key; print the organization's ID and the key."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--team", required=True, metavar="SLUG")
        parser.add_argument("--label", required=True)
        parser.add_argument(
            "--role",
            choices=ManagementRole.values,
            default=ManagementRole.ORG_ADMIN,
            help="team_admin: for this team only (default: all teams of its "
            "organization)",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        team = Team.objects.filter(slug=options["team"]).first()
        if team is None:
            raise CommandError(f"No team has the slug {options['team']}.")
        try:
            with across_tenants(why="a team has two tenants, and the audit of both"):
                _, text = create_management_key(
                    team=team,
                    actor=Actor.system("create_management_key"),
                    label=options["label"],
                    role=ManagementRole(options["role"]),
                )
        except DomainError as refused:
            raise CommandError(refused.message) from None
        self.stdout.write(f"{team.organisation_id}\n{text}")
