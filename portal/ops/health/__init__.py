"""Health checks behind /healthz, /readyz and `manage.py doctor`.

/readyz names the checks that fail and says no more, as anyone may ask; `doctor` says
each in words. A new check is one entry of CHECKS.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from functools import cache
from smtplib import SMTPException
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.core.mail import get_connection
from django.db import InterfaceError, OperationalError, connection
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder
from django.http import HttpResponse
from django.http.request import validate_host
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from accounts.webhooks.queries.deliverers import measure_seconds_since_deliverer_seen
from exchange.operations.sharing.links import measure_excess_of_public_url
from portal.lib.api.json import MEDIA_TYPE, dump_json
from portal.lib.jobs.jobs import HEARTBEAT_TIMEOUT_SECONDS
from portal.lib.jobs.liveness import measure_seconds_since_worker_seen
from portal.ops.health.audit import check_audit_log_integrity
from portal.ops.health.files import (
    check_backup_age,
    check_disk_space,
    check_upload_storage,
)
from portal.ops.health.findings import Finding
from portal.ops.health.labs import check_lab_connections
from portal.ops.health.lake import check_lake
from portal.ops.health.mailboxes import check_report_mailboxes
from portal.ops.health.roles import check_serving_roles, check_tenant_key
from portal.ops.health.runtime import check_ocr_languages, check_python_version
from portal.ops.health.samples import check_packed_samples
from portal.ops.health.teams import check_production_teams

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from django.http import HttpRequest

OLDEST_POSTGRES = 15  # major version
LARGEST_CLOCK_DIFFERENCE = timedelta(seconds=5)
MAIL_TIMEOUT_S = 5
# An idle deliverer asks four times a second; a busy one at least as often.
DELIVERER_TIMEOUT_S = 60
LEAST_KEY_LENGTH = 50  # characters; Django's own deploy check asks the same
LEAST_KEY_VARIETY = 5  # different characters
EXTENSIONS = frozenset({"pg_trgm"})
LOOPBACK = ("127.0.0.1", "localhost", "[::1]")


@dataclass(frozen=True, slots=True)
class Check:
    """A question about the running server; `for_ready` puts it into /readyz."""

    name: str
    run: Callable[[], Finding]
    needs_database: bool = False
    for_ready: bool = False


def check_database() -> Finding:
    """Check that the database responds, over a fresh connection if needed."""
    for _ in range(2):
        try:
            with connection.cursor() as cursor:
                cursor.execute("SELECT 1")
        except (OperationalError, InterfaceError) as error:
            connection.close()
            reason = str(error).strip().partition("\n")[0]
        else:
            return Finding(True, "PostgreSQL is available.")
    return Finding(
        False,
        f"PostgreSQL is not available: {reason.rstrip('.')}.",
        "Check DATABASE_URL and that the server it names is running.",
    )


def check_database_version() -> Finding:
    """Check that PostgreSQL is new enough."""
    major, minor = divmod(connection.pg_version, 10_000)  # type: ignore[attr-defined]  # PostgreSQL's backend alone has it
    return Finding(
        major >= OLDEST_POSTGRES,
        f"PostgreSQL is version {major}.{minor}.",
        f"Point DATABASE_URL at PostgreSQL {OLDEST_POSTGRES} or newer.",
    )


def check_database_role() -> Finding:
    """Check that the role has neither superuser nor BYPASSRLS."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT rolname, rolsuper, rolbypassrls FROM pg_roles"
            " WHERE rolname = current_user"
        )
        role, is_superuser, bypasses = cursor.fetchone()
    if not is_superuser and not bypasses:
        return Finding(True, f"The database role {role} has no special rights.")
    what = "is a superuser" if is_superuser else "has BYPASSRLS"
    return Finding(
        False,
        f"The database role {role} {what}, so row-level security is off.",
        "Give DATABASE_URL a role made with NOSUPERUSER NOBYPASSRLS.",
    )


def check_migrations() -> Finding:
    """Check that every migration of this code is applied."""
    applied = MigrationRecorder(connection).applied_migrations().keys()
    missing = [
        key
        for key, replaced in _migrations_of_this_code().items()
        if key not in applied and not (replaced and applied >= replaced)
    ]
    if not missing:
        return Finding(True, "All migrations are applied.")
    return Finding(
        False,
        f"{len(missing)} migrations are not applied.",
        "Run `manage.py migrate` on the database of DATABASE_URL.",
    )


@cache
def _migrations_of_this_code() -> dict[tuple[str, str], set[tuple[str, str]]]:
    """Each migration, and the earlier ones that stand for it where they ran."""
    nodes = MigrationLoader(None).graph.nodes
    return {key: set(migration.replaces) for key, migration in nodes.items()}


