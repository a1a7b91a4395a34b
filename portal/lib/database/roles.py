"""The database's roles: one owns the tables, one serves, one works across tenants.

The owner migrates, backs up and restores. The web server's role and that of workers and
operators' commands own nothing: they change no table, and add to the audit alone. One
role for everything still works, as before there were three.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, LiteralString, NamedTuple

import environ
from django.conf import settings
from django.db import DEFAULT_DB_ALIAS, connection, connections, transaction
from psycopg import sql

from portal.lib.database.tenant_proofs import install_tenant_keys

if TYPE_CHECKING:
    from collections.abc import Iterable

    from django.db.backends.utils import CursorWrapper

# Of the bundled PostgreSQL.
BUNDLED_WEB_ROLE = "assay_web"
BUNDLED_WORK_ROLE = "assay_work"
# Commands of `manage.py` that change tables or read all of them as they lie.
OWNER_COMMANDS = frozenset(
    {
        "backup",
        "database_roles",
        "demo",
        "distribute_samples",
        "flush",
        "migrate",
        "restore",
        "sqlmigrate",
    }
)
# Commands that are a part of the web server.
WEB_COMMANDS = frozenset({"mcp", "runserver"})
# Rows stay as they were written.
APPEND_ONLY = frozenset(
    {"accounts_auditentry", "accounts_auditseal", "users_erasurereceipt"}
)
# What `migrate` alone writes.
READ_ONLY = frozenset({"django_migrations"})

# A partition is reached through its parent, which is what the fence is on.
_TABLES = """
    SELECT relname FROM pg_class
    WHERE relkind IN ('r', 'p') AND NOT relispartition
        AND relnamespace = 'public'::regnamespace
    ORDER BY relname
"""
_FUNCTIONS = ("users_add_sample_month(date)", "users_clear_sample_month(text)")
_EXISTING = "SELECT rolname FROM pg_roles WHERE rolname = ANY(%s)"


class ServingRoles(NamedTuple):
    """The names of the roles that own nothing."""

    web: str
    work: str


class RoleSecret(NamedTuple):
    """A role that can sign in, and its password, which may be empty."""

    name: str
    password: str


def use_database_role_of(command: str) -> None:
    """Connect as the role that a command of `manage.py` is for, if it has one.

    Before the first connection of the process.
    """
    url = settings.DATABASE_URL
    if command in OWNER_COMMANDS:
        url = settings.DATABASE_OWNER_URL or url
    elif command not in WEB_COMMANDS:
        url = settings.DATABASE_WORK_URL or url
    if url != settings.DATABASE_URL:
        chosen = environ.Env.db_url_config(url)
        # The options of all three are those of settings.
        own: dict[str, Any] = connections.settings[DEFAULT_DB_ALIAS]
        own.update({**chosen, "OPTIONS": own["OPTIONS"] | chosen.get("OPTIONS", {})})


def find_serving_roles() -> ServingRoles | None:
    """Return the roles that serve; None where the owner does everything."""
    if not settings.DATABASE_URL:
        return ServingRoles(BUNDLED_WEB_ROLE, BUNDLED_WORK_ROLE)
    if not settings.DATABASE_OWNER_URL:
        return None
    web, work = (secret.name for secret in read_serving_secrets())
    return None if read_owner_name() in {web, work} else ServingRoles(web, work)


def read_owner_name() -> str:
    """Return the name of the role that owns the tables."""
    name: str = environ.Env.db_url_config(settings.DATABASE_OWNER_URL)["USER"]
    return name


def read_serving_secrets() -> tuple[RoleSecret, RoleSecret]:
    """Return names and passwords of the web server's role and that of workers."""
    urls = (settings.DATABASE_URL, settings.DATABASE_WORK_URL or settings.DATABASE_URL)
    web, work = (environ.Env.db_url_config(url) for url in urls)
    return (
        RoleSecret(web["USER"], web["PASSWORD"]),
        RoleSecret(work["USER"], work["PASSWORD"]),
    )


