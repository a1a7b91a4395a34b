"""The page of a team's single sign-on and sign-in requirements.

It holds in both environments.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.contrib import messages
from django.db.models import Q
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from accounts.models import SignInRules, SingleSignOn
from accounts.operations.sign_in.single_sign_on import (
    ProviderSettings,
    change_sign_in_rules,
    configure_single_sign_on,
    remove_single_sign_on,
)
from accounts.queries import list_team_members
from accounts.states import Area
from accounts.web.dialogs import render_confirmation
from accounts.web.forms import ProviderForm, SignInRulesForm
from accounts.web.rights import require_right
from accounts.web.sign_in.proofs import find_proven_provider_version
from accounts.web.sign_in.step_up import require_confirmed_identity
from portal.lib.errors import DomainError
from portal.lib.translation import gettext_lazy
from portal.lib.web.links import build_absolute_url
from portal.lib.web.views import page_url, redirect_browser, render_page

if TYPE_CHECKING:
    from django.http import HttpResponse

    from accounts.web.requests import TenantRequest

_BACK_WORDS = gettext_lazy("Member sign-in")


@require_GET
@require_right(Area.TEAM)
def show_sign_in_settings(request: TenantRequest) -> HttpResponse:
    return _render(request)


@require_POST
@require_right(Area.TEAM, write=True)
@require_confirmed_identity
def save_sign_in_rules(request: TenantRequest) -> HttpResponse:
    form = SignInRulesForm(request.POST)
    form.is_valid()
    team = request.tenant.team
    try:
        change_sign_in_rules(
            team=team,
            actor=request.actor,
            mark=find_proven_provider_version(request.session, team.pk),
            **form.cleaned_data,
        )
    except DomainError as refusal:
        form.add_error(
            refusal.field,
            _("%(reason)s Nothing was changed.") % {"reason": refusal.message},
        )
        return _render(request, rules_form=form)
    return _redirect_saved(request, _("Sign-in requirements saved."))


@sensitive_post_parameters("client_secret")
@require_POST
@require_right(Area.TEAM, write=True)
@require_confirmed_identity
def save_single_sign_on_provider(request: TenantRequest) -> HttpResponse:
    form = ProviderForm(request.POST)
    if form.is_valid():
        try:
            configure_single_sign_on(
                team=request.tenant.team,
                actor=request.actor,
                provider=ProviderSettings(**form.cleaned_data),
            )
        except DomainError as refusal:
            form.add_error(
                refusal.field,
                _("%(reason)s Nothing was changed.") % {"reason": refusal.message},
            )
        else:
            return _redirect_saved(request, _("Provider checked and saved."))
    return _render(request, provider_form=form)


@require_http_methods(["GET", "POST"])
@require_right(Area.TEAM, write=True)
@require_confirmed_identity
def remove_single_sign_on_page(request: TenantRequest) -> HttpResponse:
    team = request.tenant.team
    if request.method == "POST":
        try:
            remove_single_sign_on(team=team, actor=request.actor)
        except DomainError as refusal:
            messages.error(request, refusal.message)
            return redirect_browser(request, page_url(request, "team:sign_in"))
        return _redirect_saved(request, _("Single sign-on removed."))
    return render_confirmation(
        request,
        title=_("Remove single sign-on?"),
        says=_(
            "Members without a password are signed out and set one by "
            "email. Members, roles and history are kept."
        ),
        verb=_("Remove single sign-on"),
        keep=_("Keep single sign-on"),
        back=page_url(request, "team:sign_in"),
        back_words=_BACK_WORDS,
    )


def _redirect_saved(request: TenantRequest, words: str) -> HttpResponse:
    messages.success(request, words)
    return redirect_browser(request, page_url(request, "team:sign_in"))


def _render(
    request: TenantRequest,
    *,
    rules_form: SignInRulesForm | None = None,
    provider_form: ProviderForm | None = None,
) -> HttpResponse:
    team = request.tenant.team
    present = SingleSignOn.objects.filter(team=team).first()
    rules = SignInRules.objects.filter(team=team).first()
    is_refused = bool(rules_form or provider_form)
    rules_form = rules_form or SignInRulesForm(
        initial={name: getattr(rules, name) for name in SignInRulesForm.base_fields}
        if rules
        else None
    )
    provider_form = provider_form or ProviderForm(
        initial={
            "issuer": present.issuer,
            "client_id": present.client_id,
            "domains": "\n".join(present.domains),
            "roles": present.roles,
        }
        if present
        else None
    )
    may_change = request.rights.allow(Area.TEAM, write=True)
    if not may_change:
        for form in (rules_form, provider_form):
            for field in form.fields.values():
                field.disabled = True
    lacking = list_team_members(team).filter(
        Q(has_second_factor=False), member__is_active=True
    )
    here = {"team_slug": team.slug}
    return render_page(
        request,
        "accounts/sign_in.html",
        status=422 if is_refused else 200,
        section="settings",
        may_change=may_change,
        rules_form=rules_form,
        provider_form=provider_form,
        provider=present,
        lacking=lacking.count(),
        needs_second_factor=rules is not None and rules.requires_second_factor,
        door_url=build_absolute_url(reverse("single_sign_on", kwargs=here)),
        back_url=build_absolute_url(reverse("single_sign_on_back", kwargs=here)),
        is_proven=present is not None
        and find_proven_provider_version(request.session, team.pk) == present.mark,
    )