def check_worker() -> Finding:
    """Check that a worker has reported lately."""
    remedy = "Start one with `manage.py worker`, with the same DATABASE_URL."
    age_s = measure_seconds_since_worker_seen()
    if age_s is None:
        return Finding(False, "No worker is running. Jobs are not processed.", remedy)
    if age_s > HEARTBEAT_TIMEOUT_SECONDS:
        return Finding(
            False,
            f"No worker has reported for {age_s:.0f} s. Jobs are not processed.",
            remedy,
        )
    return Finding(True, f"A worker reported {age_s:.0f} s ago.")


def check_webhook_deliverer() -> Finding:
    """Check that a webhook deliverer is running."""
    remedy = "Start one with `manage.py deliver_webhooks`, with the same DATABASE_URL."
    silence_s = measure_seconds_since_deliverer_seen()
    if silence_s is None:
        return Finding(
            False, "No deliverer is running. Webhooks are not delivered.", remedy
        )
    if silence_s > DELIVERER_TIMEOUT_S:
        return Finding(
            False,
            f"The deliverer has been idle for {silence_s:.0f} s. Webhooks are not"
            " delivered.",
            "Restart `manage.py deliver_webhooks` and check the end of its log.",
        )
    return Finding(True, "A webhook deliverer is running.")


def check_database_clock() -> Finding:
    """Check that this machine and the database agree on the time."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT clock_timestamp()")
        (theirs,) = cursor.fetchone()
    difference = abs(timezone.now() - theirs)
    return Finding(
        difference <= LARGEST_CLOCK_DIFFERENCE,
        f"The clocks of server and database differ by {difference.total_seconds():.1f}"
        " s.",
        "Run a time service (NTP) on both machines.",
    )


def check_mail_server() -> Finding:
    """Check that mail can be sent, or goes to files where no server is named."""
    try:
        backend = get_connection(timeout=MAIL_TIMEOUT_S)
        if settings.EMAIL_URL:
            backend.open()
            backend.close()
    except (OSError, SMTPException, ImproperlyConfigured) as error:
        # The server's own words may repeat the account; its kind says enough.
        return Finding(
            False,
            f"Mail cannot be sent: {type(error).__name__}.",
            "Check EMAIL_URL: address, port, encryption, name and password.",
        )
    if settings.EMAIL_URL:
        return Finding(True, "Signed in to the mail server.")
    return Finding(
        True,
        f"Mail is written to files in {settings.VAR_DIR / 'mail'}. Set EMAIL_URL to"
        " send it.",
    )


def check_public_url() -> Finding:
    """Check that PUBLIC_URL leads to this server, over https unless local."""
    parts = urlsplit(settings.PUBLIC_URL)
    host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname
    if parts.scheme not in {"http", "https"} or not host:
        return Finding(
            False,
            "PUBLIC_URL is not an absolute URL.",
            "Set PUBLIC_URL to the address that people use, such as https://assay.example.",
        )
    if parts.scheme == "http" and host not in LOOPBACK:
        return Finding(
            False,
            f"{settings.PUBLIC_URL} does not use https. Health data is sent"
            " unencrypted.",
            "Put a proxy with a certificate in front and set PUBLIC_URL to its https"
            " address.",
        )
    if not validate_host(host, settings.ALLOWED_HOSTS):
        return Finding(
            False,
            f"Requests to {host}, the host of PUBLIC_URL, are rejected.",
            f"Add {host} to ALLOWED_HOSTS.",
        )
    if "*" in settings.ALLOWED_HOSTS:
        return Finding(
            False,
            "ALLOWED_HOSTS is *, so any host name is accepted.",
            "Set ALLOWED_HOSTS to the host names of this server.",
            works_still=True,
        )
    if excess := measure_excess_of_public_url():
        return Finding(
            False,
            f"PUBLIC_URL is {excess} characters too long for shared links (SMART"
            " Health Links), so none can be created.",
            "Use a shorter host name or path.",
            works_still=True,
        )
    return Finding(True, f"People reach this server at {settings.PUBLIC_URL}.")


def check_secret_key() -> Finding:
    """Check that the key that signs sessions and links cannot be guessed."""
    remedy = (
        "Set SECRET_KEY to what `python -c 'import secrets;"
        " print(secrets.token_urlsafe(50))'` prints, and keep it."
    )
    try:
        key = settings.SECRET_KEY
    except ImproperlyConfigured:
        return Finding(False, "SECRET_KEY is empty.", remedy)
    if _is_weak(key):
        return Finding(False, "SECRET_KEY is too short to be safe.", remedy)
    return Finding(True, "SECRET_KEY is long enough.")


def check_encryption_keys() -> Finding:
    """Check that the keys that secrets are stored under cannot be guessed."""
    remedy = (
        "Set ENCRYPTION_KEYS to a new key, made as SECRET_KEY is, before those in use;"
        " then run `manage.py rotate_encryption_keys`."
    )
    keys = settings.ENCRYPTION_KEYS
    if not keys:
        return Finding(
            False,
            "Secrets are encrypted with SECRET_KEY, so it can't be rotated separately.",
            remedy,
            works_still=True,
        )
    if any(_is_weak(key) for key in keys):
        return Finding(
            False, "A key in ENCRYPTION_KEYS is too short to be safe.", remedy
        )
    return Finding(True, f"Secrets are encrypted with the first of {len(keys)} keys.")


def check_debug_is_off() -> Finding:
    """Check that DEBUG is off: tracebacks show data."""
    if not settings.DEBUG:
        return Finding(True, "DEBUG is off.")
    host = urlsplit(settings.PUBLIC_URL).hostname or ""
    return Finding(
        False,
        "DEBUG is on. Error pages show internal data to anyone.",
        "Set DEBUG=false and restart.",
        works_still=host in LOOPBACK,
    )


def check_database_extensions() -> Finding:
    """Check that the database has the required extensions."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT extname FROM pg_extension")
        missing = EXTENSIONS - {name for (name,) in cursor.fetchall()}
    if not missing:
        return Finding(True, "All required database extensions are installed.")
    names = ", ".join(sorted(missing))
    return Finding(
        False,
        f"The database has no extension {names}.",
        f"Run `CREATE EXTENSION {names}` in it as a role that may.",
    )


