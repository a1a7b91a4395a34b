"""Reads that decide whether a report may count: its patient, and earlier reports."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, timedelta
from typing import TYPE_CHECKING, Any

from django.db.models import Q
from django.db.models.fields.json import KT
from django.utils import timezone

from accounts.states import CheckMode
from labs.queries.orders.sample_ids import is_any_sample_id_of_other_order
from portal.lib.person_names import NameAgreement, PersonName, compare_person_names
from reports.models import ParsingJob
from reports.states import (
    DUPLICATE_REASONS,
    HOLD_REASON_CHECKS,
    PATIENT_REASONS,
    HoldReason,
    ParsingJobStatus,
)
from users.queries import latest_user_info

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from accounts.models import Tenant
    from reports.models import ParsingJobQuerySet, Review

_SEX = {"m": "male", "f": "female"}
_YEAR = timedelta(days=365.25)
# Signs of a number that laboratories do not use again the next day.
_OWN_NUMBER_FROM = 6
# A printed age is whole years, often as the patient told them at the desk.
_AGE_SLACK = 3.0


@dataclass(frozen=True, slots=True)
class IdentityLine:
    """One patient detail on the report and on the user; agrees is None if unknown."""

    field: str
    on_report: str
    on_user: str
    agrees: bool | None


def compare_report_patient_with_user(
    *, job: ParsingJob, metadata: Mapping[str, Any] | None = None
) -> list[IdentityLine]:
    """Compare the patient on the report with the user, or with their order's patient.

    One query.

    metadata: of a report that is not stored yet, else the job's. Source: Ours; a report
    under another person's name is the worst error of all.
    """
    read = (job.metadata or {}) if metadata is None else metadata
    printed = PersonName(
        read.get("patient_first_name") or "", read.get("patient_last_name") or ""
    )
    known, born, own_sex = _get_known_patient(job)
    is_born_alike = _are_birth_dates_alike(read, born)
    sex = read.get("gender") or ""
    is_sex_alike = _are_sexes_alike(sex, own_sex)
    return [
        IdentityLine(
            "name",
            f"{printed.first} {printed.last}".strip(),
            f"{known.first} {known.last}".strip(),
            _are_names_alike(printed, known, born=is_born_alike, sex=is_sex_alike),
        ),
        IdentityLine(
            "dob",
            _describe_birth_date(read),
            born.isoformat() if born else "",
            is_born_alike,
        ),
        IdentityLine("gender", sex, own_sex, is_sex_alike),
    ]


def _get_known_patient(job: ParsingJob) -> tuple[PersonName, date | None, str]:
    """Return the name, birth date and sex of the order's patient, or of the user."""
    order = job.order if job.order_id else None
    if order is not None and order.patient_details is not None:
        details = order.patient_details
        name = PersonName(details.get("first_name", ""), details.get("last_name", ""))
        return name, order.patient_dob, details.get("gender") or ""
    info = latest_user_info(user=job.user)
    if info is None:
        return PersonName("", ""), job.user.fallback_birth_date, ""
    return PersonName(info.first_name, info.last_name), info.dob, info.gender


def is_identity_undecided(
    *, review: Review, lines: Iterable[IdentityLine] | None = None
) -> bool:
    """Return whether a reviewer has to settle whose report it is, or why it is held.

    lines: of compare_report_patient_with_user, where they are known already.
    """
    if review.identity_decided:
        return False
    if lines is None:
        lines = compare_report_patient_with_user(job=review.job)
    held = set(review.job.hold_reasons) - DUPLICATE_REASONS
    return bool(held) or any(line.agrees is False for line in lines)


def list_patient_findings(
    *, job: ParsingJob, metadata: Mapping[str, Any] | None = None
) -> list[HoldReason]:
    """Return what differs between the report's patient and the user; one query.

    Checks that the team has turned off find nothing. metadata: as in
    compare_report_patient_with_user.
    """
    lines = compare_report_patient_with_user(job=job, metadata=metadata)
    found = [PATIENT_REASONS[line.field] for line in lines if line.agrees is False]
    return [one for one in found if get_check_mode(job.tenant, one) != CheckMode.OFF]


def select_hold_reasons(
    tenant: Tenant, findings: Iterable[HoldReason]
) -> list[HoldReason]:
    """Return the findings that hold a report by the team's settings."""
    return [one for one in findings if get_check_mode(tenant, one) == CheckMode.HOLD]


