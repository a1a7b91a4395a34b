"""Show an endpoint with its log, and one delivery."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from django.contrib import messages
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from accounts.operations.audit.entries import record_read
from accounts.states import Area
from accounts.web.columns import read_list_columns
from accounts.web.rights import require_right
from accounts.webhooks.diagnosis.endpoint import diagnose_webhook_endpoint
from accounts.webhooks.operations.replay import cancel_delivery_retries, resend_delivery
from accounts.webhooks.operations.testing import find_first_subscribed_event_type
from accounts.webhooks.queries.health import (
    count_delivery_outcomes_by_hour,
    measure_endpoint_health,
    summarize_attempts_for_diagnosis,
)
from accounts.webhooks.queries.log import (
    COUNTED_UP_TO,
    Answer,
    Outcome,
    Tries,
    count_matching_deliveries,
    list_delivery_attempts,
    list_webhook_deliveries,
)
from accounts.webhooks.queries.replays import list_recent_webhook_replays
from accounts.webhooks.states import DeliveryFault, DeliveryStatus
from accounts.webhooks.web.columns import DELIVERIES
from accounts.webhooks.web.endpoints import describe_subscribed_events
from accounts.webhooks.web.finding import (
    get_delivery_or_404,
    get_endpoint_display_name,
    get_endpoint_or_404,
)
from accounts.webhooks.web.forms import PERIOD_LABELS, LogQuery, group_event_types
from accounts.webhooks.web.payloads import (
    decode_response_body,
    list_sent_headers,
    mask_event_payload,
    may_read_event_payload,
    parse_event_payload,
    render_attempt_as_curl,
    verify_attempt_signature,
)
from portal.lib.database.sorting import SORTED_UP_TO
from portal.lib.errors import DomainError
from portal.lib.web.views import (
    is_page_fragment_requested,
    page_url,
    parse_list_offset,
    redirect_browser,
    render_page,
)
from portal.ui.charts import draw_hourly_delivery_outcomes
from portal.ui.numbers import format_number

if TYPE_CHECKING:
    from django.http import HttpResponse

    from accounts.web.requests import TenantRequest
    from accounts.webhooks.models import Attempt, Delivery

PAGE_SIZE = 50
HOURS = 48
REPLAYS_SHOWN = 3
# A page asks again while what it shows is about to change.
_SOON = timedelta(minutes=2)
POLL_S = 3


@dataclass(frozen=True, slots=True)
class DeliveryRow:
    """A delivery as the log shows it; `status` is a value of the look's pills."""

    delivery: Delivery
    status: str
    answer: str
    next_at: datetime | None


@dataclass(frozen=True, slots=True)
class AttemptRow:
    """An attempt in the list of them."""

    attempt: Attempt
    met: str


@require_GET
@require_right(Area.WEBHOOKS)
def show_webhook_endpoint(request: TenantRequest, endpoint_id: str) -> HttpResponse:
    endpoint = get_endpoint_or_404(request, endpoint_id)
    parsed = LogQuery.read(request.GET)
    columns = read_list_columns(request, DELIVERIES)
    page = list_webhook_deliveries(
        endpoint=endpoint,
        filters=parsed.filters,
        before=_read_cursor(request.GET.get("before", "")),
        limit=PAGE_SIZE,
        order_by=columns.order_asked,
        offset=parse_list_offset(request),
    )
    record_read(
        tenant=request.tenant,
        actor=request.actor,
        subject="delivery_list",
        subject_id=endpoint.uuid,
    )
    log: dict[str, Any] = {
        "endpoint": endpoint,
        "asked": parsed,
        "rows": [build_delivery_row(delivery) for delivery in page.deliveries],
        "after": _write_cursor(page.after),
        "next_offset": page.next_offset,
        "columns": columns,
    }
    if is_page_fragment_requested(request) and "before" in request.GET:
        return render_page(request, "webhooks/_older.html", **log)
    log |= _choices(parsed)
    if request.rights.allow(Area.WEBHOOKS, write=True) and not endpoint.disabled_at:
        log["test_type"] = find_first_subscribed_event_type(endpoint)
    log["total"] = count_matching_deliveries(endpoint=endpoint, filters=parsed.filters)
    log["counted_up_to"] = COUNTED_UP_TO
    log["is_sort_cut"] = columns.is_partial and log["total"] > SORTED_UP_TO
    if is_page_fragment_requested(request):
        return render_page(request, "webhooks/_log.html", **log)
    health = measure_endpoint_health([endpoint])[endpoint.pk]
    hours = count_delivery_outcomes_by_hour([endpoint], hours=HOURS)[endpoint.pk]
    diagnosis = diagnose_webhook_endpoint(
        summarize_attempts_for_diagnosis(endpoint, health)
    )
    return render_page(
        request,
        "webhooks/endpoint.html",
        name=get_endpoint_display_name(endpoint),
        events=describe_subscribed_events(endpoint),
        health=health,
        diagnosis=diagnosis,
        diagnosis_icon="check" if diagnosis.family == "ok" else "",
        bars=draw_hourly_delivery_outcomes(
            [(hour.delivered, hour.retried, hour.failed) for hour in hours],
            says=_hours_say(
                sum(hour.delivered for hour in hours),
                sum(hour.retried for hour in hours),
                sum(hour.failed for hour in hours),
            ),
        ),
        bars_from=timezone.now() - timedelta(hours=HOURS),
        replays=list_recent_webhook_replays(endpoint=endpoint, limit=REPLAYS_SHOWN),
        may_write=request.rights.allow(Area.WEBHOOKS, write=True),
        section="webhooks",
        **log,
    )


