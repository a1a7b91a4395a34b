"""The profile page: name, time zone, language, theme, shortcuts, password, sessions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from allauth.account.adapter import get_adapter
from allauth.core import ratelimit
from django.contrib import messages
from django.utils.translation import gettext as _
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST

from accounts.models import Membership
from accounts.operations.members.profile import (
    Profile,
    change_password,
    change_profile,
    end_all_sessions_of_member,
)
from accounts.queries import has_second_factor
from accounts.web.forms import PasswordForm, ProfileForm
from accounts.web.members.roles import list_role_labels
from accounts.web.sign_in.known_devices import mark_device_known_to_member
from accounts.web.sign_in.proofs import (
    forbid_single_sign_on_sessions,
    is_single_sign_on_session,
    list_teams_proven_by_provider,
    refuse_single_sign_on_session,
)
from accounts.web.sign_in.sessions import (
    keep_current_session_signed_in,
    list_session_rows,
)
from accounts.web.sign_in.step_up import require_confirmed_identity
from portal.lib.errors import DomainError
from portal.lib.web.views import page_url, redirect_browser, render_page

if TYPE_CHECKING:
    from django.http import HttpResponse

    from accounts.web.requests import TenantRequest


@require_http_methods(["GET", "POST"])
def edit_profile_page(request: TenantRequest) -> HttpResponse:
    if request.method != "POST":
        return _render_profile(request)
    if not _may_change(request):
        return refuse_single_sign_on_session(request)
    form = ProfileForm(request.POST, team_zone=request.tenant.team.time_zone)
    if form.is_valid():
        try:
            change_profile(
                member=request.member,
                actor=request.actor,
                profile=Profile(**form.cleaned_data),
            )
        except DomainError as refusal:
            form.add_error(refusal.field, refusal.message)
        else:
            messages.success(request, _("Profile saved."))
            return redirect_browser(request, page_url(request, "team:profile"))
    return _render_profile(request, form=form)


@sensitive_post_parameters("current", "new")
@require_POST
@forbid_single_sign_on_sessions
def change_password_page(request: TenantRequest) -> HttpResponse:
    limited: HttpResponse | None = ratelimit.consume_or_429(
        request, action="change_password", user=request.member
    )
    if limited:
        return limited
    form = PasswordForm(request.POST)
    if form.is_valid():
        try:
            member = change_password(
                member=request.member, actor=request.actor, **form.cleaned_data
            )
        except DomainError as refusal:
            form.add_error(
                refusal.field,
                _("%(reason)s Nothing was changed.") % {"reason": refusal.message},
            )
        else:
            keep_current_session_signed_in(request, member)
            get_adapter(request).send_notification_mail(
                "account/email/password_changed", member
            )
            messages.success(
                request, _("Password changed. Other devices are signed out.")
            )
            response = redirect_browser(request, page_url(request, "team:profile"))
            mark_device_known_to_member(request, response, member)
            return response
    return _render_profile(request, password_form=form)


@require_POST
@forbid_single_sign_on_sessions
@require_confirmed_identity
def sign_out_other_sessions(request: TenantRequest) -> HttpResponse:
    member = end_all_sessions_of_member(member=request.member, actor=request.actor)
    keep_current_session_signed_in(request, member)
    messages.success(request, _("All other devices are signed out."))
    response = redirect_browser(request, page_url(request, "team:profile"))
    mark_device_known_to_member(request, response, member)
    return response


def _may_change(request: TenantRequest) -> bool:
    """Return whether the profile can be changed: other teams see it too."""
    if not is_single_sign_on_session(request.session):
        return True
    elsewhere = Membership.objects.filter(member=request.member).exclude(
        team__in=list_teams_proven_by_provider(request.session)
    )
    return not elsewhere.exists()


def _render_profile(
    request: TenantRequest,
    *,
    form: ProfileForm | None = None,
    password_form: PasswordForm | None = None,
) -> HttpResponse:
    member = request.member
    chosen = {
        name: getattr(member, name)
        for name in ("name", "time_zone", "language", "theme", "shortcuts_enabled")
    }
    return render_page(
        request,
        "accounts/profile.html",
        status=422 if form or password_form else 200,
        form=form
        or ProfileForm(initial=chosen, team_zone=request.tenant.team.time_zone),
        password_form=password_form or PasswordForm(),
        roles=list_role_labels(request.rights.roles),
        section="profile",
        **_sign_in_context(request),
    )


def _sign_in_context(request: TenantRequest) -> dict[str, Any]:
    """Return the account's sign-in details, unless signed in with single sign-on."""
    if is_single_sign_on_session(request.session):
        return {"may_change": _may_change(request)}
    return {
        "may_change": True,
        "is_own_sign_in": True,
        "has_second_factor": has_second_factor(request.member),
        "sessions": list_session_rows(request),
    }
