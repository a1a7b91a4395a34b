"""List, create, edit, pause and delete endpoints."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.contrib import messages
from django.http import HttpResponseRedirect
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from accounts.states import Area
from accounts.web.columns import read_list_columns
from accounts.web.dialogs import read_posted, render_confirmation, render_form
from accounts.web.rights import require_right
from accounts.webhooks.operations.endpoints import (
    change_endpoint,
    create_endpoint,
    delete_endpoint,
    is_sensitive_header,
    read_custom_headers,
    replace_custom_headers,
)
from accounts.webhooks.operations.testing import find_first_subscribed_event_type
from accounts.webhooks.queries.health import (
    count_delivery_outcomes_by_hour,
    list_webhook_endpoints,
    measure_endpoint_health,
)
from accounts.webhooks.web.columns import ENDPOINTS
from accounts.webhooks.web.finding import (
    get_endpoint_display_name,
    get_endpoint_host,
    get_endpoint_or_404,
)
from accounts.webhooks.web.forms import (
    ALL_EVENTS,
    SOME_EVENTS,
    WITHHELD,
    EndpointForm,
    HeadersForm,
    group_event_types,
)
from portal.lib.errors import DomainError
from portal.lib.translation import gettext_lazy
from portal.lib.web.views import page_url, redirect_browser, render_page
from portal.ui.charts import draw_hourly_delivery_outcomes

if TYPE_CHECKING:
    from django.http import HttpResponse
    from django.utils.safestring import SafeString

    from accounts.web.requests import TenantRequest
    from accounts.webhooks.models import Endpoint
    from accounts.webhooks.queries.health import Health

BACK_WORDS = gettext_lazy("Webhooks")
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
    test_type: str


@require_GET
@require_right(Area.WEBHOOKS)
def show_webhook_endpoints(request: TenantRequest) -> HttpResponse:
    endpoints = list_webhook_endpoints(request.tenant)
    columns = read_list_columns(request, ENDPOINTS)
    health = measure_endpoint_health(endpoints)
    hours = count_delivery_outcomes_by_hour(endpoints, hours=HOURS)
    return render_page(
        request,
        "webhooks/list.html",
        columns=columns,
        rows=columns.sort_rows(
            EndpointRow(
                endpoint=endpoint,
                name=get_endpoint_display_name(endpoint),
                host=get_endpoint_host(endpoint),
                health=health[endpoint.pk],
                bars=draw_hourly_delivery_outcomes(
                    [(h.delivered, h.retried, h.failed) for h in hours[endpoint.pk]],
                    says=_("Events in each of the last %(hours)d hours")
                    % {"hours": HOURS},
                ),
                events=describe_subscribed_events(endpoint),
                test_type=find_first_subscribed_event_type(endpoint),
            )
            for endpoint in endpoints
        ),
        public_url=settings.PUBLIC_URL,
        section="webhooks",
    )


@require_http_methods(["GET", "POST"])
@require_right(Area.WEBHOOKS, write=True)
def create_webhook_endpoint(request: TenantRequest) -> HttpResponse:
    form = EndpointForm(read_posted(request))
    if request.method == "POST" and form.is_valid():
        try:
            made = create_endpoint(
                tenant=request.tenant, actor=request.actor, **form.cleaned_data
            )
        except DomainError as refusal:
            _blame(form, refusal)
        else:
            messages.success(
                request,
                _("Endpoint added. Configure its signing secret in the receiver."),
            )
            return HttpResponseRedirect(
                page_url(request, "webhooks:endpoint", endpoint_id=made.uuid)
            )
    return _render_endpoint_form(
        request, form, title=_("Add endpoint"), verb=_("Add endpoint")
    )


@require_http_methods(["GET", "POST"])
@require_right(Area.WEBHOOKS, write=True)
def edit_webhook_endpoint(request: TenantRequest, endpoint_id: str) -> HttpResponse:
    endpoint = get_endpoint_or_404(request, endpoint_id)
    form = EndpointForm(
        read_posted(request),
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
            messages.success(request, _("Endpoint saved."))
            return HttpResponseRedirect(_page(request, endpoint))
    return _render_endpoint_form(
        request,
        form,
        title=_("Edit %(name)s") % {"name": get_endpoint_display_name(endpoint)},
        verb=_("Save endpoint"),
        endpoint=endpoint,
    )


@require_http_methods(["GET", "POST"])
@require_right(Area.WEBHOOKS, write=True)
def edit_webhook_headers(request: TenantRequest, endpoint_id: str) -> HttpResponse:
    """Edit an endpoint's custom headers; sensitive values are withheld."""
    endpoint = get_endpoint_or_404(request, endpoint_id)
    present = read_custom_headers(endpoint)
    lines = [
        f"{name}: {WITHHELD if is_sensitive_header(name) else value}"
        for name, value in present.items()
    ]
    form = HeadersForm(read_posted(request), initial={"headers": "\n".join(lines)})
    if request.method == "POST" and form.is_valid():
        try:
            replace_custom_headers(
                endpoint=endpoint, actor=request.actor, headers=form.read(present)
            )
        except ValueError:
            form.add_error(
                "headers", _("Write each header on its own line, as Name: value.")
            )
        except DomainError as refusal:
            form.add_error("headers", refusal.message)
        else:
            messages.success(request, _("Headers saved."))
            return redirect_browser(request, _page(request, endpoint))
    return render_form(
        request,
        "webhooks/_headers.html",
        title=_("Headers sent with every event"),
        back=_page(request, endpoint),
        back_words=get_endpoint_display_name(endpoint),
        status=422 if form.errors else 200,
        form=form,
        withheld=WITHHELD,
        section="webhooks",
    )