@require_http_methods(["GET", "POST"])
@require_right(Area.WEBHOOKS)
def show_webhook_delivery(
    request: TenantRequest, endpoint_id: str, message_id: str
) -> HttpResponse:
    """Show one delivery; a POST reveals its payload, which is audited."""
    delivery = get_delivery_or_404(request, endpoint_id, message_id)
    attempts = list_delivery_attempts(delivery)
    attempt = _chosen(attempts, request.GET.get("attempt", ""))
    event = delivery.event
    is_readable = may_read_event_payload(request.rights, event.event_type)
    is_shown = request.method == "POST" and is_readable
    answer = decode_response_body(attempt) if attempt and is_readable else ""
    for is_read, subject in ((is_shown, "delivery_payload"), (answer, "answer")):
        if is_read:
            record_read(
                tenant=request.tenant,
                actor=request.actor,
                subject=subject,
                subject_id=event.message_id,
                user_uuid=event.user_uuid,
            )
    row = build_delivery_row(delivery)
    return render_page(
        request,
        "webhooks/delivery.html",
        fragment="webhooks/_delivery.html",
        endpoint=delivery.endpoint,
        name=get_endpoint_display_name(delivery.endpoint),
        delivery=delivery,
        event=event,
        row=row,
        attempts=[AttemptRow(each, _describe_failure(each)) for each in attempts],
        attempt=attempt,
        met=_describe_failure(attempt) if attempt else "",
        payload=parse_event_payload(event.body)
        if is_shown
        else mask_event_payload(event.body),
        size=len(event.body.encode()),
        is_readable=is_readable,
        is_shown=is_shown,
        headers=list_sent_headers(delivery, attempt) if attempt else [],
        answer=answer,
        verification=verify_attempt_signature(delivery, attempt) if attempt else None,
        curl=render_attempt_as_curl(delivery, attempt) if attempt and is_shown else "",
        poll_seconds=POLL_S if not is_shown and _is_about_to_change(delivery) else None,
        may_write=request.rights.allow(Area.WEBHOOKS, write=True),
        section="webhooks",
    )


@require_POST
@require_right(Area.WEBHOOKS, write=True)
def resend_webhook_delivery(
    request: TenantRequest, endpoint_id: str, message_id: str
) -> HttpResponse:
    delivery = get_delivery_or_404(request, endpoint_id, message_id)
    try:
        resend_delivery(delivery=delivery, actor=request.actor)
    except DomainError as refusal:
        messages.error(
            request, _("%(reason)s Nothing was sent.") % {"reason": refusal.message}
        )
    return _back(request, endpoint_id, message_id)


@require_POST
@require_right(Area.WEBHOOKS, write=True)
def cancel_webhook_delivery(
    request: TenantRequest, endpoint_id: str, message_id: str
) -> HttpResponse:
    delivery = get_delivery_or_404(request, endpoint_id, message_id)
    try:
        cancel_delivery_retries(delivery=delivery, actor=request.actor)
    except DomainError as refusal:
        messages.error(request, refusal.message)
    return _back(request, endpoint_id, message_id)


def build_delivery_row(delivery: Delivery) -> DeliveryRow:
    """Build a delivery's row of the log."""
    status = delivery.status
    if status == DeliveryStatus.PENDING:
        status = "retrying" if delivery.attempts else "waiting"
    return DeliveryRow(
        delivery=delivery,
        status=status,
        answer=_answer(delivery.last_code, delivery.last_fault),
        next_at=delivery.due_at if status == "retrying" else None,
    )


def _answer(code: int | None, fault: str) -> str:
    """The code of an answer, else in a word why there is none."""
    if code is not None:
        return str(code)
    return fault.replace("_", " ")


def _describe_failure(attempt: Attempt) -> str:
    """What an attempt met, in words."""
    if attempt.succeeded:
        return ""
    fault = DeliveryFault.known(attempt.fault)
    return str(fault.label) if fault else attempt.fault


def _chosen(attempts: list[Attempt], number: str) -> Attempt | None:
    """The attempt that is asked for, else the last."""
    items = [each for each in attempts if str(each.number) == number]
    found = items or attempts[-1:]
    return found[0] if found else None


def _is_about_to_change(delivery: Delivery) -> bool:
    soon = timezone.now() + _SOON
    return delivery.status == DeliveryStatus.PENDING and delivery.due_at < soon


def _back(request: TenantRequest, endpoint_id: str, message_id: str) -> HttpResponse:
    return redirect_browser(
        request,
        page_url(
            request,
            "webhooks:delivery",
            endpoint_id=endpoint_id,
            message_id=message_id,
        ),
    )


def _choices(asked: LogQuery) -> dict[str, Any]:
    """What the filters offer."""
    return {
        "outcomes": Outcome.offered(),
        "answers": Answer.offered(),
        "tries": Tries.offered(),
        "periods": list(PERIOD_LABELS.items()),
        "groups": group_event_types(),
        "are_set": bool(asked.query_items),
    }


def _hours_say(delivered: int, retried: int, failed: int) -> str:
    return _(
        "Events of the last %(hours)d hours: %(delivered)s delivered at once,"
        " %(retried)s retried, %(failed)s failed or on hold"
    ) % {
        "hours": HOURS,
        "delivered": format_number(delivered),
        "retried": format_number(retried),
        "failed": format_number(failed),
    }


def _write_cursor(after: tuple[datetime, int] | None) -> str:
    return f"{after[0].timestamp():.6f}-{after[1]}" if after else ""


def _read_cursor(text: str) -> tuple[datetime, int] | None:
    at, _dash, key = text.partition("-")
    try:
        return datetime.fromtimestamp(float(at), timezone.get_current_timezone()), int(
            key
        )
    except (ValueError, OverflowError, OSError):
        return None
