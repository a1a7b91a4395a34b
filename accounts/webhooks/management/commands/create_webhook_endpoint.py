"""Make an endpoint of a team and print its id and signing secret."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.core.management.base import BaseCommand, CommandError

from accounts.models import Tenant
from accounts.states import Environment
from accounts.webhooks.operations.endpoints import (
    create_endpoint,
    reveal_signing_secret,
)
from portal.lib.actor import Actor
from portal.lib.errors import DomainError
from portal.lib.tenancy import acting_for

if TYPE_CHECKING:
    from django.core.management.base import CommandParser


class Command(BaseCommand):
    """`manage.py create_webhook_endpoint --team SLUG --url URL`."""

    help = "Create a webhook endpoint for a team and print its ID and signing secret."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--team", required=True, metavar="SLUG")
        parser.add_argument("--url", required=True)
        parser.add_argument(
            "--environment", choices=Environment.values, default=Environment.SANDBOX
        )

    def handle(self, *args: Any, **options: Any) -> None:
        actor = Actor.system("create_webhook_endpoint")
        tenant = (
            Tenant.objects.select_related("team")
            .filter(team__slug=options["team"], environment=options["environment"])
            .first()
        )
        if tenant is None:
            raise CommandError(f"No team with the slug {options['team']}.")
        try:
            with acting_for(tenant):
                endpoint = create_endpoint(
                    tenant=tenant, actor=actor, url=options["url"]
                )
                secret = reveal_signing_secret(endpoint=endpoint, actor=actor)
        except DomainError as refused:
            raise CommandError(refused.message) from None
        self.stdout.write(f"{endpoint.uuid}\n{secret}")