def list_missing_roles(names: Iterable[str]) -> list[str]:
    """Return the names that are no role of the server."""
    wanted = set(names)
    with connection.cursor() as cursor:
        cursor.execute(_EXISTING, [list(wanted)])
        return sorted(wanted - {name for (name,) in cursor.fetchall()})


def build_role_statement(
    name: str, *, verifier: str = "", exists: bool = False
) -> sql.Composed:
    """Build the statement that makes a role, or sets its password.

    `verifier` is what PostgreSQL stores of the password; the password itself could end
    up in its log.
    """
    verb = sql.SQL("ALTER" if exists else "CREATE")
    password = sql.Literal(verifier) if verifier else sql.SQL("NULL")
    return sql.SQL(
        "{} ROLE {} LOGIN NOSUPERUSER NOBYPASSRLS NOCREATEDB NOCREATEROLE NOINHERIT"
        " PASSWORD {}"
    ).format(verb, sql.Identifier(name), password)


def build_statements_to_hide_activity(roles: ServingRoles) -> list[sql.Composed]:
    """Build what only a superuser can say: what the web server runs is not shown.

    PostgreSQL shows the statements of a role's sessions to all of its sessions, and
    their values are health data.
    """
    return [
        sql.SQL("ALTER ROLE {} SET track_activities = off").format(
            sql.Identifier(roles.web)
        )
    ]


def build_statements_to_watch_deliverers(
    roles: ServingRoles, *, owner: str
) -> list[sql.Composed]:
    """Build what lets functions of the owner see whether a deliverer is at work."""
    return [
        sql.SQL("GRANT {} TO {}").format(
            sql.Identifier(roles.work), sql.Identifier(owner)
        )
    ]


@transaction.atomic
def grant_rights_to_serving_roles(roles: ServingRoles) -> None:
    """Give the roles what serving takes, and nothing more. As the owner of the tables.

    For the tables that there are, so after each migration. Rights that an earlier
    version gave end. All of it is one transaction: processes that run notice nothing.
    """
    with connection.cursor() as cursor:
        install_tenant_keys(cursor)
        cursor.execute(_TABLES)
        tables = {name for (name,) in cursor.fetchall()}
        both = sorted(set(roles))
        database = connection.get_connection_params()["dbname"]
        run = _Statements(cursor)
        # Temporary tables come before ours in the search path of a session.
        run("REVOKE CREATE, TEMPORARY ON DATABASE {} FROM PUBLIC, {}", [database], both)
        run("GRANT CONNECT ON DATABASE {} TO {}", [database], both)
        run("REVOKE ALL ON ALL TABLES IN SCHEMA public FROM {}", both)
        run("GRANT USAGE ON SCHEMA public TO {}", both)
        run("GRANT USAGE, SELECT ON ALL SEQUENCES IN SCHEMA public TO {}", both)
        run("GRANT SELECT ON {} TO {}", tables, both)
        run("GRANT INSERT ON {} TO {}", tables - READ_ONLY, both)
        changed = tables - READ_ONLY - APPEND_ONLY
        run("GRANT UPDATE, DELETE ON {} TO {}", changed, both)
        for function in _FUNCTIONS:
            cursor.execute(
                sql.SQL("GRANT EXECUTE ON FUNCTION {} TO {}").format(
                    sql.SQL(function), _list(both)
                )
            )


class _Statements:
    """Runs statements whose places are lists of names."""

    def __init__(self, cursor: CursorWrapper) -> None:
        self._cursor = cursor

    def __call__(self, statement: LiteralString, *names: Iterable[str]) -> None:
        self._cursor.execute(sql.SQL(statement).format(*map(_list, names)))


def _list(names: Iterable[str]) -> sql.Composed:
    return sql.SQL(", ").join(map(sql.Identifier, sorted(names)))
