"""Probe tenant isolation: call every endpoint as callers without access.

All of it happens in one transaction that is rolled back; of rows nothing is read but
their ids, in the columns that the rules of their tables name (portal.lib.table_rules).
"""

from __future__ import annotations

import logging
import secrets
import shutil
import subprocess
import time
from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from django.apps import apps
from django.conf import settings
from django.db import connection, transaction
from django.test import Client, override_settings
from django.utils import timezone
from psycopg import sql

from accounts.models import Member, Tenant
from accounts.operations.api_keys.api_keys import clear_api_key_cache, create_api_key
from accounts.operations.api_keys.management_keys import create_management_key
from accounts.operations.teams.teams import add_team_member, create_team
from accounts.states import Environment, Role, roles_allow_access
from exchange.queries.samples import find_sample_resource_ids
from portal.lib.actor import Actor
from portal.lib.table_rules import list_table_rules
from portal.lib.tenancy import across_tenants, acting_for
from portal.lib.web.links import get_public_host
from portal.ops.isolation.endpoints import (
    METHODS,
    OF_THE_TEAM,
    fill_route_parameters,
    list_absent_ids,
    list_endpoints_with_path_parameters,
    list_named_urls,
    list_route_parameters,
)
from portal.ops.isolation.models import IsolationRun

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from accounts.models import Team

READING = ("get",)
RUNS_KEPT = 100
ROLES = tuple(Role)
# Words that any id may stand beside.
WORDS = {"provider": "oura", "page": "1", "position": "0", "resource": "heartrate"}

# Some tables name a tenant, those of samples only a user.
_FENCED = """
SELECT relname FROM pg_class
JOIN pg_policy ON polrelid = pg_class.oid
JOIN pg_attribute ON attrelid = pg_class.oid AND attname = %s
WHERE polname = 'tenant_fence' AND relrowsecurity AND relforcerowsecurity
ORDER BY relname
"""
_USERS = """
SELECT array_agg(id) FROM (
    SELECT id FROM users_user WHERE tenant_id = %s ORDER BY id LIMIT 3
) first
"""
_ACTOR = Actor.system("isolation_report")


@dataclass(slots=True)
class Findings:
    """What came of a run: answers by sweep, endpoints that nothing could be tried at.

    `open` are calls that should have been refused: (who, method, route, status); the
    route as it is written in the URL conf, so that no id is kept.
    """

    team: str
    environment: str
    methods: tuple[str, ...]
    endpoints: int = 0
    callers: set[str] = field(default_factory=set)
    refusals: Counter[str] = field(default_factory=Counter)
    open: list[tuple[str, str, str, int]] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)
    tables: int = 0
    rows: int = 0

    def note(self, sweep: str, who: str, knocked: _Call, right: set[int]) -> None:
        """Count a response; a method that is not served is left out."""
        self.callers.add(who)
        if knocked.status in right:
            self.refusals[sweep] += 1
        elif knocked.status != 405:
            self.open.append((who, knocked.method, knocked.route, knocked.status))


@dataclass(frozen=True, slots=True)
class _Call:
    route: str
    method: str
    status: int


def probe_tenant_isolation(
    *, tenant: Tenant, report_progress: Callable[[str], None]
) -> Findings:
    """Call every endpoint with IDs of this tenant as callers without access.

    In a sandbox by every method; in production by those that only read, since of a
    refusal that failed more than rows might remain. A throwaway team is the stranger;
    its members are the roles. `tell` is called with each step's name. Raises nothing of
    what it finds. Source: Issue "Trust", 4.
    """
    is_sandbox = tenant.environment == Environment.SANDBOX
    findings = Findings(
        tenant.team.slug, tenant.environment, METHODS if is_sandbox else READING
    )
    host = get_public_host()
    with (
        _quiet(),
        override_settings(
            ALLOWED_HOSTS=[host],
            API_CALL_LOG_DAYS=0,  # its thread writes past our transaction
            API_CALLS_PER_KEY=0,
            API_CALLS_PER_ADDRESS=0,
            CACHES={
                "default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}
            },
        ),
        transaction.atomic(),
    ):
        with across_tenants(why="a stranger is made, and ids of the tenant are read"):
            samples = find_sample_ids(tenant)
            stranger = _make_team()
            callers = _Callers(stranger, tenant, host)
        report_progress("strangers")
        _probe_as_strangers(findings, callers, samples)
        report_progress("roles")
        _probe_as_roles(findings, callers, samples, stranger)
        report_progress("tables")
        _probe_tables(findings, stranger, tenant)
        transaction.set_rollback(True)
    clear_api_key_cache()
    return findings


