"""Content of pushes: keep it, and store it, each resource once."""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import TYPE_CHECKING

from django.db import transaction
from django.utils import timezone

from portal.lib.secrets.encryption import (
    UnreadableSecret,
    decrypt_secret,
    encrypt_secret,
)
from users.gateways.base import ResourceRefused
from users.models import PushedContent
from users.models.sources.pushed_content import PUSHED_CONTENT_RETENTION
from users.operations.pulling.storing import store_pulled_page
from users.states import ConnectionStatus

if TYPE_CHECKING:
    from collections.abc import Iterable

    from portal.lib.actor import Actor
    from users.gateways.base import Grant, SourceGateway
    from users.models import Connection, Pull

logger = logging.getLogger(__name__)


def keep_pushed_content(
    *, connection: Connection, resources: Iterable[str], content: bytes
) -> None:
    """Keep what a source pushed, in the transaction that announces it.

    Source: Ours: a source that was answered sends it no more.
    """
    PushedContent(
        tenant_id=connection.tenant_id,
        connection=connection,
        waiting=sorted(resources),
        content=encrypt_secret(content.decode()),
    ).save(force_insert=True)


def store_pushed_content(
    *,
    connection: Connection,
    actor: Actor,
    gateway: SourceGateway,
    grant: Grant,
    pull: Pull,
) -> None:
    """Store what waits of the resource of a pull, the oldest first.

    What a push only names is fetched once, for all of its resources. What is gone at
    the source, or was never there, is forgotten. Asks the source, so never call it
    inside a transaction. Raises: SourceUnavailable, AccessExpired; ConnectionEnded.
    """
    mine = PushedContent.objects.for_tenant(connection.tenant).filter(
        connection=connection, waiting__contains=[pull.resource]
    )
    for key in list(mine.order_by("pk").values_list("pk", flat=True)):
        kept = mine.filter(pk=key).first()
        content = _fetch(kept, gateway, grant) if kept else None
        if kept is None or content is None:
            continue
        page = replace(
            gateway.read_pushed(connection.user, pull.resource, content),
            position=pull.position,
        )
        with transaction.atomic():
            store_pulled_page(connection=connection, actor=actor, pull=pull, page=page)
            kept.waiting.remove(pull.resource)
            if kept.waiting:
                kept.save(update_fields=["waiting"])
            else:
                kept.delete()


def delete_old_pushed_content() -> int:
    """Delete what could not be stored in time, of all tenants; return how many.

    What waits for a source to be resumed stays.
    """
    ends = timezone.now() - PUSHED_CONTENT_RETENTION
    old = PushedContent.unscoped.filter(at__lt=ends)
    removed, _ = old.exclude(connection__status=ConnectionStatus.PAUSED).delete()
    return removed


def _fetch(kept: PushedContent, gateway: SourceGateway, grant: Grant) -> bytes | None:
    """Return the content, fetched; None and no row where there is none."""
    try:
        sent = decrypt_secret(kept.content).encode()
        content = gateway.fetch_pushed(sent, grant=grant)
    except (ResourceRefused, UnreadableSecret) as refusal:
        logger.warning("a push was forgotten: %s", type(refusal).__name__)
        kept.delete()
        return None
    if content != sent:
        kept.content = encrypt_secret(content.decode())
        kept.save(update_fields=["content"])
    return content
