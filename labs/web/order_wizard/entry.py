"""A draft with the records it names: its steps and its order request."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.utils.translation import gettext as _

from labs.operations.account_choice import (
    ResolvedAccount,
    list_lab_account_options_by_lab,
    require_billing_type_allowed,
)
from labs.operations.catalogue.order_sets import OrderSet
from labs.operations.insurance import search_payors
from labs.operations.orders.plans import OrderRequest
from labs.queries.catalogue import (
    MarkerFilters,
    lab_tests_with_details,
    list_markers_page,
)
from labs.queries.orders.orders import list_ordering_physicians
from labs.states.accounts import AccountReason, Billing
from labs.states.catalogue import COMMENT_LABS, CollectionMethod
from labs.web.order_wizard.account_options import find_lab_account, is_lab_open
from labs.web.order_wizard.billing_forms import BillingForm, InsuranceForm
from labs.web.order_wizard.forms import CommentsForm, PatientForm, QuestionsForm
from labs.web.order_wizard.prefill import (
    find_last_test_of_user,
    prefill_billing,
    prefill_insurance,
    prefill_patient,
)
from portal.lib.errors import DomainError, NotFound
from portal.lib.translation import gettext_lazy
from users.queries import user_overview

if TYPE_CHECKING:
    from accounts.models import Tenant
    from labs.models import Lab, LabTest, Marker
    from labs.operations.account_choice import (
        LabAccountOptions,
    )
    from labs.web.order_wizard.drafts import OrderDraft
    from users.models import User

TESTS_AT_MOST = 50
# The choice of a user has a page of its own, as part of the first step. How the sample
# is collected belongs to the tests, as panels are of one collection method.
STEPS = {
    "patient": gettext_lazy("Patient and insurance"),
    "tests": gettext_lazy("Tests"),
    "lab": gettext_lazy("Lab account and billing"),
    "review": gettext_lazy("Review"),
}
PAGES = ("user", *STEPS)
# The step that a refusal of the operation concerns, by the field it names.
STEP_BY_FIELD = {
    "user_id": "user",
    "dob": "patient",
    "medical_proxy": "patient",
    "health_insurance": "patient",
    "order_set": "tests",
    "lab_test_ids": "tests",
    "add_on": "tests",
    "collection_method": "tests",
    "lab_account_id": "lab",
    "physician": "lab",
    "billing_type": "lab",
}


@dataclass(frozen=True, slots=True)
class OrderEntry:
    """A draft with the records it names, as they are now.

    `labs` are all choices there are, `lab` the one chosen, else the lab of the user's
    last order, else the first that takes orders; `last_test` is that order's test.
    `account` is None where no account accepts orders, and its own account None for the
    platform's.
    """

    tenant: Tenant
    draft: OrderDraft
    user: User | None
    labs: tuple[LabAccountOptions, ...]
    lab: Lab | None
    account: ResolvedAccount | None
    panels: tuple[LabTest, ...]
    single_markers: tuple[Marker, ...]
    last_test: LabTest | None

    @property
    def markers(self) -> tuple[Marker, ...]:
        """Return all markers ordered, each once."""
        held = [marker for panel in self.panels for marker in panel.markers.all()]
        return tuple(
            {marker.pk: marker for marker in (*held, *self.single_markers)}.values()
        )

    @property
    def question_markers(self) -> tuple[Marker, ...]:
        """Return the markers with order questions."""
        return tuple(marker for marker in self.markers if marker.aoe_questions)

    @property
    def method(self) -> str:
        """Return the collection method: as chosen, else walk-in, else any."""
        ways = self.lab.collection_methods if self.lab else []
        chosen = self.draft.values("tests").get("method")
        preferred = (chosen, CollectionMethod.WALK_IN_TEST, *ways)
        return str(next((way for way in preferred if way in ways), ""))

    @property
    def lab_prints_comments(self) -> bool:
        """Return whether the lab prints comments on requisitions."""
        return self.lab is not None and self.lab.slug in COMMENT_LABS

    @property
    def order_set(self) -> OrderSet:
        """Return the tests and markers ordered, for the operations."""
        return OrderSet(
            lab_test_ids=tuple(panel.pk for panel in self.panels),
            marker_ids=tuple(marker.pk for marker in self.single_markers),
            has_add_on=bool(self.single_markers),
        )

    def is_step_done(self, step: str) -> bool:
        """Return whether a step is complete and still valid."""
        if step == "user":
            return self.user is not None
        held = {
            "tests": bool(self.panels or self.single_markers),
            "lab": self.account is not None,
        }
        return step in self.draft.done and held.get(step, True)

    def reachable_step(self, step: str) -> str:
        """Return the page asked for, or the first incomplete one before it."""
        for earlier in PAGES:
            if earlier == step or not self.is_step_done(earlier):
                return earlier
        return PAGES[0]

    def step_before(self, step: str) -> str:
        """Return the previous page; the first returns itself."""
        return PAGES[max(0, PAGES.index(step) - 1)]

    def next_open_step(self, step: str) -> str:
        """Return the next incomplete page."""
        later = PAGES[PAGES.index(step) + 1 :]
        return next(one for one in later if not self.is_step_done(one))


def load_order_draft_records(*, tenant: Tenant, draft: OrderDraft) -> OrderEntry:
    """Load the records a draft names, in a constant number of queries."""
    labs = tuple(list_lab_account_options_by_lab(tenant=tenant))
    user = _find_user(tenant, draft)
    last_test = find_last_test_of_user(user) if user else None
    choice = _find_chosen_lab(labs, draft, last_test)
    lab = choice.lab if choice else None
    tests = draft.values("tests")
    if lab is None or tests.get("lab") != str(lab.pk):
        tests = {}
    panel_ids = [UUID(text) for text in tests.get("panels", [])]
    marker_ids = tests.get("markers", [])
    panels = {}
    if panel_ids:
        rows = lab_tests_with_details(tenant=tenant).filter(pk__in=panel_ids, lab=lab)
        panels = {panel.pk: panel for panel in rows}
    markers = {}
    if marker_ids:
        filters = MarkerFilters(lab=lab, marker_ids=tuple(marker_ids))
        found = list_markers_page(tenant=tenant, filters=filters, size=TESTS_AT_MOST)
        markers = {marker.pk: marker for marker in found.markers}
    return OrderEntry(
        tenant=tenant,
        draft=draft,
        user=user,
        labs=labs,
        lab=lab,
        account=find_lab_account(choice, str(draft.values("lab").get("place", ""))),
        panels=tuple(panels[pk] for pk in panel_ids if pk in panels),
        single_markers=tuple(markers[pk] for pk in marker_ids if pk in markers),
        last_test=last_test,
    )


def build_order_patient_form(entry: OrderEntry, data: Any = None) -> PatientForm:
    """Build the patient form from the request, the draft or stored details."""
    entered = entry.draft.values("patient")
    return PatientForm(data, initial=entered or prefill_patient(entry.user).values)


def list_billing_options(
    entry: OrderEntry, state: str
) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
    """List the billing types a state allows, and the others with why."""
    account = entry.account.account if entry.account else None
    offered, refused = [], []
    for kind in Billing:
        try:
            require_billing_type_allowed(
                account=account, billing_type=kind, state=state
            )
        except DomainError as refusal:
            refused.append((str(kind.label), refusal.message))
        else:
            offered.append((kind.value, str(kind.label)))
    return offered, refused


def build_order_insurance_form(entry: OrderEntry, data: Any = None) -> InsuranceForm:
    """Build the insurance form from the request, the draft or what is known.

    Production has the insurers that a member entered (contract D23).
    """
    payors = [(one.payor_code, one.name) for one in search_payors(tenant=entry.tenant)]
    entered = entry.draft.values("insurance")
    known = prefill_insurance(entry.user, payors=[code for code, _name in payors])
    return InsuranceForm(data, initial=entered or known.values, payors=payors)


def build_order_billing_form(entry: OrderEntry, data: Any = None) -> BillingForm:
    """Build the physician and billing form for the chosen account."""
    state = str(entry.draft.values("patient").get("state", ""))
    offered = list_billing_options(entry, state)[0]
    if not search_payors(tenant=entry.tenant):
        offered = [one for one in offered if one[0] != Billing.COMMERCIAL_INSURANCE]
    kinds = [kind for kind, _label in offered]
    is_insured = bool(entry.draft.values("insurance").get("payor_code"))
    physicians = list_ordering_physicians(tenant=entry.tenant)
    return BillingForm(
        data,
        initial=entry.draft.values("billing")
        or prefill_billing(
            entry.user,
            billing_types=kinds,
            physicians=[one["npi"] for one in physicians],
            is_insured=is_insured,
        ).values,
        billing=offered,
        physicians=physicians,
        is_insured=is_insured,
    )


def build_order_request(entry: OrderEntry, *, member_id: UUID) -> OrderRequest:
    """Build the order request of a draft whose steps are complete.

    A step that is no longer good is an `entry_incomplete` DomainError that names a
    field of that step.
    """
    patient = build_order_patient_form(entry, entry.draft.values("patient"))
    insurance = build_order_insurance_form(entry, entry.draft.values("insurance"))
    billing = build_order_billing_form(entry, entry.draft.values("billing"))
    comments = CommentsForm(entry.draft.values("comments"))
    questions = QuestionsForm(entry.question_markers, entry.draft.values("questions"))
    for form, field in (
        (questions, "aoe_answers"),
        (patient, "dob"),
        (insurance, "health_insurance"),
        (billing, "billing_type"),
        (comments, "comments"),
    ):
        if not form.is_valid():
            raise DomainError("entry_incomplete", _("Check this step again."), field)
    if entry.user is None or entry.account is None:
        field = "lab_account_id" if entry.user else "user_id"
        raise DomainError("entry_incomplete", _("Choose this again."), field)
    account = entry.account.reason == AccountReason.GIVEN and entry.account.account
    address = patient.address
    return OrderRequest(
        user_id=entry.user.uuid,
        order_set=entry.order_set,
        method=CollectionMethod.known(entry.method),
        lab_account_id=account.pk if account else None,
        patient_details=patient.details,
        patient_address=address,
        comments=comments.cleaned_data["comments"],
        physician=billing.named_physician,
        health_insurance=insurance.build_insurance(address, billing.icd_codes)
        if billing.cleaned_data["billing_type"] == Billing.COMMERCIAL_INSURANCE
        else None,
        priority=comments.cleaned_data["priority"],
        billing_type=billing.cleaned_data["billing_type"],
        icd_codes=billing.icd_codes,
        consents=tuple(
            {"consentType": consent, "version": "1.0"}
            for consent in billing.cleaned_data["consents"]
        ),
        activate_by=comments.cleaned_data["activate_by"],
        aoe_answers=questions.answers(),
        creator_member_id=member_id,
    )


def _find_chosen_lab(
    labs: tuple[LabAccountOptions, ...], draft: OrderDraft, last_test: LabTest | None
) -> LabAccountOptions | None:
    chosen = str(draft.values("tests").get("lab", ""))
    for choice in labs:
        if chosen and str(choice.lab.pk) == chosen:
            return choice
    last = last_test.lab_id if last_test else None
    by_use = sorted(labs, key=lambda choice: choice.lab.pk != last)
    return next((choice for choice in by_use if is_lab_open(choice)), None)


def _find_user(tenant: Tenant, draft: OrderDraft) -> User | None:
    text = str(draft.values("user").get("user", ""))
    if not text:
        return None
    try:
        return user_overview(tenant=tenant, user_id=UUID(text)).user
    except (ValueError, NotFound):
        return None
