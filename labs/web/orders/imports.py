"""Page that imports an order placed elsewhere."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django import forms
from django.contrib import messages
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from accounts.states import Area
from accounts.web.dialogs import read_posted
from accounts.web.rights import require_right
from labs.models.order import COMMENTS_MAX_LENGTH
from labs.operations.catalogue.order_sets import OrderSet
from labs.operations.orders.placing import import_order
from labs.operations.orders.plans import OrderRequest
from labs.queries.accounts import list_linked_lab_accounts
from labs.queries.catalogue import LabTestFilters, list_lab_tests
from labs.states.accounts import AccountReason, Billing
from labs.states.catalogue import CollectionMethod, LabTestStatus
from labs.web.order_rows import format_lab_account_name
from labs.web.order_wizard.forms import PatientForm
from labs.web.orders.action_forms import (
    ASSAY_CHOOSES,
    PhysicianForm,
    group_accounts_by_lab,
    group_panels_by_lab,
)
from portal.lib.errors import DomainError
from portal.lib.translation import gettext_lazy
from portal.lib.web.views import page_url, redirect_browser, render_page
from users.queries.users.one_user import find_user_by_client_user_id

if TYPE_CHECKING:
    from collections.abc import Sequence

    from django.http import HttpResponse

    from accounts.web.requests import TenantRequest
    from labs.models import LabAccount, LabTest

PANELS_OFFERED = 500
_SAMPLE_MAX = 50


class ImportForm(PhysicianForm, PatientForm):
    """An order as the lab has it, with its user and patient."""

    user = forms.CharField(
        max_length=255,
        error_messages={"required": gettext_lazy("Enter the client user ID.")},
    )
    sample_id = forms.CharField(
        max_length=_SAMPLE_MAX,
        error_messages={
            "required": gettext_lazy("Enter the sample ID used by the lab.")
        },
    )
    billing_type = forms.ChoiceField(choices=Billing.offered)
    comments = forms.CharField(
        required=False,
        max_length=COMMENTS_MAX_LENGTH,
        widget=forms.Textarea(attrs={"rows": 3}),
    )

    def __init__(
        self,
        *args: Any,
        panels: Sequence[LabTest],
        accounts: Sequence[LabAccount],
        **options: Any,
    ) -> None:
        super().__init__(*args, **options)
        self._panels = {str(panel.pk): panel for panel in panels}
        self._accounts = {str(account.pk): account for account in accounts}
        self.fields["lab_test"] = forms.ChoiceField(
            choices=[("", _("Choose a test")), *group_panels_by_lab(panels)],
            error_messages={"required": _("Choose the test that was ordered.")},
        )
        self.fields["account"] = forms.ChoiceField(
            required=False,
            choices=[("", ASSAY_CHOOSES), *group_accounts_by_lab(accounts)],
        )

    def build_order_request(self, user_id: Any) -> OrderRequest:
        """Build the import request; a kit or letter goes to the patient."""
        data = self.cleaned_data
        panel = self._panels[data["lab_test"]]
        account = self._accounts.get(data["account"])
        receiver = f"{data['first_name']} {data['last_name']}"
        return OrderRequest(
            user_id=user_id,
            order_set=OrderSet(lab_test_ids=(panel.pk,)),
            method=CollectionMethod.known(panel.method),
            lab_account_id=account.pk if account else None,
            comments=data["comments"],
            patient_details=self.details,
            patient_address={"receiver_name": receiver, **self.address},
            physician=self.physician,
            billing_type=data["billing_type"],
        )


@require_http_methods(["GET", "POST"])
@require_right(Area.ORDERS, write=True)
@require_right(Area.PATIENT_DETAILS, write=True)
def import_order_page(request: TenantRequest) -> HttpResponse:
    """Show or submit the form; `?user=` fills in the user."""
    form = ImportForm(
        read_posted(request),
        panels=list_lab_tests(
            tenant=request.tenant,
            filters=LabTestFilters(status=LabTestStatus.ACTIVE, sort="name"),
            limit=PANELS_OFFERED,
        ),
        accounts=list_linked_lab_accounts(tenant=request.tenant),
        initial={"user": request.GET.get("user", ""), "country": "US"},
    )
    if request.method == "POST" and form.is_valid():
        done = _import_order(request, form)
        if done is not None:
            return done
    return render_page(
        request,
        "labs/import_order.html",
        status=422 if form.errors else 200,
        form=form,
        section="orders",
    )


def _import_order(request: TenantRequest, form: ImportForm) -> HttpResponse | None:
    """Import the order of a valid form; None with form errors if refused."""
    owner = find_user_by_client_user_id(
        tenant=request.tenant, client_user_id=form.cleaned_data["user"]
    )
    if owner is None:
        form.add_error("user", _("No user has this client user ID."))
        return None
    try:
        order = import_order(
            tenant=request.tenant,
            actor=request.actor,
            request=form.build_order_request(owner.user.uuid),
            sample_id=form.cleaned_data["sample_id"],
        )
    except DomainError as refusal:
        form.add_error(_field_of_refusal(refusal, form), refusal.message)
        return None
    reason = AccountReason(order.account_reason)
    messages.success(
        request,
        _("Order imported. Lab account: %(account)s. %(reason)s.")
        % {
            "account": format_lab_account_name(order.lab_account),
            "reason": reason.label,
        },
    )
    return redirect_browser(request, page_url(request, "labs:order", order_id=order.pk))


def _field_of_refusal(refusal: DomainError, form: ImportForm) -> str:
    named = {
        "lab_account_id": "account",
        "physician": "physician_npi",
        "health_insurance": "billing_type",
        "order_set": "lab_test",
        "collection_method": "lab_test",
        "user_id": "user",
    }
    field = named.get(refusal.field or "", refusal.field or "")
    return field if field in form.fields else "lab_test"
