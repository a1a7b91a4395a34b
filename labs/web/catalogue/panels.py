"""Page that creates a panel from the markers of one lab.

The form contains the chosen markers, so that nothing is stored between requests and it
works without scripts.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from django import forms
from django.contrib import messages
from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from accounts.states import Area
from accounts.web.rights import require_right
from labs.models import Lab, Marker
from labs.models.catalogue import PANEL_NAME_MAX_LENGTH, sum_prices
from labs.operations.catalogue.panels import (
    DESCRIPTION_MAX_LENGTH,
    LabTestRequest,
    create_lab_test,
)
from labs.queries.catalogue import (
    MarkerFilters,
    find_lab_by_slug,
    list_labs,
    list_markers_page,
)
from labs.states.catalogue import CollectionMethod, LabTestStatus
from portal.lib.errors import DomainError
from portal.lib.translation import gettext_lazy
from portal.lib.web.views import (
    is_page_fragment_requested,
    page_url,
    redirect_browser,
    render_page,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from django.http import HttpResponse

    from accounts.models import Tenant
    from accounts.web.requests import TenantRequest

MARKERS_SHOWN = 12
MARKERS_AT_MOST = 200  # as many as the API takes
_MARKER_ID = re.compile(r"[0-9]{1,9}")  # what PostgreSQL's integer holds
_FIELD_OF = {"lab_slug": "lab"}
_NO_METHOD = ("", gettext_lazy("Choose a collection method"))


class MarkerSearchForm(forms.Form):
    """The lab and text to search; an invalid value counts as not given."""

    lab = forms.SlugField(required=False, max_length=50)
    q = forms.CharField(required=False, max_length=100)


class PanelForm(forms.Form):
    """A panel's details; its markers come as the added IDs."""

    name = forms.CharField(
        max_length=PANEL_NAME_MAX_LENGTH,
        error_messages={"required": gettext_lazy("Enter a name for the panel.")},
    )
    lab = forms.ModelChoiceField(
        queryset=Lab.objects.none(),
        to_field_name="slug",
        empty_label=gettext_lazy("Choose a lab"),
        error_messages={
            "required": gettext_lazy("Choose the lab that runs the panel.")
        },
    )
    method = forms.ChoiceField(
        choices=lambda: [_NO_METHOD, *CollectionMethod.offered()],
        error_messages={"required": gettext_lazy("Choose a collection method.")},
    )
    description = forms.CharField(
        required=False,
        max_length=DESCRIPTION_MAX_LENGTH,
        widget=forms.Textarea(attrs={"rows": 3}),
    )

    def __init__(
        self,
        *args: Any,
        tenant: Tenant,
        marker_ids: Sequence[int] = (),
        **options: Any,
    ) -> None:
        super().__init__(*args, **options)
        self.fields["lab"].queryset = list_labs(tenant=tenant)  # type: ignore[attr-defined]
        self._marker_ids = tuple(marker_ids)

    def clean(self) -> dict[str, Any]:
        found = super().clean() or {}
        if not self._marker_ids:
            raise ValidationError(_("Add at least one marker."))
        return found

    def limit_methods(self, methods: Sequence[str]) -> None:
        """Show only the lab's collection methods."""
        offered = [pair for pair in CollectionMethod.offered() if pair[0] in methods]
        self.fields["method"].widget.choices = [_NO_METHOD, *offered]

    @property
    def panel_request(self) -> LabTestRequest:
        """Return the panel request of a valid form."""
        data = self.cleaned_data
        return LabTestRequest(
            name=data["name"],
            method=CollectionMethod(data["method"]),
            description=data["description"],
            marker_ids=self._marker_ids,
            lab_slug=data["lab"].slug,
        )


@require_http_methods(["GET", "POST"])
@require_right(Area.CATALOGUE, write=True)
def create_panel_page(request: TenantRequest) -> HttpResponse:
    """Show the form with each change, and create the panel on submit."""
    marker_ids = _read_marker_ids(request)
    if request.POST.get("go") == "make":
        form = PanelForm(request.POST, tenant=request.tenant, marker_ids=marker_ids)
        done = _create_panel(request, form) if form.is_valid() else None
        return done or _render_form(request, form, marker_ids)
    entered = {name: request.POST.get(name, "") for name in PanelForm.base_fields}
    form = PanelForm(tenant=request.tenant, initial=entered)
    return _render_form(request, form, marker_ids)


def _create_panel(request: TenantRequest, form: PanelForm) -> HttpResponse | None:
    """Create the panel of a valid form; None with form errors if refused."""
    try:
        panel = create_lab_test(
            tenant=request.tenant, actor=request.actor, request=form.panel_request
        )
    except DomainError as refusal:
        named = refusal.field or ""
        field = _FIELD_OF.get(named, named)
        form.add_error(field if field in form.fields else None, refusal.message)
        return None
    messages.success(
        request,
        _("%(panel)s created. An operator must approve it before you can order it.")
        % {"panel": panel.name},
    )
    waiting = f"?status={LabTestStatus.PENDING_APPROVAL}"
    return redirect_browser(request, page_url(request, "labs:tests") + waiting)


def _render_form(
    request: TenantRequest, form: PanelForm, marker_ids: Sequence[int]
) -> HttpResponse:
    search = MarkerSearchForm(request.POST)
    search.is_valid()
    text = search.cleaned_data.get("q", "")
    slug = search.cleaned_data.get("lab", "")
    lab = find_lab_by_slug(tenant=request.tenant, slug=slug)
    markers = _load_markers(request.tenant, marker_ids)
    if lab is not None:
        form.limit_methods(lab.collection_methods)
        if not form.is_bound:
            # Another lab was chosen: it does not run the markers of the one before.
            markers = [marker for marker in markers if marker.lab_id == lab.pk]
    is_typing = request.POST.get("go") == "search" and is_page_fragment_requested(
        request
    )
    filters = MarkerFilters(lab=lab, text=text, by_loinc=True)
    found = (
        list_markers_page(tenant=request.tenant, filters=filters, size=MARKERS_SHOWN)
        if lab
        else None
    )
    return render_page(
        request,
        "labs/new_panel.html",
        fragment=f"labs/_new_panel{'_found' if is_typing else ''}.html",
        status=422 if form.is_bound else 200,
        form=form,
        lab=lab,
        text=text,
        found=[one for one in found.markers if one.is_orderable] if found else [],
        has_more=found is not None and found.total > MARKERS_SHOWN,
        markers=markers,
        chosen={marker.pk for marker in markers},
        price=sum_prices(markers),
        needs_fasting=any(marker.fasting for marker in markers),
        is_full=len(markers) >= MARKERS_AT_MOST,
        at_most=MARKERS_AT_MOST,
        action=request.path,
        section="lab_tests",
    )


def _read_marker_ids(request: TenantRequest) -> list[int]:
    """Read the chosen marker IDs, with one added or removed."""
    names = [*request.POST.getlist("marker_ids"), request.POST.get("add", "")]
    ids = [int(name) for name in names if _MARKER_ID.fullmatch(name)]
    gone = request.POST.get("remove", "")
    return [one for one in dict.fromkeys(ids) if str(one) != gone][:MARKERS_AT_MOST]


def _load_markers(tenant: Tenant, marker_ids: Sequence[int]) -> list[Marker]:
    """Load the markers in the order added; unknown IDs are left out."""
    known = Marker.objects.visible_to(tenant)
    held = known.select_related("lab").in_bulk(list(marker_ids))
    return [held[one] for one in marker_ids if one in held]
