"""Connect links on a user's page: create, show, e-mail and revoke them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from uuid import UUID

from django import forms
from django.contrib import messages
from django.http import Http404
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from accounts.states import Area
from accounts.web.dialogs import read_posted, render_confirmation, render_form
from accounts.web.rights import require_right
from portal.lib.errors import DomainError
from portal.lib.translation import gettext_lazy
from portal.lib.web.views import page_url, redirect_browser, render_page
from portal.ui.qr import draw_qr_code
from users.models import LinkSession
from users.operations.connect.link_sessions import (
    MAILED_LINK_TTL,
    LinkRequest,
    build_connect_link_url,
    create_connect_link,
    end_connect_link,
    mail_connect_link,
)
from users.operations.connect.linking import list_connect_page_sources
from users.queries import live_user
from users.queries.sources.link_sessions import (
    get_connect_link,
    list_open_connect_links,
)

if TYPE_CHECKING:
    from django.http import HttpResponse

    from accounts.web.requests import TenantRequest
    from users.models import User

_ANY = ("", gettext_lazy("Any source"))


class MailForm(forms.Form):
    """Form of the e-mail address to send a link to."""

    email = forms.EmailField(
        max_length=254,
        error_messages={"required": gettext_lazy("Enter an email address.")},
    )


class LinkForm(forms.Form):
    """Form of a new link: its source and e-mail address."""

    provider = forms.ChoiceField(required=False)
    email = forms.EmailField(required=False, max_length=254)

    def __init__(self, user: User, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        anything = LinkSession(tenant=user.tenant, user=user)
        provider = self.fields["provider"]
        assert isinstance(provider, forms.ChoiceField)  # noqa: S101 - for the type
        provider.choices = [
            _ANY,
            *(
                (each.provider.slug, each.name)
                for each in list_connect_page_sources(anything)
                if each.ways
            ),
        ]


@require_http_methods(["GET", "POST"])
@require_right(Area.USERS, write=True)
def create_connect_link_for_user(request: TenantRequest, user_id: str) -> HttpResponse:
    """Create a link for a user, `?provider` preselected; list open links."""
    user = _user(request, user_id)
    chosen = {"provider": request.GET.get("provider", "")}
    form = LinkForm(user, read_posted(request), initial=chosen)
    if request.method == "POST" and form.is_valid():
        session = create_connect_link(
            user=user,
            actor=request.actor,
            request=LinkRequest(provider=form.cleaned_data["provider"]),
            lasts=MAILED_LINK_TTL,
        )
        if form.cleaned_data["email"]:
            _mail(request, session, form.cleaned_data["email"])
        return redirect_browser(request, _address(request, session))
    return render_form(
        request,
        "users/_link_form.html",
        title=_("Connect a source"),
        back=page_url(request, "users:page", user_id=user.uuid),
        back_words=user.client_user_id,
        status=422 if form.errors else 200,
        form=form,
        open_links=[
            (each, _address(request, each)) for each in list_open_connect_links(user)
        ],
    )


@require_GET
@require_right(Area.USERS, write=True)
def show_connect_link(
    request: TenantRequest, user_id: str, session_id: str
) -> HttpResponse:
    """Show an open link as text and QR code."""
    return _page(request, _link(request, user_id, session_id), MailForm())


@require_POST
@require_right(Area.USERS, write=True)
def send_connect_link_by_email(
    request: TenantRequest, user_id: str, session_id: str
) -> HttpResponse:
    session = _link(request, user_id, session_id)
    form = MailForm(request.POST)
    if not form.is_valid():
        return _page(request, session, form, status=422)
    _mail(request, session, form.cleaned_data["email"])
    return redirect_browser(request, _address(request, session))


@require_http_methods(["GET", "POST"])
@require_right(Area.USERS, write=True)
def revoke_connect_link(
    request: TenantRequest, user_id: str, session_id: str
) -> HttpResponse:
    session = _link(request, user_id, session_id)
    back = page_url(request, "users:page", user_id=session.user.uuid)
    if request.method == "POST":
        try:
            end_connect_link(session=session, actor=request.actor)
        except DomainError as refusal:
            messages.error(
                request,
                _("%(reason)s Nothing was changed.") % {"reason": refusal.message},
            )
        else:
            messages.success(request, _("Link revoked."))
        return redirect_browser(request, back)
    return render_confirmation(
        request,
        title=_("Revoke this link?"),
        says=_("It stops working at once. Connected sources stay connected."),
        verb=_("Revoke link"),
        keep=_("Keep link"),
        back=back,
        back_words=session.user.client_user_id,
    )


def _page(
    request: TenantRequest, session: LinkSession, form: MailForm, status: int = 200
) -> HttpResponse:
    works = session.is_open()
    url = build_connect_link_url(session) if works else ""
    response = render_page(
        request,
        "users/link.html",
        status=status,
        session=session,
        user=session.user,
        is_open=works,
        url=url,
        qr=draw_qr_code(url) if works else "",
        form=form,
    )
    response["Cache-Control"] = "no-store"
    return response


def _mail(request: TenantRequest, session: LinkSession, email: str) -> None:
    try:
        mail_connect_link(session=session, actor=request.actor, email=email)
    except DomainError as refusal:
        messages.error(
            request, _("%(reason)s Nothing was sent.") % {"reason": refusal.message}
        )
    else:
        messages.success(request, _("Email sent."))


def _user(request: TenantRequest, user_id: str) -> User:
    try:
        return live_user(tenant=request.tenant, user_id=UUID(user_id))
    except ValueError:
        raise Http404 from None


def _link(request: TenantRequest, user_id: str, session_id: str) -> LinkSession:
    user = _user(request, user_id)
    try:
        return get_connect_link(user=user, session_id=UUID(session_id))
    except ValueError:
        raise Http404 from None


def _address(request: TenantRequest, session: LinkSession) -> str:
    return page_url(
        request, "users:link", user_id=session.user.uuid, session_id=session.uuid
    )
