"""The list of endpoints, and the pages that make, change and end one.

Must not be here: an endpoint's own page (deliveries), or its secret (secrets).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.contrib import messages
from django.http import HttpResponseRedirect
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from accounts.states import Area
from accounts.web.dialogs import ask, posted, render_form
from accounts.web.rights import require_right
from accounts.webhooks.operations.endpoints import (
    change_endpoint,
    create_endpoint,
    delete_endpoint,
    is_sensitive_header,
    read_headers,
    set_headers,
)
from accounts.webhooks.queries.health import health_of, hours_of, live_endpoints
from accounts.webhooks.web.finding import get_endpoint, host_of, name_of
from accounts.webhooks.web.forms import (
    ALL_EVENTS,
    SOME_EVENTS,
    WITHHELD,
    EndpointForm,
    HeadersForm,
    type_groups,
)
from portal.charts import outcome_bars
from portal.lib.errors import DomainError
from portal.lib.web import go_to, page_url, render_page

if TYPE_CHECKING:
    from django.http import HttpResponse
    from django.utils.safestring import SafeString

    from accounts.webhooks.models import Endpoint
    from accounts.webhooks.queries.health import Health
    from portal.lib.web import TenantRequest

BACK_WORDS = "Webhooks"
HOURS = 24
_FIELDS = {"url", "description", "rate_limit"}


@dataclass(frozen=True, slots=True)
class EndpointRow:
    """An endpoint as the list shows it."""

    endpoint: Endpoint
    name: str
    host: str
    health: Health
    bars: SafeString
    events: str


@require_GET
@require_right(Area.WEBHOOKS)
def endpoint_list(request: TenantRequest) -> HttpResponse:
    endpoints = live_endpoints(request.tenant)
    health = health_of(endpoints)
    hours = hours_of(endpoints, hours=HOURS)
    return render_page(
        request,
        "webhooks/list.html",
        rows=[
            EndpointRow(
                endpoint=endpoint,
                name=name_of(endpoint),
                host=host_of(endpoint),
                health=health[endpoint.pk],
                bars=outcome_bars(
                    [(h.delivered, h.retried, h.failed) for h in hours[endpoint.pk]],
                    says=f"Messages of each of the last {HOURS} hours",
                ),
                events=events_words(endpoint),
            )
            for endpoint in endpoints
        ],
        public_url=settings.PUBLIC_URL,
        section="webhooks",
    )


@require_http_methods(["GET", "POST"])
@require_right(Area.WEBHOOKS, write=True)
def create(request: TenantRequest) -> HttpResponse:
    form = EndpointForm(posted(request))
    if request.method == "POST" and form.is_valid():
        try:
            made = create_endpoint(
                tenant=request.tenant, actor=request.actor, **form.cleaned_data
            )
        except DomainError as refusal:
            _blame(form, refusal)
        else:
            messages.success(
                request, "The endpoint is made. Give its receiver the signing secret."
            )
            return HttpResponseRedirect(
                page_url(request, "webhooks:endpoint", endpoint_id=made.uuid)
            )
    return _render_endpoint_form(
        request, form, title="Add an endpoint", verb="Add endpoint"
    )


@require_http_methods(["GET", "POST"])
@require_right(Area.WEBHOOKS, write=True)
def edit(request: TenantRequest, endpoint_id: str) -> HttpResponse:
    endpoint = get_endpoint(request, endpoint_id)
    form = EndpointForm(
        posted(request),
        chosen=endpoint.filter_types or (),
        initial={
            "url": endpoint.url,
            "description": endpoint.description,
            "rate_limit": endpoint.rate_limit,
            "events": ALL_EVENTS if endpoint.filter_types is None else SOME_EVENTS,
        },
    )
    if request.method == "POST" and form.is_valid():
        try:
            change_endpoint(endpoint=endpoint, actor=request.actor, **form.cleaned_data)
        except DomainError as refusal:
            _blame(form, refusal)
        else:
            messages.success(request, "The endpoint is saved.")
            return HttpResponseRedirect(_page(request, endpoint))
    return _render_endpoint_form(
        request,
        form,
        title=f"Edit {name_of(endpoint)}",
        verb="Save endpoint",
        endpoint=endpoint,
    )


@require_http_methods(["GET", "POST"])
@require_right(Area.WEBHOOKS, write=True)
def headers(request: TenantRequest, endpoint_id: str) -> HttpResponse:
    """Headers of the team's own; values that may be passwords are withheld."""
    endpoint = get_endpoint(request, endpoint_id)
    present = read_headers(endpoint)
    lines = [
        f"{name}: {WITHHELD if is_sensitive_header(name) else value}"
        for name, value in present.items()
    ]
    form = HeadersForm(posted(request), initial={"headers": "\n".join(lines)})
    if request.method == "POST" and form.is_valid():
        try:
            set_headers(
                endpoint=endpoint, actor=request.actor, headers=form.read(present)
            )
        except ValueError:
            form.add_error("headers", "Each line is a name, a colon and a value.")
        except DomainError as refusal:
            form.add_error("headers", refusal.message)
        else:
            messages.success(request, "The headers are saved.")
            return go_to(request, _page(request, endpoint))
    return render_form(
        request,
        "webhooks/_headers.html",
        title="Headers sent with every message",
        back=_page(request, endpoint),
        back_words=name_of(endpoint),
        status=422 if form.errors else 200,
        form=form,
        withheld=WITHHELD,
        section="webhooks",
    )


