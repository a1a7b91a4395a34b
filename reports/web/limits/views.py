"""Pages of a team's critical limits: list, add, change, revert."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django import forms
from django.contrib import messages
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from accounts.states import Area
from accounts.web.dialogs import read_posted, render_form
from accounts.web.rights import require_right
from portal.lib.errors import DomainError, NotFound
from portal.lib.translation import gettext_lazy
from portal.lib.units import format_unit
from portal.lib.web.views import page_url, redirect_browser, render_page
from reports.operations.critical_limits import (
    CriticalLimitInputs,
    CriticalLimitInUse,
    add_critical_limit,
    change_critical_limit,
    get_critical_limit,
    list_critical_limits,
    revert_critical_limit,
)
from reports.parser.checks.critical import SOURCES, list_critical_analytes

if TYPE_CHECKING:
    from django.http import HttpResponse

    from accounts.web.requests import TenantRequest
    from reports.parser.checks.critical import CriticalLimit

_DAYS_OF_YEAR = 365.25
_DAYS_IN_YEARS_FROM = 2 * 366
_BACK_WORDS = gettext_lazy("Critical limits")
_SEXES = (
    ("", gettext_lazy("Both")),
    ("male", gettext_lazy("Male")),
    ("female", gettext_lazy("Female")),
)


class BoundsForm(forms.Form):
    """The bounds of a limit; without both it is off."""

    low = forms.FloatField(required=False)
    high = forms.FloatField(required=False)


class NewLimitForm(BoundsForm):
    """A limit of the team's own; ages in whole years or days, both included."""

    analyte = forms.ChoiceField(
        error_messages={"required": gettext_lazy("Choose a marker.")}
    )
    unit = forms.CharField(max_length=40, required=False)
    sex = forms.ChoiceField(choices=_SEXES, required=False)
    from_days = forms.IntegerField(required=False, min_value=0, max_value=47_000)
    to_days = forms.IntegerField(required=False, min_value=0, max_value=47_000)
    ages_in = forms.ChoiceField(
        choices=(("years", gettext_lazy("Years")), ("days", gettext_lazy("Days")))
    )

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        markers: Any = self.fields["analyte"]
        markers.choices = [("", ""), *list_critical_analytes().items()]

    def build_inputs(self) -> CriticalLimitInputs:
        """Return the limit as entered; 15 years last until the 16th birthday."""
        given = dict(self.cleaned_data)
        if given.pop("ages_in") == "years":
            first, last = given["from_days"], given["to_days"]
            given["from_days"] = first and math.ceil(first * _DAYS_OF_YEAR)
            if last is not None:
                given["to_days"] = math.ceil((last + 1) * _DAYS_OF_YEAR) - 1
        return CriticalLimitInputs(**given)


@dataclass(frozen=True, slots=True)
class LimitLine:
    """A limit as its page shows it."""

    one: CriticalLimitInUse
    unit: str
    patients: str
    sources: str


@require_GET
@require_right(Area.TEAM)
def show_critical_limits(request: TenantRequest) -> HttpResponse:
    """Show all limits that apply, with their sources and what the team changed."""
    return render_page(
        request,
        "reports/limits/list.html",
        section="settings",
        lines=[_build_line(one) for one in list_critical_limits(tenant=request.tenant)],
        may_change=request.rights.allow(Area.TEAM, write=True),
    )


@require_http_methods(["GET", "POST"])
@require_right(Area.TEAM, write=True)
def add_critical_limit_page(request: TenantRequest) -> HttpResponse:
    """Add a limit of the team's own."""
    form = NewLimitForm(read_posted(request))
    if form.is_bound and form.is_valid():
        try:
            add_critical_limit(
                tenant=request.tenant, actor=request.actor, inputs=form.build_inputs()
            )
        except DomainError as refusal:
            form.add_error(refusal.field, refusal.message)
        else:
            messages.success(request, _("Limit added. New reports use it."))
            return _return_to_list(request)
    return render_form(
        request,
        "reports/limits/_add.html",
        title=_("Add critical limit"),
        back=page_url(request, "reports:critical_limits"),
        back_words=_BACK_WORDS,
        status=422 if form.errors else 200,
        form=form,
    )


@require_http_methods(["GET", "POST"])
@require_right(Area.TEAM, write=True)
def change_critical_limit_page(request: TenantRequest, limit_id: str) -> HttpResponse:
    """Change the bounds of a limit."""
    one = get_critical_limit(tenant=request.tenant, key=limit_id)
    form = BoundsForm(
        read_posted(request), initial={"low": one.limit.low, "high": one.limit.high}
    )
    if form.is_bound and form.is_valid():
        try:
            change_critical_limit(
                tenant=request.tenant,
                actor=request.actor,
                key=limit_id,
                **form.cleaned_data,
            )
        except NotFound:
            raise
        except DomainError as refusal:
            form.add_error(refusal.field, refusal.message)
        else:
            messages.success(request, _("Limit saved. New reports use it."))
            return _return_to_list(request)
    return render_form(
        request,
        "reports/limits/_change.html",
        title=_("Critical limit: %(marker)s") % {"marker": one.name},
        back=page_url(request, "reports:critical_limits"),
        back_words=_BACK_WORDS,
        status=422 if form.errors else 200,
        form=form,
        line=_build_line(one),
    )


@require_POST
@require_right(Area.TEAM, write=True)
def revert_critical_limit_page(request: TenantRequest, limit_id: str) -> HttpResponse:
    """Restore the bounds that ship, or remove a limit of the team's own."""
    revert_critical_limit(tenant=request.tenant, actor=request.actor, key=limit_id)
    messages.success(request, _("Limit reverted. New reports use the default."))
    return _return_to_list(request)


def _return_to_list(request: TenantRequest) -> HttpResponse:
    return redirect_browser(request, page_url(request, "reports:critical_limits"))


def _build_line(one: CriticalLimitInUse) -> LimitLine:
    limit = one.limit
    words = [_describe_ages(limit), str(dict(_SEXES)[limit.sex]) if limit.sex else ""]
    return LimitLine(
        one=one,
        unit="" if limit.unit == "1" else format_unit(limit.unit),
        patients=", ".join(word for word in words if word),
        sources="; ".join(SOURCES[source] for source in limit.sources),
    )


def _describe_ages(limit: CriticalLimit) -> str:
    first, last = limit.from_days or 0, limit.to_days
    if not first and last is None:
        return _("All ages")
    if last is None:
        return _("%(age)s and over") % {"age": _describe_age(first)}
    if last >= _DAYS_IN_YEARS_FROM:
        end = round((last + 1) / _DAYS_OF_YEAR)
        until = ngettext("under %(count)s year", "under %(count)s years", end) % {
            "count": end
        }
    else:
        until = _("up to %(age)s") % {"age": _describe_age(last)}
    if not first:
        return until[:1].upper() + until[1:]
    return _("From %(age)s, %(until)s") % {"age": _describe_age(first), "until": until}


def _describe_age(days: int) -> str:
    if days >= _DAYS_IN_YEARS_FROM:
        years = round(days / _DAYS_OF_YEAR)
        return ngettext("%(count)s year", "%(count)s years", years) % {"count": years}
    return ngettext("%(count)s day", "%(count)s days", days) % {"count": days}
