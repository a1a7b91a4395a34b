"""Preview, start, follow and cancel replays."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from django.contrib import messages
from django.http import HttpResponseRedirect
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from accounts.states import Area
from accounts.web.dialogs import read_posted
from accounts.web.rights import require_right
from accounts.webhooks.operations.replay import (
    cancel_replay,
    continue_replay_after_probe,
    start_replay,
)
from accounts.webhooks.queries.log import (
    LogFilters,
    Outcome,
    measure_matching_deliveries,
)
from accounts.webhooks.queries.replays import (
    find_replay_probe_attempt,
    is_replay_open,
    measure_replay_progress,
)
from accounts.webhooks.states import ReplayStatus
from accounts.webhooks.web.finding import (
    get_endpoint_display_name,
    get_endpoint_or_404,
    get_replay_or_404,
)
from accounts.webhooks.web.forms import LogQuery, ReplayForm
from portal.lib.errors import DomainError
from portal.lib.web.views import page_url, redirect_browser, render_page

if TYPE_CHECKING:
    from django.http import HttpResponse

    from accounts.web.requests import TenantRequest
    from accounts.webhooks.models import Replay

POLL_S = 3


@require_http_methods(["GET", "POST"])
@require_right(Area.WEBHOOKS, write=True)
def start_webhook_replay(request: TenantRequest, endpoint_id: str) -> HttpResponse:
    """Preview a replay and start it; the query string is the log's filter."""
    endpoint = get_endpoint_or_404(request, endpoint_id)
    parsed = LogQuery.read(request.GET)
    if not parsed.messages and not parsed.query_items:
        # Without any filter: what the endpoint has missed.
        parsed = replace(parsed, outcome=Outcome.MISSED)
    filters = (
        LogFilters(message_ids=parsed.messages) if parsed.messages else parsed.filters
    )
    form = ReplayForm(read_posted(request))
    refusal = ""
    if request.method == "POST" and form.is_valid():
        try:
            replay = start_replay(
                endpoint=endpoint,
                actor=request.actor,
                filters=filters,
                **form.cleaned_data,
            )
        except DomainError as refused:
            refusal = refused.message
        else:
            return HttpResponseRedirect(_page(request, replay))
    return render_page(
        request,
        "webhooks/replay.html",
        status=422 if refusal or form.errors else 200,
        endpoint=endpoint,
        name=get_endpoint_display_name(endpoint),
        asked=parsed,
        extent=measure_matching_deliveries(endpoint=endpoint, filters=filters),
        form=form,
        refusal=refusal,
        is_off=endpoint.disabled_at is not None,
        section="webhooks",
    )


@require_GET
@require_right(Area.WEBHOOKS)
def show_webhook_replay_progress(
    request: TenantRequest, endpoint_id: str, replay_id: str
) -> HttpResponse:
    replay = get_replay_or_404(request, endpoint_id, replay_id)
    done = measure_replay_progress(replay)
    is_probing = replay.status == ReplayStatus.PROBING
    probe = find_replay_probe_attempt(replay) if is_probing else None
    goes_on = is_replay_open(replay) and not (is_probing and probe)
    return render_page(
        request,
        "webhooks/progress.html",
        fragment="webhooks/_progress.html",
        endpoint=replay.endpoint,
        name=get_endpoint_display_name(replay.endpoint),
        replay=replay,
        done=done,
        probe=probe,
        is_open=is_replay_open(replay),
        # Whole seconds that the rest takes at this rate.
        left_s=done.left // replay.rate if is_replay_open(replay) else 0,
        poll_seconds=POLL_S if goes_on else None,
        may_write=request.rights.allow(Area.WEBHOOKS, write=True),
        section="webhooks",
    )


@require_POST
@require_right(Area.WEBHOOKS, write=True)
def continue_webhook_replay(
    request: TenantRequest, endpoint_id: str, replay_id: str
) -> HttpResponse:
    replay = get_replay_or_404(request, endpoint_id, replay_id)
    try:
        continue_replay_after_probe(replay=replay, actor=request.actor)
    except DomainError as refusal:
        messages.error(
            request,
            _("%(reason)s No more events were sent.") % {"reason": refusal.message},
        )
    return redirect_browser(request, _page(request, replay))


@require_POST
@require_right(Area.WEBHOOKS, write=True)
def cancel_webhook_replay(
    request: TenantRequest, endpoint_id: str, replay_id: str
) -> HttpResponse:
    replay = get_replay_or_404(request, endpoint_id, replay_id)
    try:
        cancel_replay(replay=replay, actor=request.actor)
    except DomainError:
        messages.info(request, _("The replay has already ended."))
    else:
        messages.success(request, _("Replay cancelled. Unsent events are unchanged."))
    return redirect_browser(request, _page(request, replay))


def _page(request: TenantRequest, replay: Replay) -> str:
    return page_url(
        request,
        "webhooks:progress",
        endpoint_id=replay.endpoint.uuid,
        replay_id=replay.uuid,
    )
