"""The team settings page: team, branding and behavior.

The team's name and zone hold in both environments, all else in the one that is open.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.contrib import messages
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from accounts.operations.teams.teams import SETTINGS, change_team, change_team_settings
from accounts.queries import list_latest_audited_changes
from accounts.states import Area
from accounts.web.forms import BehaviourForm, BrandForm, TeamForm
from accounts.web.rights import require_right
from portal.lib.errors import DomainError
from portal.lib.web.views import page_url, redirect_browser, render_page

if TYPE_CHECKING:
    from django.http import HttpResponse

    from accounts.models import AuditEntry
    from accounts.web.requests import TenantRequest

SHOWN_CHANGES = 8
_BRAND = ("brand_information", "logo_url", "patient_language")
_AUDITED = ("change_settings", "change_team", "change_retention")


@require_GET
@require_right(Area.TEAM)
def show_team_settings(request: TenantRequest) -> HttpResponse:
    return _render_settings(request)


@require_POST
@require_right(Area.TEAM, write=True)
def save_team_details(request: TenantRequest) -> HttpResponse:
    form = TeamForm(request.POST)
    if form.is_valid():
        try:
            change_team(
                team=request.tenant.team, actor=request.actor, **form.cleaned_data
            )
        except DomainError as refusal:
            form.add_error(refusal.field, refusal.message)
        else:
            return _redirect_saved(request, _("Team saved."))
    return _render_settings(request, team_form=form)


@require_POST
@require_right(Area.TEAM, write=True)
def save_team_brand(request: TenantRequest) -> HttpResponse:
    form = BrandForm(request.POST)
    if form.is_valid():
        change_team_settings(
            tenant=request.tenant, actor=request.actor, settings=form.settings()
        )
        return _redirect_saved(request, _("Branding saved."))
    return _render_settings(request, brand_form=form)


@require_POST
@require_right(Area.TEAM, write=True)
def save_team_behaviour(request: TenantRequest) -> HttpResponse:
    form = BehaviourForm(request.POST)
    if form.is_valid():
        change_team_settings(
            tenant=request.tenant, actor=request.actor, settings=form.settings()
        )
        return _redirect_saved(request, _("Settings saved."))
    return _render_settings(request, behaviour_form=form)


def _redirect_saved(request: TenantRequest, words: str) -> HttpResponse:
    messages.success(request, words)
    return redirect_browser(request, page_url(request, "team:settings"))


def _render_settings(
    request: TenantRequest,
    *,
    team_form: TeamForm | None = None,
    brand_form: BrandForm | None = None,
    behaviour_form: BehaviourForm | None = None,
) -> HttpResponse:
    """Render the page, with the failed form in place of the stored values."""
    tenant = request.tenant
    team = {name: getattr(tenant.team, name) for name in ("name", "time_zone")}
    brand = {
        **(tenant.brand_information or {}),
        "logo_url": tenant.logo_url,
        "patient_language": tenant.patient_language,
    }
    behaviour = {name: getattr(tenant, name) for name in SETTINGS.difference(_BRAND)}
    is_refused = bool(team_form or brand_form or behaviour_form)
    team_form = team_form or TeamForm(initial=team)
    brand_form = brand_form or BrandForm(initial=brand)
    behaviour_form = behaviour_form or BehaviourForm(initial=behaviour)
    may_change = request.rights.allow(Area.TEAM, write=True)
    if not may_change:
        for form in (team_form, brand_form, behaviour_form):
            for field in form.fields.values():
                field.disabled = True
    changes: list[AuditEntry] = []
    if request.rights.allow(Area.AUDIT):
        changes = list_latest_audited_changes(
            tenant=tenant, verbs=_AUDITED, limit=SHOWN_CHANGES
        )
    return render_page(
        request,
        "accounts/settings.html",
        status=422 if is_refused else 200,
        may_change=may_change,
        changes=[(entry, _list_changes(entry)) for entry in changes],
        section="settings",
        team_form=team_form,
        brand_form=brand_form,
        behaviour_form=behaviour_form,
    )


def _list_changes(entry: AuditEntry) -> list[tuple[str, str, str]]:
    """Return name, old and new value of each change; of groups by field."""
    lines = []
    for name, (old, new) in sorted(entry.changes.items()):
        if isinstance(old, dict) or isinstance(new, dict):
            before, after = old or {}, new or {}
            lines += [
                (
                    part,
                    _describe_value(before.get(part)),
                    _describe_value(after.get(part)),
                )
                for part in sorted({*before, *after})
                if before.get(part) != after.get(part)
            ]
        else:
            lines.append((name, _describe_value(old), _describe_value(new)))
    return lines


def _describe_value(value: object) -> str:
    match value:
        case True:
            return _("on")
        case False:
            return _("off")
        case None | "":
            return _("not set")
        case _:
            return str(value)
