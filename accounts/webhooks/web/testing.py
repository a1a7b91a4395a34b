"""Send a test event to an endpoint."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django import forms
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from accounts.states import Area
from accounts.web.dialogs import read_posted, render_form
from accounts.web.rights import require_right
from accounts.webhooks.operations.testing import (
    find_first_subscribed_event_type,
    send_test_event,
)
from accounts.webhooks.web.finding import get_endpoint_display_name, get_endpoint_or_404
from accounts.webhooks.web.forms import group_event_types
from portal.lib.errors import DomainError
from portal.lib.web.views import page_url, redirect_browser

if TYPE_CHECKING:
    from django.http import HttpResponse

    from accounts.web.requests import TenantRequest


class TestForm(forms.Form):
    """Which example to send."""

    event_type = forms.ChoiceField(
        choices=lambda: [
            (group.prefix, [(name, name) for name, _ in group.types])
            for group in group_event_types()
        ]
    )


@require_http_methods(["GET", "POST"])
@require_right(Area.WEBHOOKS, write=True)
def send_webhook_test_event(request: TenantRequest, endpoint_id: str) -> HttpResponse:
    endpoint = get_endpoint_or_404(request, endpoint_id)
    form = TestForm(
        read_posted(request),
        initial={"event_type": find_first_subscribed_event_type(endpoint)},
    )
    if request.method == "POST" and form.is_valid():
        try:
            sent = send_test_event(
                endpoint=endpoint, actor=request.actor, **form.cleaned_data
            )
        except DomainError as refusal:
            form.add_error("event_type", refusal.message)
        else:
            url = page_url(
                request,
                "webhooks:delivery",
                endpoint_id=endpoint.uuid,
                message_id=sent.event.message_id,
            )
            return redirect_browser(request, url)
    return render_form(
        request,
        "webhooks/_send_test.html",
        title=_("Send a test event"),
        back=page_url(request, "webhooks:endpoint", endpoint_id=endpoint.uuid),
        back_words=get_endpoint_display_name(endpoint),
        status=422 if form.errors else 200,
        form=form,
    )
