"""Forms of the dialogs that change an order."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

from django import forms
from django.core.validators import RegexValidator
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from labs.gateways.sandbox_results import SimulationFlags
from labs.models.order import COMMENTS_MAX_LENGTH, STATUS_MAX_LENGTH
from labs.operations.catalogue.order_sets import OrderSet
from labs.operations.orders.recreations import RecreationRequest
from labs.operations.simulation.orders import LONGEST_DELAY
from labs.queries.orders.history import (
    find_last_known_order_status,
    get_next_status_to_completion,
    list_reachable_order_status_paths,
)
from labs.states.orders import Interpretation, UpdateReason, split_order_status
from labs.states.patients import NPI
from labs.web.order_rows import format_lab_account_name
from labs.web.order_wizard.forms import PatientForm
from portal.lib.languages import write_within_sentence
from portal.lib.translation import gettext_lazy
from portal.ui.pills import find_status_pill

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from django.http import QueryDict

    from labs.models import LabAccount, LabTest, Order

WHY_MAX_LENGTH = 200
SAME_TEST = gettext_lazy("Keep ordered test")
ASSAY_CHOOSES = gettext_lazy("Let Assay choose")
DETAILS = ("first_name", "last_name", "dob", "gender", "phone_number", "email")
ADDRESS = ("first_line", "second_line", "city", "state", "zip", "country")
_PHYSICIAN = ("physician_first_name", "physician_last_name", "physician_npi")
_DETOURS = {"warn", "bad", "mute"}


class CancelForm(forms.Form):
    """Why an order is cancelled, and whether its visit is cancelled too.

    A visit to a home goes with its order in any case (contract 6.12).
    """

    why = forms.CharField(
        max_length=WHY_MAX_LENGTH, required=False, label=gettext_lazy("Reason")
    )
    with_visit = forms.BooleanField(
        required=False, initial=True, label=gettext_lazy("Also cancel the visit")
    )


class AdvanceForm(forms.Form):
    """The status to advance a sandbox order to, and its simulated results.

    `seen` is the last step that the page showed.
    """

    interpretation = forms.ChoiceField(
        choices=Interpretation.offered,
        initial=Interpretation.NORMAL,
        required=False,
        label=gettext_lazy("Results"),
    )
    has_missing_results = forms.BooleanField(
        required=False, label=gettext_lazy("One result is missing")
    )
    delay = forms.IntegerField(
        min_value=0,
        max_value=int(LONGEST_DELAY.total_seconds()),
        required=False,
        label=gettext_lazy("Delay (seconds)"),
    )
    seen = forms.IntegerField()

    def __init__(self, order: Order, sent: QueryDict | None = None) -> None:
        walks = list_reachable_order_status_paths(order)
        super().__init__(
            sent, initial={"final_status": get_next_status_to_completion(walks)}
        )
        usual = [walk for walk in walks if not _is_problem_status(walk[-1])]
        detours = [walk for walk in walks if _is_problem_status(walk[-1])]
        self.fields["final_status"] = forms.ChoiceField(
            label=_("Advance to"),
            choices=[
                (label, [(walk[-1], _describe_goal(walk)) for walk in group])
                for label, group in (
                    (_("Usual steps"), usual),
                    (_("Problems"), detours),
                )
                if group
            ],
            error_messages={
                "invalid_choice": _(
                    "The order can't reach this status from its current one."
                )
            },
        )

    @property
    def simulation_delay(self) -> timedelta:
        """Return the delay of a valid form."""
        return timedelta(seconds=self.cleaned_data["delay"] or 0)

    def describe_advance(self, order: Order) -> str:
        """Say where an order was advanced to, with each step that it took on the way.

        `order` is as it is now, with its events.
        """
        status = find_status_pill(self.cleaned_data["final_status"]).words
        if self.simulation_delay:
            return _("The order advances to %(status)s after %(seconds)d s.") % {
                "status": status,
                "seconds": self.cleaned_data["delay"],
            }
        ids = {one.pk: one for one in order.events.all()}
        taken = [ids[pk] for pk in sorted(ids) if pk > self.cleaned_data["seen"]]
        between = [str(find_status_pill(one.status).words) for one in taken[:-1]]
        if not between:
            return _("Advanced to %(status)s.") % {"status": status}
        return _("Advanced to %(status)s. Steps on the way: %(steps)s.") % {
            "status": status,
            "steps": ", ".join(between),
        }

    @property
    def simulation_flags(self) -> SimulationFlags:
        """Return how the simulated results are to be."""
        return SimulationFlags(
            interpretation=Interpretation(
                self.cleaned_data["interpretation"] or Interpretation.NORMAL
            ),
            has_missing_results=self.cleaned_data["has_missing_results"],
        )


class UnknownStatusForm(forms.Form):
    """A status and a status detail that Assay does not know."""

    status = forms.CharField(max_length=STATUS_MAX_LENGTH, label=gettext_lazy("Status"))
    detail = forms.CharField(
        max_length=STATUS_MAX_LENGTH,
        required=False,
        label=gettext_lazy("Status detail"),
    )

    @classmethod
    def for_order(cls, order: Order) -> UnknownStatusForm:
        """Return a form with an unknown status near the order's own."""
        top, method = split_order_status(find_last_known_order_status(order))[:2]
        return cls(initial={"status": f"{top}.{method}.value_of_the_future"})


