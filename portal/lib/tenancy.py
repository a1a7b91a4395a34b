"""The tenant fence: tables that refuse to be read without a tenant.

The abstract base of every tenant table, the manager that refuses, the two context
managers that say on the database connection whose rows are being worked on, and the
policy by which PostgreSQL holds a table to it.
"""

from __future__ import annotations

from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, NoReturn, Protocol, TypeVar

import psycopg
from django.db import (
    DEFAULT_DB_ALIAS,
    OperationalError,
    connection,
    connections,
    migrations,
    models,
)
from psycopg import pq
from psycopg.generators import fetch_many

from portal.lib.database.outages import DatabaseAway
from portal.lib.database.prepared import (
    PreparedStatement,
    forget_what_was_read_ahead,
    read_ahead,
)
from portal.lib.database.tenant_proofs import prove_tenant

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from psycopg import Connection
    from psycopg.pq.abc import PGresult

    from portal.lib.database.prepared import Read, Value

ALL_TENANTS = "*"
# For connections that are not Django's; takes what `prove_tenant(ALL_TENANTS)` gives.
OPEN_TO_ALL = (
    "SELECT set_config('assay.tenant', '*', false),"
    " set_config('assay.tenant_proof', %s, false)"
)
# What was found goes back as it was, signature and all: signed anew it would make a
# value true that a statement of a stranger's set.
_NAME = (
    "SELECT coalesce(current_setting('assay.tenant', true), ''),"
    " coalesce(current_setting('assay.tenant_proof', true), ''),"
    " set_config('assay.tenant', $1, false),"
    " set_config('assay.tenant_proof', $2, false)"
)
# And forgets whose samples were read last (users 0029), who may be another tenant's.
_FORGET = ", assay_forget_user()"
# The rows' versions cost next to nothing here; a statement of their own is dear.
_VERSION = (
    ", (SELECT xmin::text FROM accounts_tenant WHERE id = $1::bigint),"
    " (SELECT xmin::text FROM accounts_team WHERE id = $3::uuid)"
)
_SWITCH = PreparedStatement("name_tenant", _NAME + _FORGET)
_SWITCH_AND_VERSION = PreparedStatement(
    "name_tenant_of_version", _NAME + _FORGET + _VERSION
)
_READ_VERSION = PreparedStatement(
    "read_tenant_version",
    "SELECT (SELECT xmin::text FROM accounts_tenant WHERE id = $1::bigint),"
    " (SELECT xmin::text FROM accounts_team WHERE id = $2::uuid)",
)
# Before the first migration, and until one that brings the function has run.
_WHILE_UNMIGRATED = {
    _SWITCH: PreparedStatement("name_tenant_first", _NAME + ", true"),
    _SWITCH_AND_VERSION: PreparedStatement(
        "name_tenant_of_version_first", _NAME + ", true" + _VERSION
    ),
}
# What a statement adds that is the last of its scope.
NAMING_NONE = (
    "set_config('assay.tenant', '', false),"
    " set_config('assay.tenant_proof', '', false)" + _FORGET
)
# Where a connection keeps its scope, if a statement may end it.
_SCOPE = "assay_scope"
_IS_UNMIGRATED = b"42883"  # undefined_function
_IDLE = pq.TransactionStatus.IDLE
# In sub-selects the setting is read once a statement; read for each row it costs a
# count five times as much (architecture 2.6, measured in docs/explanation/security.md).
_FENCE = """
DROP POLICY IF EXISTS tenant_fence ON {table};
ALTER TABLE {table} ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant_fence ON {table} USING (
    tenant_id = (SELECT assay_tenant()) OR (SELECT assay_tenant()) IS NULL
);
"""
_UNFENCE = """
DROP POLICY tenant_fence ON {table};
ALTER TABLE {table} NO FORCE ROW LEVEL SECURITY, DISABLE ROW LEVEL SECURITY;
"""


class UnscopedQuery(RuntimeError):
    """A tenant table was queried without naming the tenant."""


class HasPrimaryKey(Protocol):
    """Anything that stands for a Tenant row: only its key is used."""

    @property
    def pk(self) -> Any: ...


class TeamRow(Protocol):
    """What this library reads of a team."""

    @property
    def slug(self) -> str: ...


class TenantRow(HasPrimaryKey, Protocol):
    """What this library reads of an accounts.models.Tenant."""

    @property
    def team_id(self) -> Any: ...

    @property
    def environment(self) -> str: ...

    @property
    def team(self) -> TeamRow: ...


_Row = TypeVar("_Row", bound="models.Model")
_Part = TypeVar("_Part")


class TenantQuerySet(models.QuerySet[_Row]):
    """A queryset that has been given its tenant; subclass it for conditions on sets."""


