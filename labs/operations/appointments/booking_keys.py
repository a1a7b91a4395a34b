"""Signed booking keys of offered slots, valid for 15 minutes."""

from __future__ import annotations

import binascii
import hashlib
import hmac
from base64 import b64decode, urlsafe_b64encode
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import orjson
from django.utils.crypto import salted_hmac
from django.utils.translation import gettext as _

from labs.operations.production import require_collection_place
from labs.queries.appointments.bookable_sites import (
    Site,
    build_home_visit_site,
    list_bookable_center_sites,
)
from labs.states.appointments import SLOT_LENGTH, AppointmentType
from portal.lib.errors import DomainError

if TYPE_CHECKING:
    from collections.abc import Callable

    from accounts.models import Tenant

_SALT = "labs.booking_keys"
_SIGNATURE = 16


@dataclass(frozen=True, slots=True)
class OfferedSlot:
    """The content of a booking key: site, start (UTC) and expiry."""

    site: Site
    start: datetime
    expires_at: datetime

    @property
    def end(self) -> datetime:
        """Return when the appointment ends."""
        return self.start + SLOT_LENGTH


class BookingKeys:
    """Signs and verifies booking keys of one tenant.

    A keyed hash of its own: signing by django.core.signing costs ten times as much,
    and an answer holds thousands of keys. The tenant is part of the secret, so a key
    is of no use to another. Source: Contract 6.18 (`booking_key`, `expires_at`).
    """

    def __init__(self, tenant: Tenant) -> None:
        self._tenant = tenant
        secret = salted_hmac(_SALT, str(tenant.pk), algorithm="sha256").digest()
        self._hash = hashlib.blake2b(key=secret, digest_size=_SIGNATURE)

    def write(self, site: Site, start: datetime, expires_at: datetime) -> str:
        """Return a slot's signed key; an at-home site includes its address."""
        return self.writer(site, expires_at)(start)

    def writer(self, site: Site, expires_at: datetime) -> Callable[[datetime], str]:
        """Return a function that signs keys of a site's slots by their starts."""
        is_home = site.kind == AppointmentType.PHLEBOTOMY
        fields: list[Any] = [
            is_home,
            site.provider,
            site.code,
            int(expires_at.timestamp()),
            *([site.address] if is_home else []),
        ]
        offered = orjson.dumps(fields)
        hashed_so_far = self._hash.copy()
        hashed_so_far.update(offered)

        def write(start: datetime) -> str:
            moment = b"%d" % start.timestamp()
            hashed = hashed_so_far.copy()
            hashed.update(moment)
            return urlsafe_b64encode(hashed.digest() + offered + moment).decode()

        return write

    def read(self, key: str) -> OfferedSlot:
        """Return the slot of a key, expired or not, at its current site.

        Raises: booking_key_invalid; site_inactive, where visits are no longer booked;
        directory_required, where production has no directory any more.
        """
        try:
            raw = b64decode(key.encode("ascii"), altchars=b"-_", validate=True)
        except (UnicodeEncodeError, binascii.Error):
            raw = b""
        signature, payload = raw[:_SIGNATURE], raw[_SIGNATURE:]
        # A text that decodes to the same bytes is not the key that was given out.
        is_same = urlsafe_b64encode(raw).decode() == key
        if not (is_same and hmac.compare_digest(signature, self._sign(payload))):
            raise DomainError(
                "booking_key_invalid",
                _("This booking key is not valid. Search for times again."),
                "booking_key",
            )
        # The start follows the rest, which all slots of a site share.
        offered, _separator, start = payload.rpartition(b"]")
        is_home, provider, code, expires_at, *address = orjson.loads(offered + b"]")
        require_collection_place(
            tenant=self._tenant, provider=provider, is_home=is_home
        )
        sites = (
            [build_home_visit_site(provider, address[0])]
            if is_home
            else list_bookable_center_sites(
                tenant=self._tenant, lab_slug=provider, codes=[code]
            )
        )
        if not sites or sites[0] is None:
            raise DomainError(
                "site_inactive",
                _("This site no longer accepts bookings. Choose another site."),
            )
        return OfferedSlot(
            site=sites[0],
            start=datetime.fromtimestamp(int(start), UTC),
            expires_at=datetime.fromtimestamp(expires_at, UTC),
        )

    def _sign(self, payload: bytes) -> bytes:
        hashed = self._hash.copy()
        hashed.update(payload)
        return hashed.digest()
