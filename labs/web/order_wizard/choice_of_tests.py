"""The step of the order wizard that chooses tests and how the sample is collected."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.utils.translation import gettext as _

from labs.operations.catalogue.order_sets import resolve_order_set
from labs.operations.production import require_home_visits, require_lab_gateway
from labs.queries.catalogue import (
    LabTestFilters,
    MarkerFilters,
    lab_tests_with_details,
    list_lab_tests,
    list_markers_page,
)
from labs.states.catalogue import CollectionMethod, Generation, LabTestStatus
from labs.web.order_wizard.account_options import is_lab_open
from labs.web.order_wizard.draft_pages import (
    is_back_button_pressed,
    read_search_text,
    redirect_to_order_wizard_step,
    render_order_wizard_step,
)
from labs.web.order_wizard.drafts import save_order_draft
from labs.web.order_wizard.entry import (
    TESTS_AT_MOST,
    load_order_draft_records,
)
from portal.lib.errors import DomainError
from portal.lib.web.views import is_page_fragment_requested

if TYPE_CHECKING:
    from django.http import HttpResponse

    from accounts.web.requests import TenantRequest
    from labs.models import LabTest
    from labs.web.order_wizard.drafts import OrderDraft
    from labs.web.order_wizard.entry import OrderEntry

PANELS_SHOWN = 12
MARKERS_SHOWN = 12
_MARKER_ID = re.compile(r"[0-9]{1,9}")  # what PostgreSQL's integer holds


def show_order_tests_step(
    request: TenantRequest, entry: OrderEntry, text: str | None = None, **more: Any
) -> HttpResponse:
    if text is None:
        text = str(entry.draft.values("tests").get("q", ""))
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
        tenant=request.tenant,
        filters=filters,
        limit=PANELS_SHOWN + 1 if entry.lab else 0,
    )
    if not text:
        panels = _put_last_panel_first(entry, panels)
    markers = list_markers_page(
        tenant=request.tenant, filters=single, size=MARKERS_SHOWN if entry.lab else 0
    )
    return render_order_wizard_step(
        request,
        entry,
        "tests",
        fragment=more.pop("fragment", "labs/_place_order_tests.html"),
        panels=panels[:PANELS_SHOWN],
        has_more_panels=len(panels) > PANELS_SHOWN,
        markers=[marker for marker in markers.markers if marker.is_orderable],
        has_more_markers=bool(entry.lab) and markers.total > MARKERS_SHOWN,
        chosen_panels={panel.pk for panel in entry.panels},
        chosen_markers={marker.pk for marker in entry.single_markers},
        method=entry.method,
        methods=[
            (value, label)
            for value, label in CollectionMethod.offered()
            if entry.lab and value in entry.lab.collection_methods
        ],
        text=text,
        labs=[(choice.lab, is_lab_open(choice)) for choice in entry.labs],
        lab_refusal=_find_lab_refusal(request, entry),
        closed_labs=[
            choice.refusal.message
            for choice in entry.labs
            if choice.refusal and not is_lab_open(choice)
        ],
        last_panel=entry.last_test and entry.last_test.pk,
        included={
            marker.pk for panel in entry.panels for marker in panel.markers.all()
        },
        **more,
    )


def _put_last_panel_first(entry: OrderEntry, panels: list[LabTest]) -> list[LabTest]:
    """Return the panels with that of the user's last order first, if offered."""
    if entry.last_test is None or entry.lab is None:
        return panels
    last = lab_tests_with_details(tenant=entry.tenant).filter(
        pk=entry.last_test.pk,
        lab=entry.lab,
        method=entry.method,
        status=LabTestStatus.ACTIVE,
        generation=Generation.MANUAL,
    )
    found = list(last)
    return [*found, *(panel for panel in panels if panel not in found)]


def submit_order_tests_step(request: TenantRequest, entry: OrderEntry) -> HttpResponse:
    text = read_search_text(request)
    if is_back_button_pressed(request):
        return redirect_to_order_wizard_step(
            request, entry.draft, entry.step_before("tests")
        )
    if request.POST.get("go") == "search" and is_page_fragment_requested(request):
        found = "labs/_place_order_found.html"
        return show_order_tests_step(request, entry, text, fragment=found)
    if request.POST.get("go") != "next" or _is_other_lab(request, entry):
        return _change_tests(request, entry, text)
    refusal = _find_lab_refusal(request, entry) or _find_test_refusal(entry)
    if refusal is not None:
        return show_order_tests_step(request, entry, refusal=refusal, status=422)
    values = {**entry.draft.values("tests"), **_lab_value(entry), "q": ""}
    draft = entry.draft.with_values(tests=values)
    draft = draft.with_step_done("tests", is_done=True)
    return redirect_to_order_wizard_step(
        request, draft, replace(entry, draft=draft).next_open_step("tests")
    )


