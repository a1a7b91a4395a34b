"""The page of a team's kit stock."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django import forms
from django.contrib import messages
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from accounts.states import Area
from accounts.web.rights import require_right
from labs.operations.catalogue.kit_stock import (
    KITS_MAX,
    KitStockChange,
    set_kit_stock,
)
from labs.queries.kit_stock import KitLevel, list_kit_levels
from portal.lib.errors import DomainError
from portal.lib.web.views import page_url, redirect_browser, render_page

if TYPE_CHECKING:
    from django.http import HttpResponse, QueryDict
    from django.http.response import HttpResponseBase

    from accounts.web.requests import TenantRequest


class KitLevelForm(forms.Form):
    """The stock of one panel; `seen` is the count that the page showed."""

    count = forms.IntegerField(required=False, min_value=0, max_value=KITS_MAX)
    warn_below = forms.IntegerField(required=False, min_value=0, max_value=KITS_MAX)
    seen = forms.IntegerField(required=False, min_value=0, widget=forms.HiddenInput)

    def __init__(self, data: QueryDict | None = None, *, level: KitLevel) -> None:
        stock = level.stock
        super().__init__(
            data,
            prefix=level.panel.pk.hex,
            initial={
                "count": stock.count if stock else None,
                "warn_below": stock.warn_below if stock else None,
                "seen": stock.count if stock else None,
            },
        )
        self.level = level

    def clean(self) -> dict[str, Any]:
        values = super().clean() or {}
        count, warn_below = values.get("count"), values.get("warn_below")
        if count is None and warn_below is not None and "count" not in self.errors:
            self.add_error("count", _("Enter the number of kits you have."))
        return values

    def build_change(self) -> KitStockChange | None:
        """Return what was entered, None for a panel that was left empty."""
        values = self.cleaned_data
        if values["count"] is None:
            return None
        return KitStockChange(
            self.level.panel.pk,
            values["count"],
            values["warn_below"] or 0,
            values["seen"],
        )


@require_http_methods(["GET", "POST"])
@require_right(Area.CATALOGUE)
def edit_kit_stock_page(request: TenantRequest) -> HttpResponseBase:
    return _save(request) if request.method == "POST" else _render(request)


@require_right(Area.CATALOGUE, write=True)
def _save(request: TenantRequest) -> HttpResponse:
    sheet = [
        KitLevelForm(request.POST, level=level)
        for level in list_kit_levels(request.tenant)
    ]
    # All of them, so that each shows its errors.
    if any([form.errors for form in sheet]):  # noqa: C419
        return _render(request, sheet)
    changes = [change for form in sheet if (change := form.build_change())]
    try:
        set_kit_stock(tenant=request.tenant, actor=request.actor, changes=changes)
    except DomainError as refusal:
        messages.error(request, refusal.message)
        return redirect_browser(request, page_url(request, "labs:kit_stock"))
    messages.success(request, _("Kit stock saved."))
    return redirect_browser(request, page_url(request, "labs:kit_stock"))


def _render(
    request: TenantRequest, sheet: list[KitLevelForm] | None = None
) -> HttpResponse:
    shown = sheet or [
        KitLevelForm(level=level) for level in list_kit_levels(request.tenant)
    ]
    may_change = request.rights.allow(Area.CATALOGUE, write=True)
    if not may_change:
        for form in shown:
            for field in form.fields.values():
                field.disabled = True
    return render_page(
        request,
        "labs/kit_stock.html",
        status=422 if sheet else 200,
        section="lab_tests",
        sheet=shown,
        may_change=may_change,
    )
