"""Reads of phones: those of a user, their uploads, and how they are."""

from __future__ import annotations

import base64
import zlib
from dataclasses import dataclass
from datetime import timedelta
from itertools import pairwise
from typing import TYPE_CHECKING
from uuid import UUID

from django.db.models import Count, Q, Sum
from django.utils import timezone

from portal.lib.secrets.encryption import UnreadableSecret, decrypt_secret
from users.models import PairingCode, Phone, PhoneUpload
from users.states.phones import PhoneApp, UploadOutcome

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from users.models import User

# Ours: phones send several times a day where the app may run in the background.
SILENT_AFTER = timedelta(days=2)
_GAPS_OF = timedelta(days=30)
_GAPS_SHOWN = 3
_TYPES_SHOWN = 8


@dataclass(frozen=True, slots=True)
class PhoneHealth:
    """A phone and how its uploads go.

    `missing` are types of records that the app could not read, or found none of: a
    permission may be missing, which HealthKit tells nobody. `gaps` are spans of the
    last 30 days without an upload of more than SILENT_AFTER, newest first. `also_by`
    are other apps that send the same source from a live phone: each cuts time into
    samples of its own, so that one walk may count twice.
    """

    phone: Phone
    waiting: int
    failed: int
    records: int
    refused: int
    missing: tuple[str, ...]
    gaps: tuple[tuple[datetime, datetime], ...]
    also_by: tuple[PhoneApp, ...]

    @property
    def is_silent(self) -> bool:
        """Return whether a live phone has sent nothing for too long."""
        last = self.phone.uploaded_at or self.phone.paired_at
        return self.phone.revoked_at is None and timezone.now() - last > SILENT_AFTER


def list_user_phones(*, user: User) -> list[Phone]:
    """Return a user's phones, live ones first, the newest first."""
    mine = Phone.objects.for_tenant(user.tenant).filter(user=user)
    found = list(mine.order_by("-paired_at")[:100])
    return sorted(found, key=lambda each: each.revoked_at is not None)


def find_phone(*, user: User, phone_id: str) -> Phone | None:
    """Return a phone of a user by its ID."""
    wanted = _read_id(phone_id)
    if wanted is None:
        return None
    mine = Phone.objects.for_tenant(user.tenant).filter(user=user, uuid=wanted)
    phone: Phone | None = mine.first()
    if phone is not None:
        phone.user = user
    return phone


def find_upload(*, user: User, upload_id: str) -> PhoneUpload | None:
    """Return a batch of a user by its ID."""
    wanted = _read_id(upload_id)
    if wanted is None:
        return None
    mine = PhoneUpload.objects.for_tenant(user.tenant).filter(user=user, uuid=wanted)
    upload: PhoneUpload | None = mine.first()
    return upload


def unpack_kept_content(content: str) -> bytes:
    """Return what a batch held, as it came. Raises: UnreadableSecret."""
    return zlib.decompress(base64.b64decode(decrypt_secret(content)))


def read_kept_content(upload: PhoneUpload) -> bytes | None:
    """Return what a batch held, as it came; None where it is no longer kept."""
    if not upload.content:
        return None
    try:
        return unpack_kept_content(upload.content)
    except UnreadableSecret:
        return None


def find_pairing_code(*, user: User, code_id: str) -> PairingCode | None:
    """Return a user's code by its ID, to see whether a phone was paired with it."""
    wanted = _read_id(code_id)
    if wanted is None:
        return None
    mine = PairingCode.objects.for_tenant(user.tenant).filter(user=user, uuid=wanted)
    row: PairingCode | None = mine.first()
    return row


def list_phone_health(*, user: User) -> list[PhoneHealth]:
    """Return a user's phones with how their uploads go; three queries."""
    phones = list_user_phones(user=user)
    if not phones:
        return []
    mine = PhoneUpload.objects.for_tenant(user.tenant).filter(user=user)
    sums = {
        row["phone"]: row
        for row in mine.values("phone").annotate(
            waiting=Count("pk", filter=Q(outcome=UploadOutcome.WAITING)),
            failed=Count("pk", filter=Q(outcome=UploadOutcome.FAILED)),
            all_records=Sum("records"),
            all_refused=Sum("refused"),
        )
    }
    now = timezone.now()
    times: dict[int, list[datetime]] = {}
    for phone, at in (
        mine.filter(received_at__gt=now - _GAPS_OF)
        .order_by("received_at")
        .values_list("phone", "received_at")
    ):
        times.setdefault(phone, []).append(at)
    return [
        PhoneHealth(
            phone=phone,
            waiting=sums.get(phone.pk, {}).get("waiting") or 0,
            failed=sums.get(phone.pk, {}).get("failed") or 0,
            records=sums.get(phone.pk, {}).get("all_records") or 0,
            refused=sums.get(phone.pk, {}).get("all_refused") or 0,
            missing=_missing(phone),
            gaps=_gaps(times.get(phone.pk, [])),
            also_by=_list_other_apps(phone, phones),
        )
        for phone in phones
    ]


def _missing(phone: Phone) -> tuple[str, ...]:
    return tuple(
        sorted(
            name
            for name, told in phone.reported.items()
            if told.get("ok") is False or told.get("count") == 0
        )[:_TYPES_SHOWN]
    )


def _list_other_apps(phone: Phone, phones: Sequence[Phone]) -> tuple[PhoneApp, ...]:
    if phone.revoked_at is not None or not phone.provider:
        return ()
    others = {
        PhoneApp(each.app)
        for each in phones
        if each.revoked_at is None and each.provider == phone.provider
    }
    return tuple(sorted(others - {PhoneApp(phone.app)}))


def _gaps(times: Sequence[datetime]) -> tuple[tuple[datetime, datetime], ...]:
    gaps = [pair for pair in pairwise(times) if pair[1] - pair[0] > SILENT_AFTER]
    return tuple(reversed(gaps))[:_GAPS_SHOWN]


def _read_id(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None
