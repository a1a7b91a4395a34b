"""`manage.py pack_samples`: pack closed days of samples now, or check the packed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from portal.lib.tenancy import across_tenants
from users.operations.packing import pack_closed_days
from users.store.packed.checking import check_packed_days

if TYPE_CHECKING:
    from django.core.management.base import CommandParser


class Command(BaseCommand):
    """Pack closed days of all users, or check what is packed."""

    help = (
        "Pack closed days of samples, whatever PACK_SAMPLES says; with --check read"
        " every packed day instead and list those that are corrupt."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--check", action="store_true")

    def handle(self, *args: Any, **options: Any) -> None:
        """Print what was packed or checked; exit 1 if a packed day is corrupt."""
        with across_tenants(why="samples of all tenants are packed alike"):
            if options["check"]:
                self._check()
            else:
                packed = pack_closed_days(now=timezone.now())
                self.stdout.write(
                    f"{packed.samples} samples packed into {packed.days} days"
                )

    def _check(self) -> None:
        checked = check_packed_days()
        for user_id, key in checked.corrupt:
            self.stdout.write(
                f"corrupt: user {user_id}, series {key.series}, feed {key.feed},"
                f" day {key.day}"
            )
        if checked.corrupt:
            raise CommandError(f"{len(checked.corrupt)} packed days are corrupt")
        self.stdout.write(f"{checked.number} packed days are sound")