def list_order_findings(
    *, job: ParsingJob, metadata: Mapping[str, Any], has_ordered_row: bool
) -> list[HoldReason]:
    """Return what speaks against a report being its order's; none without an order.

    metadata: of the report that is about to be stored. Two queries. A laboratory may
    print a number of its own in place of the sample ID, so another number is no
    contradiction, but that of another order is, wherever it is printed, unless the
    report's own number is this order's. Source: Ours.
    """
    if job.order_id is None:
        return []
    assert job.order is not None  # noqa: S101 - for the type checker
    own = _fold(job.order.sample_id)
    number = metadata.get("specimen_number") or ""
    numbers = {number, *metadata.get("printed_numbers", ())} - {""}
    is_own = bool(own) and own in {_fold(one) for one in numbers}
    is_of_other = not (own and _fold(number) == own) and (
        is_any_sample_id_of_other_order(order=job.order, numbers=numbers)
    )
    lines = {
        line.field: line.agrees
        for line in compare_report_patient_with_user(job=job, metadata=metadata)
    }
    found = []
    if is_of_other or not has_ordered_row:
        found.append(HoldReason.ORDER_MISMATCH)
    if not is_own and not (lines["name"] and lines["dob"]):
        found.append(HoldReason.ORDER_UNCONFIRMED)
    return found


def _fold(number: str) -> str:
    return "".join(sign for sign in number.upper() if sign.isalnum())


def get_check_mode(tenant: Tenant, reason: HoldReason) -> CheckMode:
    """Return what the team has set for what a check found."""
    return tenant.get_report_check_mode(HOLD_REASON_CHECKS[reason])


def find_duplicate_reports(
    *, job: ParsingJob, metadata: Mapping[str, Any] | None = None
) -> list[ParsingJob]:
    """Return jobs of the same file, or of the same specimen and day, newest first.

    Also at other users of the team. A day that either report does not tell is no
    difference. Failed jobs and those of deleted users are left out. metadata: as in
    compare_report_patient_with_user. One query, by indexes.
    """
    rows: ParsingJobQuerySet = ParsingJob.objects.for_tenant(job.tenant).live()
    alike = Q(sha256=job.sha256)
    read = (job.metadata or {}) if metadata is None else metadata
    specimen, day = read.get("specimen_number"), read.get("date_collected")
    if specimen:
        same_day = Q(day=day) if day else Q()
        # A short number comes back every day, so it needs its day.
        if day and len(specimen) >= _OWN_NUMBER_FROM:
            same_day |= Q(day=None)
        if day or len(specimen) >= _OWN_NUMBER_FROM:
            alike |= Q(specimen=specimen) & same_day
    found = (
        rows.alias(
            specimen=KT("metadata__specimen_number"),
            day=KT("metadata__date_collected"),
        )
        .filter(alike)
        .exclude(id=job.id)
        .exclude(status=ParsingJobStatus.FAILED)
    )
    return list(found.select_related("user").order_by("-created_at", "id"))


def _are_names_alike(
    printed: PersonName, known: PersonName, *, born: bool | None, sex: bool | None
) -> bool | None:
    """Whether two names may be one person's; None where either names nobody.

    A family name changes by marriage: the given name and the birth date are enough,
    unless the sexes differ.
    """
    match compare_person_names(printed, known, born_alike=born is True):
        case NameAgreement.SAME:
            return True
        case NameAgreement.UNKNOWN:
            return None
        case NameAgreement.GIVEN_NAME_ONLY:
            return born is True and sex is not False
        case NameAgreement.DIFFERENT:
            return False


def _are_birth_dates_alike(read: Mapping[str, Any], born: date | None) -> bool | None:
    """Whether the printed birth date, or else the printed age, may be the user's.

    Day and month may be the other way round, as both orders are in use; a year of two
    digits may be of the other century.
    """
    if born is None:
        return None
    printed = [read["dob"]] if read.get("dob") else read.get("possible_dobs") or []
    if printed:
        return any(_is_one_day(date.fromisoformat(day), born) for day in printed)
    age = read.get("age")
    if age is None:
        return None
    text = read.get("date_collected") or read.get("date_reported")
    seen = date.fromisoformat(text) if text else timezone.now().date()
    return bool(abs((seen - born) / _YEAR - age) < _AGE_SLACK)


def _is_one_day(printed: date, born: date) -> bool:
    months = {(born.month, born.day), (born.day, born.month)}
    years = {born.year, born.year + 100}
    return printed.year in years and (printed.month, printed.day) in months


def _describe_birth_date(read: Mapping[str, Any]) -> str:
    if read.get("dob"):
        return str(read["dob"])
    return " / ".join(read.get("possible_dobs") or ())


def _are_sexes_alike(first: str, second: str) -> bool | None:
    """Whether two words mean one sex; None where either is no plain answer."""
    plain = [_SEX.get(word, word) for word in (first.casefold(), second.casefold())]
    if not all(word in {"male", "female"} for word in plain):
        return None
    return plain[0] == plain[1]
