"""First step of the order wizard: the user, then the patient and their insurance."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from django.utils.translation import gettext as _

from accounts.operations.audit.entries import record_read
from accounts.web.dialogs import read_posted
from labs.operations.orders.checks import require_adult_or_permitted_minor
from labs.web.order_wizard.draft_pages import (
    SEARCH_MAX,
    is_back_button_pressed,
    read_search_text,
    redirect_to_order_wizard_step,
    render_order_wizard_step,
    save_order_wizard_step,
)
from labs.web.order_wizard.entry import (
    build_order_insurance_form,
    build_order_patient_form,
    load_order_draft_records,
)
from labs.web.order_wizard.prefill import prefill_insurance, prefill_patient
from portal.lib.errors import DomainError
from users.queries import search_users

if TYPE_CHECKING:
    from django.http import HttpResponse

    from accounts.web.requests import TenantRequest
    from labs.models import Order
    from labs.web.order_wizard.billing_forms import InsuranceForm
    from labs.web.order_wizard.drafts import OrderDraft
    from labs.web.order_wizard.entry import OrderEntry
    from labs.web.order_wizard.forms import PatientForm

USERS_SHOWN = 8
# What was entered of one person must never be sent as another's.
_OF_A_PERSON = ("questions", "patient", "insurance", "billing", "comments")


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
    if draft.values("user").get("user") not in (None, chosen):
        draft = draft.without_values(*_OF_A_PERSON)
        for step in ("patient", "lab"):
            draft = draft.with_step_done(step, is_done=False)
    draft = draft.with_values(user={"user": chosen})
    found = load_order_draft_records(tenant=request.tenant, draft=draft)
    if found.user is None:
        return show_order_user_step(
            request, entry, fault=_("Choose a user."), status=422
        )
    return redirect_to_order_wizard_step(request, draft, found.next_open_step("user"))


def choose_named_user(request: TenantRequest, draft: OrderDraft) -> OrderDraft:
    """Return a new draft with the user that the address names exactly, if it does.

    Nothing is stored until the first POST. Source: Ours (a page of a user leads here).
    """
    text = request.GET.get("user", "").strip()[:SEARCH_MAX]
    if not text:
        return draft
    found = search_users(tenant=request.tenant, text=text, limit=2).users
    exact = [user for user in found if text in (user.client_user_id, str(user.uuid))]
    if len(exact) != 1:
        return draft
    return draft.with_values(user={"user": str(exact[0].uuid)})


def show_order_patient_step(
    request: TenantRequest,
    entry: OrderEntry,
    form: PatientForm | None = None,
    insurance: InsuranceForm | None = None,
) -> HttpResponse:
    is_entered = form is not None or bool(entry.draft.values("patient"))
    taken = prefill_patient(None if is_entered else entry.user)
    insurance = insurance or build_order_insurance_form(entry)
    insured = prefill_insurance(
        None if form or entry.draft.values("insurance") else entry.user,
        payors=[code for code, _name in insurance.fields["payor_code"].choices],  # type: ignore[attr-defined]  # a choice field
    )
    orders = {one.order.pk: one.order for one in (taken, insured) if one.order}
    for order in orders.values():
        _record_order_read(request, entry, order)
    if taken.is_stored or taken.newer:
        _record_read(request, entry, "user_info")
    if insured.is_stored:
        _record_read(request, entry, "insurance")
    return render_order_wizard_step(
        request,
        entry,
        "patient",
        form=form or build_order_patient_form(entry),
        insurance=insurance,
        taken=taken,
        insured=insured,
    )


def submit_order_patient_step(
    request: TenantRequest, entry: OrderEntry
) -> HttpResponse:
    if request.POST.get("go") == "profile":
        stored = prefill_patient(entry.user).stored
        draft = entry.draft.with_values(patient=stored)
        draft = draft.with_step_done("patient", is_done=False)
        _record_read(request, entry, "user_info")
        return redirect_to_order_wizard_step(request, draft, "patient")
    form = build_order_patient_form(entry, read_posted(request))
    insurance = build_order_insurance_form(entry, read_posted(request))
    if not is_back_button_pressed(request) and form.is_valid():
        try:
            require_adult_or_permitted_minor(request.tenant, form.details)
        except DomainError as refusal:
            at = "dob" if refusal.field == "dob" else "proxy_first_name"
            form.add_error(at, refusal.message)
    was = entry.draft
    if was.values("patient").get("state") != request.POST.get("state") or bool(
        was.values("insurance").get("payor_code")
    ) != bool(request.POST.get("payor_code")):
        # Who may pay depends on the patient's state, and on an insurance.
        entry = replace(entry, draft=was.with_step_done("lab", is_done=False))
    return save_order_wizard_step(
        request,
        entry,
        "patient",
        {"patient": form, "insurance": insurance},
        lambda entry: show_order_patient_step(request, entry, form, insurance),
    )


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
