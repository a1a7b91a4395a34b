"""Insurers and users' insurance.

labs/data/payors.csv has the built-in insurers. They are made up, as lists of real
insurers belong to clearing houses, and the sandbox's alone. A team can add its own, an
operator imports a public list for production.
"""

from __future__ import annotations

import csv
import secrets
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from accounts.operations.audit.entries import record_change
from labs.models import ListedPayor, Payor, UserInsurance
from labs.states.patients import PayorSource
from portal.lib.errors import Invalid
from users.queries import lock_user

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from accounts.models import Tenant
    from portal.lib.actor import Actor
    from users.models import User

_FILE = Path(__file__).parent.parent / "data" / "payors.csv"
SANDBOX_PROVIDER = "sandbox"
FOUND_AT_MOST = 50


@dataclass(frozen=True, slots=True)
class PayorEntry:
    """An insurer (contract 6.21); `address` has the wire's shape."""

    payor_code: str
    name: str
    aliases: tuple[str, ...]
    address: Mapping[str, Any]
    source: PayorSource
    provider: str = ""
    provider_payor_id: str = ""


@dataclass(frozen=True, slots=True)
class PayorRequest:
    """An insurer to create."""

    name: str
    address: Mapping[str, Any]
    provider: str = ""
    provider_payor_id: str = ""


@dataclass(frozen=True, slots=True)
class InsuranceRequest:
    """A user's insurance; `insured` and `guarantor` as on the wire (contract 2.6)."""

    payor_code: str
    member_id: str
    relationship: str
    insured: Mapping[str, Any]
    group_id: str = ""
    guarantor: Mapping[str, Any] | None = None
    is_primary: bool = True


def search_payors(
    *, tenant: Tenant, name: str = "", provider: str = "", provider_payor_id: str = ""
) -> list[PayorEntry]:
    """List up to 50 built-in (sandbox), imported (production) and team insurers.

    By name; two queries in production, one in a sandbox.

    `name` is part of the name or of an alias in any case; `provider` a clearing house
    and `provider_payor_id` an id there, both whole. Empty values filter nothing.
    Source: Contract 6.21.
    """
    own = [_read_payor_row(row) for row in Payor.objects.for_tenant(tenant)]
    part = name.strip().lower()
    listed = _search_listed_payors(tenant, part, provider, provider_payor_id)
    found = [
        payor
        for payor in (*_list_payors_of_environment(tenant), *own)
        if any(part in text.lower() for text in (payor.name, *payor.aliases))
        and provider.lower() in ("", payor.provider.lower())
        and provider_payor_id in ("", payor.provider_payor_id)
    ]
    return sorted([*found, *listed], key=lambda payor: payor.name)[:FOUND_AT_MOST]


def find_payor(*, tenant: Tenant, payor_code: str) -> PayorEntry | None:
    """Return the insurer with exactly this code."""
    for payor in _list_payors_of_environment(tenant):
        if payor.payor_code == payor_code:
            return payor
    row = Payor.objects.for_tenant(tenant).filter(payor_code=payor_code).first()
    if row is not None or tenant.is_sandbox:
        return _read_payor_row(row) if row else None
    listed = ListedPayor.objects.filter(payor_code=payor_code).first()
    return _read_listed_payor(listed) if listed else None


@transaction.atomic
def create_payor(*, tenant: Tenant, actor: Actor, request: PayorRequest) -> PayorEntry:
    """Create an insurer of the team with a generated code.

    Raises: payor_name_missing (422). Source: Contract 6.21.
    """
    name = request.name.strip()
    if not name:
        raise Invalid("payor_name_missing", _("Enter the insurer's name."), "name")
    payor = Payor(
        tenant=tenant,
        payor_code=f"TEAM-{secrets.token_hex(5).upper()}",
        name=name,
        address=dict(request.address),
        provider=request.provider.strip(),
        provider_payor_id=request.provider_payor_id.strip(),
    )
    payor.save(force_insert=True)
    record_change(
        tenant=tenant,
        actor=actor,
        verb="create_payor",
        subject="payor",
        subject_id=payor.payor_code,
        changes={"name": [None, name]},
    )
    return _read_payor_row(payor)


