"""Couriers: their secrets, their signatures, and the messages they send.

Messages are signed as Standard Webhooks 1.0 says, as ours are (contract 8.6).
"""

from __future__ import annotations

import hashlib
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING
from uuid import UUID

from django.db import IntegrityError, transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from accounts.operations.audit.entries import record_change
from accounts.webhooks.signing import (
    SignatureInvalid,
    decode_signing_secret,
    generate_signing_secret,
    verify_webhook_signature,
)
from labs.models import CourierConnection, CourierMessage
from labs.operations.shipments.events import ReportedShipment, record_shipment_event
from labs.queries.orders.shipments import get_order_of_shipment
from labs.states.shipments import ShipmentReporter
from portal.lib.actor import Actor
from portal.lib.errors import Conflict
from portal.lib.secrets.encryption import decrypt_secret, encrypt_secret

if TYPE_CHECKING:
    from datetime import datetime

    from accounts.models import Tenant
    from labs.models import Order

COURIER = Actor.system("courier")
# Ours, as of our own webhooks: a rotated secret is accepted for this long.
OVERLAP = timedelta(hours=24)
# Longer than a signature is accepted for, whatever the clocks.
_REMEMBERED = timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class SignedMessage:
    """A message as it came: its three headers, and its body byte for byte."""

    message_id: str
    timestamp: str
    signature: str
    body: bytes

    @property
    def digest(self) -> str:
        """Return the digest of what is signed; the same for a repetition alone."""
        signed = f"{self.message_id}.{self.timestamp}.".encode() + self.body
        return hashlib.sha256(signed).hexdigest()


def find_courier_connection(*, tenant: Tenant) -> CourierConnection | None:
    """Return a tenant's courier; None without one."""
    found: CourierConnection | None = CourierConnection.objects.for_tenant(
        tenant
    ).first()
    return found


@transaction.atomic
def create_courier_secret(*, tenant: Tenant, actor: Actor) -> str:
    """Create the courier's secret, or rotate it; return it, which nobody can again.

    The secret before is accepted for a day beside it. Source: Ours.
    """
    secret = generate_signing_secret()
    now = timezone.now()
    rows = CourierConnection.objects.for_tenant(tenant)
    courier = rows.select_for_update().first()
    if courier is None:
        courier = CourierConnection(tenant=tenant, secret=encrypt_secret(secret))
        courier.save(force_insert=True)
        verb = "create_courier_secret"
    else:
        rows.filter(pk=courier.pk).update(
            previous_secret=courier.secret,
            previous_secret_ends_at=now + OVERLAP,
            secret=encrypt_secret(secret),
            secret_made_at=now,
        )
        verb = "rotate_courier_secret"
    _record_courier_change(tenant, actor, verb, courier)
    return secret


@transaction.atomic
def remove_courier(*, tenant: Tenant, actor: Actor) -> None:
    """Remove a tenant's courier: its messages are refused from now on."""
    courier = find_courier_connection(tenant=tenant)
    if courier is not None:
        _record_courier_change(tenant, actor, "remove_courier", courier)
        courier.delete()


def authenticate_courier_message(
    *, courier_id: str, message: SignedMessage, at: datetime
) -> CourierConnection | None:
    """Return the courier whose secret signed a message lately; None for any other.

    An unknown courier looks as a wrong signature does. Source: Contract 8.6 (tolerance
    of five minutes).
    """
    courier: CourierConnection | None = None
    with suppress(ValueError):
        rows = CourierConnection.unscoped.select_related("tenant__team")
        courier = rows.filter(pk=UUID(courier_id)).first()
    if courier is None or not message.message_id:
        return None
    for stored in _list_accepted_secrets(courier, at):
        with suppress(SignatureInvalid):
            verify_webhook_signature(
                decode_signing_secret(decrypt_secret(stored)),
                message_id=message.message_id,
                timestamp=message.timestamp,
                signature=message.signature,
                body=message.body,
                now=at.timestamp(),
            )
            return courier
    return None


@transaction.atomic
def take_courier_message(
    *,
    courier: CourierConnection,
    message: SignedMessage,
    reported: ReportedShipment,
    order_id: UUID | None,
) -> Order:
    """Record the shipment event of an authentic message, once.

    The order is that of its id, else of the tracking number. A message that is refused
    is not remembered, so that it may be sent again as it is. Raises:
    courier_message_repeated (409); order_not_found (404); order_ambiguous; those of
    record_shipment_event. Source: Ours.
    """
    _remember(courier, message)
    order = get_order_of_shipment(
        tenant=courier.tenant,
        order_id=order_id,
        tracking_number=reported.tracking_number,
    )
    return record_shipment_event(
        order=order,
        actor=COURIER,
        reported=reported,
        reporter=ShipmentReporter.COURIER,
    )


def delete_old_courier_messages(*, at: datetime) -> int:
    """Delete digests of messages whose signatures have long ended; return how many."""
    old = CourierMessage.unscoped.filter(created_at__lt=at - _REMEMBERED)
    return old.delete()[0]


def _remember(courier: CourierConnection, message: SignedMessage) -> None:
    try:
        with transaction.atomic():
            CourierMessage(
                tenant=courier.tenant, courier=courier, digest=message.digest
            ).save(force_insert=True)
    except IntegrityError:
        raise Conflict(
            "courier_message_repeated", _("This message was processed already.")
        ) from None
    CourierConnection.objects.for_tenant(courier.tenant).filter(pk=courier.pk).update(
        last_used_at=timezone.now()
    )


def _list_accepted_secrets(courier: CourierConnection, at: datetime) -> list[str]:
    ends_at = courier.previous_secret_ends_at
    if courier.previous_secret and ends_at and ends_at > at:
        return [courier.secret, courier.previous_secret]
    return [courier.secret]


def _record_courier_change(
    tenant: Tenant, actor: Actor, verb: str, courier: CourierConnection
) -> None:
    record_change(
        tenant=tenant, actor=actor, verb=verb, subject="courier", subject_id=courier.pk
    )
