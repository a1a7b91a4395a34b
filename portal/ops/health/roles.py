"""Health of the database's roles: who owns the tables, and whose key is believed."""

from __future__ import annotations

from django.conf import settings
from django.db import DatabaseError, connection, transaction

from portal.lib.database.roles import (
    APPEND_ONLY,
    find_serving_roles,
    list_missing_roles,
    read_serving_secrets,
)
from portal.lib.tenancy import across_tenants
from portal.ops.health.findings import Finding

_GUIDE = "See `manage.py database_roles` in the guide to deployment."
# What no role that serves may do, by what it is called for people.
_TOO_MUCH = """
    SELECT rolname, what FROM pg_roles CROSS JOIN LATERAL (VALUES
        ('is a superuser', rolsuper),
        ('has BYPASSRLS', rolbypassrls),
        ('can create roles', rolcreaterole),
        ('owns tables', EXISTS (
            SELECT FROM pg_class WHERE relnamespace = 'public'::regnamespace
                AND pg_has_role(pg_roles.oid, relowner, 'MEMBER')
        )),
        ('can create tables',
            has_schema_privilege(pg_roles.oid, 'public', 'CREATE')),
        ('can create temporary tables',
            has_database_privilege(pg_roles.oid, current_database(), 'TEMPORARY')),
        ('can change the audit', EXISTS (
            SELECT FROM unnest(%(append_only)s::text[]) AS name WHERE
                has_table_privilege(
                    pg_roles.oid, to_regclass(name)::oid, 'UPDATE, DELETE, TRUNCATE'
                )
        )),
        ('can read the keys that sign tenants', EXISTS (
            SELECT FROM pg_class JOIN pg_namespace ON relnamespace = pg_namespace.oid
            WHERE nspname = 'assay_private' AND relkind = 'r'
                AND has_table_privilege(pg_roles.oid, pg_class.oid, 'SELECT, INSERT')
        ))
    ) AS rights (what, has) WHERE has AND rolname = ANY(%(roles)s)
    ORDER BY rolname, what
"""


def check_serving_roles() -> Finding:
    """Check that what serves owns nothing, and can do no more than serving takes."""
    if not settings.DATABASE_URL:
        return Finding(True, "The bundled PostgreSQL is for trying Assay out.")
    roles = find_serving_roles()
    if roles and (missing := list_missing_roles(roles)):
        return Finding(
            False,
            f"There is no database role {', '.join(missing)}.",
            f"Run `manage.py database_roles`. {_GUIDE}",
        )
    # A web server knows its own role only.
    names = sorted(set(roles or [read_serving_secrets()[0].name]))
    with connection.cursor() as cursor:
        cursor.execute(_TOO_MUCH, {"append_only": sorted(APPEND_ONLY), "roles": names})
        found = cursor.fetchall()
    if not found:
        return Finding(True, f"{' and '.join(names)} serve, and own no table.")
    role, what = found[0]
    if not roles and "owns tables" in {each for _, each in found}:
        return Finding(
            False,
            f"The role {role} serves and owns the tables: whoever makes it run SQL of"
            " theirs reads every team's data.",
            "Set DATABASE_WORK_URL and DATABASE_OWNER_URL to roles of their own, and"
            f" run `manage.py database_roles`. {_GUIDE}",
            works_still=True,
        )
    return Finding(
        False,
        f"The database role {role} {what}, and need not.",
        f"Run `manage.py database_roles`. {_GUIDE}",
        works_still=True,
    )


def check_tenant_key() -> Finding:
    """Check that the database believes the tenants that this server names."""
    try:
        with (
            across_tenants(why="asks whether it is believed"),
            transaction.atomic(),
            connection.cursor() as cursor,
        ):
            cursor.execute("SELECT assay_tenant()")
    except DatabaseError:
        return Finding(
            False,
            "The database does not accept this server's signature. Every request"
            " fails.",
            "Run `manage.py migrate` with the SECRET_KEY or ENCRYPTION_KEYS of this"
            " server.",
        )
    return Finding(True, "The database accepts this server's signature.")
