"""Pages of a team's credentials at sources: list, enter, try and remove them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django import forms
from django.contrib import messages
from django.http import Http404
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from accounts.operations.teams.teams import change_team_settings
from accounts.states import Area
from accounts.web.dialogs import read_posted, render_confirmation
from accounts.web.rights import require_right
from accounts.web.sign_in.step_up import require_confirmed_identity
from portal.lib.errors import DomainError, NotFound
from portal.lib.translation import gettext_lazy
from portal.lib.web.views import page_url, redirect_browser, render_page
from users.models.sources.credentials import (
    CLIENT_ID_MAX_LENGTH,
    CLIENT_SECRET_MAX_LENGTH,
)
from users.operations.sources.credentials import (
    build_sign_in_redirect_uri,
    list_source_setups,
    remove_source_credentials,
    save_source_credentials,
    try_source_credentials,
)
from users.queries.sources.sources import count_connected_users_by_source
from users.states.credentials import CredentialsState
from users.states.terms import Permission
from users.wearables.providers import (
    WITHOUT_API,
    WITHOUT_API_CHECKED_ON,
    find_provider,
)

if TYPE_CHECKING:
    from django.http import HttpResponse

    from accounts.web.requests import TenantRequest
    from users.gateways.applications import CredentialField
    from users.gateways.base import (
        CallLimit,
    )
    from users.operations.sources.credentials import SourceSetup
    from users.wearables.providers import Provider

_SECTION = "source_settings"
_DAY_SECONDS = 86_400
# Statuses of the pills, the first of them first.
_BROKEN, _UNTRIED, _WORKING, _NOT_SET_UP = _ORDER = (
    "error",
    "unknown",
    "connected",
    "switched_off",
)
_STATUSES = {
    CredentialsState.REJECTED: _BROKEN,
    CredentialsState.UNANSWERED: _UNTRIED,
    CredentialsState.WORKING: _WORKING,
}
_TRIED = {
    CredentialsState.WORKING: gettext_lazy("%(source)s accepts the credentials."),
    CredentialsState.REJECTED: gettext_lazy("%(source)s rejects the credentials."),
    CredentialsState.UNANSWERED: gettext_lazy(
        "%(source)s does not answer right now. Try again later."
    ),
}
_SAVED = gettext_lazy("Saved. %(source)s did not answer, so they are not tried yet.")


class CredentialsForm(forms.Form):
    """Form of a client ID and secret, and of what else a source asks for."""

    client_id = forms.CharField(
        max_length=CLIENT_ID_MAX_LENGTH,
        error_messages={"required": gettext_lazy("Enter the client ID.")},
    )
    client_secret = forms.CharField(
        required=False,
        max_length=CLIENT_SECRET_MAX_LENGTH,
        widget=forms.PasswordInput(render_value=False),
    )

    def __init__(
        self, asked: tuple[CredentialField, ...], *args: Any, **named: Any
    ) -> None:
        """Add the fields of a source; what is missing is said by the operation."""
        super().__init__(*args, **named)
        self.asked = asked
        for each in asked:
            self.fields[each.name] = (
                forms.ChoiceField(required=False, choices=each.choices)
                if each.choices
                else forms.CharField(
                    required=False,
                    max_length=CLIENT_SECRET_MAX_LENGTH,
                    widget=forms.PasswordInput(render_value=False),
                )
            )

    @property
    def more(self) -> list[tuple[CredentialField, forms.BoundField]]:
        """Return the fields of the source, each with what it asks for."""
        return [(each, self[each.name]) for each in self.asked]


@dataclass(frozen=True, slots=True)
class SourceSettingsRow:
    """A source of the settings page; `users` are those connected.

    `status` chooses the pill that says `words`.
    """

    provider: Provider
    setup: SourceSetup
    users: int
    status: str
    words: str

    @property
    def limits(self) -> list[str]:
        """Return the limits of requests in words."""
        return [_describe_limit(each) for each in self.setup.limits]

    @property
    def forbidden(self) -> int:
        """Return how many uses the public terms forbid."""
        terms = self.setup.terms
        uses = terms.list_uses() if terms else []
        return sum(permission == Permission.FORBIDDEN for _use, permission in uses)


@require_GET
@require_right(Area.API_KEYS)
def show_source_settings(request: TenantRequest) -> HttpResponse:
    """List the sources that can have credentials, those with a problem first."""
    return render_page(
        request,
        "users/source_settings.html",
        section=_SECTION,
        rows=_rows(request),
        closed=[(find_provider(slug), why) for slug, why in WITHOUT_API.items()],
        closed_checked_on=WITHOUT_API_CHECKED_ON,
    )


@sensitive_post_parameters()
@require_http_methods(["GET", "POST"])
@require_right(Area.API_KEYS, write=True)
@require_confirmed_identity
def edit_source_credentials(request: TenantRequest, provider: str) -> HttpResponse:
    """Show the addresses to register, and enter or rotate the credentials."""
    row = _get_row(request, provider)
    stored = row.setup.stored
    chosen = row.setup.chosen if stored else {}
    form = CredentialsForm(
        row.setup.fields,
        read_posted(request),
        initial={"client_id": stored.client_id if stored else "", **chosen},
    )
    if request.method == "POST" and form.is_valid():
        try:
            saved = save_source_credentials(
                tenant=request.tenant,
                actor=request.actor,
                provider=provider,
                client_id=form.cleaned_data.pop("client_id"),
                client_secret=form.cleaned_data.pop("client_secret"),
                more=form.cleaned_data,
            )
        except DomainError as refusal:
            form.add_error(refusal.field, refusal.message)
        else:
            is_tried = saved.state == CredentialsState.WORKING
            words = _("Credentials tried and saved.") if is_tried else str(_SAVED)
            messages.success(request, words % {"source": row.provider.name})
            return _back(request, provider)
    return render_page(
        request,
        "users/source_credentials.html",
        status=422 if form.errors else 200,
        section=_SECTION,
        row=row,
        form=form,
        redirect_uri=build_sign_in_redirect_uri(provider),
    )


@require_POST
@require_right(Area.API_KEYS, write=True)
def try_stored_source_credentials(
    request: TenantRequest, provider: str
) -> HttpResponse:
    """Try the stored credentials now."""
    row = _get_row(request, provider)
    try:
        state = try_source_credentials(
            tenant=request.tenant, actor=request.actor, provider=provider
        )
    except NotFound as refusal:
        messages.error(request, refusal.message)
    else:
        works = state == CredentialsState.WORKING
        show = messages.success if works else messages.error
        show(request, str(_TRIED[state]) % {"source": row.provider.name})
    return _back(request, provider)


@require_http_methods(["GET", "POST"])
@require_right(Area.API_KEYS, write=True)
@require_confirmed_identity
def remove_stored_source_credentials(
    request: TenantRequest, provider: str
) -> HttpResponse:
    """Remove the team's credentials after a confirmation."""
    row = _get_row(request, provider)
    if request.method == "POST":
        try:
            remove_source_credentials(
                tenant=request.tenant, actor=request.actor, provider=provider
            )
        except NotFound as refusal:
            messages.error(request, refusal.message)
        else:
            messages.success(request, _("Credentials removed."))
        return redirect_browser(request, page_url(request, "users:source_settings"))
    return render_confirmation(
        request,
        title=_("Remove the credentials of %(source)s?")
        % {"source": row.provider.name},
        says=_(
            "Users connected with them receive no new data until they connect again."
            " Their past data is kept."
        ),
        verb=_("Remove credentials"),
        keep=_("Keep credentials"),
        back=page_url(request, "users:source_credentials", provider=provider),
        back_words=row.provider.name,
    )


