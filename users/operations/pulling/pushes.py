"""Pushes of sources: take what they announce, and have them push.

What is announced is read from the source; what was not is found by asking it.
"""

from __future__ import annotations

import hashlib
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from django.db import transaction
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext as _

from accounts.operations.api_keys.call_limits import count_call_against_rate_limit
from portal.lib.errors import NotAllowed, NotFound, TooMany
from portal.lib.tenancy import acting_for
from users.gateways.base import AccessExpired, ResourceRefused, SourceUnavailable
from users.gateways.pushes import ConsentChanged, PushRejected, PushRequest
from users.models import Announcement, Connection, SourceGrant
from users.operations.pulling.pushed import keep_pushed_content
from users.operations.sources.announcements import record_announcement
from users.operations.sources.consents import enqueue_consent_check
from users.operations.sources.credentials import (
    build_push_address,
    find_pushed_application,
)
from users.queries import find_live_user
from users.states import ConnectionStatus, PauseCause

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from users.gateways.base import Grant, SourceGateway
    from users.gateways.pushes import Announced
    from users.operations.sources.credentials import PushedApplication

# How often a source is asked whether it still pushes, and again where it refused.
_CHECK_EVERY = timedelta(days=1)
_RETRY_AFTER = timedelta(hours=1)
# Ours: ten thousand users who wake within ten minutes, each with three announcements.
PUSHES_A_MINUTE = 3000


def answer_push_check(
    *, provider: str, token: str, query: Mapping[str, str]
) -> dict[str, Any]:
    """Return the answer to a source that verifies our address.

    Raises: push_unknown (404); push_rejected.
    """
    pushed = _find(provider, token)
    request = PushRequest(token=token, query=query, headers={}, body=b"")
    try:
        return pushed.protocol.answer_check(request)
    except PushRejected:
        raise _rejected() from None


def take_source_push(
    *, provider: str, request: PushRequest, at: datetime
) -> list[Connection]:
    """Record what a source announced, and return the connections it is about.

    Of an account that nobody has connected nothing is recorded. Windows are cut to what
    the source is read for at all. Raises: push_unknown (404); too_many_pushes (429; an
    address takes PUSHES_A_MINUTE, forged ones included); push_rejected (a wrong
    signature or shape; nothing is recorded). Source: Ours: an announcement is a hint,
    and one that is refused is sent again or found by asking.
    """
    pushed = _find(provider, request.token)
    _count(provider, request.token)
    try:
        announced = pushed.protocol.read(request, at=at)
    except PushRejected:
        raise _rejected() from None
    found = []
    for each in announced:
        for connection in _find_connections(pushed, each.external_user_id):
            with acting_for(connection.tenant):
                if isinstance(each, ConsentChanged):
                    enqueue_consent_check(connection=connection)
                elif _record(pushed.gateway, connection, each, at):
                    found.append(connection)
    return found


def find_push_rules(*, provider: str, token: str) -> tuple[int, int]:
    """Return how long a push to an address may be, and the status that accepts it.

    Raises: push_unknown (404).
    """
    gateway = _find(provider, token).gateway
    return gateway.push_max_bytes, gateway.push_status


def ensure_source_pushes(
    *, connection: Connection, gateway: SourceGateway, grant: Grant
) -> None:
    """Have a source push to us, once a day; what it answers never stops a pull.

    Asks the source, so never call it inside a transaction. Source: Ours: a source that
    was not answered for a while stops by itself.
    """
    if gateway.pushes is None:
        return
    kept = SourceGrant.objects.for_tenant(connection.tenant)
    now = timezone.now()
    mine = kept.filter(connection=connection).exclude(
        Q(pushes_checked_at__gt=now - _CHECK_EVERY, pushes_error="")
        | Q(pushes_checked_at__gt=now - _RETRY_AFTER)
    )
    if not mine.exists():
        return
    url, token = build_push_address(
        tenant=connection.tenant, provider=connection.provider, gateway=gateway
    )
    reason = ""
    try:
        gateway.pushes.subscribe(url=url, token=token, grant=grant)
        if gateway.pushes.is_registered_by_hand and not _has_pushed(connection):
            reason = "not_registered"
    except (SourceUnavailable, ResourceRefused) as refusal:
        reason = refusal.reason
    except AccessExpired:
        return  # the pull renews it
    kept.filter(connection=connection).update(
        pushes_checked_at=now, pushes_error=reason
    )


def _count(provider: str, token: str) -> None:
    """Count a push against its address. Raises: too_many_pushes."""
    address = hashlib.sha256(token.encode()).hexdigest()[:32]
    window = count_call_against_rate_limit(
        subject=f"push:{provider}:{address}", limit=PUSHES_A_MINUTE
    )
    if window.is_over:
        raise TooMany(
            "too_many_pushes",
            _("Too many messages."),
            wait=timedelta(seconds=window.seconds),
        )


def _has_pushed(connection: Connection) -> bool:
    """Return whether anything was announced of a connection lately."""
    heard = Announcement.objects.for_tenant(connection.tenant)
    return bool(heard.filter(connection=connection).exists())


def _record(
    gateway: SourceGateway, connection: Connection, each: Announced, at: datetime
) -> bool:
    availability = connection.resource_availability
    resources = [
        resource
        for resource in each.resources
        if availability.get(resource, {}).get("status") == "available"
    ]
    first, last = max(each.first, at - gateway.history), min(each.last, at)
    if not resources or last < at - gateway.history:
        return False
    with transaction.atomic():
        if each.content:
            keep_pushed_content(
                connection=connection, resources=resources, content=each.content
            )
        if connection.status == ConnectionStatus.PAUSED:
            return False  # what is kept is announced when it resumes
        record_announcement(
            connection=connection,
            resources=resources,
            first=min(first, last),
            last=last,
            at=at,
        )
    return True


def _find_connections(
    pushed: PushedApplication, external_user_id: str
) -> list[Connection]:
    if not external_user_id:
        return []
    takes = Q(status=ConnectionStatus.CONNECTED)
    if pushed.gateway.is_push_only:
        # Others are asked when they resume; after the last day nothing is kept.
        takes |= Q(status=ConnectionStatus.PAUSED, pause_cause=PauseCause.BY_HAND)
    live = Connection.unscoped.filter(
        takes,
        provider=pushed.gateway.name,
        external_user_id=external_user_id,
        disconnected_at=None,
        tenant__team__deleted_at=None,
        grant__client_id=pushed.gateway.credentials.client_id,
    )
    if pushed.tenant_pk is not None:
        live = live.filter(tenant=pushed.tenant_pk)
    found = live.select_related("tenant").order_by("pk")
    return [each for each in found if _has_live_user(each)]


def _has_live_user(connection: Connection) -> bool:
    # A user is read once the tenant is known.
    with acting_for(connection.tenant):
        user = find_live_user(tenant=connection.tenant, pk=connection.user_id)
    return user is not None


def _find(provider: str, token: str) -> PushedApplication:
    pushed = find_pushed_application(provider=provider, token=token)
    if pushed is None:
        raise NotFound("push_unknown", _("Unknown address."))
    return pushed


def _rejected() -> NotAllowed:
    return NotAllowed("push_rejected", _("This is not a message of the source."))