def _change_tests(request: TenantRequest, entry: OrderEntry, text: str) -> HttpResponse:
    """Store another lab, then what was added or removed with it."""
    draft = entry.draft
    if _is_other_lab(request, entry):
        draft = _change_lab(entry, request.POST["lab"])
        entry = load_order_draft_records(tenant=request.tenant, draft=draft)
        is_change = "add" in request.POST or "remove" in request.POST
    else:
        is_change = True
    if is_change:
        draft = _apply_test_changes(request, entry, text)
        changed = load_order_draft_records(tenant=request.tenant, draft=draft)
        refusal = _find_addition_refusal(request, changed)
        if refusal is not None:
            save_order_draft(request, entry.draft)
            return _retarget(
                show_order_tests_step(request, entry, refusal=refusal, status=422)
            )
        entry = changed
    if not is_page_fragment_requested(request):
        return redirect_to_order_wizard_step(request, draft, "tests")
    save_order_draft(request, draft)
    return _retarget(show_order_tests_step(request, entry))


def _retarget(response: HttpResponse) -> HttpResponse:
    """Return it for the form of now: htmx drops one whose form was replaced."""
    response["HX-Retarget"] = "#order-tests"
    return response


def _find_addition_refusal(
    request: TenantRequest, entry: OrderEntry
) -> DomainError | None:
    """Return why what was added is not in the order: a page still showed another lab's.

    Text that names no test adds nothing, unsaid.
    """
    kind, _separator, name = request.POST.get("add", "").partition(":")
    is_named = {"panel": _is_uuid(name), "marker": bool(_MARKER_ID.fullmatch(name))}
    held = {
        *(f"panel:{panel.pk}" for panel in entry.panels),
        *(f"marker:{marker.pk}" for marker in entry.single_markers),
    }
    is_full = len(held) >= TESTS_AT_MOST
    if not is_named.get(kind) or is_full or f"{kind}:{name}" in held:
        return None
    return DomainError(
        "lab_test_not_found",
        _("%(lab)s doesn't offer this test. It was not added.")
        % {"lab": entry.lab.name if entry.lab else ""},
        "order_set",
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
    # Only a method that was pressed: another lab's usual one may differ.
    chosen = entry.draft.values("tests").get("method", "")
    method = request.POST.get("method") or chosen
    values = {
        **entry.draft.values("tests"),
        **_lab_value(entry),
        "panels": panels[:TESTS_AT_MOST],
        "markers": markers[:TESTS_AT_MOST],
        "method": method,
        "q": text,
    }
    is_done = entry.is_step_done("tests") and request.POST.get("go") == "search"
    draft = entry.draft.with_values(tests=values)
    return draft.with_step_done("tests", is_done=is_done)


def _is_other_lab(request: TenantRequest, entry: OrderEntry) -> bool:
    """Return whether another lab was chosen; it may come with Continue."""
    lab = request.POST.get("lab", "")
    return bool(lab) and entry.lab is not None and lab != str(entry.lab.pk)


def _change_lab(entry: OrderEntry, lab: str) -> OrderDraft:
    """Return the draft at another lab: without tests, answers and account."""
    labs = {str(choice.lab.pk) for choice in entry.labs if is_lab_open(choice)}
    if lab not in labs:
        return entry.draft
    chosen = entry.draft.values("tests").get("method", "")
    draft = entry.draft.without_values("questions", "lab").with_values(
        tests={"lab": lab, "method": chosen}
    )
    for step in ("tests", "lab"):
        draft = draft.with_step_done(step, is_done=False)
    return draft


def _lab_value(entry: OrderEntry) -> dict[str, str]:
    return {"lab": str(entry.lab.pk)} if entry.lab else {}


def _find_lab_refusal(request: TenantRequest, entry: OrderEntry) -> DomainError | None:
    """Return why no lab takes this order, or None."""
    try:
        require_lab_gateway(request.tenant)
    except DomainError as refusal:
        return refusal
    if entry.lab is None or not any(
        is_lab_open(choice) for choice in entry.labs if choice.lab == entry.lab
    ):
        return DomainError(
            "lab_account_required", _("No lab account accepts orders yet."), "lab"
        )
    return None


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


def _is_uuid(text: str) -> bool:
    try:
        UUID(text)
    except ValueError:
        return False
    return True