@require_http_methods(["GET", "POST"])
@require_right(Area.WEBHOOKS, write=True)
def pause_webhook_endpoint(request: TenantRequest, endpoint_id: str) -> HttpResponse:
    endpoint = get_endpoint_or_404(request, endpoint_id)
    name, back = get_endpoint_display_name(endpoint), _page(request, endpoint)
    if request.method == "POST":
        try:
            change_endpoint(endpoint=endpoint, actor=request.actor, disabled=True)
        except DomainError as refusal:
            messages.error(request, refusal.message)
        else:
            messages.success(request, _("%(name)s paused.") % {"name": name})
        return redirect_browser(request, back)
    return render_confirmation(
        request,
        title=_("Pause %(name)s?") % {"name": name},
        says=_(
            "Deliveries and retries to this endpoint stop. Missed events are stored"
            " and can be replayed."
        ),
        verb=_("Pause endpoint"),
        keep=_("Keep sending"),
        back=back,
        back_words=name,
    )


@require_POST
@require_right(Area.WEBHOOKS, write=True)
def resume_webhook_endpoint(request: TenantRequest, endpoint_id: str) -> HttpResponse:
    endpoint = get_endpoint_or_404(request, endpoint_id)
    try:
        change_endpoint(endpoint=endpoint, actor=request.actor, disabled=False)
    except DomainError as refusal:
        messages.error(request, refusal.message)
    else:
        messages.success(
            request,
            _("%(name)s resumed. You can now replay the events it missed.")
            % {"name": get_endpoint_display_name(endpoint)},
        )
    return redirect_browser(request, _page(request, endpoint))


@require_http_methods(["GET", "POST"])
@require_right(Area.WEBHOOKS, write=True)
def delete_webhook_endpoint(request: TenantRequest, endpoint_id: str) -> HttpResponse:
    endpoint = get_endpoint_or_404(request, endpoint_id)
    name = get_endpoint_display_name(endpoint)
    typed = request.POST.get("typed_name", "").strip()
    error = ""
    if request.method == "POST":
        if typed == name:
            delete_endpoint(endpoint=endpoint, actor=request.actor)
            messages.success(request, _("%(name)s deleted.") % {"name": name})
            return redirect_browser(request, page_url(request, "webhooks:list"))
        error = _("Enter the exact endpoint name. Nothing was deleted.")
    return render_confirmation(
        request,
        title=_("Delete %(name)s?") % {"name": name},
        says=_(
            "Deliveries to this endpoint stop and waiting events are cancelled. Its log"
            " is removed."
        ),
        verb=_("Delete endpoint"),
        keep=_("Keep endpoint"),
        back=_page(request, endpoint),
        back_words=name,
        match=name,
        match_label=_("Endpoint name"),
        error=error,
    )


def describe_subscribed_events(endpoint: Endpoint) -> str:
    """Return how many event types an endpoint subscribes to, in words."""
    chosen = endpoint.filter_types
    if chosen is None:
        return _("All events")
    if any(each.endswith(".") for each in chosen):
        groups = sum(each.endswith(".") for each in chosen)
        types = len(chosen) - groups
        words = _count_groups(groups)
        return f"{words}, {_count_types(types)}" if types else words
    return _count_types(len(chosen))


def _count_groups(number: int) -> str:
    return ngettext("%(number)d event group", "%(number)d event groups", number) % {
        "number": number
    }


def _count_types(number: int) -> str:
    return ngettext("%(number)d event type", "%(number)d event types", number) % {
        "number": number
    }


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
        groups=group_event_types(),
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
