"""Samples spread over machines by user (Citus): what changes in the database.

The tables of samples, packed days, extras and origins become distributed, with the
shards of a user side by side; all else stays on the coordinator. Statements stay as
they are. Experimental: docs/guides/citus.md.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple

from django.db import transaction
from psycopg import sql

from portal.lib.database import rows

if TYPE_CHECKING:
    from collections.abc import Iterable

# The first is the one that the others lie beside.
DISTRIBUTED_TABLES = (
    "users_sample",
    "users_packedday",
    "users_sampleextra",
    "users_origin",
)
MARK = "users_commitmark"

_HAS_CITUS = "SELECT EXISTS (SELECT 1 FROM pg_extension WHERE extname = 'citus')"
_OTHER_EXTENSIONS = (
    "SELECT extname FROM pg_extension WHERE extname NOT LIKE 'citus%%' ORDER BY 1"
)
_DISTRIBUTED = """
    SELECT logicalrelid::text FROM pg_dist_partition
    WHERE logicalrelid::text = ANY(%s) AND partmethod = 'h'
"""
_KNOWS_COORDINATOR = """
    SELECT EXISTS (SELECT 1 FROM pg_dist_node WHERE groupid = 0 AND isactive)
"""
_ON_WORKERS = """
    SELECT nodename, nodeport, success, result FROM run_command_on_workers(%s)
    ORDER BY nodename, nodeport
"""
_PREPARED = "SHOW max_prepared_transactions"
_ROLES = """
    SELECT coalesce(string_agg(rolname, ','), '') FROM pg_roles
    WHERE rolname = ANY({roles})
"""

# In one transaction: either all is distributed or nothing. Shard by shard on one
# connection for each worker, as later steps touch the same shards.
_PREPARE = (
    "SET LOCAL citus.multi_shard_modify_mode = 'sequential'",
    "SET LOCAL citus.enable_ddl_propagation = on",
)
_DISTRIBUTE = "SELECT create_distributed_table(%s, 'user_id', colocate_with => %s)"
# The rows that were here lie hidden else, also when their user is erased.
_REMOVE_LOCAL = "SELECT truncate_local_data_after_distributing_table(%s)"
# The last statement by which a role that serves learns whose samples it may meet runs
# where the samples are, and there are no users. A fence can't stand there either, as
# policies of distributed tables know no other table: what reads samples has their
# user from users_user, which is fenced (tests/scale/citus/test_isolation.py).
_FIND_USER = """
CREATE OR REPLACE FUNCTION assay_is_user_of_tenant(person bigint) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER COST 10
SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF to_regclass('public.users_user') IS NULL THEN
        RETURN true;
    END IF;
    PERFORM FROM public.users_user WHERE id = person;
    RETURN FOUND AND setval(
        'assay_private.user_of_samples'::regclass,
        coalesce(public.assay_tenant(), 0) * 1099511627776 + person
    ) > 0;
END $$;
"""
_SHARE_FIND_USER = (
    "SELECT create_distributed_function('assay_is_user_of_tenant(bigint)')"
)
_UNFENCE = (
    "DROP POLICY IF EXISTS tenant_fence ON {table}",
    "ALTER TABLE {table} NO FORCE ROW LEVEL SECURITY",
    "ALTER TABLE {table} DISABLE ROW LEVEL SECURITY",
)
# Django's number is of no use to anyone, and unique in all shards only together with
# the user. Moving a shard while it is written needs another key.
_BEFORE = {
    "users_origin": (
        "ALTER TABLE users_origin DROP CONSTRAINT IF EXISTS users_origin_pkey",
    )
}
_KEY_OF_ORIGINS = (
    "ALTER TABLE users_origin REPLICA IDENTITY DEFAULT",
    "ALTER TABLE users_origin ADD CONSTRAINT users_origin_pkey PRIMARY KEY (id)",
)
_AFTER = {
    "users_origin": (
        "ALTER TABLE users_origin REPLICA IDENTITY USING INDEX origin_number",
    )
}
# Coordinator and worker commit as one only if Citus knows that the transaction changes
# something on both: a table on the coordinator that it knows too, and that stays empty.
_MAKE_MARK = f"CREATE TABLE IF NOT EXISTS {MARK} (number integer)"
_KNOW_MARK = f"SELECT citus_add_local_table_to_metadata('{MARK}')"
_MARK_COMMIT = f"""
CREATE OR REPLACE FUNCTION users_mark_commit() RETURNS boolean
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    DELETE FROM {MARK} WHERE number = -1;
    RETURN true;
