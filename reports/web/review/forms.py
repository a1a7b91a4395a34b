"""Forms of the review page: a row's text, a code, a reason, a box."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django import forms

from portal.lib.translation import gettext_lazy
from reports.operations.review.checks import RowText
from reports.parser.report import Place, Point, SampleType

if TYPE_CHECKING:
    from collections.abc import Mapping

TEXT_MAX_LENGTH = 1000
REASON_MAX_LENGTH = 1000
_SPECIMEN_WORDS = {
    "": gettext_lazy("Not given"),
    SampleType.URINE: gettext_lazy("Urine"),
    SampleType.BLOOD: gettext_lazy("Serum, plasma or blood"),
    SampleType.CAPILLARY_BLOOD: gettext_lazy("Capillary blood"),
    SampleType.STOOL: gettext_lazy("Stool"),
    SampleType.SALIVA: gettext_lazy("Saliva"),
    SampleType.OTHER: gettext_lazy("Other"),
    SampleType.UNKNOWN: gettext_lazy("Unknown"),
}


def _text(label: str, *, required: bool = False) -> forms.CharField:
    return forms.CharField(
        label=label,
        required=required,
        max_length=TEXT_MAX_LENGTH,
        widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false"}),
    )


class RowForm(forms.Form):
    """The texts of a row that a reviewer types."""

    test_name = _text(gettext_lazy("Name"), required=True)
    value = _text(gettext_lazy("Value"), required=True)
    units = _text(gettext_lazy("Unit"))
    reference_range = _text(gettext_lazy("Range"))
    flag = _text(gettext_lazy("Flag"))
    source_panel_name = _text(gettext_lazy("Panel"))
    sample_type = forms.ChoiceField(
        label=gettext_lazy("Specimen"),
        required=False,
        choices=list(_SPECIMEN_WORDS.items()),
    )

    def text(self) -> RowText:
        """Return the texts of a valid form."""
        fields = {name: value or None for name, value in self.cleaned_data.items()}
        specimen = fields.get("sample_type")
        return RowText(
            test_name=fields["test_name"] or "",
            value=fields["value"] or "",
            units=fields["units"],
            reference_range=fields["reference_range"],
            flag=fields["flag"],
            source_panel_name=fields["source_panel_name"],
            sample_type=SampleType(specimen) if specimen else None,
        )


def build_row_form_initial_values(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row's values as initial form values."""
    return {name: values[name] or "" for name in RowForm.base_fields}


class ReasonForm(forms.Form):
    """A form with a reason or comment."""

    reason = forms.CharField(
        max_length=REASON_MAX_LENGTH,
        label=gettext_lazy("Reason"),
        error_messages={"required": gettext_lazy("Enter a reason.")},
        widget=forms.Textarea(attrs={"rows": 3}),
    )


class MoveForm(ReasonForm):
    """The user to move a report to, with a reason."""

    client_user_id = forms.CharField(
        max_length=255,
        strip=False,
        label=gettext_lazy("Client user ID"),
        widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false"}),
    )


class BoxForm(forms.Form):
    """A rectangle drawn on a page, in the page's units."""

    page = forms.IntegerField(min_value=1, max_value=1000)
    x0 = forms.FloatField()
    y0 = forms.FloatField()
    x1 = forms.FloatField()
    y1 = forms.FloatField()

    def place(self) -> Place | None:
        """Return the box of a valid form, None if none was drawn."""
        if not self.is_valid():
            return None
        given = self.cleaned_data
        left, right = sorted((given["x0"], given["x1"]))
        top, bottom = sorted((given["y0"], given["y1"]))
        corners = ((left, top), (right, top), (right, bottom), (left, bottom))
        return Place(given["page"], tuple(Point(x, y) for x, y in corners))
