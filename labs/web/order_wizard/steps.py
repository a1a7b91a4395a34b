"""Steps of the order wizard: show each one and submit its answer."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from django.utils.translation import gettext as _

from accounts.operations.audit.entries import record_read
from accounts.web.dialogs import read_posted
from labs.operations.account_choice import (
    require_billing_type_allowed,
)
from labs.operations.catalogue.diagnoses import load_diagnoses_by_code
from labs.operations.orders.checks import (
    require_adult_or_permitted_minor,
    require_start_date_not_past,
    require_valid_order_answers,
)
from labs.operations.orders.requisitions import build_requisition_comment
from labs.operations.physicians.asking import require_ordering_physician
from labs.operations.production import require_lab_gateway
from labs.states.accounts import Billing
from labs.web.order_wizard.draft_pages import (
    SEARCH_MAX,
    is_back_button_pressed,
    read_search_text,
    redirect_to_order_wizard_step,
    render_order_wizard_step,
    save_order_wizard_step,
)
from labs.web.order_wizard.entry import (
    build_order_billing_form,
    build_order_patient_form,
    list_billing_options,
    list_lab_account_options,
    load_order_draft_records,
)
from labs.web.order_wizard.forms import CommentsForm, PatientForm, QuestionsForm
from labs.web.order_wizard.prefill import prefill_billing, prefill_patient
from portal.lib.errors import DomainError
from users.queries import search_users

if TYPE_CHECKING:
    from django import forms
    from django.http import HttpResponse

    from accounts.web.requests import TenantRequest
    from labs.models import Order
    from labs.web.order_wizard.entry import OrderEntry
    from labs.web.order_wizard.forms import BillingForm

USERS_SHOWN = 8


def show_order_user_step(
    request: TenantRequest, entry: OrderEntry, **more: Any
) -> HttpResponse:
    text = read_search_text(request) or request.GET.get("user", "")[:SEARCH_MAX]
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
    if form or entry.draft.step_values("patient"):
        shown = form or build_order_patient_form(entry)
        return render_order_wizard_step(request, entry, "patient", form=shown)
    taken = prefill_patient(entry.user)
    if taken.order:
        _record_order_read(request, entry, taken.order)
    if taken.is_stored or taken.newer:
        _record_read(request, entry, "user_info")
    return render_order_wizard_step(
        request,
        entry,
        "patient",
        form=PatientForm(initial=taken.values),
        taken=taken,
    )


def submit_order_patient_step(
    request: TenantRequest, entry: OrderEntry
) -> HttpResponse:
    if request.POST.get("go") == "profile":
        stored = prefill_patient(entry.user).stored
        draft = entry.draft.with_step_values("patient", stored, is_done=False)
        _record_read(request, entry, "user_info")
        return redirect_to_order_wizard_step(request, draft, "patient")
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
    allowed, refused = list_billing_options(entry, state)
    own = entry.account.account if entry.account else None
    shown = form or build_order_billing_form(entry)
    is_new = not (form or entry.draft.step_values("billing"))
    taken = prefill_billing(
        entry.user if is_new else None,
        billing_types=[kind for kind, _label in shown.fields["billing_type"].choices],  # type: ignore[attr-defined]  # a choice field
        physicians=list(shown.physicians),
    )
    if taken.order:
        _record_order_read(request, entry, taken.order)
    is_stored = taken.is_stored and shown.takes_insurance
    if is_stored:
        _record_read(request, entry, "insurance")
    return render_order_wizard_step(
        request,
        entry,
        "billing",
        form=shown,
        is_stored=is_stored,
        taken=taken,
        refused=refused,
        lacks_insurers=Billing.COMMERCIAL_INSURANCE in dict(allowed)
        and not shown.takes_insurance,
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
            require_ordering_physician(
                tenant=request.tenant,
                account=account,
                physician=form.named_physician,
                state=state,
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


def _record_order_read(request: TenantRequest, entry: OrderEntry, order: Order) -> None:
    """Record in the audit log that the patient of an earlier order was shown."""
    record_read(
        tenant=request.tenant,
        actor=request.actor,
        subject="order_patient",
        subject_id=order.pk,
        user_uuid=entry.user.uuid if entry.user else None,
    )


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
