"""Storing lab reports that other institutions made of a user."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

import orjson
from django.db import transaction

from accounts.declarations.hooks import StoredLabReports
from reports.models import OutsideReport
from users.queries import live_user
from users.wearables.formats.fhir.lab_reports import find_report_time
from users.wearables.formats.fhir.values import parse_fhir_time

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from uuid import UUID

    from accounts.models import Tenant
    from users.models import User

# When the phone first had it, which says nothing of the report.
_NOT_OF_THE_REPORT = {"received"}


@transaction.atomic
def store_outside_reports(
    tenant: Tenant, user_uuid: UUID, provider: str, reports: Sequence[Mapping[str, Any]]
) -> StoredLabReports:
    """Store reports of other institutions as they are, each once.

    A report that differs from the stored one is its next version, unless its source
    changed it earlier. A result that was stored alone goes where a report holds it, and
    one that a stored report holds is not stored again. Nothing is reviewed, no alert is
    opened: what another institution reported was that institution's to act on.

    Shape of reports: read_lab_report's, with source, fhir_version and received.
    Raises: not_found. Source: Ours (spec silent): FHIR R4 DiagnosticReport.
    """
    user = live_user(tenant=tenant, user_id=user_uuid)
    created = updated = 0
    for report in reports:
        number = _store(user, provider, report)
        created += number == 1
        updated += number > 1
    return StoredLabReports(created, updated)


def _store(user: User, provider: str, report: Mapping[str, Any]) -> int:
    """Return the number of the version that was stored, 0 for none."""
    mine = OutsideReport.objects.for_tenant(user.tenant).filter(
        user=user,
        provider=provider,
        institution=report["source"],
        is_current=True,
    )
    content = {name: report[name] for name in report if name not in _NOT_OF_THE_REPORT}
    digest = hashlib.sha256(orjson.dumps(content, option=orjson.OPT_SORT_KEYS))
    changed_at = parse_fhir_time(report["source_updated"])
    before: OutsideReport | None = mine.filter(record_id=report["record_id"]).first()
    if before is not None:
        if before.digest == digest.hexdigest():
            return 0
        if before.source_updated_at and (
            changed_at is None or changed_at < before.source_updated_at
        ):
            return 0
    elif mine.filter(result_ids__contains=[report["record_id"]]).exists():
        return 0
    ids = [result["record_id"] for result in report["results"]]
    inside = mine.filter(record_id__in=set(ids) - {report["record_id"]})
    inside.update(is_current=False)
    if before is not None:
        mine.filter(pk=before.pk).update(is_current=False)
    stored = OutsideReport(
        tenant=user.tenant,
        user=user,
        provider=provider,
        institution=report["source"],
        record_id=report["record_id"],
        number=before.number + 1 if before else 1,
        fhir_version=report["fhir_version"],
        dated_at=find_report_time(dict(report)),
        results=report["results"],
        result_ids=[each for each in ids if each != report["record_id"]],
        digest=digest.hexdigest(),
        source_updated_at=changed_at,
        received_at=report["received"] or None,
        **{name: report[name] for name in _COPIED},
    )
    stored.save(force_insert=True)
    return stored.number


_COPIED = (
    "name",
    "loinc",
    "codes",
    "status",
    "collected",
    "issued",
    "laboratory",
    "conclusion",
    "attachments",
    "missing_results",
)
