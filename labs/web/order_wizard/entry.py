"""A draft with the records it names: its steps and its order request."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

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
from labs.states.accounts import AccountReason, Billing, LabAccountStatus
from labs.states.catalogue import COMMENT_LABS, CollectionMethod
from labs.web.order_rows import format_lab_account_name
from labs.web.order_wizard.forms import (
    BillingForm,
    CommentsForm,
    PatientForm,
    QuestionsForm,
)
from labs.web.order_wizard.prefill import prefill_billing, prefill_patient
from portal.lib.errors import DomainError, NotFound
from portal.lib.translation import gettext_lazy
from users.queries import user_overview

if TYPE_CHECKING:
    from accounts.models import Tenant
    from labs.models import Lab, LabAccount, LabTest, Marker
    from labs.operations.account_choice import (
        LabAccountOptions,
    )
    from labs.web.order_wizard.drafts import OrderDraft
    from users.models import User

TESTS_AT_MOST = 50
STEPS = {
    "user": gettext_lazy("User"),
    "lab": gettext_lazy("Lab account"),
    "tests": gettext_lazy("Tests"),
    "questions": gettext_lazy("Questions"),
    "patient": gettext_lazy("Patient"),
    "billing": gettext_lazy("Physician and billing"),
    "comments": gettext_lazy("Comment and start"),
    "review": gettext_lazy("Review"),
}
# The step that a refusal of the operation concerns, by the field it names.
STEP_BY_FIELD = {
    "user_id": "user",
    "lab_account_id": "lab",
    "order_set": "tests",
    "lab_test_ids": "tests",
    "add_on": "tests",
    "collection_method": "tests",
    "aoe_answers": "questions",
    "dob": "patient",
    "medical_proxy": "patient",
    "physician": "billing",
    "billing_type": "billing",
    "health_insurance": "billing",
    "activate_by": "comments",
    "comments": "comments",
}
# Why an account accepts no new orders.
_CLOSED_REASONS = {
    LabAccountStatus.PENDING: gettext_lazy("Pending: accepts imports, not new orders."),
    LabAccountStatus.READY_TO_LAUNCH: gettext_lazy(
        "Not launched yet: accepts imports, not new orders."
    ),
    LabAccountStatus.SUSPENDED: gettext_lazy("Suspended: accepts no orders."),
}


@dataclass(frozen=True, slots=True)
class LabAccountOption:
    """A lab or lab account to choose, or the reason why it is closed.

    `name` is the account's, empty for the platform's own.
    """

    value: str
    lab: Lab
    name: str
    why: str
    is_open: bool
    is_chosen: bool


@dataclass(frozen=True, slots=True)
class OrderEntry:
    """A draft with the records it names, as they are now.

    `labs` are all choices there are. `account` is None until one is chosen, and its own
    account None for the platform's.
    """

    tenant: Tenant
    draft: OrderDraft
    user: User | None
    labs: tuple[LabAccountOptions, ...]
    lab: Lab | None
    account: ResolvedAccount | None
    panels: tuple[LabTest, ...]
    single_markers: tuple[Marker, ...]

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
    def steps(self) -> tuple[str, ...]:
        """Return the steps of this order, without questions if there are none."""
        return tuple(
            step for step in STEPS if step != "questions" or self.question_markers
        )

    @property
    def method(self) -> str:
        """Return the collection method: as chosen, else walk-in, else any."""
        ways = self.lab.collection_methods if self.lab else []
        chosen = self.draft.step_values("tests").get("method")
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
        held = {
            "user": self.user is not None,
            "lab": self.account is not None,
            "tests": bool(self.panels or self.single_markers),
        }
        return step in self.draft.done and held.get(step, True)

    def reachable_step(self, step: str) -> str:
        """Return the step asked for, or the first incomplete one before it."""
        for earlier in self.steps:
            if earlier == step or not self.is_step_done(earlier):
                return earlier
        return self.steps[0]

    def step_before(self, step: str) -> str:
        """Return the previous step; the first step returns itself."""
        return self.steps[max(0, self.steps.index(step) - 1)]

    def next_open_step(self, step: str) -> str:
        """Return the next incomplete step."""
        later = self.steps[self.steps.index(step) + 1 :]
        return next(one for one in later if not self.is_step_done(one))


def load_order_draft_records(*, tenant: Tenant, draft: OrderDraft) -> OrderEntry:
    """Load the records a draft names, in a constant number of queries."""
    labs = tuple(list_lab_account_options_by_lab(tenant=tenant))
    lab, account = _find_chosen_account(
        labs, str(draft.step_values("lab").get("place", ""))
    )
    tests = draft.step_values("tests") if lab else {}
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
        user=_find_user(tenant, draft),
        labs=labs,
        lab=lab,
        account=account,
        panels=tuple(panels[pk] for pk in panel_ids if pk in panels),
        single_markers=tuple(markers[pk] for pk in marker_ids if pk in markers),
    )


def list_lab_account_options(entry: OrderEntry) -> list[LabAccountOption]:
    """List each lab and account with the reason it is open or closed.

    A lab's own option leaves the choice to the rules of contract 6.4; its accounts are
    options of their own where the rules do not choose them.
    """
    chosen = str(entry.draft.step_values("lab").get("place", ""))
    options = []
    for choice in entry.labs:
        picked = choice.resolved.account if choice.resolved else None
        if choice.resolved is not None:
            value = f"lab:{choice.lab.pk}"
            name = format_lab_account_name(picked) if picked else ""
            why = f"{choice.resolved.reason.label}."
            options.append(
                LabAccountOption(value, choice.lab, name, why, True, value == chosen)
            )
        options += [
            _build_account_option(choice, account, chosen)
            for account in choice.accounts
            if account != picked
        ]
        if choice.refusal is not None and not choice.accounts:
            why = choice.refusal.message
            options.append(LabAccountOption("", choice.lab, "", why, False, False))
    # The team's own accounts first, then the platform's, then what is closed.
    options.sort(key=lambda option: (not option.is_open, not option.name))
    if not chosen and sum(option.is_open for option in options) == 1:
        options[0] = replace(options[0], is_chosen=True)
    return options


def describe_lab_account_choice(entry: OrderEntry) -> str:
    """Describe the order's lab account and why it was chosen."""
    if entry.account is None:
        return ""
    own = entry.account.account
    reason = f"{entry.account.reason.label}."
    return f"{format_lab_account_name(own)}. {reason}" if own else reason


