"""The page of a lab account's connection: folder, MLLP or SFTP."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import UUID

from django import forms
from django.conf import settings
from django.contrib import messages
from django.http import Http404
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_GET, require_POST

from accounts.states import Area
from accounts.web.rights import require_right
from accounts.web.sign_in.step_up import (
    is_identity_confirmed,
    redirect_to_identity_confirmation,
)
from labs.gateways.hl7.mllp.tls import find_last_expiry
from labs.models import Hl7Connection
from labs.models.connection import (
    FOLDER_MAX_LENGTH,
    HOST_MAX_LENGTH,
    USER_MAX_LENGTH,
)
from labs.operations.connections.settings import (
    HOST_KEY_MAX_LENGTH,
    PEM_MAX_LENGTH,
    ConnectionRequest,
    check_connection_now,
    configure_hl7_connection,
)
from labs.queries.accounts import get_linked_lab_account
from labs.queries.connections import (
    SILENT_AFTER,
    find_hl7_connection,
    measure_queue,
)
from labs.states.connections import Transport, TransportFault
from portal.lib.errors import DomainError, NotFound
from portal.lib.web.views import page_url, redirect_browser, render_page

if TYPE_CHECKING:
    from django.http import HttpResponse

    from accounts.web.requests import TenantRequest
    from labs.models import LabAccount

# An account without a row has its folder.
OFFERED = (Transport.FOLDER, Transport.MLLP, Transport.SFTP)
CERTIFICATE_SOON = timedelta(days=30)


class SecretTextarea(forms.Textarea):
    """A field of several lines that never shows what was entered."""

    def format_value(self, value: Any) -> None:
        """Show nothing."""
        del value


class ConnectionForm(forms.Form):
    """The settings of one transport; an empty secret keeps the stored one."""

    host = forms.CharField(max_length=HOST_MAX_LENGTH, required=False)
    port = forms.IntegerField(min_value=1, max_value=65_535, required=False)
    is_unencrypted = forms.BooleanField(required=False)
    peer_certificates = forms.CharField(
        max_length=PEM_MAX_LENGTH,
        required=False,
        widget=forms.Textarea(attrs={"rows": 6, "spellcheck": "false"}),
    )
    user_name = forms.CharField(max_length=USER_MAX_LENGTH, required=False)
    secret = forms.CharField(
        required=False,
        strip=False,
        widget=SecretTextarea(attrs={"rows": 3, "spellcheck": "false"}),
    )
    host_key = forms.CharField(
        max_length=HOST_KEY_MAX_LENGTH,
        required=False,
        widget=forms.Textarea(attrs={"rows": 2, "spellcheck": "false"}),
    )
    incoming_folder = forms.CharField(max_length=FOLDER_MAX_LENGTH, required=False)
    outgoing_folder = forms.CharField(max_length=FOLDER_MAX_LENGTH, required=False)


@require_GET
@require_right(Area.CATALOGUE)
def show_lab_connection(request: TenantRequest, account_id: str) -> HttpResponse:
    account = _get_account(request, account_id)
    return _render(request, account, asked=request.GET.get("transport", ""))


@sensitive_post_parameters("secret")
@require_POST
@require_right(Area.CATALOGUE, write=True)
def save_lab_connection(request: TenantRequest, account_id: str) -> HttpResponse:
    """Save the settings; what is refused stays in the form, without its secret."""
    account = _get_account(request, account_id)
    if not is_identity_confirmed(request):
        return redirect_to_identity_confirmation(request)
    form = save_posted_connection(request, account)
    if form is None:
        return redirect_browser(request, _page_of(request, account))
    return _render(request, account, asked=request.POST.get("transport", ""), form=form)


@require_POST
@require_right(Area.CATALOGUE, write=True)
def check_lab_connection(request: TenantRequest, account_id: str) -> HttpResponse:
    """Reach the other side now; no message is sent."""
    account = _get_account(request, account_id)
    check_and_report_connection(request, account)
    return redirect_browser(request, _page_of(request, account))


def save_posted_connection(
    request: TenantRequest, account: LabAccount | None
) -> ConnectionForm | None:
    """Save the posted settings of an account, or of the team's own system (None).

    Returns the form with its errors where they are refused.
    """
    form = ConnectionForm(request.POST)
    if not form.is_valid():
        return form
    try:
        configure_hl7_connection(
            tenant=request.tenant,
            actor=request.actor,
            account=account,
            request=ConnectionRequest(
                transport=request.POST.get("transport", ""), **form.cleaned_data
            ),
        )
    except DomainError as refusal:
        field = refusal.field if refusal.field in form.fields else None
        form.add_error(field, refusal.message)
        return form
    messages.success(request, _("Connection saved."))
    return None


def check_and_report_connection(
    request: TenantRequest, account: LabAccount | None
) -> None:
    """Reach the other side of a connection and say what came of it. Raises: Http404."""
    connection = find_hl7_connection(tenant=request.tenant, account=account)
    if connection is None:
        raise Http404
    try:
        check_connection_now(connection=connection)
    except DomainError as refusal:
        messages.error(request, refusal.message)
    else:
        messages.success(request, _("Connected. No message was sent."))


def _render(
    request: TenantRequest,
    account: LabAccount,
    *,
    asked: str,
    form: ConnectionForm | None = None,
) -> HttpResponse:
    connection = find_hl7_connection(tenant=request.tenant, account=account)
    stored = connection.transport if connection else Transport.FOLDER
    transport = Transport.known(asked) or Transport.known(stored) or Transport.FOLDER
    may_change = request.rights.allow(Area.CATALOGUE, write=True)
    shown = form or ConnectionForm(
        initial=build_initial_settings(connection, transport)
    )
    if not may_change:
        for field in shown.fields.values():
            field.disabled = True
    return render_page(
        request,
        "labs/lab_connection.html",
        status=422 if form else 200,
        section="lab_accounts",
        account=account,
        name=account.account_name or account.provider_account_id,
        connection=connection,
        form=shown,
        transport=transport.value,
        is_stored=transport == stored,
        transports=[(each.value, each.label) for each in OFFERED],
        may_change=may_change,
        **build_connection_state(connection),
    )


def build_initial_settings(
    connection: Hl7Connection | None, transport: Transport
) -> dict[str, Any]:
    """Return the form's values of a connection, without its secret."""
    if connection is None or connection.transport != transport:
        return {}
    names = ConnectionForm.base_fields.keys() - {"secret"}
    return {name: getattr(connection, name) for name in names}


