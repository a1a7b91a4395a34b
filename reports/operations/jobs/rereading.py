"""Reads a completed report again with the current parser; results do not change."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from accounts.models import Tenant
from accounts.operations.audit.entries import record_change
from portal.lib.errors import Conflict, DomainError, NotFound
from portal.lib.jobs.jobs import enqueue_job
from reports.models import Rereading
from reports.operations.jobs.parsing import parse_uploaded_files
from reports.operations.reading.parsed_rows import serialize_check_notes
from reports.operations.review.reviews import build_initial_review_rows
from reports.operations.review.saving import convert_row_values_as_stored
from reports.parser.loinc.catalogue import build_name_key
from reports.parser.report import FailureReason, UnreadableReport
from reports.queries import (
    RowDiff,
    get_parsing_job,
    list_report_results,
    list_review_rows,
    list_reviews_of_job,
)
from reports.states import ParsingJobStatus, RowDecision

if TYPE_CHECKING:
    from collections.abc import Sequence
    from uuid import UUID

    from portal.lib.actor import Actor
    from reports.models import ParsingJob

REREAD_JOB = "reports.reread"
_COMPARED = (
    "test_name",
    "value",
    "units",
    "reference_range",
    "flag",
    "source_panel_name",
)


@transaction.atomic
def enqueue_report_rereading(
    *, tenant: Tenant, actor: Actor, job_id: UUID
) -> Rereading:
    """Enqueue a new reading of a completed report.

    Raises: not_found (404); report_not_completed; rereading_open (409). Source: Ours
    (workflow D1): a better parser tells what it would say now, and overwrites nobody.
    """
    job = get_parsing_job(tenant=tenant, job_id=job_id)
    if job.status != ParsingJobStatus.COMPLETED:
        raise DomainError("report_not_completed", _("The report is not completed."))
    rows = Rereading.objects.for_tenant(tenant).filter(job=job, finished_at=None)
    if rows.exists():
        raise Conflict("rereading_open", _("The report is already being read again."))
    made = Rereading(
        tenant=tenant,
        job=job,
        asked_by_key=actor.key,
        asked_by_label=actor.label,
    )
    made.save(force_insert=True)
    record_change(
        tenant=tenant,
        actor=actor,
        verb="reread_report",
        subject="parsing_job",
        subject_id=job.id,
        user_uuid=job.user.uuid,
    )
    enqueue_job(
        REREAD_JOB,
        tenant=tenant,
        lock=f"parsing_job:{job.id}",
        rereading_id=made.pk,
    )
    return made


def parse_report_again(*, tenant_pk: int, rereading_id: int) -> None:
    """Parse the report again and store the reading (run by the worker).

    Safe to repeat. Source: Ours: jobs run at least once.
    """
    found = _unfinished(tenant_pk, rereading_id)
    if found is None:
        return
    try:
        report = parse_uploaded_files(found.job)
    except UnreadableReport as refusal:
        found.failure = refusal.reason
    else:
        found.rows = [convert_row_values_as_stored(result) for result in report.results]
        found.notes = serialize_check_notes(report)
    _finish(found)


def fail_rereading_after_retries(*, tenant_pk: int, rereading_id: int) -> None:
    """Fail a reading after all its runs failed."""
    found = _unfinished(tenant_pk, rereading_id)
    if found is not None:
        found.failure = FailureReason.PROCESSING_ERROR
        _finish(found)


def get_rereading(*, tenant: Tenant, job_id: UUID, rereading_id: int) -> Rereading:
    """Return one reading of a report. Raises: not_found, rereading_not_found (404)."""
    job = get_parsing_job(tenant=tenant, job_id=job_id)
    rows = Rereading.objects.for_tenant(tenant).filter(job=job)
    found: Rereading | None = rows.filter(pk=rereading_id).first()
    if found is None:
        raise NotFound("rereading_not_found", _("Reading not found."))
    found.job = job
    return found


def list_rereading_differences(*, rereading: Rereading) -> list[RowDiff]:
    """Return the rows that differ between a new reading and the current results.

    `decision` is what a person made of the row, undecided of one that only the machine
    has read; a row that one side alone has is None on the other. Rows go together where
    their names and values, else their names, are the same, each once.
    """
    left = list(enumerate(rereading.rows or []))
    pairs: list[tuple[str, dict[str, Any] | None, dict[str, Any] | None]] = []
    standing = _current_rows(rereading.job)
    twins: dict[int, dict[str, Any]] = {}
    for same in (_name_and_value, _name):
        for place, (values, _decision) in enumerate(standing):
            if place in twins:
                continue
            twin = next((o for o in left if same(o[1]) == same(values)), None)
            if twin is not None:
                left.remove(twin)
                twins[place] = twin[1]
    for place, (values, decision) in enumerate(standing):
        pairs.append((decision, values, twins.get(place)))
    pairs += [(RowDecision.UNDECIDED, None, values) for _place, values in left]
    return [
        RowDiff(position, decision, before, after, fields)
        for position, (decision, before, after) in enumerate(pairs)
        if (fields := _differing(before, after))
    ]


def _current_rows(job: ParsingJob) -> Sequence[tuple[dict[str, Any], str]]:
    """Return the current rows, each with its decision."""
    reviews = list_reviews_of_job(job=job)
    signed = next((r for r in reviews if r.number == job.version), None)
    if signed is None:
        rows = build_initial_review_rows(list_report_results(job))
        return [(row.values, RowDecision.UNDECIDED) for row in rows]
    return [
        (row.values, row.decision)
        for row in list_review_rows(tenant=job.tenant, review=signed)
        if row.is_included
    ]


def _differing(
    before: dict[str, Any] | None, after: dict[str, Any] | None
) -> tuple[str, ...]:
    if before is None or after is None:
        return ("test_name",)
    fields = [name for name in _COMPARED if (before[name] or "") != (after[name] or "")]
    if _code(before) != _code(after):
        fields.append("loinc_matches")
    return tuple(fields)


def _code(values: dict[str, Any]) -> str:
    matches = values["loinc_matches"]
    return str(matches[0]["loinc_code"]) if matches else ""


def _name(values: dict[str, Any]) -> str:
    return build_name_key(values["test_name"])


def _name_and_value(values: dict[str, Any]) -> tuple[str, str]:
    return _name(values), str(values["value"])


def _unfinished(tenant_pk: int, rereading_id: int) -> Rereading | None:
    tenant = Tenant.objects.select_related("team").filter(pk=tenant_pk).first()
    if tenant is None:
        return None
    rows = Rereading.objects.for_tenant(tenant).select_related("job__user")
    found: Rereading | None = rows.filter(pk=rereading_id, finished_at=None).first()
    if found is not None:
        found.job.tenant = tenant
    return found


def _finish(found: Rereading) -> None:
    found.finished_at = timezone.now()
    found.save(update_fields=["rows", "notes", "failure", "finished_at"])
