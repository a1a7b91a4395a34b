"""Demographics of a user: patient details, replaced as a whole."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from django.db import transaction
from django.utils import timezone

from accounts.operations.audit.entries import record_change
from portal.lib.birth_dates import require_plausible_birth_date
from users.models import UserInfo
from users.queries import lock_user

if TYPE_CHECKING:
    from datetime import date

    from portal.lib.actor import Actor
    from users.models import User


@dataclass(frozen=True, slots=True)
class Address:
    """A postal address in wire form (contract 2.5)."""

    first_line: str
    country: str
    zip: str
    city: str
    state: str
    second_line: str | None = None
    access_notes: str | None = None


@dataclass(frozen=True, slots=True)
class Guarantor:
    """The person responsible for a minor (contract 2.5, GuarantorDetails)."""

    first_name: str
    last_name: str
    address: Address
    phone_number: str
    household_income: int | None = None
    household_size: int | None = None
    email: str | None = None


@dataclass(frozen=True, slots=True)
class UserInfoRequest:
    """All demographics of a user; empty text means not set."""

    first_name: str
    last_name: str
    email: str
    phone_number: str
    gender: str
    dob: date
    address: Address
    medical_proxy: Guarantor | None = None
    race: str = ""
    ethnicity: str = ""
    sexual_orientation: str = ""
    gender_identity: str = ""


@transaction.atomic
def record_user_info(*, user: User, actor: Actor, request: UserInfoRequest) -> UserInfo:
    """Replace a user's demographics; the audit log names the changed fields.

    Raises: not_found; dob_in_future, dob_too_early (422). Source: Contract 2.5; the
    rule of the birth date is that of patient inputs (6.9), which these become.
    """
    user = lock_user(user)
    require_plausible_birth_date(request.dob)
    stored = UserInfo.objects.for_tenant(user.tenant).filter(user=user).first()
    values: dict[str, Any] = {
        name: getattr(request, name) for name in request.__dataclass_fields__
    }
    values["address"] = asdict(request.address)
    values["medical_proxy"] = request.medical_proxy and asdict(request.medical_proxy)
    changed = sorted(
        name
        for name, value in values.items()
        if (getattr(stored, name) if stored else None) != value and (stored or value)
    )
    info: UserInfo = stored or UserInfo(tenant=user.tenant, user=user)
    for name, value in values.items():
        setattr(info, name, value)
    if stored is None or changed:
        info.updated_at = timezone.now()
        info.save()
        record_change(
            tenant=user.tenant,
            actor=actor,
            verb="record_user_info",
            subject="user_info",
            subject_id=user.uuid,
            user_uuid=user.uuid,
            changes={"fields": changed},
        )
    return info
