"""A record of the explorer: its fields, source and events."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any
from uuid import UUID

import orjson
from django.http import Http404, HttpResponseRedirect
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET

from accounts.operations.audit.entries import record_read
from accounts.states import Area
from accounts.web.rights import require_right
from portal.lib.web.views import page_url, render_page
from users.analysis.explorer import find_samples_at_time
from users.queries import live_user
from users.queries.data.records import find_summary_of_any_kind
from users.wearables.providers import find_provider
from users.wearables.summaries import SUMMARIES
from users.wearables.timeseries import TIMESERIES
from users.web.explorer.record_events import (
    find_events_with_samples,
    find_events_with_summaries,
    list_event_deliveries,
)

if TYPE_CHECKING:
    from django.http import HttpResponse

    from accounts.web.requests import TenantRequest
    from users.models import User
    from users.wearables.providers import Provider
    from users.web.explorer.record_events import RecordEvent

_SENSITIVE = "menstrual_cycle"


@dataclass(frozen=True, slots=True)
class Record:
    """A sample or summary as its page shows it.

    `body` is as the API answers it; `raw` as the source sent it, of summaries alone.
    """

    name: str
    subject: str
    provider: Provider
    at: datetime
    body: Any
    facts: tuple[tuple[str, object], ...]
    record_events: list[RecordEvent]
    raw: Any = None
    workout_url: str = ""


@require_GET
@require_right(Area.USERS)
def show_data_record(request: TenantRequest, user_id: str) -> HttpResponse:
    user = live_user(tenant=request.tenant, user_id=_uuid(user_id))
    if not request.GET.keys() & {"summary", "series"}:  # it names none
        return HttpResponseRedirect(
            page_url(request, "users:explorer", user_id=user.uuid)
        )
    shown = (
        _summary(request, user, _uuid(request.GET["summary"]))
        if "summary" in request.GET
        else _sample(request, user)
    )
    record_read(
        tenant=request.tenant,
        actor=request.actor,
        subject=shown.subject,
        subject_id=user.uuid,
        user_uuid=user.uuid,
    )
    return render_page(
        request,
        "users/record.html",
        fragment="users/_record.html",
        user=user,
        record=shown,
        record_events=[
            (each, list_event_deliveries(request, each)) for each in shown.record_events
        ],
    )


def _sample(request: TenantRequest, user: User) -> Record:
    """Return the sample of the query string. Raises: 404."""
    query = request.GET
    resource = TIMESERIES.get(query.get("series", "").partition(":")[0])
    try:
        at = datetime.fromisoformat(query.get("at", "")).astimezone(UTC)
    except (ValueError, OverflowError):
        raise Http404 from None
    if resource is None:
        raise Http404
    named = (query.get("provider"), query.get("source_type"), query.get("type"))
    for sample in find_samples_at_time(user=user, resource=resource, at=at):
        source = sample.source
        if named == (source["provider"], source["type"], sample.body["type"]):
            break
    else:
        raise Http404
    return Record(
        name=resource.name,
        subject=resource.event_resource,
        provider=find_provider(source["provider"]),
        at=at,
        body=_json({**sample.body, "source": source}),
        facts=(
            (_("Value"), f"{sample.body['value']} {resource.unit}"),
            (_("Recorded at"), sample.body["timestamp"]),
            (_("UTC offset"), f"{sample.body['timezone_offset']} s"),
            (_("Type"), sample.body["type"]),
            (_("Source type"), source["type"]),
            (_("App"), source["app_id"]),
            (_("Device"), source["device_id"]),
            (_("Sport"), source["sport"]),
            (_("Workout"), source["workout_id"]),
        ),
        record_events=find_events_with_samples(
            user=user,
            resource=resource,
            start=at,
            end=sample.next_moment,
            provider=source["provider"],
        ),
        workout_url=_workout_url(request, user, source["workout_id"]),
    )


def _summary(request: TenantRequest, user: User, summary_id: UUID) -> Record:
    """Return the summary with this ID. Raises: 404, also for cycles."""
    found = find_summary_of_any_kind(user=user, summary_id=summary_id)
    if found is None or found.kind == _SENSITIVE or found.kind not in SUMMARIES:
        raise Http404
    resource = SUMMARIES[found.kind]
    is_workout = found.kind == "workouts"
    return Record(
        name=resource.name,
        subject=found.kind,
        provider=find_provider(found.row.provider),
        at=found.starts_at,
        body=_json(resource.answer(user.uuid, found.row)),
        facts=(
            (_("Starts at"), found.starts_at),
            (_("Version"), found.version),
            (_("First stored"), found.row.created_at),
            (_("Last changed"), found.row.updated_at),
            (_("Source type"), found.row.source_type),
            (_("App"), found.row.app_id),
            (_("Device"), found.row.device_id),
            (_("ID"), found.row.id),
        ),
        record_events=find_events_with_summaries(
            user=user, resource=resource, ids=[found.row.id]
        ),
        raw=found.raw,
        workout_url=_workout_url(request, user, found.row.id) if is_workout else "",
    )


def _workout_url(request: TenantRequest, user: User, workout_id: UUID | None) -> str:
    if workout_id is None:
        return ""
    return page_url(request, "users:workout", user_id=user.uuid, workout_id=workout_id)


def _json(value: object) -> Any:
    """Return a value as the API writes it."""
    return orjson.loads(orjson.dumps(value))


def _uuid(text: str) -> UUID:
    try:
        return UUID(text)
    except ValueError:
        raise Http404 from None
