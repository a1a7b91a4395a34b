"""A team's critical limits: those that ship, those it changed, and those it added."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from datetime import date
from typing import TYPE_CHECKING
from uuid import uuid4

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from accounts.models import Tenant
from accounts.operations.audit.entries import record_change
from portal.lib.errors import DomainError, NotFound
from portal.lib.units import find_unit_conversion_factor
from reports.models import TeamCriticalLimit
from reports.parser.checks.critical import (
    CriticalCriteria,
    CriticalLimit,
    list_critical_analytes,
    list_units_of_analyte,
    load_critical_limits,
)
from reports.parser.checks.plausibility import load_plausibility_limits
from users.queries import latest_user_info

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from portal.lib.actor import Actor
    from reports.models import ParsingJob
    from reports.parser.report import Metadata

_DAYS_OF_YEAR = 365.25
_OLDEST_DAYS = 130 * 366
OWN_AT_MOST = 200
_SEXES = ("male", "female")


@dataclass(frozen=True, slots=True)
class CriticalLimitInputs:
    """A limit as entered; `unit` as printed or UCUM, ages in days and included."""

    analyte: str
    unit: str
    low: float | None = None
    high: float | None = None
    from_days: int | None = None
    to_days: int | None = None
    sex: str = ""


@dataclass(frozen=True, slots=True)
class CriticalLimitInUse:
    """A limit that values are judged by; `shipped` is what a changed one replaces.

    The changes are empty and None where the team has not touched it.
    """

    limit: CriticalLimit
    name: str
    shipped: CriticalLimit | None = None
    changed_by: str = ""
    changed_at: datetime | None = None

    @property
    def is_changed(self) -> bool:
        """Return whether it is one that ships, with bounds of the team's."""
        return self.shipped is not None and self.limit.is_own

    @property
    def is_off(self) -> bool:
        """Return whether no value is critical by it."""
        return self.limit.low is None and self.limit.high is None


def list_critical_limits(*, tenant: Tenant) -> list[CriticalLimitInUse]:
    """Return all limits in use, by the analyte's name and age; one query."""
    names = list_critical_analytes()
    own = {row.key: row for row in TeamCriticalLimit.objects.for_tenant(tenant)}
    found = []
    for shipped in load_critical_limits():
        row = own.pop(shipped.key, None)
        limit = shipped
        if row is not None:
            limit = replace(shipped, low=row.low, high=row.high, is_own=True)
        found.append(_describe(limit, names, row, shipped))
    found += [_describe(_build_own(row), names, row) for row in own.values()]
    return sorted(
        found,
        key=lambda one: (
            one.name.casefold(),
            one.limit.unit,
            one.limit.from_days or 0,
            one.limit.sex,
            one.limit.key,
        ),
    )


def build_critical_criteria(*, job: ParsingJob, metadata: Metadata) -> CriticalCriteria:
    """Return the limits, age and sex that a report's values are judged by.

    The patient's age at the collection and sex are those on the report, else the
    user's. One query, two where the report is silent.
    """
    text = metadata.date_collected or metadata.date_reported
    seen = date.fromisoformat(text) if text else timezone.now().date()
    born = date.fromisoformat(metadata.dob) if metadata.dob else None
    age, sex = metadata.age, metadata.gender
    if not sex or (born is None and age is None):
        info = latest_user_info(user=job.user)
        sex = sex or (info.gender if info else None)
        if born is None and age is None:
            born = info.dob if info else job.user.fallback_birth_date
    days = None if age is None else round(age * _DAYS_OF_YEAR)
    if born is not None:
        days = (seen - born).days if born <= seen else None
    return CriticalCriteria(
        limits=tuple(one.limit for one in list_critical_limits(tenant=job.tenant)),
        age_days=days,
        sex=sex if sex in _SEXES else None,
    )