END $$;
"""  # noqa: S608 - ours
# The size of a month here says nothing: its rows are on the workers.
_CLEAR_MONTH = """
CREATE OR REPLACE FUNCTION users_clear_sample_month(name text) RETURNS boolean
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp
AS 'SELECT false';
"""


class Worker(NamedTuple):
    """A server that holds samples: its address, and what it said when asked.

    `prepared` is its max_prepared_transactions, None where it can't be reached as the
    connection's role.
    """

    address: str
    prepared: int | None
    missing_roles: tuple[str, ...]


def has_citus() -> bool:
    """Return whether the database has the extension."""
    ((found,),) = rows.fetch_rows(_HAS_CITUS)
    return bool(found)


def list_distributed_tables() -> list[str]:
    """Return those of DISTRIBUTED_TABLES that are distributed."""
    if not has_citus():
        return []
    found = {name for (name,) in rows.fetch_rows(_DISTRIBUTED, [[*DISTRIBUTED_TABLES]])}
    return [name for name in DISTRIBUTED_TABLES if name in found]


@cache
def are_samples_distributed() -> bool:
    """Return whether samples were spread over machines when this process first asked.

    For the few statements that need another form there.
    """
    return bool(list_distributed_tables())


def knows_coordinator() -> bool:
    """Return whether Citus knows its own coordinator, which the mark needs."""
    ((found,),) = rows.fetch_rows(_KNOWS_COORDINATOR)
    return bool(found)


def ask_workers(*, roles: Iterable[str]) -> list[Worker]:
    """Ask each worker for its settings, and which of these roles it has."""
    wanted = sorted(set(roles))
    literal = sql.Literal(wanted).as_string()
    answers = {
        question: rows.fetch_rows(_ON_WORKERS, [question])
        for question in (_PREPARED, _ROLES.format(roles=literal))
    }
    workers = []
    for prepared, has in zip(*answers.values(), strict=True):
        name, port, is_up, number = prepared
        known = set(has[3].split(",")) if has[2] else set(wanted)
        missing = tuple(role for role in wanted if role not in known)
        workers.append(
            Worker(f"{name}:{port}", int(number) if is_up else None, missing)
        )
    return workers


def distribute_sample_tables() -> list[str]:
    """Distribute the tables that are not; return which. As the owner of the tables.

    What they hold is copied to the workers and removed here. One transaction, in which
    nobody writes to them; nothing is left of one that failed.
    """
    done = set(list_distributed_tables())
    new = [name for name in DISTRIBUTED_TABLES if name not in done]
    if not new:
        return []
    with transaction.atomic(), rows.open_database_cursor() as cursor:
        for statement in (*_PREPARE, _FIND_USER, _SHARE_FIND_USER):
            cursor.execute(statement)
        for name in new:
            for statement in _BEFORE.get(name, _UNFENCE):
                cursor.execute(statement.format(table=name).encode())
            beside = "none" if name == DISTRIBUTED_TABLES[0] else DISTRIBUTED_TABLES[0]
            cursor.execute(_DISTRIBUTE, [name, beside])
            cursor.execute(_REMOVE_LOCAL, [name])
            for statement in _AFTER.get(name, ()):
                cursor.execute(statement)
        for statement in (_CLEAR_MONTH, _MAKE_MARK, _KNOW_MARK, _MARK_COMMIT):
            cursor.execute(statement)
    return new


def return_to_one_machine() -> bool:
    """Make tables as they were before, if a backup of distributed ones was restored.

    Fences stand again and functions do what they did. As the owner of the tables;
    returns whether anything was to be done.
    """
    ((is_left,),) = rows.fetch_rows("SELECT to_regclass(%s) IS NOT NULL", [MARK])
    if not is_left or list_distributed_tables():
        return False
    functions, fences, notes = (
        import_module(f"users.migrations.{name}")
        for name in (
            "0017_sample_month_functions",
            "0029_fence_samples",
            "0030_note_tenant_of_samples",
        )
    )
    mark = import_module("users.migrations.0031_commit_mark")
    with transaction.atomic(), rows.open_database_cursor() as cursor:
        for statement in (
            *(functions.CLEAR_MONTH, mark.MARK_COMMIT, notes.FIND_USER),
            *(fences.FENCE.format(table=name) for name in fences.TABLES),
            *(
                notes.FENCE.format(table=name, less=notes.OF_TENANT)
                for name in notes.TABLES
            ),
            *_KEY_OF_ORIGINS,
            f"DROP TABLE {MARK}",
        ):
            text = statement.replace("CREATE FUNCTION", "CREATE OR REPLACE FUNCTION")
            cursor.execute(text.encode())
    return True


def hold_sample_writes() -> None:
    """Let what changes distributed samples wait until the caller's transaction ends.

    Before its snapshot, which is of the coordinator alone: what is then read on workers
    would be newer. As the owner of the tables.
    """
    with rows.open_database_cursor() as cursor:
        cursor.execute(f"LOCK TABLE {MARK} IN SHARE MODE")


def list_extensions_besides_citus() -> list[str] | None:
    """Return the other extensions; None if the database does not have Citus."""
    if not has_citus():
        return None
    return [name for (name,) in rows.fetch_rows(_OTHER_EXTENSIONS)]