class TenantManager(models.Manager[_Row]):
    """The manager of a tenant table, whose rows are read with `for_tenant`.

    Every other way to a queryset raises UnscopedQuery, so a forgotten tenant fails the
    first time the line runs. Code over several tenants uses `Model.unscoped` inside
    `across_tenants`. `queryset_class` is what `for_tenant` gives.
    Source: Ours: a fence at runtime, since type checkers see none.
    """

    def __init__(
        self, queryset_class: type[TenantQuerySet[Any]] = TenantQuerySet
    ) -> None:
        super().__init__()
        self.queryset_class = queryset_class

    def for_tenant(self, tenant: HasPrimaryKey) -> Any:
        """Rows of this tenant alone."""
        rows = self.queryset_class(self.model, using=self._db)
        return rows.filter(tenant_id=tenant.pk)

    def get_queryset(self) -> NoReturn:
        raise UnscopedQuery(
            f"{self.model._meta.label}.objects needs .for_tenant(tenant)"
        )


class TenantOwned(models.Model):
    """A row that belongs to one tenant: a team in one environment.

    A child's Meta must inherit this Meta: cascades, reverse relations and unique checks
    go through the plain manager named here.
    """

    tenant = models.ForeignKey(
        "accounts.Tenant", on_delete=models.PROTECT, related_name="+"
    )

    objects: TenantManager[Any] = TenantManager()
    unscoped: models.Manager[Any] = models.Manager()

    class Meta:
        abstract = True
        default_manager_name = "unscoped"
        base_manager_name = "unscoped"


def enable_tenant_row_security(*tables: str) -> list[migrations.RunSQL]:
    """Return migration operations that restrict tables to the rows of one tenant.

    Holds for reads and writes, and for the tables' owner too. Without a tenant on the
    connection a statement that meets a row is refused (insufficient_privilege), so that
    a forgotten scope is loud. The migration depends on portal's first.
    Source: Ours (architecture 2.6, fence 5).
    """
    return [
        migrations.RunSQL(
            _FENCE.format(table=table), reverse_sql=_UNFENCE.format(table=table)
        )
        for table in tables
    ]


class _Scope:
    """The scope of a call that found no tenant named: a statement may end it."""

    def __init__(self) -> None:
        self.depth = _count_open_blocks()
        self.is_over = False


def execute_last(statement: PreparedStatement, values: Sequence[Value]) -> bool:
    """Run a statement that ends this call's scope as it names no tenant any more.

    It selects NAMING_NONE, after all else that it does. Returns False where the scope
    may not end so, as it is not a call's or within another, or `atomic` is open: then
    nothing was run. Raises: as PreparedStatement.
    """
    wrapper = connections[DEFAULT_DB_ALIAS]
    raw = wrapper.connection
    scope: _Scope | None = raw and vars(raw).get(_SCOPE)
    if scope is None or scope.is_over or scope.depth != _count_open_blocks():
        return False
    if not raw.autocommit and not wrapper.in_atomic_block:
        return False
    if statement.prepare(raw) is not None:
        return False  # not migrated yet, or gone, as what follows will say
    statement.execute(values)
    scope.is_over = True
    return True


def _count_open_blocks() -> int:
    return len(connections[DEFAULT_DB_ALIAS].atomic_blocks)


def _switch(
    statement: PreparedStatement, *values: str, first: Read | None = None
) -> PGresult:
    """Run a statement that names a tenant, if any, and return its row.

    Past psycopg's own machinery, at a fifth of its cost: every request pays this twice.
    """
    wrapper = connections[DEFAULT_DB_ALIAS]  # `connection` would look it up each time
    wrapper.ensure_connection()
    if first is not None:
        given = [value.encode() for value in values]
        read = read_ahead(wrapper.connection, statement, given, first)
        if read is not None:
            return read
    if wrapper.connection.closed and not wrapper.in_atomic_block:
        wrapper.close()
        wrapper.ensure_connection()
    result = _ask(wrapper.connection, statement, *values)
    if result.error_field(pq.DiagnosticField.SQLSTATE) == _IS_UNMIGRATED:
        if wrapper.in_atomic_block:
            raise OperationalError("the database is to be migrated")
        result = _ask(wrapper.connection, _WHILE_UNMIGRATED[statement], *values)
    elif result.status != pq.ExecStatus.TUPLES_OK and not wrapper.in_atomic_block:
        # The server has gone since the last request; Django would not notice here.
        wrapper.close()
        wrapper.ensure_connection()
        result = _ask(wrapper.connection, statement, *values)
    if result.status != pq.ExecStatus.TUPLES_OK:
        kind = DatabaseAway if wrapper.connection.closed else OperationalError
        raise kind("the tenant can't be set")
    return result


def _ask(raw: Connection[Any], statement: PreparedStatement, *values: str) -> PGresult:
    if not raw.autocommit and raw.pgconn.transaction_status == _IDLE:
        # Psycopg opens the transaction with its first statement, which this is not;
        # set outside it, the value would outlive its rollback.
        raw.execute("")
    return statement.ask(raw, [value.encode() for value in values])


