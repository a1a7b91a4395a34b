"""`manage.py database_roles`: make the roles that serve, and give them their rights."""

from __future__ import annotations

from typing import Any

import environ
import psycopg
from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import connection

from portal.lib.database.roles import (
    RoleSecret,
    ServingRoles,
    build_role_statement,
    build_statements_to_hide_activity,
    build_statements_to_watch_deliverers,
    find_serving_roles,
    grant_rights_to_serving_roles,
    list_missing_roles,
    read_owner_name,
    read_serving_secrets,
)

MIGRATED = "SELECT to_regclass('assay_private.tenant_key') IS NOT NULL"


class Command(BaseCommand):
    """Roles are the server's, so that only a role that may make them can."""

    help = (
        "Create the database roles of DATABASE_URL and DATABASE_WORK_URL through"
        " DATABASE_ADMIN_URL, and grant them their rights as the role of"
        " DATABASE_OWNER_URL. Safe to run again."
    )
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--sql",
            action="store_true",
            help="print the statements that create the roles, for psql, and stop",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Create what is missing, set passwords, and grant."""
        roles = find_serving_roles()
        if roles is None or not settings.DATABASE_URL:
            raise CommandError(
                "Set DATABASE_URL, DATABASE_WORK_URL and DATABASE_OWNER_URL, each with"
                " a role of its own."
            )
        secrets = list(dict.fromkeys(read_serving_secrets()))
        if options["sql"]:
            for secret in secrets:
                self.stdout.write(f"{build_role_statement(secret.name).as_string()};")
                self.stdout.write(f"\\password {secret.name}")
            for statement in [
                *build_statements_to_watch_deliverers(roles, owner=read_owner_name()),
                *build_statements_to_hide_activity(roles),
            ]:
                self.stdout.write(f"{statement.as_string()};")
            return
        missing = list_missing_roles(roles)
        if settings.DATABASE_ADMIN_URL:
            self._make(roles, secrets, missing)
        elif missing:
            raise CommandError(
                f"There is no role {', '.join(missing)}. Set DATABASE_ADMIN_URL to a"
                " role that may create roles, or run what `manage.py database_roles"
                " --sql` prints in psql."
            )
        with connection.cursor() as cursor:
            cursor.execute(MIGRATED)
            (migrated,) = cursor.fetchone()
        if migrated:
            grant_rights_to_serving_roles(roles)
            self.stdout.write(f"{roles.web} and {roles.work} have their rights.")
        else:
            self.stdout.write("The roles exist. `manage.py migrate` grants the rights.")

    def _make(
        self, roles: ServingRoles, secrets: list[RoleSecret], missing: list[str]
    ) -> None:
        fields = environ.Env.db_url_config(settings.DATABASE_ADMIN_URL)
        given = {"host": "HOST", "port": "PORT", "user": "USER", "password": "PASSWORD"}
        parameters = {name: fields[key] for name, key in given.items() if fields[key]}
        parameters |= {"dbname": fields["NAME"], **fields.get("OPTIONS", {})}
        try:
            with psycopg.connect(**parameters, autocommit=True) as opened:
                for name, password in secrets:
                    verifier = b""
                    if password:
                        verifier = opened.pgconn.encrypt_password(
                            password.encode(), name.encode(), b"scram-sha-256"
                        )
                    opened.execute(
                        build_role_statement(
                            name, verifier=verifier.decode(), exists=name not in missing
                        )
                    )
                for statement in build_statements_to_watch_deliverers(
                    roles, owner=read_owner_name()
                ):
                    opened.execute(statement)
                self._hide_activity(opened, roles)
        except psycopg.Error as error:
            # The text of an error may quote the statement.
            raise CommandError(
                f"The roles can't be made through DATABASE_ADMIN_URL: {error.sqlstate}."
            ) from None

    def _hide_activity(
        self, opened: psycopg.Connection[Any], roles: ServingRoles
    ) -> None:
        for statement in build_statements_to_hide_activity(roles):
            try:
                opened.execute(statement)
            except psycopg.errors.InsufficientPrivilege:
                self.stdout.write(
                    "A superuser should also run:"
                    f" {statement.as_string(opened)};"
                    " Without it sessions of the web server's role can read one"
                    " another's statements in pg_stat_activity."
                )