@require_http_methods(["GET", "POST"])
@require_right(Area.WEBHOOKS, write=True)
def pause(request: TenantRequest, endpoint_id: str) -> HttpResponse:
    endpoint = get_endpoint(request, endpoint_id)
    name, back = name_of(endpoint), _page(request, endpoint)
    if request.method == "POST":
        try:
            change_endpoint(endpoint=endpoint, actor=request.actor, disabled=True)
        except DomainError as refusal:
            messages.error(request, refusal.message)
        else:
            messages.success(request, f"{name} is paused.")
        return go_to(request, back)
    return ask(
        request,
        title=f"Pause {name}?",
        says="Nothing is sent to it any more, retries included. What it misses is kept "
        "and can be replayed.",
        verb="Pause endpoint",
        keep="Keep sending",
        back=back,
        back_words=name,
    )


@require_POST
@require_right(Area.WEBHOOKS, write=True)
def resume(request: TenantRequest, endpoint_id: str) -> HttpResponse:
    endpoint = get_endpoint(request, endpoint_id)
    try:
        change_endpoint(endpoint=endpoint, actor=request.actor, disabled=False)
    except DomainError as refusal:
        messages.error(request, refusal.message)
    else:
        messages.success(
            request,
            f"{name_of(endpoint)} gets new events again. Replay what it missed.",
        )
    return go_to(request, _page(request, endpoint))


@require_http_methods(["GET", "POST"])
@require_right(Area.WEBHOOKS, write=True)
def delete(request: TenantRequest, endpoint_id: str) -> HttpResponse:
    endpoint = get_endpoint(request, endpoint_id)
    name = name_of(endpoint)
    typed = request.POST.get("typed_name", "").strip()
    error = ""
    if request.method == "POST":
        if typed == name:
            delete_endpoint(endpoint=endpoint, actor=request.actor)
            messages.success(request, f"{name} is deleted.")
            return go_to(request, page_url(request, "webhooks:list"))
        error = "That is not the endpoint's name. Nothing was deleted."
    return ask(
        request,
        title=f"Delete {name}?",
        says="Nothing is sent to it any more, and what waits for it is dropped. Its "
        "log is no longer to be seen.",
        verb="Delete endpoint",
        keep="Keep endpoint",
        back=_page(request, endpoint),
        back_words=name,
        match=name,
        match_label="Endpoint name",
        error=error,
    )


def events_words(endpoint: Endpoint) -> str:
    """How many event types an endpoint gets."""
    chosen = endpoint.filter_types
    if chosen is None:
        return "All events"
    if any(each.endswith(".") for each in chosen):
        groups = sum(each.endswith(".") for each in chosen)
        types = len(chosen) - groups
        words = f"{groups} group{'s' * (groups != 1)} of events"
        return f"{words}, {types} type{'s' * (types != 1)}" if types else words
    return f"{len(chosen)} event type{'s' * (len(chosen) != 1)}"


def _render_endpoint_form(
    request: TenantRequest,
    form: EndpointForm,
    *,
    title: str,
    verb: str,
    endpoint: Endpoint | None = None,
) -> HttpResponse:
    return render_page(
        request,
        "webhooks/form.html",
        status=422 if form.errors else 200,
        form=form,
        groups=type_groups(),
        title=title,
        verb=verb,
        endpoint=endpoint,
        back=_page(request, endpoint)
        if endpoint
        else page_url(request, "webhooks:list"),
        section="webhooks",
    )


def _blame(form: EndpointForm, refusal: DomainError) -> None:
    fields: dict[str | None, str] = {name: name for name in _FIELDS}
    fields["filter_types"] = "events"
    form.add_error(fields.get(refusal.field, "url"), refusal.message)


def _page(request: TenantRequest, endpoint: Endpoint) -> str:
    where: dict[str, Any] = {"endpoint_id": endpoint.uuid}
    return page_url(request, "webhooks:endpoint", **where)
