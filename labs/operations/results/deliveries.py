"""Store result deliveries: each creates a version of an order's results.

Every source of results (sandbox, HL7, tests) calls store_result_delivery.
"""

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from accounts.webhooks.operations import emit_event
from labs.models import MissingResult, Result, ResultVersion, SampleData
from labs.operations.order_status.status import (
    advance_order,
    audit_order_change,
    emit_order_event,
    lock_order,
)
from labs.operations.order_status.tracking import watch_order_tracking
from labs.operations.results.critical import open_critical_alert
from labs.operations.results.rows import (
    build_missing_result_row,
    build_result_row,
    find_orderable_markers,
    list_unreported_results,
)
from labs.operations.results_out import enqueue_results_message
from labs.payloads import build_critical_result_event
from labs.queries.orders.history import (
    find_last_known_order_status,
    has_order_ended,
)
from labs.queries.results.results import (
    RESULT_CONTENT,
    find_current_result_version,
    get_result_identity_key,
    list_changed_fields,
    list_missing_results_of_version,
    list_results_of_version,
)
from labs.states.orders import (
    Interpretation,
    build_order_status,
    get_allowed_order_transitions,
    split_order_status,
)
from labs.states.results import ResultStatus, get_worst_interpretation
from portal.lib.errors import DomainError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from labs.gateways.results import ReportedSample, ResultDelivery
    from labs.models import Order
    from labs.operations.results.rows import Orderables
    from portal.lib.actor import Actor

_GAP_CONTENT = ("name", "failure_type", "note", "loinc", "source_markers")
_SAMPLE_CONTENT = (
    "control_number",
    "collected_at",
    "collected_offset",
    "received_at",
    "received_offset",
    "reported_at",
    "reported_offset",
    "laboratories",
    "fasting",
    "notes",
    "information",
    "total_volume",
)
_ENDED = {"completed", "corrected"}
# Steps that a lab's results imply, even if they were not reported.
_IMPLIED = ("draw_completed", "delivered_to_lab")
_NOT_COPIED = {"id", "version"}


@transaction.atomic
def store_result_delivery(
    *, order: Order, actor: Actor, delivery: ResultDelivery
) -> ResultVersion:
    """Store a lab's delivery as a new version, advance the order and emit events.

    The version holds the whole: rows of the one before stay where the delivery says
    nothing of them. A row gives way to a later one of the same code, never to one
    reported earlier, nor a final one to a preliminary one. A delivery that changes
    nothing makes no version: the current one is returned, so that messages may come
    twice. Once final, results stay final, and what changes them is a correction.

    Partial results take the order to partial_results, told of by webhook where the team
    asks for it (a kit has no such step), final ones to completed, corrections to
    corrected. In any state from the requisition on, the step that results prove, a draw
    or a kit's arrival at the lab, is taken first; what nobody saw is not. A critical
    result that is new emits labtest.result.critical as well. Raises: results_missing,
    of a delivery of nothing; results_not_expected, where the order has ended, has no
    requisition, or is a kit without patient (nothing is written: keep the delivery).
    Source: Contract D24, 6.12, 6.15, 6.19, 8.2.
    """
    _require_results(delivery)
    order = lock_order(order)
    before = find_current_result_version(order=order)
    is_final = _is_final_with(delivery, before)
    steps = _steps_to_take(order, is_final=is_final, has_results=before is not None)
    return _store_delivery(order, actor, delivery, before, steps, is_final=is_final)


@transaction.atomic
def store_result_delivery_after_end(
    *, order: Order, actor: Actor, delivery: ResultDelivery
) -> ResultVersion:
    """Store a lab's delivery for an order that ended without it, such as a lost kit.

    A person decided that the results are this order's. Its status stays as it is: it
    did end, and no step that nobody saw is added. Everything else is as in
    store_result_delivery: versions, labtest.order.updated, critical alerts. Raises:
    results_missing; order_not_ended. Source: Contract D24; Ours: what a lab measured is
    readable where the patient's other results are.
    """
    _require_results(delivery)
    order = lock_order(order)
    require_order_ended(order)
    before = find_current_result_version(order=order)
    is_final = _is_final_with(delivery, before)
    return _store_delivery(order, actor, delivery, before, [], is_final=is_final)


def require_order_accepts_results(order: Order) -> None:
    """Refuse an order that has ended, has no requisition, or is a kit without patient.

    Raises: results_not_expected; store_result_delivery checks again.
    """
    before = find_current_result_version(order=order)
    _steps_to_take(order, is_final=False, has_results=before is not None)
    if order.patient_details is None:
        raise _build_not_expected_error(order)


def require_order_ended(order: Order) -> None:
    """Refuse an order that its results still move. Raises: order_not_ended."""
    if not has_order_ended(order):
        raise DomainError(
            "order_not_ended",
            _("This order has not ended. Match the report to it."),
            "order",
        )


