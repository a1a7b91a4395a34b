"""Settings page of the courier: its address, and its secret, shown once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.contrib import messages
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods

from accounts.states import Area
from accounts.web.dialogs import render_confirmation, replace_page_after_dialog
from accounts.web.rights import require_right
from accounts.web.sign_in.step_up import (
    is_identity_confirmed,
    redirect_to_identity_confirmation,
)
from labs.operations.shipments.couriers import (
    OVERLAP,
    create_courier_secret,
    find_courier_connection,
    remove_courier,
)
from portal.lib.web.links import build_absolute_url
from portal.lib.web.views import page_url, redirect_browser, render_page

if TYPE_CHECKING:
    from django.http import HttpResponse

    from accounts.web.requests import TenantRequest


@require_GET
@require_right(Area.API_KEYS)
def show_courier_settings(request: TenantRequest) -> HttpResponse:
    return _render_page(request)


@require_http_methods(["GET", "POST"])
@require_right(Area.API_KEYS, write=True)
def create_courier_secret_dialog(request: TenantRequest) -> HttpResponse:
    """Ask, then create or rotate the secret and show it this once."""
    if not is_identity_confirmed(request):
        return redirect_to_identity_confirmation(request)
    if request.method == "POST":
        secret = create_courier_secret(tenant=request.tenant, actor=request.actor)
        return replace_page_after_dialog(
            request,
            _render_page(request, secret=secret),
            url=page_url(request, "labs:courier"),
        )
    hours = int(OVERLAP.total_seconds() // 3600)
    is_new = find_courier_connection(tenant=request.tenant) is None
    return render_confirmation(
        request,
        title=_("Create a secret for the courier?")
        if is_new
        else _("Rotate the courier's secret?"),
        says=_("The secret is shown once. Store it only where the courier signs.")
        if is_new
        else _(
            "A new secret is shown once. For %(hours)d hours the old one is accepted"
            " too. After that it stops working."
        )
        % {"hours": hours},
        verb=_("Create secret") if is_new else _("Rotate secret"),
        keep=_("Cancel"),
        back=page_url(request, "labs:courier"),
        back_words=_("Courier"),
    )


@require_http_methods(["GET", "POST"])
@require_right(Area.API_KEYS, write=True)
def remove_courier_dialog(request: TenantRequest) -> HttpResponse:
    """Ask, then remove the courier."""
    if not is_identity_confirmed(request):
        return redirect_to_identity_confirmation(request)
    if request.method == "POST":
        remove_courier(tenant=request.tenant, actor=request.actor)
        messages.success(request, _("Courier removed."))
        return redirect_browser(request, page_url(request, "labs:courier"))
    return render_confirmation(
        request,
        title=_("Remove the courier?"),
        says=_("Its messages are refused from now on. Recorded steps stay."),
        verb=_("Remove courier"),
        keep=_("Keep courier"),
        back=page_url(request, "labs:courier"),
        back_words=_("Courier"),
    )


def _render_page(request: TenantRequest, *, secret: str = "") -> HttpResponse:
    courier = find_courier_connection(tenant=request.tenant)
    ends_at = courier.previous_secret_ends_at if courier else None
    return render_page(
        request,
        "labs/courier.html",
        courier=courier,
        address=build_absolute_url(
            reverse("courier-events", kwargs={"courier_id": str(courier.pk)})
        )
        if courier
        else "",
        old_ends_at=ends_at if ends_at and ends_at > timezone.now() else None,
        secret=secret,
        may_change=request.rights.allow(Area.API_KEYS, write=True),
        section="courier",
    )