def _is_weak(key: str) -> bool:
    return len(key) < LEAST_KEY_LENGTH or len(set(key)) < LEAST_KEY_VARIETY


CHECKS = (
    Check("database", check_database, for_ready=True),
    Check("database_version", check_database_version, needs_database=True),
    Check("database_role", check_database_role, needs_database=True),
    Check("serving_roles", check_serving_roles, needs_database=True),
    Check("tenant_key", check_tenant_key, needs_database=True),
    Check("extensions", check_database_extensions, needs_database=True),
    Check("migrations", check_migrations, needs_database=True, for_ready=True),
    Check("worker", check_worker, needs_database=True, for_ready=True),
    Check("deliverer", check_webhook_deliverer, needs_database=True, for_ready=True),
    Check("clock", check_database_clock, needs_database=True),
    Check("mail", check_mail_server),
    Check("storage", check_upload_storage),
    Check("disk", check_disk_space),
    Check("backup", check_backup_age, needs_database=True),
    Check("audit", check_audit_log_integrity, needs_database=True),
    Check("samples", check_packed_samples, needs_database=True),
    Check("lake", check_lake, needs_database=True),
    Check("labs", check_lab_connections, needs_database=True),
    Check("mailboxes", check_report_mailboxes, needs_database=True),
    Check("production", check_production_teams, needs_database=True),
    Check("python", check_python_version),
    Check("ocr_languages", check_ocr_languages),
    Check("public_url", check_public_url),
    Check("secret_key", check_secret_key),
    Check("encryption_keys", check_encryption_keys),
    Check("debug", check_debug_is_off),
)


SKIPPED = Finding(False, "Skipped: needs the database.")


def run_all_health_checks() -> list[tuple[Check, str, Finding]]:
    """Run every check in order; return (check, state, finding) for each."""
    found = dict(run_health_checks(CHECKS))
    return [
        (check, found[check].state, found[check])
        if check in found
        else (check, "skip", SKIPPED)
        for check in CHECKS
    ]


def run_health_checks(checks: tuple[Check, ...]) -> Iterator[tuple[Check, Finding]]:
    """Run checks in order; those that need a database that failed are left out."""
    failed: set[str] = set()
    for check in checks:
        if check.needs_database and "database" in failed:
            continue
        finding = check.run()
        if finding.state == "fail":
            failed.add(check.name)
        yield check, finding


@require_safe
def healthz(_request: HttpRequest) -> HttpResponse:
    """Answer 200 as long as this process responds; checks nothing else."""
    return _answer(200, {"status": "ok"})


@never_cache
@require_safe
def readyz(_request: HttpRequest) -> HttpResponse:
    """Answer 200 when all required checks pass, else 503 with those that fail."""
    required = tuple(check for check in CHECKS if check.for_ready)
    failed = [
        check.name
        for check, finding in run_health_checks(required)
        if finding.state == "fail"
    ]
    if failed:
        return _answer(503, {"status": "failing", "failed": failed})
    return _answer(200, {"status": "ok"})


def _answer(status: int, body: dict[str, object]) -> HttpResponse:
    return HttpResponse(dump_json(body), status=status, content_type=MEDIA_TYPE)