def _send_reset(raw: Connection[Any], after_answer: list[Callable[[], None]]) -> None:
    """Name no tenant any more, and read that it was done once the caller is answered.

    Nothing else gets between: the connection takes no statement until it is read.
    """
    try:
        raw.pgconn.send_query_prepared(_SWITCH.name, [b"", b""])
    except psycopg.OperationalError:
        connection.close()
    else:
        after_answer.append(partial(_read_reset, raw))


def _read_reset(raw: Connection[Any]) -> None:
    try:
        results = raw.wait(fetch_many(raw.pgconn))
    except psycopg.Error:
        results = []
    if [each.status for each in results] != [pq.ExecStatus.TUPLES_OK]:
        connection.close()


def _text(result: PGresult, column: int) -> str:
    return (result.get_value(0, column) or b"").decode()


@contextmanager
def _setting(
    statement: PreparedStatement,
    *values: str,
    first: Read | None = None,
    after_answer: list[Callable[[], None]] | None = None,
    may_end_early: bool = False,
) -> Iterator[PGresult]:
    result = _switch(statement, *values, first=first)
    before, proof = _text(result, 0), _text(result, 1)
    named = connections[DEFAULT_DB_ALIAS].connection
    outer = vars(named).get(_SCOPE)
    scope = vars(named)[_SCOPE] = _Scope() if may_end_early and not before else None
    try:
        yield result
    finally:
        vars(named)[_SCOPE] = outer
        raw = connection.connection
        if raw is not None:
            forget_what_was_read_ahead(raw)
        if raw is None or raw.closed:
            pass  # a new connection starts with no tenant
        elif raw is named and scope is not None and scope.is_over:
            pass  # the last statement saw to it
        elif raw.info.transaction_status == pq.TransactionStatus.INERROR:
            # PostgreSQL takes no statement here; the rollback that must follow
            # restores the value only if it was set inside that transaction.
            if not connection.in_atomic_block:
                connection.close()
        elif before or connection.in_atomic_block:
            _switch(_SWITCH, before, proof)
        elif after_answer is not None and _SWITCH.prepare(raw) is None:
            _send_reset(raw, after_answer)
        elif _ask(raw, _SWITCH, before, proof).status != pq.ExecStatus.TUPLES_OK:
            # What was done is done, also where the server has gone since.
            connection.close()


@contextmanager
def acting_for(tenant: HasPrimaryKey | int) -> Iterator[None]:
    """Name the tenant whose rows the connection works on, and put back what was.

    Enter outside `atomic`: a rollback undoes a setting made inside it. Source: Ours
    (architecture 2.6, fence 5): row-level security reads `assay.tenant`.
    """
    key = tenant if isinstance(tenant, int) else tenant.pk
    with _setting(_SWITCH, str(key), prove_tenant(str(key))):
        yield


@contextmanager
def acting_for_with_version(
    tenant: TenantRow,
    *,
    first: Read | None = None,
    after_answer: list[Callable[[], None]] | None = None,
) -> Iterator[str]:
    """Act for a tenant as `acting_for` does, and yield the version of its settings.

    The version changes with each change of the tenant's row or its team's; it is read
    by the statement that names the tenant. `first` is what will be read first, in the
    same round trip. Of the statement that puts back what was, the answer is read by
    what is added to `after_answer`, where that is given and the database is to do no
    more by then; `execute_last` spares it. Source: Ours: a process that keeps a tenant
    learns of changes of other processes without asking more.
    """
    key = str(tenant.pk)
    values = (key, prove_tenant(key), str(tenant.team_id))
    with _setting(
        _SWITCH_AND_VERSION,
        *values,
        first=first,
        after_answer=after_answer,
        may_end_early=True,
    ) as result:
        yield f"{_text(result, 5)} {_text(result, 6)}"


def read_tenant_version(tenant: TenantRow) -> str:
    """Return the version that `acting_for_with_version` yields, naming no tenant."""
    result = _switch(_READ_VERSION, str(tenant.pk), str(tenant.team_id))
    return f"{_text(result, 0)} {_text(result, 1)}"


@contextmanager
def across_tenants(*, why: str) -> Iterator[None]:
    """Open the connection to every tenant's rows, for work that has none of its own.

    `why` is for the reader of the call and may not be empty. Source: as acting_for.
    """
    if not why:
        raise ValueError("across_tenants needs a reason")
    with _setting(_SWITCH, ALL_TENANTS, prove_tenant(ALL_TENANTS)):
        yield


def iterate_as_tenant(
    tenant: HasPrimaryKey | int, parts: Iterator[_Part]
) -> Iterator[_Part]:
    """Pass on what is made step by step, each step inside `acting_for(tenant)`.

    For answers that are sent while they are made: the request's own scope has ended.
    Between steps the connection is as it was.
    """
    while True:
        with acting_for(tenant):
            part = next(parts, None)
        if part is None:
            return
        yield part
