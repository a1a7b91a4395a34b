"""Steps of the order wizard: show each one and submit its answer."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.utils.translation import gettext as _

from accounts.operations.audit.entries import record_read
from accounts.web.dialogs import read_posted
from labs.operations.accounts import require_billing_type_allowed
from labs.operations.catalogue.diagnoses import load_diagnoses_by_code
from labs.operations.catalogue.order_sets import resolve_order_set
from labs.operations.orders.checks import (
    require_adult_or_permitted_minor,
    require_start_date_not_past,
    require_valid_order_answers,
)
from labs.operations.orders.requisitions import build_requisition_comment
from labs.operations.production import (
    require_home_visits,
    require_lab_gateway,
    require_physician,
)
from labs.queries.catalogue import (
    LabTestFilters,
    MarkerFilters,
    list_lab_tests,
    list_markers_page,
)
from labs.states.catalogue import CollectionMethod, LabTestStatus
from labs.web.order_wizard.draft_pages import (
    is_back_button_pressed,
    redirect_to_order_wizard_step,
    render_order_wizard_step,
    save_order_wizard_step,
)
from labs.web.order_wizard.drafts import save_order_draft
from labs.web.order_wizard.entry import (
    TESTS_AT_MOST,
    build_order_billing_form,
    build_order_patient_form,
    list_billing_options,
    list_lab_account_options,
    load_order_draft_records,
    shows_stored_patient_details,
)
from labs.web.order_wizard.forms import CommentsForm, QuestionsForm
from portal.lib.errors import DomainError
from portal.lib.web.views import is_page_fragment_requested
from users.queries import search_users

if TYPE_CHECKING:
    from django import forms
    from django.http import HttpResponse

    from accounts.web.requests import TenantRequest
    from labs.web.order_wizard.drafts import OrderDraft
    from labs.web.order_wizard.entry import OrderEntry
    from labs.web.order_wizard.forms import BillingForm

USERS_SHOWN = 8
PANELS_SHOWN = 12
MARKERS_SHOWN = 12
SEARCH_MAX = 255
_MARKER_ID = re.compile(r"[0-9]{1,9}")  # what PostgreSQL's integer holds


def show_order_user_step(
    request: TenantRequest, entry: OrderEntry, **more: Any
) -> HttpResponse:
    text = _search_text(request) or request.GET.get("user", "")[:SEARCH_MAX]
    page = search_users(tenant=request.tenant, text=text, limit=USERS_SHOWN)
    record_read(
        tenant=request.tenant,
        actor=request.actor,
        subject="user_list",
        subject_id=f"offset=0 limit={USERS_SHOWN}",
    )
    return render_order_wizard_step(
        request,
        entry,
        "user",
        fragment="labs/_place_order_users.html",
        users=page.users,
        text=text,
        **more,
    )


def submit_order_user_step(request: TenantRequest, entry: OrderEntry) -> HttpResponse:
    chosen = request.POST.get("user", "")
    if not chosen:
        return show_order_user_step(request, entry)
    draft = entry.draft
    if draft.step_values("user").get("user") not in (None, chosen):
        # What was entered of one person must never be sent as another's.
        draft = draft.without_steps("questions", "patient", "billing", "comments")
    draft = draft.with_step_values("user", {"user": chosen}, is_done=True)
    found = load_order_draft_records(tenant=request.tenant, draft=draft)
    if found.user is None:
        return show_order_user_step(
            request, entry, fault=_("Choose a user."), status=422
        )
    return redirect_to_order_wizard_step(request, draft, found.next_open_step("user"))


def show_order_lab_step(
    request: TenantRequest, entry: OrderEntry, **more: Any
) -> HttpResponse:
    options = list_lab_account_options(entry)
    return render_order_wizard_step(
        request,
        entry,
        "lab",
        options=options,
        has_open_option=any(option.is_open for option in options),
        gateway_refusal=_find_gateway_refusal(request),
        **more,
    )


def _find_gateway_refusal(request: TenantRequest) -> DomainError | None:
    try:
        require_lab_gateway(request.tenant)
    except DomainError as refusal:
        return refusal
    return None


def submit_order_lab_step(request: TenantRequest, entry: OrderEntry) -> HttpResponse:
    if is_back_button_pressed(request):
        return redirect_to_order_wizard_step(
            request, entry.draft, entry.step_before("lab")
        )
    place = request.POST.get("place", "")
    chosen = {option.value: option for option in list_lab_account_options(entry)}.get(
        place
    )
    if _find_gateway_refusal(request) is not None:
        return show_order_lab_step(request, entry, status=422)
    if chosen is None or not chosen.is_open:
        return show_order_lab_step(
            request, entry, fault=_("Choose a lab account."), status=422
        )
    draft = entry.draft
    if entry.lab not in (None, chosen.lab):
        draft = draft.without_steps("tests", "questions")
    if draft.step_values("lab").get("place") != place:
        # Who may pay depends on the account.
        draft = draft.with_step_values(
            "billing", draft.step_values("billing"), is_done=False
        )
    draft = draft.with_step_values("lab", {"place": place}, is_done=True)
    return redirect_to_order_wizard_step(
        request, draft, replace(entry, draft=draft).next_open_step("lab")
    )


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
        needs_fasting=any(marker.fasting for marker in entry.markers),
        **more,
    )


def submit_order_tests_step(request: TenantRequest, entry: OrderEntry) -> HttpResponse:
    text = _search_text(request)
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


def show_order_questions_step(
    request: TenantRequest, entry: OrderEntry, form: forms.Form | None = None
) -> HttpResponse:
    shown = form or QuestionsForm(
        entry.question_markers, initial=entry.draft.step_values("questions")
    )
    return render_order_wizard_step(request, entry, "questions", form=shown)


def submit_order_questions_step(
    request: TenantRequest, entry: OrderEntry
) -> HttpResponse:
    form = QuestionsForm(entry.question_markers, read_posted(request))
    if not is_back_button_pressed(request) and form.is_valid():
        answers = form.answers()
        for marker in entry.question_markers:
            own = [one for one in answers if one["marker_id"] == marker.pk]
            try:
                require_valid_order_answers([marker], own)
            except DomainError as refusal:
                form.add_error(form.first_unanswered_field(marker), refusal.message)
    return save_order_wizard_step(
        request, entry, "questions", form, show_order_questions_step
    )


def show_order_patient_step(
    request: TenantRequest, entry: OrderEntry, form: forms.Form | None = None
) -> HttpResponse:
    shown = form or build_order_patient_form(entry)
    is_stored = not (
        form or entry.draft.step_values("patient")
    ) and shows_stored_patient_details(shown)
    if is_stored:
        _record_read(request, entry, "user_info")
    return render_order_wizard_step(
        request, entry, "patient", form=shown, is_stored=is_stored
    )


def submit_order_patient_step(
    request: TenantRequest, entry: OrderEntry
) -> HttpResponse:
    form = build_order_patient_form(entry, read_posted(request))
    if not is_back_button_pressed(request) and form.is_valid():
        try:
            require_adult_or_permitted_minor(request.tenant, form.details)
        except DomainError as refusal:
            at = "dob" if refusal.field == "dob" else "proxy_first_name"
            form.add_error(at, refusal.message)
    if entry.draft.step_values("patient").get("state") != request.POST.get("state"):
        # Who may pay depends on the patient's state.
        draft = entry.draft
        draft = draft.with_step_values(
            "billing", draft.step_values("billing"), is_done=False
        )
        entry = replace(entry, draft=draft)
    return save_order_wizard_step(
        request, entry, "patient", form, show_order_patient_step
    )


def show_order_billing_step(
    request: TenantRequest, entry: OrderEntry, form: BillingForm | None = None
) -> HttpResponse:
    state = str(entry.draft.step_values("patient").get("state", ""))
    refused = list_billing_options(entry, state)[1]
    own = entry.account.account if entry.account else None
    shown = form or build_order_billing_form(entry)
    is_new = not (form or entry.draft.step_values("billing"))
    is_stored = is_new and shown.takes_insurance and shows_stored_patient_details(shown)
    if is_stored:
        _record_read(request, entry, "insurance")
    return render_order_wizard_step(
        request,
        entry,
        "billing",
        form=shown,
        is_stored=is_stored,
        refused=refused,
        flow=own.get_delegated_flow_display() if own else "",
        diagnoses=load_diagnoses_by_code().values(),
    )


def submit_order_billing_step(
    request: TenantRequest, entry: OrderEntry
) -> HttpResponse:
    form = build_order_billing_form(entry, read_posted(request))
    account = entry.account.account if entry.account else None
    if not is_back_button_pressed(request) and form.is_valid():
        state = str(entry.draft.step_values("patient").get("state", ""))
        try:
            require_billing_type_allowed(
                account=account,
                billing_type=form.cleaned_data["billing_type"],
                state=state,
            )
            require_physician(
                tenant=request.tenant, account=account, physician=form.named_physician
            )
        except DomainError as refusal:
            form.add_error(refusal.field, refusal.message)
    return save_order_wizard_step(
        request, entry, "billing", form, show_order_billing_step
    )


def show_order_comments_step(
    request: TenantRequest, entry: OrderEntry, form: forms.Form | None = None
) -> HttpResponse:
    shown = form or CommentsForm(initial=entry.draft.step_values("comments"))
    return render_order_wizard_step(
        request,
        entry,
        "comments",
        fragment="labs/_place_order_printed.html",
        form=shown,
        # A literal in the template would reach the attribute unescaped.
        print_values=json.dumps({"go": "print"}),
        printed=preview_requisition_comment(
            entry, str(shown["comments"].value() or "")
        ),
    )


def submit_order_comments_step(
    request: TenantRequest, entry: OrderEntry
) -> HttpResponse:
    form = CommentsForm(read_posted(request))
    if request.POST.get("go") == "print":
        return show_order_comments_step(request, entry, form)
    if not is_back_button_pressed(request) and form.is_valid():
        try:
            require_start_date_not_past(form.cleaned_data["activate_by"])
        except DomainError as refusal:
            form.add_error("activate_by", refusal.message)
    return save_order_wizard_step(
        request, entry, "comments", form, show_order_comments_step
    )


def preview_requisition_comment(entry: OrderEntry, comments: str) -> str:
    if entry.lab is None:
        return ""
    account = entry.account.account if entry.account else None
    return build_requisition_comment(lab=entry.lab, account=account, comments=comments)


def _question_marker_ids(entry: OrderEntry) -> list[int]:
    return sorted(marker.pk for marker in entry.question_markers)


def _is_uuid(text: str) -> bool:
    try:
        UUID(text)
    except ValueError:
        return False
    return True


def _search_text(request: TenantRequest) -> str:
    """Return the search text without null characters, which PostgreSQL refuses."""
    return request.POST.get("q", "").replace("\0", "").strip()[:SEARCH_MAX]


def _record_read(request: TenantRequest, entry: OrderEntry, subject: str) -> None:
    """Record in the audit log that stored user details were shown."""
    if entry.user is not None:
        record_read(
            tenant=request.tenant,
            actor=request.actor,
            subject=subject,
            subject_id=entry.user.uuid,
            user_uuid=entry.user.uuid,
        )
