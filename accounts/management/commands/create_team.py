"""Create the first team and print its owner's one-time link."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError
from django.core.validators import validate_email
from django.db import transaction

from accounts.operations.members.passwords import create_password_reset_link
from accounts.operations.teams.teams import add_team_member, create_team
from accounts.states import Region, Role
from portal.lib.actor import Actor
from portal.lib.errors import DomainError
from portal.lib.tenancy import across_tenants

if TYPE_CHECKING:
    from django.core.management.base import CommandParser


class Command(BaseCommand):
    """`manage.py create_team NAME --owner EMAIL`."""

    help = "Create a team and print a one-time link for its owner to set a password."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name")
        parser.add_argument("--owner", required=True, metavar="EMAIL")
        parser.add_argument("--slug", help="part of the dashboard's URLs")
        parser.add_argument("--region", choices=Region.values, default=Region.US)

    def handle(self, *args: Any, **options: Any) -> None:
        actor = Actor.system("create_team")
        try:
            validate_email(options["owner"])
            with across_tenants(why="a team is created"), transaction.atomic():
                team = create_team(
                    name=options["name"],
                    slug=options["slug"],
                    region=options["region"],
                    actor=actor,
                )
                owner = add_team_member(
                    team=team, actor=actor, email=options["owner"], roles=[Role.OWNER]
                ).member
        except DomainError as refused:
            raise CommandError(refused.message) from None
        except ValidationError:
            raise CommandError("--owner must be an email address.") from None
        self.stdout.write(f"Team: {team.slug} ({team.id})")
        if owner.has_usable_password():
            self.stdout.write("The owner already has an account. Sign in with it.")
        else:
            self.stdout.write(f"Set a password: {create_password_reset_link(owner)}")
