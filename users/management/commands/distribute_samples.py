"""`manage.py distribute_samples`: spread samples over the workers of Citus by user."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.core.management.base import BaseCommand, CommandError

from portal.lib.database.roles import find_serving_roles, grant_rights_to_serving_roles
from portal.lib.tenancy import across_tenants
from users.operations.distribution import (
    NotReadyError,
    check_readiness,
    distribute_samples,
)

if TYPE_CHECKING:
    from django.core.management.base import CommandParser


class Command(BaseCommand):
    """Experimental: docs/guides/citus.md. Run again it does nothing."""

    help = (
        "Spread samples, packed days, extras and origins over the workers of Citus by"
        " user (experimental); with --check only say what is missing."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--check", action="store_true", help="change nothing; exit 1 if not ready"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Refuses before it changes anything, and says all that is missing."""
        roles = find_serving_roles()
        with across_tenants(why="samples of all tenants are spread alike"):
            try:
                if options["check"]:
                    found = check_readiness(roles=roles or ())
                else:
                    found = distribute_samples(roles=roles or ())
            except NotReadyError as error:
                raise CommandError("\n".join(error.reasons)) from None
        if not options["check"] and roles:
            grant_rights_to_serving_roles(roles)
        self.stdout.write("\n".join(found))