def find_tenant_to_probe(*, environment: str, slug: str = "") -> Tenant | None:
    """Return the team of this slug there, or else the one with most users."""
    tenants = Tenant.objects.select_related("team").filter(
        environment=environment, team__deleted_at=None
    )
    if slug:
        return tenants.filter(team__slug=slug).first()
    counts = apps.get_model("users.UserCount")._base_manager.order_by("-live")
    for tenant_pk in counts.values_list("tenant_id", flat=True):
        if tenant := tenants.filter(pk=tenant_pk).first():
            return tenant
    return tenants.first()


def create_isolation_report(
    *, tenant: Tenant, report_progress: Callable[[str], None]
) -> IsolationRun:
    """Probe isolation with IDs of this tenant and store the report.

    Source: Issue "Trust", 4; as probe_tenant_isolation.
    """
    began = time.monotonic()
    found = probe_tenant_isolation(tenant=tenant, report_progress=report_progress)
    old = IsolationRun.objects.order_by("-at").values("pk")[RUNS_KEPT - 1 :]
    IsolationRun.objects.filter(pk__in=list(old.values_list("pk", flat=True))).delete()
    return IsolationRun.objects.create(
        seconds=round(time.monotonic() - began, 1),
        commit=_commit(),
        team=found.team,
        environment=found.environment,
        methods=list(found.methods),
        endpoints=found.endpoints,
        callers=len(found.callers),
        refusals=dict(found.refusals),
        open=found.open,
        skipped=found.skipped,
        tables=found.tables,
        rows=found.rows,
    )


