"""Remove a team's sign-in requirements when its members are locked out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.core.management.base import BaseCommand, CommandError

from accounts.models import Team
from accounts.operations.sign_in.single_sign_on import change_sign_in_rules
from portal.lib.actor import Actor
from portal.lib.tenancy import across_tenants

if TYPE_CHECKING:
    from django.core.management.base import CommandParser


class Command(BaseCommand):
    """`manage.py release_sign_in --team SLUG`."""

    help = "Remove a team's sign-in requirements: single sign-on and second factor."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--team", required=True, metavar="SLUG")

    def handle(self, *args: Any, **options: Any) -> None:
        team = Team.objects.filter(slug=options["team"]).first()
        if team is None:
            raise CommandError(f"No team has the slug {options['team']}.")
        with across_tenants(why="a team has two tenants, and the audit of both"):
            change_sign_in_rules(
                team=team,
                actor=Actor.system("release_sign_in"),
                requires_second_factor=False,
                requires_single_sign_on=False,
            )
        self.stdout.write(f"{team.slug}: sign-in requirements removed.")