class ActivationForm(forms.Form):
    """The start date of a scheduled order; empty for today."""

    day = forms.DateField(
        required=False,
        label=gettext_lazy("Start on"),
        widget=forms.DateInput(attrs={"type": "date"}),
        error_messages={"invalid": gettext_lazy("Enter a date as YYYY-MM-DD.")},
    )


class PhysicianForm(forms.Form):
    """The ordering physician: all three fields, or none."""

    physician_first_name = forms.CharField(required=False, max_length=50)
    physician_last_name = forms.CharField(required=False, max_length=50)
    physician_npi = forms.CharField(
        required=False,
        validators=[
            RegexValidator(rf"^{NPI}\Z", message=gettext_lazy("Enter a 10-digit NPI."))
        ],
    )

    def clean(self) -> dict[str, Any]:
        found = super().clean() or {}
        if any(found.get(name) for name in _PHYSICIAN):
            for name in _PHYSICIAN:
                if not found.get(name) and name not in self.errors:
                    self.add_error(name, _("Required for a physician."))
        return found

    @property
    def physician(self) -> dict[str, str] | None:
        """Return the physician in the shape of the API, or None."""
        physician = {
            name.removeprefix("physician_"): self.cleaned_data[name]
            for name in _PHYSICIAN
        }
        return physician if physician["npi"] else None