@transaction.atomic
def add_critical_limit(
    *, tenant: Tenant, actor: Actor, inputs: CriticalLimitInputs
) -> CriticalLimitInUse:
    """Add a limit of the team's own; it decides before those that ship.

    Raises: marker_unknown, unit_not_convertible, limit_missing, limits_reversed,
    limit_implausible, age_invalid, sex_invalid, limit_exists, too_many_limits. Source:
    Ours: laboratories set limits by their patients and methods, and an impossible limit
    would silence every alert.
    """
    unit = _validate_unit(inputs)
    _validate_bounds(inputs, unit)
    if inputs.low is None and inputs.high is None:
        raise DomainError(
            "limit_missing", _("Enter a low limit, a high limit or both."), "low"
        )
    _validate_patients(inputs)
    Tenant.objects.select_for_update(no_key=True).get(pk=tenant.pk)
    rows = TeamCriticalLimit.objects.for_tenant(tenant)
    own = rows.exclude(key__in=[one.key for one in load_critical_limits()])
    if own.count() >= OWN_AT_MOST:
        raise DomainError(
            "too_many_limits", _("A team can have at most 200 limits of its own.")
        )
    about: dict[str, object] = {
        "analyte": inputs.analyte,
        "unit": unit,
        "sex": inputs.sex,
        "from_days": inputs.from_days or None,
        "to_days": inputs.to_days,
    }
    if own.filter(**about).exists():
        raise DomainError(
            "limit_exists",
            _("Your team already has a limit for this marker, unit, age and sex."),
            "analyte",
        )
    key = str(uuid4())
    values: dict[str, object] = {"low": inputs.low, "high": inputs.high}
    rows.create(tenant=tenant, key=key, changed_by_label=actor.label, **about, **values)
    _record(tenant, actor, "add_critical_limit", key, {}, about | values)
    return get_critical_limit(tenant=tenant, key=key)


@transaction.atomic
def change_critical_limit(
    *, tenant: Tenant, actor: Actor, key: str, low: float | None, high: float | None
) -> CriticalLimitInUse:
    """Change the bounds of a limit; None on both sides switches it off.

    Raises: critical_limit_not_found (404); limits_reversed, limit_implausible. Source:
    Ours.
    """
    Tenant.objects.select_for_update(no_key=True).get(pk=tenant.pk)
    before = get_critical_limit(tenant=tenant, key=key)
    limit = before.limit
    inputs = CriticalLimitInputs(limit.analyte, limit.unit, low, high)
    _validate_bounds(inputs, limit.unit)
    if (limit.low, limit.high) == (low, high):
        return before
    shipped = before.shipped
    rows = TeamCriticalLimit.objects.for_tenant(tenant)
    if shipped is not None and (shipped.low, shipped.high) == (low, high):
        rows.filter(key=key).delete()
    else:
        rows.update_or_create(
            key=key,
            defaults={
                "low": low,
                "high": high,
                "changed_by_label": actor.label,
                "changed_at": timezone.now(),
            },
            create_defaults={
                "tenant": tenant,
                "analyte": limit.analyte,
                "unit": limit.unit,
                "low": low,
                "high": high,
                "changed_by_label": actor.label,
            },
        )
    _record(
        tenant,
        actor,
        "change_critical_limit",
        key,
        {"low": limit.low, "high": limit.high},
        {"low": low, "high": high},
    )
    return get_critical_limit(tenant=tenant, key=key)


@transaction.atomic
def revert_critical_limit(*, tenant: Tenant, actor: Actor, key: str) -> None:
    """Restore the bounds that ship, or remove a limit of the team's own.

    A limit that the team has not touched stays as it is. Raises:
    critical_limit_not_found (404). Source: Ours.
    """
    Tenant.objects.select_for_update(no_key=True).get(pk=tenant.pk)
    before = get_critical_limit(tenant=tenant, key=key)
    if not before.limit.is_own:
        return
    TeamCriticalLimit.objects.for_tenant(tenant).filter(key=key).delete()
    shipped = before.shipped
    _record(
        tenant,
        actor,
        "revert_critical_limit" if shipped else "remove_critical_limit",
        key,
        {"low": before.limit.low, "high": before.limit.high},
        {"low": shipped.low, "high": shipped.high} if shipped else {},
    )


