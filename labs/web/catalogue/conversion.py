"""Page that converts a panel to another lab's tests."""

from __future__ import annotations

from typing import TYPE_CHECKING
from uuid import UUID

from django import forms
from django.http import Http404
from django.views.decorators.http import require_GET

from accounts.states import Area
from accounts.web.rights import require_right
from labs.queries.catalogue import (
    find_lab_by_slug,
    get_lab_test_with_details,
    list_labs,
)
from labs.queries.compendium.conversion import convert_tests
from labs.queries.compendium.offered import describe_panel
from portal.lib.errors import NotFound
from portal.lib.web.views import render_page

if TYPE_CHECKING:
    from django.http import HttpResponse

    from accounts.web.requests import TenantRequest


class TargetForm(forms.Form):
    """The lab to convert to; an invalid value counts as not given."""

    lab = forms.SlugField(required=False, max_length=50)


@require_GET
@require_right(Area.CATALOGUE)
def show_panel_conversion(request: TenantRequest, lab_test_id: str) -> HttpResponse:
    """Show what stands for each test of a panel at another lab, and what changes."""
    try:
        panel = get_lab_test_with_details(
            tenant=request.tenant, lab_test_id=UUID(lab_test_id)
        )
    except (ValueError, NotFound):
        raise Http404 from None
    form = TargetForm(request.GET)
    form.is_valid()
    slug = form.cleaned_data.get("lab") or ""
    target = find_lab_by_slug(tenant=request.tenant, slug=slug)
    found = target and convert_tests(
        tenant=request.tenant, sources=describe_panel(panel), target=target
    )
    return render_page(
        request,
        "labs/convert_panel.html",
        panel=panel,
        labs=[lab for lab in list_labs(tenant=request.tenant) if lab != panel.lab],
        target=target,
        found=found,
        converted_price=found and found.source_price,
        section="lab_tests",
    )
