"""Forms of the lab account pages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django import forms
from django.utils.translation import gettext as _

from accounts.models import Team
from labs.models import Lab
from labs.operations.accounts import (
    DEFAULT_NOTES_MAX_LENGTH,
    NAME_MAX_LENGTH,
    NUMBER_MAX_LENGTH,
    LabAccountRequest,
)
from labs.queries.accounts import AccountFilters
from labs.queries.catalogue import list_labs
from labs.states.accounts import (
    LAB_ACCOUNT_MOVES,
    US_STATES,
    AccountGateway,
    Billing,
    DelegatedFlow,
    HeldLinesAnswer,
    LabAccountStatus,
)
from portal.lib.translation import gettext_lazy

if TYPE_CHECKING:
    from accounts.models import Tenant
    from labs.models import LabAccount

ALL_STATES = "all"
_BILLING = "bill_"
# An account without any allowed billing would refuse every order.
INITIAL = {_BILLING + Billing.CLIENT_BILL: ALL_STATES}


class AccountFilterForm(forms.Form):
    """Read the list's filters; an invalid value counts as not given."""

    q = forms.CharField(required=False, max_length=NAME_MAX_LENGTH)
    status = forms.ChoiceField(required=False, choices=LabAccountStatus.offered)
    lab = forms.SlugField(required=False, max_length=50)
    state = forms.ChoiceField(
        required=False, choices=[(state, state) for state in sorted(US_STATES)]
    )

    @property
    def filters(self) -> AccountFilters:
        """Return the filters for the query."""
        self.is_valid()
        data = self.cleaned_data
        return AccountFilters(
            text=data.get("q", ""),
            status=data.get("status", ""),
            lab_slug=data.get("lab", ""),
            state=data.get("state", ""),
        )


class AccountForm(forms.Form):
    """A lab account's details, with a field of states for each billing type."""

    provider_account_id = forms.CharField(
        max_length=NUMBER_MAX_LENGTH,
        error_messages={
            "required": gettext_lazy("Enter the account number assigned by the lab.")
        },
    )
    account_name = forms.CharField(max_length=NAME_MAX_LENGTH, required=False)
    delegated_flow = forms.ChoiceField(choices=DelegatedFlow.offered)
    default_clinical_notes = forms.CharField(
        max_length=DEFAULT_NOTES_MAX_LENGTH,
        required=False,
        widget=forms.Textarea(attrs={"rows": 3}),
    )
    business_units = forms.CharField(required=False)
    hl7_one_message_per_test = forms.BooleanField(required=False)
    hl7_payer_in_in1 = forms.BooleanField(required=False)
    gateway = forms.ChoiceField(
        choices=AccountGateway.offered,
        required=False,
        error_messages={"invalid_choice": gettext_lazy("Choose a known exchange.")},
    )
    held_lines_answer = forms.ChoiceField(
        choices=HeldLinesAnswer.offered,
        required=False,
        error_messages={"invalid_choice": gettext_lazy("Choose a known answer.")},
    )

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        for kind in Billing:
            self.fields[_BILLING + kind] = forms.CharField(
                required=False, label=str(kind.label)
            )

    @property
    def billing_fields(self) -> list[forms.BoundField]:
        """Return the fields of states, one for each billing type."""
        return [self[_BILLING + kind] for kind in Billing]

    def clean(self) -> dict[str, Any]:
        found = super().clean() or {}
        billing: dict[str, list[str]] = {}
        for kind in Billing:
            text = found.get(_BILLING + kind, "").strip()
            states = _parse_states(text)
            if unknown := states - US_STATES:
                self.add_error(
                    _BILLING + kind,
                    _("%(state)s is not a US state. Use two-letter codes, such as AZ.")
                    % {"state": min(unknown)},
                )
            elif states:
                billing[kind.value] = sorted(states)
        return {**found, "allowed_billing": billing}

    @property
    def account_request(self) -> LabAccountRequest:
        """Return the account request of a valid form."""
        data = self.cleaned_data
        units = (unit.strip() for unit in data["business_units"].split(","))
        return LabAccountRequest(
            provider_account_id=data["provider_account_id"],
            account_name=data["account_name"],
            delegated_flow=data["delegated_flow"],
            default_clinical_notes=data["default_clinical_notes"],
            business_units=tuple(unit for unit in units if unit),
            allowed_billing=data["allowed_billing"],
            hl7_one_message_per_test=data["hl7_one_message_per_test"],
            hl7_payer_in_in1=data["hl7_payer_in_in1"],
            held_lines_answer=data["held_lines_answer"] or HeldLinesAnswer.ACCEPTED,
            gateway=data["gateway"] or AccountGateway.INSTALLATION,
        )


class NewAccountForm(AccountForm):
    """A new lab account's details, with its lab."""

    lab = forms.ModelChoiceField(
        queryset=Lab.objects.none(), empty_label=gettext_lazy("Choose a lab")
    )

    def __init__(self, *args: Any, tenant: Tenant, **options: Any) -> None:
        super().__init__(*args, **options)
        self.fields["lab"].queryset = list_labs(tenant=tenant)  # type: ignore[attr-defined]


class AccountStatusForm(forms.Form):
    """The statuses that an account can change to."""

    def __init__(self, account: LabAccount, *args: Any) -> None:
        super().__init__(*args)
        self.fields["status"] = forms.ChoiceField(
            choices=[
                (status.value, str(status.label))
                for status in LabAccountStatus
                if LAB_ACCOUNT_MOVES.allows(account.status, status)
            ],
            widget=forms.RadioSelect,
        )


class AccountTeamsForm(forms.Form):
    """The teams of the organisation that can use an account."""

    def __init__(self, account: LabAccount, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.fields["teams"] = forms.ModelMultipleChoiceField(
            queryset=Team.objects.filter(
                organisation_id=account.organisation_id
            ).order_by("name"),
            required=False,
            widget=forms.CheckboxSelectMultiple,
        )


def build_account_form_values(account: LabAccount) -> dict[str, Any]:
    """Return the initial form values of an account."""
    return {
        "provider_account_id": account.provider_account_id,
        "account_name": account.account_name,
        "delegated_flow": account.delegated_flow,
        "default_clinical_notes": account.default_clinical_notes,
        "business_units": ", ".join(account.business_units),
        "hl7_one_message_per_test": account.hl7_one_message_per_test,
        "hl7_payer_in_in1": account.hl7_payer_in_in1,
        "held_lines_answer": account.held_lines_answer,
        "gateway": account.gateway,
        **{
            _BILLING + kind: format_us_states(states)
            for kind, states in account.allowed_billing.items()
        },
    }


def format_us_states(states: list[str]) -> str:
    """Return states as staff enter them: `all`, or their codes."""
    return ALL_STATES if set(states) == US_STATES else ", ".join(states)


def _parse_states(text: str) -> set[str]:
    if text.lower() == ALL_STATES:
        return set(US_STATES)
    return set(text.upper().replace(",", " ").split())