def build_order_patient_form(entry: OrderEntry, data: Any = None) -> PatientForm:
    """Build the patient form from the request, the draft or stored details."""
    entered = entry.draft.step_values("patient")
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


def build_order_billing_form(entry: OrderEntry, data: Any = None) -> BillingForm:
    """Build the physician and billing form for the chosen account.

    Insurance is offered only where there is an insurer to choose: production has those
    that somebody entered (contract D23).
    """
    state = str(entry.draft.step_values("patient").get("state", ""))
    offered = list_billing_options(entry, state)[0]
    payors = search_payors(tenant=entry.tenant)
    if not payors:
        offered = [one for one in offered if one[0] != Billing.COMMERCIAL_INSURANCE]
    first = offered[0][0] if offered else ""
    physicians = list_ordering_physicians(tenant=entry.tenant)
    entered = entry.draft.step_values("billing")
    return BillingForm(
        data,
        initial=entered
        or {
            "billing_type": first,
            **prefill_billing(
                entry.user,
                billing_types=[kind for kind, _label in offered],
                physicians=[one["npi"] for one in physicians],
            ).values,
        },
        billing=offered,
        physicians=physicians,
        payors=[(payor.payor_code, payor.name) for payor in payors],
    )


def build_order_request(entry: OrderEntry, *, member_id: UUID) -> OrderRequest:
    """Build the order request of a draft whose steps are complete.

    A step that is no longer good is an `entry_incomplete` DomainError that names a
    field of that step.
    """
    patient = build_order_patient_form(entry, entry.draft.step_values("patient"))
    billing = build_order_billing_form(entry, entry.draft.step_values("billing"))
    comments = CommentsForm(entry.draft.step_values("comments"))
    questions = QuestionsForm(
        entry.question_markers, entry.draft.step_values("questions")
    )
    for form, field in (
        (questions, "aoe_answers"),
        (patient, "dob"),
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
        health_insurance=billing.build_insurance(address),
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


def _find_chosen_account(
    labs: tuple[LabAccountOptions, ...], place: str
) -> tuple[Lab | None, ResolvedAccount | None]:
    kind, _separator, name = place.partition(":")
    for choice in labs:
        if kind == "lab" and name == str(choice.lab.pk):
            return choice.lab, choice.resolved
        for account in choice.accounts:
            if kind == "account" and name == str(account.pk):
                is_open = not _explain_closed_account(account)
                resolved = ResolvedAccount(account, AccountReason.GIVEN)
                return choice.lab, resolved if is_open else None
    return None, None


def _build_account_option(
    choice: LabAccountOptions, account: LabAccount, chosen: str
) -> LabAccountOption:
    value = f"account:{account.pk}"
    closed = _explain_closed_account(account)
    actives = sum(not _explain_closed_account(one) for one in choice.accounts)
    why = closed or ngettext(
        "%(count)d active account at this lab: choose it to use it.",
        "One of %(count)d active accounts at this lab.",
        actives,
    ) % {"count": actives}
    return LabAccountOption(
        value,
        choice.lab,
        format_lab_account_name(account),
        why,
        not closed,
        value == chosen,
    )


def _explain_closed_account(account: LabAccount) -> str:
    status = LabAccountStatus.known(account.status)
    if status is not None and status.takes_orders:
        return ""
    if status is None:
        return _("Unknown status.")
    return _CLOSED_REASONS.get(status) or _("Accepts no orders.")


def _find_user(tenant: Tenant, draft: OrderDraft) -> User | None:
    text = str(draft.step_values("user").get("user", ""))
    if not text:
        return None
    try:
        return user_overview(tenant=tenant, user_id=UUID(text)).user
    except (ValueError, NotFound):
        return None