def get_critical_limit(*, tenant: Tenant, key: str) -> CriticalLimitInUse:
    """Return a limit in use. Raises: critical_limit_not_found (404)."""
    for one in list_critical_limits(tenant=tenant):
        if one.limit.key == key:
            return one
    raise NotFound("critical_limit_not_found", _("Critical limit not found."))


def _describe(
    limit: CriticalLimit,
    names: Mapping[str, str],
    row: TeamCriticalLimit | None,
    shipped: CriticalLimit | None = None,
) -> CriticalLimitInUse:
    return CriticalLimitInUse(
        limit=limit,
        name=names.get(limit.analyte, limit.analyte),
        shipped=shipped,
        changed_by=row.changed_by_label if row else "",
        changed_at=row.changed_at if row else None,
    )


def _build_own(row: TeamCriticalLimit) -> CriticalLimit:
    return CriticalLimit(
        key=row.key,
        analyte=row.analyte,
        unit=row.unit,
        low=row.low,
        high=row.high,
        from_days=row.from_days,
        to_days=row.to_days,
        sex=row.sex,
        is_own=True,
    )


def _validate_unit(inputs: CriticalLimitInputs) -> str:
    """The unit in UCUM. Raises: marker_unknown, unit_not_convertible."""
    if inputs.analyte not in list_critical_analytes():
        raise DomainError("marker_unknown", _("Choose a marker."), "analyte")
    text = inputs.unit.strip()
    has_unit = text not in {"", "1"}
    units = list_units_of_analyte(inputs.analyte, text) if has_unit else ("1",)
    for unit in units:
        for known in load_plausibility_limits()[inputs.analyte]:
            if unit == known.unit or find_unit_conversion_factor(unit, known.unit):
                return unit
    raise DomainError(
        "unit_not_convertible",
        _("Enter a unit that this marker is reported in, for example %(unit)s.")
        % {"unit": load_plausibility_limits()[inputs.analyte][0].unit},
        "unit",
    )


def _validate_bounds(inputs: CriticalLimitInputs, unit: str) -> None:
    """Refuse bounds no value reaches. Raises: limits_reversed, limit_implausible."""
    low, high = inputs.low, inputs.high
    if low is not None and high is not None and low >= high:
        raise DomainError(
            "limits_reversed", _("The low limit must be below the high limit."), "low"
        )
    for field, bound in (("low", low), ("high", high)):
        if bound is None:
            continue
        for known in load_plausibility_limits()[inputs.analyte]:
            same = unit == known.unit
            factor = 1 if same else find_unit_conversion_factor(unit, known.unit)
            if factor is None:
                continue
            size = bound * float(factor)
            if not (math.isfinite(size) and known.least <= size <= known.most):
                raise DomainError(
                    "limit_implausible",
                    _(
                        "%(bound)s %(unit)s is outside the plausible range"
                        " (%(least)s–%(most)s)."
                    )
                    % {
                        "bound": f"{bound:g}",
                        "unit": "" if unit == "1" else unit,
                        "least": f"{known.least / float(factor):.4g}",
                        "most": f"{known.most / float(factor):.4g}",
                    },
                    field,
                )


def _validate_patients(inputs: CriticalLimitInputs) -> None:
    """Raises: age_invalid, sex_invalid."""
    first, last = inputs.from_days or 0, inputs.to_days
    is_of_age = 0 <= first <= _OLDEST_DAYS
    if not is_of_age or (last is not None and not first <= last <= _OLDEST_DAYS):
        raise DomainError(
            "age_invalid",
            _("Enter ages from 0 to 130 years, the youngest first."),
            "from_days",
        )
    if inputs.sex not in {"", *_SEXES}:
        raise DomainError("sex_invalid", _("Choose male, female or both."), "sex")


def _record(
    tenant: Tenant,
    actor: Actor,
    verb: str,
    key: str,
    before: Mapping[str, object],
    after: Mapping[str, object],
) -> None:
    record_change(
        tenant=tenant,
        actor=actor,
        verb=verb,
        subject="critical_limit",
        subject_id=key,
        changes={
            name: [before.get(name), after.get(name)]
            for name in (*before, *(name for name in after if name not in before))
        },
    )
