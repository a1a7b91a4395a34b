"""Run the pulls of cloud sources: fetch data page by page and store it.

A page is stored in one transaction with the place where to go on, so that a pull that
is cut off stores nothing twice.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from django.db import transaction
from django.db.models import Exists, OuterRef, Q
from django.utils import timezone

from portal.lib.errors import NotFound
from users.gateways.base import (
    AccessExpired,
    ComesLater,
    ResourceRefused,
    SourceRefused,
    SourceUnavailable,
)
from users.gateways.sources import list_push_only_providers
from users.models import Connection, Pull, SourceGrant
from users.operations.pulling.pushed import store_pushed_content
from users.operations.pulling.pushes import ensure_source_pushes
from users.operations.pulling.storing import ConnectionEnded, store_pulled_page
from users.operations.sources.announcements import (
    has_announcements_since,
    open_announced_pulls,
)
from users.operations.sources.cloud_sources import schedule_cloud_source_refresh
from users.operations.sources.connections import mark_connection_failed
from users.operations.sources.credentials import find_connection_gateway
from users.operations.sources.gaps import close_filled_source_gaps
from users.operations.sources.grants import (
    get_valid_connection_tokens,
    renew_connection_tokens,
)
from users.operations.sources.pulls import (
    end_data_pull,
    postpone_data_pull,
    start_data_pull,
)
from users.queries import lock_user
from users.states import PULL_EVERY, ConnectionFault, ConnectionStatus, PullStatus

if TYPE_CHECKING:
    from accounts.models import Tenant
    from portal.lib.actor import Actor
    from users.gateways.base import SourceGateway
    from users.operations.sources.grants import StoredGrant

logger = logging.getLogger(__name__)

# How often a source is asked beside its pushes: what it did not announce is found then.
PULL_EVERY_BESIDE_PUSHES = timedelta(hours=3)
# Waits between runs while a source is away: then the pull has failed, and the next
# hour's asks again.
_WAITS = tuple(timedelta(minutes=each) for each in (1, 5, 20, 60, 180))
# However long a source wants to be left alone.
_PATIENCE = timedelta(days=1)


@dataclass(slots=True)
class _Run:
    """The pulls of one connection, run in sequence with the same tokens."""

    connection: Connection
    gateway: SourceGateway
    actor: Actor
    kept: StoredGrant
    has_renewed: bool = False
    # Why resources were refused.
    refusals: list[str] = field(default_factory=list)

    def renew_tokens(self) -> None:
        """Renew the tokens, once a run. Raises: ResourceRefused if already renewed."""
        if self.has_renewed:
            raise ResourceRefused("http_401")
        self.kept = renew_connection_tokens(
            connection=self.connection, gateway=self.gateway, spent=self.kept.rotation
        )
        self.has_renewed = True


def run_connection_pulls(
    *, tenant: Tenant, actor: Actor, connection_pk: int
) -> timedelta | None:
    """Run the open pulls of a connection; return the wait before the rest, or None.

    What one resource is refused for does not keep the others; a source that is away,
    or wants to be asked later, keeps all. One that says no for good breaks the
    connection. Asks the source, so never call it inside a transaction. Source:
    Contract 2.4, 5.5.
    """
    connection: Connection | None = (
        Connection.objects.for_tenant(tenant)
        .select_related("user")
        .filter(pk=connection_pk)
        .first()
    )
    if connection is None:
        return None
    connection.tenant = connection.user.tenant = tenant
    wait = _run_or_fail(connection, actor)
    close_filled_source_gaps(connection=connection)
    return wait


def fail_connection_pulls(*, tenant: Tenant, actor: Actor, connection_pk: int) -> None:
    """Mark the open pulls of a connection as failed after repeated errors.

    Source: Ours: nothing waits for a job that is no more.
    """
    for pull in _open_pulls(tenant, connection_pk):
        end_data_pull(pull=pull, actor=actor, error_type=ConnectionFault.UNKNOWN)


def enqueue_due_source_pulls() -> int:
    """Schedule pulls for every due cloud source; return how many connections.

    Those that were asked within PULL_EVERY, or PULL_EVERY_BESIDE_PUSHES where they
    push, or have a pull open, are left. Over all tenants. Source: Ours: sources that
    push nothing have to be asked.
    """
    now = timezone.now()
    # By user and provider, which pulls are indexed by.
    polls = Pull.unscoped.filter(
        user=OuterRef("connection__user"),
        provider=OuterRef("connection__provider"),
        connection=OuterRef("connection"),
        is_announced=False,
    )
    lately = polls.filter(Q(scheduled_at__gt=now - PULL_EVERY) | Q(ended_at=None))
    beside_pushes = polls.filter(scheduled_at__gt=now - PULL_EVERY_BESIDE_PUSHES)
    pushes = Q(pushes_checked_at__isnull=False, pushes_error="")
    # What can't be asked is due for past data that it did not bring yet.
    failed = polls.filter(is_history=True, status=PullStatus.FAILURE)
    is_asked = ~Q(connection__provider__in=list_push_only_providers())
    due = SourceGrant.unscoped.filter(
        is_asked | Exists(failed),
        ~Exists(lately),
        ~(pushes & Exists(beside_pushes)),
        connection__disconnected_at=None,
        connection__status=ConnectionStatus.CONNECTED,
        connection__user__deleted_at=None,
        connection__tenant__team__deleted_at=None,
    )
    found = due.select_related("connection__user__tenant", "connection__tenant")
    asked = 0
    for grant in found.order_by("pk").iterator():
        try:
            asked += bool(schedule_cloud_source_refresh(connection=grant.connection))
        except NotFound:
            continue  # its user was deleted meanwhile
    return asked


def _run_or_fail(connection: Connection, actor: Actor) -> timedelta | None:
    try:
        return _run(connection, actor)
    except ConnectionEnded:
        _fail_open(connection, actor, "not_connected")
        return None
    except SourceRefused as refused:
        _fail_open(connection, actor, refused.fault)
        mark_connection_failed(connection=connection, actor=actor, fault=refused.fault)
        return None


def _run(connection: Connection, actor: Actor) -> timedelta | None:
    started_at = timezone.now()
    gateway = find_connection_gateway(connection)
    is_live = connection.disconnected_at is None
    is_live = is_live and connection.status == ConnectionStatus.CONNECTED
    if is_live:
        open_announced_pulls(connection=connection)
    pulls = _open_pulls(connection.tenant, connection.pk)
    if not pulls:
        return None
    if gateway is None:
        _fail_open(connection, actor, "source_not_offered")
        return None
    if not is_live:
        _fail_open(connection, actor, "not_connected")
        return None
    run: _Run | None = None
    waits: list[timedelta] = []
    for pull in pulls:
        start_data_pull(pull=pull)
        try:
            if run is None:
                kept = get_valid_connection_tokens(
                    connection=connection, gateway=gateway
                )
                run = _Run(connection, gateway, actor, kept)
                ensure_source_pushes(
                    connection=connection, gateway=gateway, grant=kept.grant
                )
            _run_pull(run, pull)
        except SourceUnavailable as away:
            wait = _next_wait(pull, away)
            if wait is None:
                end_data_pull(pull=pull, actor=actor, error_type=away.reason)
                continue
            postpone_data_pull(pull=pull, reason=away.reason)
            if not isinstance(away, ComesLater):
                return wait
            waits.append(wait)
    if run is not None and run.refusals and not _has_any_resource(connection):
        fault = _fault(run.refusals)
        mark_connection_failed(connection=connection, actor=actor, fault=fault)
        return None
    if has_announcements_since(connection=connection, since=started_at):
        return timedelta(0)
    return min(waits, default=None)


def _run_pull(run: _Run, pull: Pull) -> None:
    """Fetch and store the data of one pull.

    Raises: SourceUnavailable, SourceRefused; ConnectionEnded.
    """
    try:
        while True:
            try:
                _fetch(run, pull)
                break
            except AccessExpired:
                run.renew_tokens()
    except ResourceRefused as refused:
        run.refusals.append(refused.reason)
        _record_availability(run.connection, pull.resource, is_given=False)
        end_data_pull(pull=pull, actor=run.actor, error_type=refused.reason)
        return
    _record_availability(run.connection, pull.resource, is_given=True)
    end_data_pull(pull=pull, actor=run.actor, days_with_data=pull.days_with_data or 0)


def _fetch(run: _Run, pull: Pull) -> None:
    if run.gateway.is_push_only:
        # Of the past too: that pull comes first, and what it finds makes no events.
        store_pushed_content(
            connection=run.connection,
            actor=run.actor,
            gateway=run.gateway,
            grant=run.kept.grant,
            pull=pull,
        )
        if pull.is_announced:
            return
    until = pull.range_end or timezone.now()
    since = pull.range_start or until - run.gateway.history
    given = (run.connection.user, pull.resource, since)
    asked: dict[str, Any] = {"until": until, "grant": run.kept.grant}
    pages = run.gateway.pull(*given, **asked, position=pull.position)
    position = pull.position
    for page in pages:
        suspected = store_pulled_page(
            connection=run.connection, actor=run.actor, pull=pull, page=page
        )
        if suspected:
            # An answer may be cut short: nothing is removed before a second one.
            again = run.gateway.pull(*given, **asked, position=position)
            store_pulled_page(
                connection=run.connection,
                actor=run.actor,
                pull=pull,
                page=next(iter(again)),
                confirmed=suspected,
            )
        position = page.position


def _next_wait(pull: Pull, away: SourceUnavailable) -> timedelta | None:
    """Return the wait before the next request; None after the last retry."""
    if timezone.now() - pull.scheduled_at > _PATIENCE:
        return None
    if away.retry_after is not None:
        return max(away.retry_after, timedelta(seconds=1))
    if pull.attempts > len(_WAITS):
        return None
    return _WAITS[pull.attempts - 1]


def _has_any_resource(connection: Connection) -> bool:
    """Return whether a source returned any of the requested resources."""
    told = connection.resource_availability.values()
    return any(each["status"] == "available" for each in told)


def _fault(refusals: list[str]) -> ConnectionFault:
    """Return the fault of a source that refuses all resources with new tokens."""
    if all(reason == "http_401" for reason in refusals):
        return ConnectionFault.PROVIDER_CREDENTIAL_ERROR
    if all(reason in {"http_401", "http_403"} for reason in refusals):
        return ConnectionFault.REQUIRED_SCOPES_NOT_GRANTED
    return ConnectionFault.UNKNOWN


@transaction.atomic
def _record_availability(
    connection: Connection, resource: str, *, is_given: bool
) -> None:
    """Record whether the source provides a resource (contract 2.4)."""
    lock_user(connection.user)
    connection.refresh_from_db(fields=["resource_availability"])
    told = connection.resource_availability
    status = "available" if is_given else "unavailable"
    if told.get(resource, {}).get("status") != status:
        told[resource] = {**told.get(resource, {}), "status": status}
        connection.save(update_fields=["resource_availability"])


def _fail_open(connection: Connection, actor: Actor, error_type: str) -> None:
    for pull in _open_pulls(connection.tenant, connection.pk):
        end_data_pull(pull=pull, actor=actor, error_type=error_type)


def _open_pulls(tenant: Tenant, connection_pk: int) -> list[Pull]:
    """Return open pulls in the order scheduled: past data first."""
    mine = Pull.objects.for_tenant(tenant).open().filter(connection=connection_pk)
    return list(mine.select_related("user__tenant", "connection").order_by("id"))