def _require_results(delivery: ResultDelivery) -> None:
    if not (delivery.results or delivery.missing):
        raise DomainError("results_missing", _("Send at least one result."))


def _is_final_with(delivery: ResultDelivery, before: ResultVersion | None) -> bool:
    """Return whether results are final with a delivery; once final, they stay so."""
    was_final = before is not None and before.status == ResultStatus.FINAL
    return was_final or delivery.status == ResultStatus.FINAL


def _store_delivery(
    order: Order,
    actor: Actor,
    delivery: ResultDelivery,
    before: ResultVersion | None,
    steps: list[str],
    *,
    is_final: bool,
) -> ResultVersion:
    rows, gaps = _merge_rows(
        before,
        delivery,
        find_orderable_markers(order=order, delivery=delivery),
        is_final=is_final,
    )
    samples = _merge_samples(before, delivery.samples)
    status = ResultStatus.FINAL if is_final else ResultStatus.PARTIAL
    if before is not None and _is_unchanged(before, status, rows, gaps, samples):
        return before
    is_told = is_final or order.tenant.partial_webhooks_enabled
    with watch_order_tracking(order) if is_told else nullcontext():
        version = _store_version(
            order, actor, delivery, before, status, rows, gaps, samples
        )
    _advance_order_with_results(order, actor, version, steps)
    enqueue_results_message(order)
    audit_order_change(
        order,
        actor,
        "store_results",
        {"version": [before.number if before else None, version.number]},
    )
    return version


def _steps_to_take(order: Order, *, is_final: bool, has_results: bool) -> list[str]:
    """Return the low-level statuses a delivery advances its order through."""
    here = find_last_known_order_status(order)
    goal = "completed" if is_final else "partial_results"
    if split_order_status(here).low in _ENDED:
        return ["corrected"] if has_results else []
    is_kit = not _method_has_status(order.method, goal)
    steps = _steps_to(order, here, "completed" if is_kit else goal)
    return steps[:-1] if is_kit else steps


def _steps_to(order: Order, here: str, goal: str) -> list[str]:
    moves = dict(
        get_allowed_order_transitions(order.method, registrable=order.is_registrable)
    )
    following = moves.get(here, frozenset())
    if any(split_order_status(status).low == goal for status in following):
        return [goal]
    for status in sorted(following):
        low = split_order_status(status).low
        after = {split_order_status(one).low for one in moves[status]}
        if low in _IMPLIED and goal in after:
            return [low, goal]
    raise _build_not_expected_error(order)


def _build_not_expected_error(order: Order) -> DomainError:
    return DomainError(
        "results_not_expected",
        _("An order in status %(status)s does not accept results.")
        % {"status": order.status},
    )


def _method_has_status(method: str, low: str) -> bool:
    try:
        build_order_status(method, low)
    except (KeyError, ValueError):
        return False
    return True


def _merge_rows(
    before: ResultVersion | None,
    delivery: ResultDelivery,
    orderables: Orderables,
    *,
    is_final: bool,
) -> tuple[list[Result], list[MissingResult]]:
    """Return the next version's rows: the earlier ones updated by the delivery."""
    rows = (
        {get_result_identity_key(row): row for row in list_results_of_version(before)}
        if before
        else {}
    )
    gaps = (
        {
            get_result_identity_key(row): row
            for row in list_missing_results_of_version(before)
        }
        if before
        else {}
    )
    for reported in delivery.results:
        row = build_result_row(reported, orderables, delivery.reported_at)
        key = get_result_identity_key(row)
        if key not in rows or _replaces_row(row, rows[key]):
            rows[key] = row
            gaps.pop(key, None)
    for missing in delivery.missing:
        gap = build_missing_result_row(missing, orderables)
        key = get_result_identity_key(gap)
        current = rows.get(key)
        if current is None or current.reported_at <= delivery.reported_at:
            rows.pop(key, None)
            gaps[key] = gap
    if is_final:
        inferred = list_unreported_results(
            orderables, list(rows.values()), list(gaps.values())
        )
        gaps |= {get_result_identity_key(gap): gap for gap in inferred}
    return list(rows.values()), list(gaps.values())


def _replaces_row(row: Result, current: Result) -> bool:
    if row.reported_at < current.reported_at:
        return False
    return current.is_preliminary or not row.is_preliminary


def _merge_samples(
    before: ResultVersion | None, reported: Sequence[ReportedSample]
) -> list[SampleData]:
    samples = {one.sample_id: one for one in before.samples.all()} if before else {}
    for one in reported:
        fields: dict[str, Any] = {name: getattr(one, name) for name in _SAMPLE_CONTENT}
        fields["laboratories"] = dict(one.laboratories)
        samples[one.sample_id] = SampleData(sample_id=one.sample_id, **fields)
    return sorted(samples.values(), key=lambda one: one.sample_id)