def build_connection_state(connection: Hl7Connection | None) -> dict[str, Any]:
    """Return what the page says of a connection that is set up."""
    if connection is None:
        return {}
    fault = TransportFault.known(connection.fault)
    is_mllp = connection.transport == Transport.MLLP
    now = timezone.now()
    is_silent = is_mllp and (
        connection.seen_at is None or connection.seen_at < now - SILENT_AFTER
    )
    expires_at = find_last_expiry(connection.peer_certificates)
    return {
        "fault": fault.label if fault else connection.fault,
        "is_silent": is_silent,
        "queue": measure_queue(connection=connection),
        "expires_at": expires_at,
        "expires_soon": expires_at is not None and expires_at < now + CERTIFICATE_SOON,
        "own_certificate": _read_own_certificate() if is_mllp else "",
    }


def _read_own_certificate() -> str:
    """Return this server's certificate, which the lab needs; public by nature."""
    try:
        pem = Path(settings.MLLP_CERTIFICATE).read_text()
    except (OSError, UnicodeError):
        return ""
    # The file may hold the key as well.
    begin, end = "-----BEGIN CERTIFICATE-----", "-----END CERTIFICATE-----"
    parts = pem.split(begin)[1:]
    return "\n".join(begin + part.partition(end)[0] + end for part in parts)


def _page_of(request: TenantRequest, account: LabAccount) -> str:
    return page_url(request, "labs:account_connection", account_id=account.pk)


def _get_account(request: TenantRequest, account_id: str) -> LabAccount:
    """Return an account that this team uses; others have no connection of it."""
    try:
        return get_linked_lab_account(
            tenant=request.tenant, account_id=UUID(account_id)
        )
    except (ValueError, NotFound):
        raise Http404 from None
