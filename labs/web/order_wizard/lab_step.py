"""Third step of the order wizard: the lab account, the physician and who pays."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from django.utils.translation import gettext as _

from accounts.operations.audit.entries import record_read
from accounts.web.dialogs import read_posted
from labs.operations.account_choice import require_billing_type_allowed
from labs.operations.catalogue.diagnoses import load_diagnoses_by_code
from labs.operations.insurance import search_payors
from labs.operations.physicians.asking import require_ordering_physician
from labs.states.accounts import Billing
from labs.web.order_wizard.account_options import list_lab_account_options
from labs.web.order_wizard.draft_pages import (
    is_back_button_pressed,
    redirect_to_order_wizard_step,
    render_order_wizard_step,
    save_order_wizard_step,
)
from labs.web.order_wizard.drafts import save_order_draft
from labs.web.order_wizard.entry import (
    build_order_billing_form,
    list_billing_options,
    load_order_draft_records,
)
from labs.web.order_wizard.forms import get_raw_form_values
from labs.web.order_wizard.prefill import prefill_billing
from portal.lib.errors import DomainError
from portal.lib.web.views import is_page_fragment_requested

if TYPE_CHECKING:
    from django.http import HttpResponse

    from accounts.web.requests import TenantRequest
    from labs.web.order_wizard.billing_forms import BillingForm
    from labs.web.order_wizard.entry import OrderEntry


def show_order_lab_step(
    request: TenantRequest,
    entry: OrderEntry,
    form: BillingForm | None = None,
    **more: Any,
) -> HttpResponse:
    state = str(entry.draft.values("patient").get("state", ""))
    allowed, refused = list_billing_options(entry, state)
    own = entry.account.account if entry.account else None
    shown = form or build_order_billing_form(entry)
    is_new = not (form or entry.draft.values("billing"))
    taken = prefill_billing(
        entry.user if is_new else None,
        billing_types=[kind for kind, _label in shown.fields["billing_type"].choices],  # type: ignore[attr-defined]  # a choice field
        physicians=list(shown.physicians),
        is_insured=shown.is_insured,
    )
    if taken.order and entry.user:
        record_read(
            tenant=request.tenant,
            actor=request.actor,
            subject="order_patient",
            subject_id=taken.order.pk,
            user_uuid=entry.user.uuid,
        )
    return render_order_wizard_step(
        request,
        entry,
        "lab",
        fragment="labs/_place_order_lab.html",
        form=shown,
        options=list_lab_account_options(entry.labs, entry.lab, entry.account),
        taken=taken,
        refused=refused,
        lacks_insurers=Billing.COMMERCIAL_INSURANCE in dict(allowed)
        and not search_payors(tenant=request.tenant),
        flow=own.get_delegated_flow_display() if own else "",
        diagnoses=load_diagnoses_by_code().values(),
        **more,
    )


def submit_order_lab_step(request: TenantRequest, entry: OrderEntry) -> HttpResponse:
    place = request.POST.get("place", "")
    options = {
        option.value: option
        for option in list_lab_account_options(entry.labs, entry.lab, entry.account)
    }
    chosen = options.get(place)
    is_open = chosen is not None and chosen.is_open
    if is_open:
        draft = entry.draft.with_values(lab={"place": place})
        entry = load_order_draft_records(tenant=request.tenant, draft=draft)
    form = build_order_billing_form(entry, read_posted(request))
    if request.POST.get("go") == "account":
        return _show_chosen_account(request, entry, form)
    if not is_open and not is_back_button_pressed(request):
        draft = entry.draft.with_values(
            billing=get_raw_form_values(form, request.POST)
        ).with_step_done("lab", is_done=False)
        entry = replace(entry, draft=draft)
        fault = _("Choose a lab account.")
        return show_order_lab_step(request, entry, form, fault=fault, status=422)
    if not is_back_button_pressed(request) and form.is_valid():
        account = entry.account.account if entry.account else None
        state = str(entry.draft.values("patient").get("state", ""))
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
        request,
        entry,
        "lab",
        {"billing": form},
        lambda entry: show_order_lab_step(request, entry, form),
    )


def _show_chosen_account(
    request: TenantRequest, entry: OrderEntry, form: BillingForm
) -> HttpResponse:
    """Show who may be billed on another account, and keep what was entered."""
    values = get_raw_form_values(form, request.POST)
    draft = entry.draft.with_values(billing=values).with_step_done("lab", is_done=False)
    if not is_page_fragment_requested(request):
        return redirect_to_order_wizard_step(request, draft, "lab")
    save_order_draft(request, draft)
    return show_order_lab_step(request, replace(entry, draft=draft))