def _is_unchanged(
    before: ResultVersion,
    status: ResultStatus,
    rows: list[Result],
    gaps: list[MissingResult],
    samples: list[SampleData],
) -> bool:
    old_samples = sorted(before.samples.all(), key=lambda one: one.sample_id)
    ignored = {"reported_at", "reported_offset"}  # a message sent again has later ones
    sampled = tuple(name for name in _SAMPLE_CONTENT if name not in ignored)
    return (
        before.status == status
        and _rows_match(list_results_of_version(before), rows, RESULT_CONTENT)
        and _rows_match(list_missing_results_of_version(before), gaps, _GAP_CONTENT)
        and _rows_match(old_samples, samples, ("sample_id", *sampled))
    )


def _rows_match(old: Sequence[Any], new: Sequence[Any], names: tuple[str, ...]) -> bool:
    return len(old) == len(new) and not any(
        list_changed_fields(was, now, names) for was, now in zip(old, new, strict=True)
    )


def _store_version(
    order: Order,
    actor: Actor,
    delivery: ResultDelivery,
    before: ResultVersion | None,
    status: ResultStatus,
    rows: list[Result],
    gaps: list[MissingResult],
    samples: list[SampleData],
) -> ResultVersion:
    versions = ResultVersion.objects.for_tenant(order.tenant)
    versions.filter(order=order, is_current=True).update(is_current=False)
    overall = (
        get_worst_interpretation(row.interpretation for row in rows)
        or Interpretation.UNKNOWN
    )
    was_final = before is not None and before.status == ResultStatus.FINAL
    version = ResultVersion(
        tenant=order.tenant,
        order=order,
        number=before.number + 1 if before else 1,
        status=status,
        is_correction=was_final or (before is not None and delivery.is_correction),
        interpretation=overall,
        has_new_critical=_has_new_critical(before, rows),
        laboratory=_first_value(delivery, before, "laboratory") or order.lab.name,
        clia_number=_first_value(delivery, before, "clia_number") or "",
        collected_at=_first_value(delivery, before, "collected_at"),
        received_at=_first_value(delivery, before, "received_at"),
        reported_at=max(
            delivery.reported_at, before.reported_at if before else delivery.reported_at
        ),
        actor_kind=str(actor.kind),
        actor_label=actor.label,
    )
    version.save(force_insert=True)
    for model, found in ((Result, rows), (MissingResult, gaps)):
        placed = [_copy_row(row, version, position=n) for n, row in enumerate(found)]
        model.objects.for_tenant(order.tenant).bulk_create(placed)
    SampleData.objects.for_tenant(order.tenant).bulk_create(
        [_copy_row(sample, version) for sample in samples]
    )
    return version


def _first_value(
    delivery: ResultDelivery, before: ResultVersion | None, name: str
) -> Any:
    return getattr(delivery, name) or (getattr(before, name) if before else None)


def _has_new_critical(before: ResultVersion | None, rows: list[Result]) -> bool:
    known = {
        (get_result_identity_key(row), row.result)
        for row in (list_results_of_version(before) if before else ())
        if row.interpretation == Interpretation.CRITICAL
    }
    return any(
        row.interpretation == Interpretation.CRITICAL
        and (get_result_identity_key(row), row.result) not in known
        for row in rows
    )


def _copy_row(row: Any, version: ResultVersion, **fields: Any) -> Any:
    """Return a row copied into this version; earlier versions stay unchanged."""
    columns = {
        column.attname: getattr(row, column.attname)
        for column in row._meta.concrete_fields
        if column.name not in _NOT_COPIED
    }
    return type(row)(
        **{**columns, "tenant_id": version.tenant_id, "version": version, **fields}
    )


def _advance_order_with_results(
    order: Order, actor: Actor, version: ResultVersion, steps: list[str]
) -> None:
    """Advance the order, the last step with its interpretation; emit events."""
    changes: dict[str, Any] = {
        "interpretation": version.interpretation,
        "has_missing_results": version.missing_results.exists(),
    }
    for low in steps:
        advance_order(
            order=order,
            actor=actor,
            to=low,
            changes=changes if low == steps[-1] else None,
        )
    if not steps:
        _record_results_without_step(
            order, changes, is_final=version.status == ResultStatus.FINAL
        )
    if version.has_new_critical:
        open_critical_alert(order=order, version=version)
        emit_event(
            tenant=order.tenant,
            user=order.user.ref,
            event_type="labtest.result.critical",
            data=build_critical_result_event(order),
        )


def _record_results_without_step(
    order: Order, changes: dict[str, Any], *, is_final: bool
) -> None:
    """Record results that advance nothing: a kit's partial ones, an ended order's."""
    for name, value in changes.items():
        setattr(order, name, value)
    order.updated_at = timezone.now()
    order.save(update_fields=[*changes, "updated_at"])
    if is_final or order.tenant.partial_webhooks_enabled:
        emit_order_event(order, "updated")
