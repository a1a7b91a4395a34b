"""The step of the order wizard that chooses tests and how the sample is collected."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from uuid import UUID

from labs.operations.catalogue.order_sets import resolve_order_set
from labs.operations.production import require_home_visits
from labs.queries.catalogue import (
    LabTestFilters,
    MarkerFilters,
    list_lab_tests,
    list_markers_page,
)
from labs.states.catalogue import CollectionMethod, LabTestStatus
from labs.web.order_wizard.draft_pages import (
    is_back_button_pressed,
    read_search_text,
    redirect_to_order_wizard_step,
    render_order_wizard_step,
)
from labs.web.order_wizard.drafts import save_order_draft
from labs.web.order_wizard.entry import TESTS_AT_MOST, load_order_draft_records
from portal.lib.errors import DomainError
from portal.lib.web.views import is_page_fragment_requested

if TYPE_CHECKING:
    from django.http import HttpResponse

    from accounts.web.requests import TenantRequest
    from labs.web.order_wizard.drafts import OrderDraft
    from labs.web.order_wizard.entry import OrderEntry

PANELS_SHOWN = 12
MARKERS_SHOWN = 12
_MARKER_ID = re.compile(r"[0-9]{1,9}")  # what PostgreSQL's integer holds


def show_order_tests_step(
    request: TenantRequest, entry: OrderEntry, text: str | None = None, **more: Any
) -> HttpResponse:
    if text is None:
        text = str(entry.draft.step_values("tests").get("q", ""))
    if "refusal" not in more and (entry.panels or entry.single_markers):
        more["refusal"] = _find_test_refusal(entry)
    filters = LabTestFilters(
        lab=entry.lab,
        method=entry.method,
        status=LabTestStatus.ACTIVE,
        name=text,
        sort="name",
    )
    single = MarkerFilters(lab=entry.lab, text=text, by_loinc=True, is_a_la_carte=True)
    panels = list_lab_tests(
        tenant=request.tenant, filters=filters, limit=PANELS_SHOWN + 1
    )
    markers = list_markers_page(
        tenant=request.tenant, filters=single, size=MARKERS_SHOWN
    )
    return render_order_wizard_step(
        request,
        entry,
        "tests",
        fragment=more.pop("fragment", "labs/_place_order_tests.html"),
        panels=panels[:PANELS_SHOWN],
        has_more_panels=len(panels) > PANELS_SHOWN,
        markers=[marker for marker in markers.markers if marker.is_orderable],
        has_more_markers=markers.total > MARKERS_SHOWN,
        chosen_panels={panel.pk for panel in entry.panels},
        chosen_markers={marker.pk for marker in entry.single_markers},
        method=entry.method,
        methods=[
            (value, label)
            for value, label in CollectionMethod.offered()
            if entry.lab and value in entry.lab.collection_methods
        ],
        text=text,
        swaps_basket=is_page_fragment_requested(request),
        needs_fasting=any(marker.fasting for marker in entry.markers),
        **more,
    )


def submit_order_tests_step(request: TenantRequest, entry: OrderEntry) -> HttpResponse:
    text = read_search_text(request)
    if is_back_button_pressed(request):
        return redirect_to_order_wizard_step(
            request, entry.draft, entry.step_before("tests")
        )
    if request.POST.get("go") == "search" and is_page_fragment_requested(request):
        found = "labs/_place_order_found.html"
        return show_order_tests_step(request, entry, text, fragment=found)
    if request.POST.get("go") != "next":
        draft = _apply_test_changes(request, entry, text)
        if not is_page_fragment_requested(request):
            return redirect_to_order_wizard_step(request, draft, "tests")
        save_order_draft(request, draft)
        entry = load_order_draft_records(tenant=request.tenant, draft=draft)
        return show_order_tests_step(request, entry)
    refusal = _find_test_refusal(entry)
    if refusal is not None:
        return show_order_tests_step(request, entry, refusal=refusal, status=422)
    values = {
        **entry.draft.step_values("tests"),
        "asked": _question_marker_ids(entry),
        "q": "",
    }
    draft = entry.draft.with_step_values("tests", values, is_done=True)
    if entry.draft.step_values("tests").get("asked") != values["asked"]:
        # Questions that were not shown yet can't have been answered.
        draft = draft.with_step_values(
            "questions", draft.step_values("questions"), is_done=False
        )
    return redirect_to_order_wizard_step(
        request, draft, replace(entry, draft=draft).next_open_step("tests")
    )


def _apply_test_changes(
    request: TenantRequest, entry: OrderEntry, text: str
) -> OrderDraft:
    """Return the draft with tests added or removed, or another method."""
    panels = [str(panel.pk) for panel in entry.panels]
    markers = [marker.pk for marker in entry.single_markers]
    for verb in ("add", "remove"):
        kind, _separator, name = request.POST.get(verb, "").partition(":")
        if kind == "panel":
            panels = [one for one in panels if one != name]
            if verb == "add" and _is_uuid(name):
                panels.append(name)
        elif kind == "marker" and _MARKER_ID.fullmatch(name):
            markers = [one for one in markers if one != int(name)]
            if verb == "add":
                markers.append(int(name))
    method = request.POST.get("method") or entry.method
    values = {
        **entry.draft.step_values("tests"),
        "panels": panels[:TESTS_AT_MOST],
        "markers": markers[:TESTS_AT_MOST],
        "method": method,
        "q": text,
    }
    is_done = entry.is_step_done("tests") and request.POST.get("go") == "search"
    return entry.draft.with_step_values("tests", values, is_done=is_done)


def _find_test_refusal(entry: OrderEntry) -> DomainError | None:
    try:
        resolved = resolve_order_set(
            tenant=entry.tenant,
            order_set=entry.order_set,
            method=CollectionMethod.known(entry.method),
            lab=entry.lab,
        )
        require_home_visits(tenant=entry.tenant, method=resolved.method)
    except DomainError as refusal:
        return refusal
    return None


def _question_marker_ids(entry: OrderEntry) -> list[int]:
    return sorted(marker.pk for marker in entry.question_markers)


def _is_uuid(text: str) -> bool:
    try:
        UUID(text)
    except ValueError:
        return False
    return True
