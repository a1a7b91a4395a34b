"""Show an endpoint's signing secret after a step-up, and rotate it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.contrib import messages
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods

from accounts.states import Area
from accounts.web.dialogs import render_confirmation
from accounts.web.rights import require_right
from accounts.web.sign_in.step_up import (
    is_identity_confirmed,
    redirect_to_identity_confirmation,
)
from accounts.webhooks.operations.endpoints import (
    OVERLAP,
    reveal_signing_secret,
    rotate_signing_secret,
)
from accounts.webhooks.web.finding import get_endpoint_display_name, get_endpoint_or_404
from portal.lib.web.views import page_url, redirect_browser, render_page

if TYPE_CHECKING:
    from django.http import HttpResponse

    from accounts.web.requests import TenantRequest


@require_GET
@require_right(Area.WEBHOOKS, write=True)
def show_webhook_secret(request: TenantRequest, endpoint_id: str) -> HttpResponse:
    # First, so that a stranger is not asked for a password before the 404.
    endpoint = get_endpoint_or_404(request, endpoint_id)
    if not is_identity_confirmed(request):
        return redirect_to_identity_confirmation(request)
    ends_at = endpoint.previous_secret_ends_at
    return render_page(
        request,
        "webhooks/secret.html",
        endpoint=endpoint,
        name=get_endpoint_display_name(endpoint),
        secret=reveal_signing_secret(endpoint=endpoint, actor=request.actor),
        old_ends_at=ends_at if ends_at and ends_at > timezone.now() else None,
        section="webhooks",
    )


@require_http_methods(["GET", "POST"])
@require_right(Area.WEBHOOKS, write=True)
def rotate_webhook_secret(request: TenantRequest, endpoint_id: str) -> HttpResponse:
    endpoint = get_endpoint_or_404(request, endpoint_id)
    if not is_identity_confirmed(request):
        return redirect_to_identity_confirmation(request)
    name = get_endpoint_display_name(endpoint)
    if request.method == "POST":
        rotate_signing_secret(endpoint=endpoint, actor=request.actor)
        messages.success(
            request, _("Secret rotated. Configure the new secret in the receiver.")
        )
        return redirect_browser(
            request, page_url(request, "webhooks:secret", endpoint_id=endpoint.uuid)
        )
    hours = int(OVERLAP.total_seconds() // 3600)
    return render_confirmation(
        request,
        title=_("Rotate the secret of %(name)s?") % {"name": name},
        says=_(
            "A new secret is created now. For %(hours)d hours each event is signed"
            " with both secrets. After that the old secret stops working."
        )
        % {"hours": hours},
        verb=_("Rotate secret"),
        keep=_("Keep secret"),
        back=page_url(request, "webhooks:endpoint", endpoint_id=endpoint.uuid),
        back_words=name,
    )
