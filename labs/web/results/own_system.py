"""The page of a team's own system, which gets results as HL7, and sending again."""

from __future__ import annotations

from typing import TYPE_CHECKING
from uuid import UUID

from django.contrib import messages
from django.utils.translation import gettext as _
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from accounts.states import Area
from accounts.web.dialogs import render_confirmation
from accounts.web.rights import require_right
from accounts.web.sign_in.step_up import require_confirmed_identity
from labs.operations.results_out import remove_own_system, resend_results
from labs.queries.connections import find_hl7_connection
from labs.queries.orders.orders import get_order_with_details
from labs.states.connections import Transport
from labs.web.accounts.connection import (
    OFFERED,
    ConnectionForm,
    build_connection_state,
    build_initial_settings,
    check_and_report_connection,
    save_posted_connection,
)
from portal.lib.errors import DomainError
from portal.lib.web.views import page_url, redirect_browser, render_page

if TYPE_CHECKING:
    from django.http import HttpResponse

    from accounts.web.requests import TenantRequest


@require_GET
@require_right(Area.TEAM)
def show_own_system(request: TenantRequest) -> HttpResponse:
    return _render(request, asked=request.GET.get("transport", ""))


@sensitive_post_parameters("secret")
@require_POST
@require_right(Area.TEAM, write=True)
@require_confirmed_identity
def save_own_system(request: TenantRequest) -> HttpResponse:
    """Save the settings; what is refused stays in the form, without its secret."""
    form = save_posted_connection(request, None)
    if form is None:
        return redirect_browser(request, page_url(request, "labs:own_system"))
    return _render(request, asked=request.POST.get("transport", ""), form=form)


@require_POST
@require_right(Area.TEAM, write=True)
def check_own_system(request: TenantRequest) -> HttpResponse:
    """Reach the system now; no message is sent."""
    check_and_report_connection(request, None)
    return redirect_browser(request, page_url(request, "labs:own_system"))


@require_http_methods(["GET", "POST"])
@require_right(Area.TEAM, write=True)
@require_confirmed_identity
def remove_own_system_page(request: TenantRequest) -> HttpResponse:
    if request.method == "POST":
        try:
            remove_own_system(tenant=request.tenant, actor=request.actor)
        except DomainError as refusal:
            messages.error(request, refusal.message)
        else:
            messages.success(request, _("Connection removed."))
        return redirect_browser(request, page_url(request, "labs:own_system"))
    return render_confirmation(
        request,
        title=_("Remove the connection?"),
        says=_(
            "Results are then no longer sent to your system. Messages that wait are"
            " deleted."
        ),
        verb=_("Remove connection"),
        keep=_("Keep connection"),
        back=page_url(request, "labs:own_system"),
        back_words=_("Results to your system"),
    )


@require_POST
@require_right(Area.ORDERS, write=True)
def resend_order_results(request: TenantRequest, order_id: UUID) -> HttpResponse:
    """Send an order's results to the team's system again."""
    order = get_order_with_details(tenant=request.tenant, order_id=order_id)
    try:
        resend_results(order=order, actor=request.actor)
    except DomainError as refusal:
        messages.error(request, refusal.message)
    else:
        messages.success(request, _("Results will be sent again."))
    return redirect_browser(request, page_url(request, "labs:order", order_id=order_id))


def _render(
    request: TenantRequest, *, asked: str, form: ConnectionForm | None = None
) -> HttpResponse:
    connection = find_hl7_connection(tenant=request.tenant, account=None)
    stored = connection.transport if connection else ""
    transport = Transport.known(asked) or Transport.known(stored) or Transport.FOLDER
    may_change = request.rights.allow(Area.TEAM, write=True)
    shown = form or ConnectionForm(
        initial=build_initial_settings(connection, transport)
    )
    if not may_change:
        for field in shown.fields.values():
            field.disabled = True
    return render_page(
        request,
        "labs/own_system.html",
        status=422 if form else 200,
        section="settings",
        connection=connection,
        form=shown,
        transport=transport.value,
        is_stored=transport == stored,
        transports=[(each.value, each.label) for each in OFFERED],
        may_change=may_change,
        **build_connection_state(connection),
    )