def _commit() -> str:
    """What the code was, where it is a checkout."""
    git = shutil.which("git")
    if git is None or not (settings.BASE_DIR / ".git").exists():
        return ""
    done = subprocess.run(  # noqa: S603 - our own command line
        [git, "-C", str(settings.BASE_DIR), "rev-parse", "HEAD"],
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout.strip()


def find_sample_ids(tenant: Tenant) -> dict[str, str]:
    """Find an ID of this tenant for each route parameter, of its newest row."""
    team = tenant.team
    samples = {
        **WORDS,
        "team_slug": team.slug,
        "environment": tenant.environment,
        "region": team.region,
        "team_id": str(team.pk),
        "org_id": str(team.organisation_id),
    }
    for model, rules in list_table_rules():
        owner: dict[str, Any] = {rules.owner_lookup or "tenant": tenant}
        if rules.team_lookup:
            owner = {rules.team_lookup: team}
        for name, column in rules.route_parameters.items():
            rows = model._base_manager.filter(**owner).order_by("-pk")
            if value := rows.values_list(column, flat=True).first():
                samples[name] = str(value)
    return samples | find_sample_resource_ids(tenant)


def list_parameters_with_rows() -> list[str]:
    """List the route parameters that the rules of a table name, in order."""
    return sorted(
        name for _, rules in list_table_rules() for name in rules.route_parameters
    )


class _Callers:
    """Clients of those who must find nothing."""

    def __init__(self, stranger: Team, tenant: Tenant, host: str) -> None:
        self.host = host
        here = stranger.tenants.get(environment=tenant.environment)
        other = tenant.team.tenants.exclude(pk=tenant.pk).get()
        self.nobody = self._client()
        self.stranger = self._keyed(here)
        self.other_environment = self._keyed(other)
        _, text = create_management_key(team=stranger, actor=_ACTOR, label="isolation")
        self.manager = self._client(x_management_key=text)
        self.owner = self.member(stranger, Role.OWNER)
        self.loner = self.member(None)

    def member(self, team: Team | None, *roles: Role) -> Client:
        email = f"{secrets.token_hex(8)}@isolation.invalid"
        if team is None:
            member = Member.objects.create_user(email=email)
        else:
            joined = add_team_member(team=team, actor=_ACTOR, email=email, roles=roles)
            member = joined.member
        Member.objects.filter(pk=member.pk).update(email_confirmed_at=timezone.now())
        client = self._client()
        client.force_login(Member.objects.get(pk=member.pk))
        return client

    def _keyed(self, tenant: Tenant) -> Client:
        _, text = create_api_key(tenant=tenant, actor=_ACTOR, label="isolation")
        return self._client(x_service_api_key=text)

    def _client(self, **headers: str) -> Client:
        return Client(
            raise_request_exception=False,
            headers={name.replace("_", "-"): text for name, text in headers.items()},
            SERVER_NAME=self.host,
        )


def _probe_as_strangers(
    findings: Findings, callers: _Callers, samples: dict[str, str]
) -> None:
    found = list_endpoints_with_path_parameters()
    strangers = {
        "a key of another team": callers.stranger,
        "a key of the other environment": callers.other_environment,
    }
    sweeps: list[tuple[str, list[str], dict[str, Client], set[int]]] = [
        ("api", found.api, strangers, {404}),
        ("api", found.api, {"no key": callers.nobody}, {401}),
        (
            "management",
            found.management,
            {"a key of another organisation": callers.manager},
            {404},
        ),
        ("management", found.management, {"no key": callers.nobody}, {401}),
        (
            "pages",
            found.pages,
            {
                "an owner of another team": callers.owner,
                "a member of no team": callers.loner,
            },
            {404},
        ),
    ]
    tried: set[str] = set()
    skipped: set[str] = set()
    for sweep, routes, clients, right in sweeps:
        for route in routes:
            if not list_route_parameters(route) <= samples.keys():
                skipped.add(route)
                continue
            tried.add(route)
            for who, client in clients.items():
                if route.startswith(OF_THE_TEAM) and "environment" in who:
                    continue
                for knocked in _call_route(client, route, samples, findings.methods):
                    findings.note(sweep, who, knocked, right)
    findings.endpoints = len(tried)
    findings.skipped = sorted(skipped)


def _probe_as_roles(
    findings: Findings, callers: _Callers, samples: dict[str, str], team: Team
) -> None:
    """Every page of a team that says what it needs, as each role that has not that."""
    known = {*list_parameters_with_rows(), *samples}
    here = {"team_slug": team.slug, "environment": Environment.SANDBOX.value}
    pages = [
        (route, view.needs)
        for route, _, view in list_named_urls()
        if route.startswith("t/<") and hasattr(view, "needs")
    ]
    for role in ROLES:
        client = callers.member(team, role)
        for route, needs in pages:
            may = all(
                roles_allow_access(
                    roles=[role],
                    area=area,
                    write=write,
                    environment=Environment.SANDBOX,
                )
                for area, write in needs
            )
            if may or not list_route_parameters(route) <= known:
                continue
            # Another ID than a row's will do: a role is refused before it is looked up.
            ids = list_absent_ids(route) | samples | here
            for knocked in _call_route(client, route, ids, ("get", "post")):
                findings.note("roles", f"the role {role.label}", knocked, {403})


def _probe_tables(findings: Findings, stranger: Team, tenant: Tenant) -> None:
    """Count what SQL of another team sees, of all or of some users' samples."""
    tables = list_tables_with_row_security()
    of_users = list_tables_with_row_security(by="user_id")
    of_users = [table for table in of_users if table not in tables]
    with across_tenants(why="the rows that are to be hidden are counted"):
        users = _fetch_value(_USERS, tenant.pk) or []
        findings.rows = sum(_count(table) for table in tables)
        findings.rows += sum(_count_of_users(table, users) for table in of_users)
    outsider = stranger.tenants.get(environment=Environment.PRODUCTION)
    with acting_for(outsider):
        seen = {table: _count(table, besides=outsider.pk) for table in tables}
        seen |= {table: _count_of_users(table, users) for table in of_users}
    for table, number in seen.items():
        if number:
            findings.open.append(("SQL of another team", "select", table, 200))
    findings.tables = len(seen)


def list_tables_with_row_security(*, by: str = "tenant_id") -> list[str]:
    """List tables whose rows PostgreSQL restricts to the connection's tenant.

    Those that have a column named `by`; samples have a `user_id` alone.
    """
    with connection.cursor() as cursor:
        cursor.execute(_FENCED, [by])
        return [name for (name,) in cursor.fetchall()]


def _count(table: str, *, besides: int = 0) -> int:
    """Count the rows in sight that are not of the tenant `besides`."""
    statement = sql.SQL("SELECT count(*) FROM {} WHERE tenant_id <> %s")
    return int(_fetch_value(statement.format(sql.Identifier(table)), besides))


def _count_of_users(table: str, users: list[int]) -> int:
    """Count these users' rows in sight, up to a thousand."""
    statement = sql.SQL(
        "SELECT count(*) FROM (SELECT FROM {} WHERE user_id = ANY(%s) LIMIT 1000) found"
    )
    return int(_fetch_value(statement.format(sql.Identifier(table)), users))


def _fetch_value(statement: Any, *inputs: Any) -> Any:
    with connection.cursor() as cursor:
        cursor.execute(statement, inputs)
        (value,) = cursor.fetchone()
    return value


def _call_route(
    client: Client, route: str, samples: dict[str, str], methods: tuple[str, ...]
) -> Iterator[_Call]:
    """Call a door by each method, and undo what each call did."""
    path = fill_route_parameters(route, samples)
    signed_in = client.cookies.get(settings.SESSION_COOKIE_NAME)
    session = signed_in.value if signed_in else None
    for method in methods:
        with transaction.atomic():
            call = getattr(client, method)
            status = call(path, secure=settings.HTTPS).status_code
            transaction.set_rollback(True)
        if session:
            client.cookies[settings.SESSION_COOKIE_NAME] = session
        yield _Call(route, method, status)


def _make_team() -> Team:
    return create_team(name=f"Isolation {secrets.token_hex(8)}", actor=_ACTOR)


@contextmanager
def _quiet() -> Iterator[None]:
    """Thousands of refusals are no news."""
    before = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    try:
        yield
    finally:
        logging.disable(before)