@transaction.atomic
def store_insurance(
    *, user: User, actor: Actor, request: InsuranceRequest
) -> UserInsurance:
    """Store a user's insurance, replacing the earlier one of the same rank.

    The audit names fields, not values. Raises: not_found; payor_unknown (422). Source:
    Contract 2.6.
    """
    user = lock_user(user)
    payor = find_payor(tenant=user.tenant, payor_code=request.payor_code)
    if payor is None:
        raise Invalid("payor_unknown", _("No insurer has this code."), "payor_code")
    values: dict[str, Any] = {
        "payor_code": payor.payor_code,
        "company": {"name": payor.name, "address": dict(payor.address)},
        "member_id": request.member_id,
        "group_id": request.group_id,
        "relationship": str(request.relationship),
        "insured": dict(request.insured),
        "guarantor": dict(request.guarantor) if request.guarantor else None,
    }
    rows = UserInsurance.objects.for_tenant(user.tenant)
    stored = rows.filter(user=user, is_primary=request.is_primary).first()
    changed = sorted(
        name
        for name, value in values.items()
        if (getattr(stored, name) != value if stored else value)
    )
    insurance: UserInsurance = stored or UserInsurance(
        tenant=user.tenant, user=user, is_primary=request.is_primary
    )
    for name, value in values.items():
        setattr(insurance, name, value)
    insurance.updated_at = timezone.now()
    insurance.save()
    if changed:
        _record_insurance_change(user, actor, changed)
    return insurance


@cache
def list_built_in_payors() -> Sequence[PayorEntry]:
    """Return the built-in insurers, in the order of the file."""
    with _FILE.open(encoding="utf-8", newline="") as opened:
        return tuple(
            PayorEntry(
                payor_code=row["payor_code"],
                name=row["name"],
                aliases=tuple(row["aliases"].split("|")),
                address={
                    "first_line": row["first_line"],
                    "second_line": None,
                    "city": row["city"],
                    "state": row["state"],
                    "zip": row["zip"],
                    "country": "US",
                    "access_notes": None,
                },
                source=PayorSource.PLATFORM,
                provider=SANDBOX_PROVIDER,
                provider_payor_id=row["payor_code"],
            )
            for row in csv.DictReader(opened)
        )


def _list_payors_of_environment(tenant: Tenant) -> Sequence[PayorEntry]:
    return list_built_in_payors() if tenant.is_sandbox else ()


def _read_payor_row(row: Payor) -> PayorEntry:
    return PayorEntry(
        payor_code=row.payor_code,
        name=row.name,
        aliases=tuple(row.aliases),
        address=row.address,
        source=PayorSource.TEAM,
        provider=row.provider,
        provider_payor_id=row.provider_payor_id,
    )


def _search_listed_payors(
    tenant: Tenant, part: str, provider: str, number: str
) -> list[PayorEntry]:
    if tenant.is_sandbox:
        return []
    rows = ListedPayor.objects.filter(search_text__contains=part).order_by("name")
    if provider:
        rows = rows.filter(provider__iexact=provider)
    if number:
        rows = rows.filter(number=number)
    return [_read_listed_payor(row) for row in rows[:FOUND_AT_MOST]]


def _read_listed_payor(row: ListedPayor) -> PayorEntry:
    return PayorEntry(
        payor_code=row.payor_code,
        name=row.name,
        aliases=tuple(row.aliases),
        address=row.address,
        source=PayorSource.PLATFORM,
        provider=row.provider,
        provider_payor_id=row.number,
    )


def _record_insurance_change(user: User, actor: Actor, changed: list[str]) -> None:
    record_change(
        tenant=user.tenant,
        actor=actor,
        verb="record_insurance",
        subject="insurance",
        subject_id=user.uuid,
        user_uuid=user.uuid,
        changes={"fields": changed},
    )