@require_POST
@require_right(Area.API_KEYS, write=True)
def change_reconnect_mails(request: TenantRequest) -> HttpResponse:
    """Turn mails to users about broken connections on or off."""
    is_on = request.POST.get("is_on") == "on"
    change_team_settings(
        tenant=request.tenant,
        actor=request.actor,
        settings={"source_reconnect_mails_enabled": is_on},
    )
    messages.success(
        request,
        _("Users are emailed when a source needs them to sign in again.")
        if is_on
        else _("Users are no longer emailed about sources."),
    )
    return redirect_browser(request, page_url(request, "users:source_settings"))


def _back(request: TenantRequest, provider: str) -> HttpResponse:
    return redirect_browser(
        request, page_url(request, "users:source_credentials", provider=provider)
    )


def _get_row(request: TenantRequest, provider: str) -> SourceSettingsRow:
    for row in _rows(request):
        if row.provider.slug == provider:
            return row
    raise Http404


def _rows(request: TenantRequest) -> list[SourceSettingsRow]:
    users = {
        each.provider: each.connections
        for each in count_connected_users_by_source(tenant=request.tenant)
    }
    rows = [
        SourceSettingsRow(
            find_provider(setup.provider),
            setup,
            users.get(setup.provider, 0),
            *_describe(setup),
        )
        for setup in list_source_setups(tenant=request.tenant)
    ]
    return sorted(
        rows, key=lambda row: (_ORDER.index(row.status), row.provider.name.lower())
    )


def _describe_limit(limit: CallLimit) -> str:
    calls, minutes = f"{limit.calls:,}", limit.seconds // 60
    if limit.seconds == _DAY_SECONDS:
        words = _("Limit: %(calls)s a day") % {"calls": calls}
    else:
        words = ngettext(
            "Limit: %(calls)s in a minute", "Limit: %(calls)s in %(n)d minutes", minutes
        ) % {"calls": calls, "n": minutes}
    if limit.counts_days:
        words = _("%(limit)s, in days of data") % {"limit": words}
    return _("%(limit)s, each user") % {"limit": words} if limit.is_per_user else words


def _describe(setup: SourceSetup) -> tuple[str, str]:
    """Return the status and words of a source."""
    if setup.stored is None:
        if setup.is_offered:
            return _WORKING, _("Installation's credentials")
        return _NOT_SET_UP, _("Not set up")
    if not setup.is_offered:
        return _BROKEN, _("Unreadable: enter the secret again")
    state = CredentialsState(setup.stored.state)
    return _STATUSES[state], str(state.label)
