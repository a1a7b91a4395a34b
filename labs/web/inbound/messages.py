"""One malformed message or refusal of a lab: its page, reprocessing and dismissal.

Its text may hold names: for members with the right to patient details; each read is
recorded.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.contrib import messages
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods

from accounts.states import Area
from accounts.web.dialogs import read_posted, render_form
from accounts.web.rights import require_right
from labs.operations.inbound.processing import reprocess_malformed_lab_message
from labs.operations.inbound.review import dismiss_lab_message
from labs.queries.inbound import get_inbound_lab_message
from labs.states.inbound import MessageStatus
from labs.web.inbound.review_pages import (
    PROBLEMS,
    SHOWN_CHARACTERS,
    ReasonForm,
    add_refusal,
    build_account_label,
    record_patient_read,
    require_patient_rights,
)
from portal.lib.errors import DomainError
from portal.lib.web.views import page_url, redirect_browser, render_page

if TYPE_CHECKING:
    from uuid import UUID

    from django.http import HttpResponse

    from accounts.web.requests import TenantRequest
    from labs.models import InboundMessage


@require_GET
@require_right(Area.ORDERS)
def show_unprocessed_lab_message(
    request: TenantRequest, lab_message_id: UUID
) -> HttpResponse:
    """Show a malformed message or a lab's refusal as received."""
    message = _get_message(request, lab_message_id)
    record_patient_read(request, "lab_message", message.pk)
    text = bytes(message.content)[:SHOWN_CHARACTERS].decode("utf-8", "replace")
    lines = text.replace("\r\n", "\n").replace("\r", "\n")
    return render_page(
        request,
        "labs/unmatched_message.html",
        section="unmatched",
        message=message,
        account=build_account_label(message),
        text="".join(c if c == "\n" or c.isprintable() else "\ufffd" for c in lines),
        is_cut=len(message.content) > SHOWN_CHARACTERS,
        is_malformed=message.status == MessageStatus.MALFORMED,
        is_open=message.status in {MessageStatus.MALFORMED, MessageStatus.REFUSED},
        may_decide=request.rights.allow(Area.ORDERS, write=True),
    )


@require_http_methods(["POST"])
@require_right(Area.ORDERS)
def reprocess_lab_message(request: TenantRequest, lab_message_id: UUID) -> HttpResponse:
    """Process a malformed message again."""
    message = _get_message(request, lab_message_id, write=True)
    try:
        reprocess_malformed_lab_message(message=message, actor=request.actor)
    except DomainError as refused:
        messages.error(request, refused.message)
        here = page_url(request, "labs:unmatched_message", lab_message_id=message.pk)
        return redirect_browser(request, here)
    messages.success(request, _("Message processed."))
    return redirect_browser(request, page_url(request, "labs:unmatched"))


@require_http_methods(["GET", "POST"])
@require_right(Area.ORDERS)
def dismiss_lab_message_dialog(
    request: TenantRequest, lab_message_id: UUID
) -> HttpResponse:
    """Dismiss a message, with a reason."""
    message = _get_message(request, lab_message_id, write=True)
    form = ReasonForm(read_posted(request))
    if request.method == "POST" and form.is_valid():
        try:
            dismiss_lab_message(
                message=message, actor=request.actor, why=form.cleaned_data["why"]
            )
        except DomainError as refused:
            add_refusal(form, refused, "why")
        else:
            messages.success(request, _("Message dismissed."))
            address = page_url(request, "labs:unmatched")
            return redirect_browser(request, f"{address}?tab={PROBLEMS}")
    return render_form(
        request,
        "labs/_unmatched_dismiss.html",
        title=_("Dismiss this message?"),
        back=page_url(request, "labs:unmatched_message", lab_message_id=message.pk),
        back_words=_("Message"),
        status=422 if form.errors else 200,
        form=form,
    )


def _get_message(
    request: TenantRequest, message_id: UUID, *, write: bool = False
) -> InboundMessage:
    message = get_inbound_lab_message(tenant=request.tenant, message_id=message_id)
    message.tenant = request.tenant
    require_patient_rights(request, write=write)
    return message