class CorrectionForm(PatientForm):
    """Corrections of a patient; an empty field stays unchanged."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        for name in (*DETAILS, *ADDRESS):
            self.fields[name].required = False

    @property
    def patient_fields(self) -> list[forms.BoundField]:
        """Return the fields that can be corrected."""
        return [self[name] for name in (*DETAILS, *ADDRESS)]

    @property
    def corrected_fields(self) -> list[str]:
        """Return the names of the fields with a correction."""
        return [n for n in (*DETAILS, *ADDRESS) if self.cleaned_data.get(n)]

    def merge_typed_values(
        self, names: Sequence[str], stored: Mapping[str, Any] | None
    ) -> dict[str, Any] | None:
        """Merge corrections into stored values; None without corrections."""
        typed = {
            name: self.cleaned_data[name]
            for name in names
            if name in self.corrected_fields
        }
        if "dob" in typed:
            typed["dob"] = typed["dob"].isoformat()
        return {**(stored or {}), **typed} if typed else None


class RecreateForm(PhysicianForm, CorrectionForm):
    """What was wrong with an order; empty fields are copied from it."""

    reason = forms.ChoiceField(
        choices=UpdateReason.offered,
        widget=forms.RadioSelect,
        label=gettext_lazy("What was wrong"),
        error_messages={"required": gettext_lazy("Choose what was wrong.")},
    )
    comments = forms.CharField(
        required=False,
        max_length=COMMENTS_MAX_LENGTH,
        label=gettext_lazy("Comment"),
        widget=forms.Textarea(attrs={"rows": 3}),
    )

    def __init__(
        self,
        order: Order,
        *args: Any,
        panels: Sequence[LabTest],
        accounts: Sequence[LabAccount],
        may_correct_patient: bool,
        **options: Any,
    ) -> None:
        super().__init__(*args, **options, initial={"comments": order.comments})
        self.order = order
        self._panels = {str(panel.pk): panel for panel in panels}
        self._accounts = {str(account.pk): account for account in accounts}
        self.fields["lab_test"] = forms.ChoiceField(
            required=False,
            label=_("Test"),
            choices=[("", SAME_TEST), *group_panels_by_lab(panels)],
        )
        self.fields["account"] = forms.ChoiceField(
            required=False,
            label=_("Lab account"),
            choices=[("", ASSAY_CHOOSES), *group_accounts_by_lab(accounts)],
        )
        self.may_correct_patient = may_correct_patient

    @property
    def has_patient_correction(self) -> bool:
        """Return whether a patient field has a value or an error."""
        return any(bound.errors or bound.data for bound in self.patient_fields)

    @property
    def has_physician(self) -> bool:
        """Return whether a physician field has a value or an error."""
        return any(self[name].errors or self[name].data for name in _PHYSICIAN)

    @property
    def panel(self) -> LabTest | None:
        """Return the test that replaces the ordered one, or None."""
        return self._panels.get(self.cleaned_data["lab_test"])

    @property
    def recreation(self) -> RecreationRequest:
        """Return the recreation of a valid form."""
        panel = self.panel
        account = self._accounts.get(self.cleaned_data["account"])
        comments = self.cleaned_data["comments"]
        can = self.may_correct_patient
        return RecreationRequest(
            reason=UpdateReason(self.cleaned_data["reason"]),
            order_set=OrderSet(lab_test_ids=(panel.pk,)) if panel else None,
            lab_account_id=account.pk if account else None,
            physician=self.physician,
            comments=comments if comments != self.order.comments else None,
            patient_details=self.merge_typed_values(DETAILS, self.order.patient_details)
            if can
            else None,
            patient_address=self.merge_typed_values(ADDRESS, self.order.patient_address)
            if can
            else None,
        )


def group_panels_by_lab(
    panels: Sequence[LabTest],
) -> list[tuple[str, list[tuple[str, str]]]]:
    """Group panels by lab, as choices."""
    labs: dict[str, list[tuple[str, str]]] = {}
    for panel in panels:
        labs.setdefault(panel.lab.name, []).append((str(panel.pk), panel.name))
    return sorted(labs.items())


def group_accounts_by_lab(
    accounts: Sequence[LabAccount],
) -> list[tuple[str, list[tuple[str, str]]]]:
    """Group lab accounts by lab, as choices with their status."""
    labs: dict[str, list[tuple[str, str]]] = {}
    for account in accounts:
        status = write_within_sentence(find_status_pill(account.status).words)
        label = f"{format_lab_account_name(account)}, {status}"
        labs.setdefault(account.lab.name, []).append((str(account.pk), label))
    return sorted(labs.items())


def _is_problem_status(status: str) -> bool:
    return find_status_pill(status).family in _DETOURS


def _describe_goal(walk: Sequence[str]) -> str:
    return ngettext(
        "%(status)s (%(count)d step)", "%(status)s (%(count)d steps)", len(walk)
    ) % {"status": find_status_pill(walk[-1]).words, "count": len(walk)}
