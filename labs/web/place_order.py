"""Placing an order, step by step; each step is a page of its own that works by itself.

A POST keeps what was entered and leads on by a redirect, so Back, reload and a second
tab lose nothing. Must not be here: what a draft means (labs.web.order_entry), or a rule
of ordering.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode
from uuid import UUID

from django import forms
from django.contrib import messages
from django.db import transaction
from django.views.decorators.http import require_http_methods

from accounts.operations.audit import record_read
from accounts.states import Area
from accounts.web.dialogs import posted
from accounts.web.rights import require_right
from labs.operations.accounts import check_billing
from labs.operations.diagnoses import known_diagnoses
from labs.operations.order_checks import (
    check_answers,
    check_day,
    check_patient,
    check_physician,
)
from labs.operations.order_sets import resolve_order_set
from labs.operations.orders import place_order, preview_order
from labs.operations.requisitions import printed_comment
from labs.queries.catalogue import (
    LabTestFilters,
    MarkerFilters,
    find_lab_tests,
    find_markers,
)
from labs.queries.recent_twins import recent_twins
from labs.states.catalogue import CollectionMethod, LabTestStatus
from labs.web.order_drafts import begin_draft, close_draft, find_draft, keep_draft
from labs.web.order_entry import (
    STEP_OF_FIELD,
    STEPS,
    TESTS_AT_MOST,
    billing_form,
    billing_offers,
    order_request,
    patient_form,
    place_options,
    read_entry,
    why_account,
)
from labs.web.order_forms import CommentsForm, QuestionsForm, raw_values
from labs.web.order_review import review_sections
from portal.lib.errors import Conflict, DomainError
from portal.lib.idempotency import take_turn
from portal.lib.web import go_to, page_url, render_page, wants_fragment
from users.queries import find_users

if TYPE_CHECKING:
    from collections.abc import Callable

    from django.http import HttpResponse

    from labs.models import Order
    from labs.operations.orders import OrderPlan, OrderRequest
    from labs.web.order_drafts import OrderDraft
    from labs.web.order_entry import OrderEntry
    from portal.lib.web import TenantRequest

    Show = Callable[["TenantRequest", "OrderEntry"], HttpResponse]

USERS_SHOWN = 8
PANELS_SHOWN = 12
MARKERS_SHOWN = 12
_ENDPOINT = "order_page"
_GO_BACK = "back"


@require_http_methods(["GET", "POST"])
@require_right(Area.ORDERS, write=True)
@require_right(Area.PATIENT_DETAILS, write=True)
def place(request: TenantRequest) -> HttpResponse:
    token = request.GET.get("draft", "")
    draft = find_draft(request, token) if token else begin_draft()
    if draft is None:
        messages.error(request, "That order was not placed in time. Begin again.")
        return go_to(request, page_url(request, "labs:place_order"))
    if draft.placed:
        return _go_to_order(request, draft.placed)
    entry = read_entry(tenant=request.tenant, draft=draft)
    wanted = request.GET.get("step", "user")
    step = entry.reachable(wanted if wanted in STEPS else "user")
    if request.method == "POST":
        return _TAKE[step](request, entry)
    return _SHOW[step](request, entry)


def _show_user(request: TenantRequest, entry: OrderEntry, **more: Any) -> HttpResponse:
    text = request.POST.get("q", request.GET.get("user", "")).strip()[:255]
    page = find_users(tenant=request.tenant, text=text, limit=USERS_SHOWN)
    return _render(
        request,
        entry,
        "user",
        fragment="labs/_place_order_users.html",
        users=page.users,
        text=text,
        **more,
    )


def _take_user(request: TenantRequest, entry: OrderEntry) -> HttpResponse:
    chosen = request.POST.get("user", "")
    if not chosen:
        return _show_user(request, entry)
    draft = entry.draft
    if draft.entry("user").get("user") not in (None, chosen):
        # What was entered of one person must never be sent as another's.
        draft = draft.forget("questions", "patient", "billing", "comments")
    draft = draft.enter("user", {"user": chosen}, is_done=True)
    found = read_entry(tenant=request.tenant, draft=draft)
    if found.user is None:
        return _show_user(request, entry, fault="Choose a user.", status=422)
    return _go_on(request, draft, found.beside("user", 1))


def _show_lab(request: TenantRequest, entry: OrderEntry, **more: Any) -> HttpResponse:
    return _render(request, entry, "lab", options=place_options(entry), **more)


def _take_lab(request: TenantRequest, entry: OrderEntry) -> HttpResponse:
    if _goes_back(request):
        return _go_on(request, entry.draft, entry.beside("lab", -1))
    place = request.POST.get("place", "")
    chosen = {option.value: option for option in place_options(entry)}.get(place)
    if chosen is None or not chosen.is_open:
        return _show_lab(request, entry, fault="Choose a lab account.", status=422)
    draft = entry.draft
    if entry.lab not in (None, chosen.lab):
        draft = draft.forget("tests", "questions")
    if draft.entry("lab").get("place") != place:
        # Who may pay depends on the account.
        draft = draft.enter("billing", draft.entry("billing"), is_done=False)
    draft = draft.enter("lab", {"place": place}, is_done=True)
    return _go_on(request, draft, entry.beside("lab", 1))


def _show_tests(
    request: TenantRequest, entry: OrderEntry, text: str | None = None, **more: Any
) -> HttpResponse:
    if text is None:
        text = str(entry.draft.entry("tests").get("q", ""))
    if "refusal" not in more and (entry.panels or entry.added):
        more["refusal"] = _refusal_of_tests(entry)
    filters = LabTestFilters(
        lab=entry.lab,
        method=entry.method,
        status=LabTestStatus.ACTIVE,
        name=text,
        sort="name",
    )
    single = MarkerFilters(lab=entry.lab, text=text, by_loinc=True, is_a_la_carte=True)
    panels = find_lab_tests(
        tenant=request.tenant, filters=filters, limit=PANELS_SHOWN + 1
    )
    markers = find_markers(filters=single, size=MARKERS_SHOWN)
    return _render(
        request,
        entry,
        "tests",
        fragment=more.pop("fragment", "labs/_place_order_tests.html"),
        panels=panels[:PANELS_SHOWN],
        has_more_panels=len(panels) > PANELS_SHOWN,
        markers=[marker for marker in markers.markers if marker.is_orderable],
        has_more_markers=markers.total > MARKERS_SHOWN,
        chosen_panels={panel.pk for panel in entry.panels},
        chosen_markers={marker.pk for marker in entry.added},
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


def _take_tests(request: TenantRequest, entry: OrderEntry) -> HttpResponse:
    text = request.POST.get("q", "").strip()[:100]
    if _goes_back(request):
        return _go_on(request, entry.draft, entry.beside("tests", -1))
    if request.POST.get("go") == "search" and wants_fragment(request):
        found = "labs/_place_order_found.html"
        return _show_tests(request, entry, text, fragment=found)
    if request.POST.get("go") != "next":
        draft = _changed_tests(request, entry, text)
        if not wants_fragment(request):
            return _go_on(request, draft, "tests")
        keep_draft(request, draft)
        entry = read_entry(tenant=request.tenant, draft=draft)
        return _show_tests(request, entry)
    refusal = _refusal_of_tests(entry)
    if refusal is not None:
        return _show_tests(request, entry, refusal=refusal, status=422)
    values = {**entry.draft.entry("tests"), "asked": _asked(entry), "q": ""}
    draft = entry.draft.enter("tests", values, is_done=True)
    if entry.draft.entry("tests").get("asked") != values["asked"]:
        # Questions that nobody has seen yet can't have been answered.
        draft = draft.enter("questions", draft.entry("questions"), is_done=False)
    return _go_on(request, draft, entry.beside("tests", 1))


def _changed_tests(request: TenantRequest, entry: OrderEntry, text: str) -> OrderDraft:
    """The draft with what a press added, removed, or the way the sample is taken."""
    panels = [str(panel.pk) for panel in entry.panels]
    markers = [marker.pk for marker in entry.added]
    for verb in ("add", "remove"):
        kind, _, name = request.POST.get(verb, "").partition(":")
        if kind == "panel":
            panels = [one for one in panels if one != name]
            if verb == "add" and _is_uuid(name):
                panels.append(name)
        elif kind == "marker" and name.isdecimal():
            markers = [one for one in markers if one != int(name)]
            if verb == "add":
                markers.append(int(name))
    method = request.POST.get("method") or entry.method
    values = {
        **entry.draft.entry("tests"),
        "panels": panels[:TESTS_AT_MOST],
        "markers": markers[:TESTS_AT_MOST],
        "method": method,
        "q": text,
    }
    is_done = entry.is_done("tests") and request.POST.get("go") == "search"
    return entry.draft.enter("tests", values, is_done=is_done)


def _refusal_of_tests(entry: OrderEntry) -> DomainError | None:
    try:
        resolve_order_set(
            tenant=entry.tenant,
            order_set=entry.order_set,
            method=CollectionMethod.known(entry.method),
            lab=entry.lab,
        )
    except DomainError as refusal:
        return refusal
    return None


def _show_questions(
    request: TenantRequest, entry: OrderEntry, form: forms.Form | None = None
) -> HttpResponse:
    shown = form or QuestionsForm(entry.asking, initial=entry.draft.entry("questions"))
    return _render(request, entry, "questions", form=shown)


def _take_questions(request: TenantRequest, entry: OrderEntry) -> HttpResponse:
    form = QuestionsForm(entry.asking, posted(request))
    if not _goes_back(request) and form.is_valid():
        answers = form.answers()
        for marker in entry.asking:
            own = [one for one in answers if one["marker_id"] == marker.pk]
            try:
                check_answers([marker], own)
            except DomainError as refusal:
                form.add_error(form.unanswered(marker), refusal.message)
    return _enter(request, entry, "questions", form, _show_questions)


def _show_patient(
    request: TenantRequest, entry: OrderEntry, form: forms.Form | None = None
) -> HttpResponse:
    is_stored = form is None and not entry.draft.entry("patient")
    shown = form or patient_form(entry)
    if is_stored and entry.user is not None:
        record_read(
            tenant=request.tenant,
            actor=request.actor,
            subject="user_info",
            subject_id=entry.user.uuid,
            user_uuid=entry.user.uuid,
        )
    return _render(
        request, entry, "patient", form=shown, is_stored=is_stored and shown.initial
    )


def _take_patient(request: TenantRequest, entry: OrderEntry) -> HttpResponse:
    form = patient_form(entry, posted(request))
    if not _goes_back(request) and form.is_valid():
        try:
            check_patient(request.tenant, form.details)
        except DomainError as refusal:
            at = "dob" if refusal.field == "dob" else "proxy_first_name"
            form.add_error(at, refusal.message)
    if entry.draft.entry("patient").get("state") != request.POST.get("state"):
        # Who may pay depends on the patient's state.
        draft = entry.draft
        draft = draft.enter("billing", draft.entry("billing"), is_done=False)
        entry = replace(entry, draft=draft)
    return _enter(request, entry, "patient", form, _show_patient)


def _show_billing(
    request: TenantRequest, entry: OrderEntry, form: forms.Form | None = None
) -> HttpResponse:
    state = str(entry.draft.entry("patient").get("state", ""))
    _, refused = billing_offers(entry, state)
    own = entry.account.account if entry.account else None
    return _render(
        request,
        entry,
        "billing",
        form=form or billing_form(entry),
        refused=refused,
        flow=own.get_delegated_flow_display() if own else "",
        diagnoses=known_diagnoses().values(),
    )


def _take_billing(request: TenantRequest, entry: OrderEntry) -> HttpResponse:
    form = billing_form(entry, posted(request))
    account = entry.account.account if entry.account else None
    if not _goes_back(request) and form.is_valid():
        state = str(entry.draft.entry("patient").get("state", ""))
        try:
            check_billing(
                account=account,
                billing_type=form.cleaned_data["billing_type"],
                state=state,
            )
            check_physician(account, form.named_physician)
        except DomainError as refusal:
            form.add_error(refusal.field, refusal.message)
    return _enter(request, entry, "billing", form, _show_billing)


def _show_comments(
    request: TenantRequest, entry: OrderEntry, form: forms.Form | None = None
) -> HttpResponse:
    shown = form or CommentsForm(initial=entry.draft.entry("comments"))
    return _render(
        request,
        entry,
        "comments",
        fragment="labs/_place_order_printed.html",
        form=shown,
        # A literal in the template would reach the attribute unescaped.
        print_values=json.dumps({"go": "print"}),
        printed=_printed(entry, str(shown["comments"].value() or "")),
    )


def _take_comments(request: TenantRequest, entry: OrderEntry) -> HttpResponse:
    form = CommentsForm(posted(request))
    if request.POST.get("go") == "print":
        return _show_comments(request, entry, form)
    if not _goes_back(request) and form.is_valid():
        try:
            check_day(form.cleaned_data["activate_by"])
        except DomainError as refusal:
            form.add_error("activate_by", refusal.message)
    return _enter(request, entry, "comments", form, _show_comments)


def _show_review(
    request: TenantRequest,
    entry: OrderEntry,
    refusal: DomainError | None = None,
    **more: Any,
) -> HttpResponse:
    wanted: OrderRequest | None = None
    plan: OrderPlan | None = None
    twins: list[Order] = []
    try:
        wanted = order_request(entry, member_id=request.member.pk)
        plan = preview_order(tenant=request.tenant, wanted=wanted)
        twins = recent_twins(
            tenant=request.tenant,
            user_id=wanted.user_id,
            marker_ids=[marker.pk for marker in plan.resolved.markers],
        )
    except DomainError as found:
        refusal = refusal or found
    at = STEP_OF_FIELD.get(refusal.field or "", "") if refusal else ""
    return _render(
        request,
        entry,
        "review",
        wanted=wanted,
        sections=review_sections(entry, wanted),
        twins=twins,
        can_place=plan is not None,
        refusal=refusal,
        refused_step=at if at in entry.steps else "review",
        printed=_printed(entry, str(entry.draft.entry("comments").get("comments", ""))),
        **more,
    )


def _take_review(request: TenantRequest, entry: OrderEntry) -> HttpResponse:
    if _goes_back(request):
        return _go_on(request, entry.draft, entry.beside("review", -1))
    try:
        order_id = _place_once(request, entry)
    except Conflict:
        # A second press while the first is at work: its order is shown once it is done.
        messages.info(request, "This order is being placed.")
        return go_to(request, _address(request, entry.draft, "review"))
    except DomainError as refusal:
        return _show_review(request, entry, refusal, status=422)
    close_draft(request, entry.draft, order_id)
    return _go_to_order(request, order_id)


def _place_once(request: TenantRequest, entry: OrderEntry) -> str:
    """The id of the order that this draft became, now or by an earlier press.

    Raises: order_repeated; idempotency_key_in_use, idempotency_key_mismatch; those of
    place_order.
    """
    content = json.dumps(entry.draft.entries, sort_keys=True).encode()
    with take_turn(
        tenant=request.tenant,
        endpoint=_ENDPOINT,
        key=entry.draft.key,
        request_body=content,
        keep_failures=False,
    ) as turn:
        if turn.repeat is not None:
            return turn.repeat[1].decode()
        wanted = order_request(entry, member_id=request.member.pk)
        marker_ids = [marker.pk for marker in entry.markers]
        if not request.POST.get("repeat") and recent_twins(
            tenant=request.tenant, user_id=wanted.user_id, marker_ids=marker_ids
        ):
            raise DomainError(
                "order_repeated", "Say that this order is meant.", "repeat"
            )
        with transaction.atomic():
            order = place_order(
                tenant=request.tenant, actor=request.actor, wanted=wanted
            )
            turn.keep(status=200, body=str(order.pk).encode())
    return str(order.pk)


def _enter(
    request: TenantRequest,
    entry: OrderEntry,
    step: str,
    form: forms.Form,
    show: Callable[..., HttpResponse],
) -> HttpResponse:
    """Keep what was entered; go on where it is good, and back wherever it stands."""
    back = _goes_back(request)
    is_good = not back and form.is_valid()
    draft = entry.draft.enter(step, raw_values(form, request.POST), is_done=is_good)
    if back or is_good:
        return _go_on(request, draft, entry.beside(step, -1 if back else 1))
    keep_draft(request, draft)
    return show(request, entry, form)


def _goes_back(request: TenantRequest) -> bool:
    return request.POST.get("go") == _GO_BACK


def _go_on(request: TenantRequest, draft: OrderDraft, step: str) -> HttpResponse:
    keep_draft(request, draft)
    return go_to(request, _address(request, draft, step))


def _go_to_order(request: TenantRequest, order_id: str) -> HttpResponse:
    return go_to(request, page_url(request, "labs:order", order_id=order_id))


def _address(request: TenantRequest, draft: OrderDraft, step: str) -> str:
    path = page_url(request, "labs:place_order")
    if not draft.entries:  # not kept yet
        return path
    return f"{path}?{urlencode({'draft': draft.token, 'step': step})}"


def _printed(entry: OrderEntry, comments: str) -> str:
    account = entry.account.account if entry.account else None
    return printed_comment(account=account, comments=comments)


def _asked(entry: OrderEntry) -> list[int]:
    return sorted(marker.pk for marker in entry.asking)


def _is_uuid(text: str) -> bool:
    try:
        UUID(text)
    except ValueError:
        return False
    return True


def _render(
    request: TenantRequest,
    entry: OrderEntry,
    step: str,
    *,
    status: int = 0,
    fragment: str | None = None,
    **context: Any,
) -> HttpResponse:
    form = context.get("form")
    is_faulty = form is not None and form.is_bound and bool(form.errors)
    steps = [
        {
            "name": name,
            "words": STEPS[name],
            "is_here": name == step,
            "is_done": entry.is_done(name),
            "url": _address(request, entry.draft, name)
            if name == entry.reachable(name)
            else "",
        }
        for name in entry.steps
    ]
    return render_page(
        request,
        "labs/place_order.html",
        fragment=fragment,
        status=status or (422 if is_faulty and not wants_fragment(request) else 200),
        body=f"labs/_place_order_{step}.html",
        entry=entry,
        step=step,
        words=STEPS[step],
        number=entry.steps.index(step) + 1,
        steps=steps,
        action=_address(request, entry.draft, step),
        why=why_account(entry),
        section="orders",
        **context,
    )


_SHOW: dict[str, Show] = {
    "user": _show_user,
    "lab": _show_lab,
    "tests": _show_tests,
    "questions": _show_questions,
    "patient": _show_patient,
    "billing": _show_billing,
    "comments": _show_comments,
    "review": _show_review,
}
_TAKE: dict[str, Show] = {
    "user": _take_user,
    "lab": _take_lab,
    "tests": _take_tests,
    "questions": _take_questions,
    "patient": _take_patient,
    "billing": _take_billing,
    "comments": _take_comments,
    "review": _take_review,
}
