"""Store what a physician prints on requisitions, and who stands in for them."""

from __future__ import annotations

from dataclasses import dataclass
from io import BytesIO
from typing import TYPE_CHECKING
from uuid import UUID

from django.db import IntegrityError, transaction
from django.utils import timezone
from django.utils.translation import gettext as _
from PIL import Image

from accounts.operations.audit.entries import record_change
from labs.models import Physician
from labs.queries.physicians import (
    is_member_physician,
    practising_physicians,
)
from labs.states.accounts import US_STATES
from labs.states.physicians import is_npi
from portal.lib.errors import DomainError, NotAllowed

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import date

    from accounts.models import Tenant
    from portal.lib.actor import Actor

SIGNATURE_MAX_BYTES = 2_000_000
_SIGNATURE_MAX_PIXELS = 4_000_000
_SIGNATURE_FORMATS = ("JPEG", "PNG")
# What a requisition prints, at 432 dpi.
_SIGNATURE_SHOWN = (1200, 204)


@dataclass(frozen=True, slots=True)
class PhysicianProfile:
    """What a physician enters; `signature` is a PNG or JPEG, None keeps the stored one.

    `stand_in_id` approves from `away_from` to `away_until`, both included.
    """

    first_name: str
    last_name: str
    npi: str
    licensed_states: Sequence[str]
    signature: bytes | None = None
    stand_in_id: UUID | None = None
    away_from: date | None = None
    away_until: date | None = None


@transaction.atomic
def save_physician_profile(
    *, tenant: Tenant, actor: Actor, profile: PhysicianProfile
) -> Physician:
    """Store the profile of the acting member, who has the role Physician.

    The audit names fields, not the signature. Raises: not_a_physician; npi_invalid,
    npi_taken; states_invalid; signature_invalid; stand_in_incomplete,
    stand_in_unknown, away_dates_reversed. Source: Ours.
    """
    member_id = _get_member_id(tenant, actor)
    if not is_npi(profile.npi):
        raise build_npi_refusal("npi")
    if not profile.licensed_states or set(profile.licensed_states) - US_STATES:
        raise DomainError(
            "states_invalid", _("Choose the states of the licenses."), "licensed_states"
        )
    rows = Physician.objects.for_tenant(tenant).select_for_update()
    stored = rows.filter(member_id=member_id).first()
    physician: Physician = stored or Physician(tenant=tenant, member_id=member_id)
    values = {
        "first_name": profile.first_name.strip(),
        "last_name": profile.last_name.strip(),
        "npi": profile.npi,
        "licensed_states": sorted(set(profile.licensed_states)),
        **_check_stand_in(tenant, physician, profile),
    }
    if profile.signature is not None:
        values["signature"] = _redraw_signature(profile.signature)
    changed = (
        sorted(
            name
            for name, value in values.items()
            if (
                bytes(stored.signature)
                if name == "signature"
                else getattr(stored, name)
            )
            != value
        )
        if stored
        else sorted(values)
    )
    for name, value in values.items():
        setattr(physician, name, value)
    physician.updated_at = timezone.now()
    try:
        with transaction.atomic():
            physician.save()
    except IntegrityError:
        raise DomainError(
            "npi_taken", _("Another physician of this team has this NPI."), "npi"
        ) from None
    if changed:
        record_change(
            tenant=tenant,
            actor=actor,
            verb="save_physician",
            subject="physician",
            subject_id=physician.pk,
            changes={"fields": changed},
        )
    return physician


def build_npi_refusal(field: str) -> DomainError:
    """Return the refusal of a text that is no NPI, at a field."""
    return DomainError(
        "npi_invalid",
        _("This is no NPI: its check digit is wrong. Compare the 10 digits."),
        field,
    )


def _get_member_id(tenant: Tenant, actor: Actor) -> UUID:
    member_id = UUID(actor.key)
    if not is_member_physician(tenant=tenant, member_id=member_id):
        raise NotAllowed("not_a_physician", _("You are no physician of this team."))
    return member_id


def _check_stand_in(
    tenant: Tenant, physician: Physician, profile: PhysicianProfile
) -> dict[str, object]:
    given = (profile.stand_in_id, profile.away_from, profile.away_until)
    if any(given) and not all(given):
        raise DomainError(
            "stand_in_incomplete",
            _("Enter the stand-in and both dates, or none of them."),
            "stand_in",
        )
    if profile.stand_in_id and profile.away_from and profile.away_until:
        if profile.away_until < profile.away_from:
            raise DomainError(
                "away_dates_reversed",
                _("Choose a last day on or after the first."),
                "away_until",
            )
        others = practising_physicians(tenant).exclude(pk=physician.pk)
        if not others.filter(pk=profile.stand_in_id).exists():
            raise DomainError(
                "stand_in_unknown", _("Choose another physician."), "stand_in"
            )
    return {
        "stand_in_id": profile.stand_in_id,
        "away_from": profile.away_from,
        "away_until": profile.away_until,
    }


def _redraw_signature(content: bytes) -> bytes:
    """Redraw a signature as a PNG: nothing else of the file is kept.

    Raises: signature_invalid.
    """
    refusal = DomainError(
        "signature_invalid",
        _("Choose a PNG or JPEG image of at most 2 MB and 4 megapixels."),
        "signature",
    )
    if len(content) > SIGNATURE_MAX_BYTES:
        raise refusal
    try:
        with Image.open(BytesIO(content), formats=_SIGNATURE_FORMATS) as opened:
            if opened.width * opened.height > _SIGNATURE_MAX_PIXELS:
                raise refusal
            shown = opened.convert("RGBA")
    except (Image.DecompressionBombError, OSError, SyntaxError, ValueError):
        # What Pillow raises for files that are broken, or none of its own.
        raise refusal from None
    shown.thumbnail(_SIGNATURE_SHOWN)
    out = BytesIO()
    shown.save(out, "PNG", optimize=True)
    return out.getvalue()
