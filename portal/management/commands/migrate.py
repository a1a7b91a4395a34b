"""`manage.py migrate`: Django's own, with every tenant's rows in sight."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from django.apps import apps
from django.conf import settings
from django.core.checks import Tags
from django.core.management import CommandError
from django.core.management.commands import migrate
from django.db import DEFAULT_DB_ALIAS, connections
from django.db.migrations.loader import MigrationLoader

from portal.lib.database.roles import (
    find_serving_roles,
    grant_rights_to_serving_roles,
    list_missing_roles,
)
from portal.lib.database.schema import classes_change_in_place
from portal.lib.tenancy import across_tenants
from users.store.distribution import has_citus, list_distributed_tables

if TYPE_CHECKING:
    from collections.abc import Iterator

_CAN_GRANT = """
    SELECT to_regclass('assay_private.tenant_key') IS NOT NULL
        AND to_regprocedure('users_clear_sample_month(text)') IS NOT NULL
"""


class Command(migrate.Command):
    """The role that migrates owns the tables, and is held to their policies too."""

    # Checks of pages would load every one of them, half the time of an empty database.
    requires_system_checks = (
        Tags.compatibility,
        Tags.database,
        Tags.models,
        Tags.security,
    )

    def handle(self, *args: Any, **options: Any) -> None:
        """As Django's; a new foreign key is checked, and a backfill done, for all.

        A database of another version is refused: one that has migrations which this
        version does not know. Source: Ours: Django would find nothing to do and leave
        tables that the code does not fit.
        """
        if unknown := _list_unknown_migrations(options.get("database")):
            raise CommandError(
                "This database was made by another version of Assay: it has the"
                f" migration {unknown[0]}, which this version does not have. Run the"
                " version that made it, or for demo data start over with"
                " `manage.py demo --reset`."
            )
        with (
            across_tenants(why="a migration works on the rows of all tenants"),
            classes_change_in_place(),
            _workers_left_alone(options.get("database")),
        ):
            super().handle(*args, **options)
        _grant_rights(options.get("database"))


@contextmanager
def _workers_left_alone(database: str | None) -> Iterator[None]:
    """Where samples could be spread (Citus) and are not yet, change no other server.

    Citus would else repeat on each worker what only a superuser may do there.
    """
    if database not in {None, DEFAULT_DB_ALIAS} or not has_citus():
        yield
        return
    if not list_distributed_tables():
        _run("SET citus.enable_ddl_propagation = off")
    try:
        yield
    finally:
        _run("RESET citus.enable_ddl_propagation")


def _run(statement: str) -> None:
    with connections[DEFAULT_DB_ALIAS].cursor() as cursor:
        cursor.execute(statement)


def _grant_rights(database: str | None) -> None:
    """Give the roles that serve their rights on what there is by now.

    Left out where migrate stopped before the migrations that this takes, and where the
    server lacks the roles: `doctor` says so.
    """
    roles = find_serving_roles()
    if database not in {None, DEFAULT_DB_ALIAS} or roles is None:
        return
    with connections[DEFAULT_DB_ALIAS].cursor() as cursor:
        cursor.execute(_CAN_GRANT)
        (can_grant,) = cursor.fetchone()
    if can_grant and not list_missing_roles(roles):
        grant_rights_to_serving_roles(roles)


def _list_unknown_migrations(database: str | None) -> list[str]:
    loader = MigrationLoader(connections[database or DEFAULT_DB_ALIAS])
    labels = {
        config.label
        for config in apps.get_app_configs()
        if config.name in settings.APPS
    }
    return sorted(
        f"{label}.{name}"
        for label, name in loader.applied_migrations
        if label in labels and (label, name) not in loader.disk_migrations
    )
