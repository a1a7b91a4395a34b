"""`manage.py migrate`: Django's own, with every tenant's rows in sight."""

from __future__ import annotations

from typing import Any

from django.core.management.commands import migrate

from portal.lib.tenancy import across_tenants


class Command(migrate.Command):
    """The role that migrates owns the tables, and is held to their policies too."""

    def handle(self, *args: Any, **options: Any) -> None:
        """As Django's; a new foreign key is checked, and a backfill done, for all."""
        with across_tenants(why="a migration works on the rows of all tenants"):
            super().handle(*args, **options)
