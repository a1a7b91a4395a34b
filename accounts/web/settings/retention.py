"""The page of a team's retention settings.

It holds in both environments; what would go is counted in the one that is open. Must
not be here: what the classes of data are (each app's own).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django import forms
from django.contrib import messages
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_http_methods

from accounts.operations.teams.retention import change_data_retention
from accounts.queries.retention import (
    RetentionSetting,
    list_retention_settings,
    preview_retention,
)
from accounts.states import Area
from accounts.web.rights import require_right
from accounts.web.sign_in.step_up import require_confirmed_identity
from portal.lib.database.retention import COUNTED_UP_TO
from portal.lib.errors import DomainError
from portal.lib.web.views import page_url, redirect_browser, render_page
from portal.ui.numbers import format_number

if TYPE_CHECKING:
    from django.http import HttpResponse
    from django.http.response import HttpResponseBase

    from accounts.web.requests import TenantRequest


class RetentionForm(forms.Form):
    """The days of each data class that can be changed; empty: the default."""

    def __init__(
        self, *args: Any, classes: list[RetentionSetting], **options: Any
    ) -> None:
        super().__init__(*args, **options)
        for setting in classes:
            if not setting.is_fixed:
                self.fields[setting.name] = forms.IntegerField(
                    required=False,
                    min_value=setting.least,
                    max_value=setting.data_class.most_days,
                    label=_("%(title)s (days)") % {"title": setting.data_class.title},
                    help_text=_describe_limits(setting),
                )


@require_http_methods(["GET", "POST"])
@require_right(Area.TEAM)
def edit_retention_page(request: TenantRequest) -> HttpResponseBase:
    return (
        _save_retention(request)
        if request.method == "POST"
        else _show_retention(request)
    )


@require_right(Area.TEAM, write=True)
@require_confirmed_identity
def _save_retention(request: TenantRequest) -> HttpResponse:
    team = request.tenant.team
    classes = list_retention_settings(team)
    form = RetentionForm(request.POST, classes=classes)
    if form.is_valid():
        try:
            change_data_retention(
                team=team, actor=request.actor, days=form.cleaned_data
            )
        except DomainError as refusal:
            form.add_error(refusal.field, refusal.message)
        else:
            messages.success(
                request, _("Retention saved. Older data is deleted next night.")
            )
            return redirect_browser(request, page_url(request, "team:retention"))
    return _render(request, classes, form)


def _show_retention(request: TenantRequest) -> HttpResponse:
    classes = list_retention_settings(request.tenant.team)
    names = {each.name for each in classes}
    if not names & set(request.GET):
        return _render(request, classes, None)
    # What other rules would remove, before they are saved.
    return _render(request, classes, RetentionForm(request.GET, classes=classes))


def _render(
    request: TenantRequest, classes: list[RetentionSetting], form: RetentionForm | None
) -> HttpResponse:
    shown = form or RetentionForm(
        initial={each.name: each.days for each in classes}, classes=classes
    )
    may_change = request.rights.allow(Area.TEAM, write=True)
    if not may_change:
        for field in shown.fields.values():
            field.disabled = True
    days = {each.name: each.days for each in classes}
    is_whole = form is not None and form.is_valid()
    if is_whole:
        days = {
            each.name: shown.cleaned_data.get(each.name) or each.data_class.usual_days
            for each in classes
        }
    going = preview_retention(tenant=request.tenant, days=days, at=timezone.now())
    return render_page(
        request,
        "accounts/retention.html",
        fragment="accounts/_retention_preview.html",
        status=422 if form is not None and not is_whole else 200,
        section="settings",
        may_change=may_change,
        form=shown,
        fields=[shown[each.name] for each in classes if not each.is_fixed],
        is_unsaved=form is not None,
        going=[
            (each.data_class.title, going.get(each.name), days[each.name])
            for each in classes
        ],
        counted_up_to=COUNTED_UP_TO,
    )


def _describe_limits(setting: RetentionSetting) -> str:
    description, usual = setting.data_class.says, setting.data_class.usual_days
    most = setting.data_class.most_days
    least = format_number(setting.least)
    if most is not None:
        bounds = _("From %(least)s to %(most)s days.") % {
            "least": least,
            "most": format_number(most),
        }
    else:
        bounds = ngettext(
            "At least %(least)s day.", "At least %(least)s days.", setting.least
        ) % {"least": least}
    hints = [str(description), bounds]
    if setting.data_class.is_record:
        hints.append(_("The minimum is this server's legal retention period."))
    hints.append(
        _("Leave empty to keep it until the user is deleted.")
        if usual is None
        else _("Leave empty for the default: %(days)s days.")
        % {"days": format_number(usual)}
    )
    return " ".join(hints)
