"""Pages to invite members and to accept invitations.

The link's token goes into a cookie at once, so that it stands in no address that a
page, a log or a Referer keeps.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast
from uuid import UUID

from allauth.account.adapter import get_adapter
from allauth.account.internal.flows.login import record_authentication
from django.conf import settings
from django.contrib import messages
from django.http import Http404, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils.cache import add_never_cache_headers
from django.utils.translation import gettext as _
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import (
    require_GET,
    require_http_methods,
    require_POST,
)

from accounts.models import Member
from accounts.operations.members.invitations import (
    INVITATION_TTL,
    accept_invitation,
    accept_invitation_as_new_member,
    build_invitation_link,
    describe_inviting_team,
    find_invitation,
    invite_member,
    mail_invitation,
    resend_invitation,
    revoke_invitation,
)
from accounts.operations.sign_in.addresses import send_address_confirmation_mail
from accounts.queries import list_open_invitations
from accounts.states import Area, Environment, Role
from accounts.web.dialogs import (
    read_posted,
    render_confirmation,
    render_form,
    replace_page_after_dialog,
)
from accounts.web.forms import InviteForm, NewcomerForm
from accounts.web.members.roles import describe_role_permissions, list_role_labels
from accounts.web.members.views import BACK_WORDS, render_members_page
from accounts.web.rights import require_right
from accounts.web.sign_in.known_devices import mark_device_known_to_member
from portal.lib.actor import Actor, ActorKind
from portal.lib.errors import DomainError
from portal.lib.web.views import build_secure_cookie_name, page_url, redirect_browser

if TYPE_CHECKING:
    from django.http import HttpRequest, HttpResponse

    from accounts.models import Invitation, Membership
    from accounts.web.requests import TenantRequest


@require_http_methods(["GET", "POST"])
@require_right(Area.TEAM, write=True)
def invite_member_page(request: TenantRequest) -> HttpResponse:
    form = InviteForm(read_posted(request))
    if request.method == "POST" and form.is_valid():
        try:
            invitation, token = invite_member(
                team=request.tenant.team, actor=request.actor, **form.cleaned_data
            )
        except DomainError as refusal:
            field = refusal.field or "roles"
            form.add_error(
                field,
                _("%(reason)s No invitation was sent.") % {"reason": refusal.message},
            )
        else:
            return _show_link(request, invitation, token)
    return render_form(
        request,
        "accounts/_invite.html",
        title=_("Invite member"),
        back=page_url(request, "team:members"),
        back_words=BACK_WORDS,
        status=422 if form.errors else 200,
        form=form,
        is_owner=Role.OWNER in request.rights.roles,
        sends_mail=bool(settings.EMAIL_URL),
        invite_words=_("Send invitation")
        if settings.EMAIL_URL
        else _("Create invitation"),
    )


@require_POST
@require_right(Area.TEAM, write=True)
def resend_member_invitation(
    request: TenantRequest, invitation_id: str
) -> HttpResponse:
    try:
        invitation, token = resend_invitation(
            invitation=_find_invitation(request, invitation_id), actor=request.actor
        )
    except DomainError as refusal:
        messages.error(
            request,
            _("%(reason)s No invitation was sent.") % {"reason": refusal.message},
        )
        return redirect_browser(request, page_url(request, "team:members"))
    return _show_link(request, invitation, token)


@require_http_methods(["GET", "POST"])
@require_right(Area.TEAM, write=True)
def revoke_invitation_page(request: TenantRequest, invitation_id: str) -> HttpResponse:
    invitation = _find_invitation(request, invitation_id)
    back = page_url(request, "team:members")
    if request.method == "POST":
        try:
            revoke_invitation(invitation=invitation, actor=request.actor)
        except DomainError as refusal:
            messages.error(
                request,
                _("%(reason)s Nothing was changed.") % {"reason": refusal.message},
            )
        else:
            messages.success(
                request,
                _("Invitation for %(email)s withdrawn.") % {"email": invitation.email},
            )
        return redirect_browser(request, back)
    return render_confirmation(
        request,
        title=_("Withdraw the invitation for %(email)s?") % {"email": invitation.email},
        says=_(
            "The link stops working immediately. You can send a new invitation later."
        ),
        verb=_("Withdraw invitation"),
        keep=_("Keep invitation"),
        back=back,
        back_words=BACK_WORDS,
    )


def _show_link(
    request: TenantRequest, invitation: Invitation, token: str
) -> HttpResponse:
    response = render_members_page(
        request,
        invited=invitation,
        is_mailed=mail_invitation(invitation=invitation, token=token),
        link=build_invitation_link(token),
    )
    return replace_page_after_dialog(
        request, response, url=page_url(request, "team:members")
    )


def _find_invitation(request: TenantRequest, invitation_id: str) -> Invitation:
    try:
        invitation_pk = UUID(invitation_id)
    except ValueError:
        raise Http404 from None
    invitation = (
        list_open_invitations(request.tenant.team).filter(pk=invitation_pk).first()
    )
    if invitation is None:
        raise Http404
    return invitation


@require_GET
def open_invitation_link(
    request: HttpRequest, token: str, key: str = ""
) -> HttpResponse:
    """Store a mailed token in a cookie and redirect to the accept page."""
    page = reverse("invitation")
    response = HttpResponseRedirect(page)
    response.set_cookie(
        _cookie_name(),
        f"{token}.{key}" if key else token,
        max_age=INVITATION_TTL,
        path=page,
        secure=settings.HTTPS,
        httponly=True,
        samesite="Lax",
    )
    response["Referrer-Policy"] = "no-referrer"
    add_never_cache_headers(response)
    return response


@sensitive_post_parameters("password")
@require_http_methods(["GET", "POST"])
def accept_invitation_page(request: HttpRequest) -> HttpResponse:
    """Show an invitation and accept it."""
    token, _, proof = request.COOKIES.get(_cookie_name(), "").partition(".")
    invitation = find_invitation(token)
    if invitation is None:
        return _set_no_cache(
            render(request, "accounts/invitation_dead.html", status=404)
        )
    if isinstance(request.user, Member):
        return _accept_as_member(request, invitation, token)
    if Member.objects.filter(email=invitation.email).exists():
        return _render_invitation(request, invitation, way="sign_in")
    return _accept_as_newcomer(request, invitation, token, proof)


def _accept_as_member(
    request: HttpRequest, invitation: Invitation, token: str
) -> HttpResponse:
    member = cast("Member", request.user)
    if member.email != invitation.email:
        return _render_invitation(request, invitation, way="sign_out")
    if request.method != "POST":
        return _render_invitation(request, invitation, way="join")
    try:
        membership = accept_invitation(
            token=token, member=member, actor=_actor(request, member)
        )
    except DomainError as refusal:
        return _render_invitation(
            request, invitation, way="join", refused=refusal.message
        )
    return _open_team(request, membership)


def _accept_as_newcomer(
    request: HttpRequest, invitation: Invitation, token: str, proof: str
) -> HttpResponse:
    form = NewcomerForm(read_posted(request))
    if request.method == "POST" and form.is_valid():
        try:
            membership = accept_invitation_as_new_member(
                token=token,
                proof=proof,
                address=request.META.get("REMOTE_ADDR") or None,
                **form.cleaned_data,
            )
        except DomainError as refusal:
            form.add_error(refusal.field or "name", refusal.message)
        else:
            record_authentication(request, membership.member, "password")
            get_adapter(request).login(request, membership.member)
            if membership.member.email_confirmed_at is None:
                send_address_confirmation_mail(membership.member)
            response = _open_team(request, membership)
            mark_device_known_to_member(request, response, membership.member)
            return response
    return _render_invitation(request, invitation, way="newcomer", form=form)


def _render_invitation(
    request: HttpRequest, invitation: Invitation, *, way: str, **context: Any
) -> HttpResponse:
    form = context.get("form")
    refused = bool(context.get("refused") or (form is not None and form.errors))
    response = render(
        request,
        "accounts/invitation.html",
        {
            "invitation": invitation,
            "place": describe_inviting_team(invitation),
            "roles": list_role_labels(invitation.roles),
            "rights": describe_role_permissions(invitation.roles),
            "way": way,
            **context,
        },
        status=422 if refused else 200,
    )
    return _set_no_cache(response)


def _open_team(request: HttpRequest, membership: Membership) -> HttpResponse:
    team = membership.team
    messages.success(request, _("You joined %(team)s.") % {"team": team.name})
    response = HttpResponseRedirect(
        reverse(
            "home",
            kwargs={"team_slug": team.slug, "environment": Environment.SANDBOX.value},
        )
    )
    response.delete_cookie(_cookie_name(), path=reverse("invitation"))
    return response


def _cookie_name() -> str:
    return build_secure_cookie_name("invitation", path=reverse("invitation"))


def _set_no_cache(response: HttpResponse) -> HttpResponse:
    add_never_cache_headers(response)
    return response


def _actor(request: HttpRequest, member: Member) -> Actor:
    return Actor(
        ActorKind.MEMBER,
        str(member.pk),
        member.email,
        request.META.get("REMOTE_ADDR") or None,
    )
