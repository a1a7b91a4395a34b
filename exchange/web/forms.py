"""The form of a new shared link."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

from django import forms
from django.utils.translation import gettext as _

from exchange.models.shared_link import LABEL_MAX_LENGTH
from exchange.operations.sharing.links import LIFETIMES, ShareRequest
from portal.lib.translation import gettext_lazy
from portal.ui.dates import format_iso_day

if TYPE_CHECKING:
    from collections.abc import Sequence

    from exchange.queries.shareable import ShareableReport

_LIFETIME_WORDS = (
    gettext_lazy("1 day"),
    gettext_lazy("7 days"),
    gettext_lazy("30 days"),
)


class ShareForm(forms.Form):
    """Which reports, for how long, with a passcode or not."""

    reports = forms.MultipleChoiceField(
        widget=forms.CheckboxSelectMultiple,
        error_messages={"required": gettext_lazy("Choose at least one report.")},
    )
    label = forms.CharField(required=False, max_length=LABEL_MAX_LENGTH)
    lasts = forms.TypedChoiceField(
        choices=[
            (str(lasts.days), words)
            for lasts, words in zip(LIFETIMES, _LIFETIME_WORDS, strict=True)
        ],
        coerce=lambda text: timedelta(days=int(text)),
        initial="7",
    )
    has_passcode = forms.BooleanField(required=False, initial=True)

    def __init__(
        self, listed: Sequence[ShareableReport], *args: Any, **options: Any
    ) -> None:
        super().__init__(*args, **options)
        reports = self.fields["reports"]
        assert isinstance(reports, forms.MultipleChoiceField)  # noqa: S101 - its type
        reports.choices = [(one.id, _describe(one)) for one in listed]

    def build_request(self, *, is_users_own: bool = False) -> ShareRequest:
        """Return what a valid form asks for."""
        data = self.cleaned_data
        return ShareRequest(
            reports=data["reports"],
            lasts=data["lasts"],
            label=data.get("label", ""),
            has_passcode=data["has_passcode"],
            is_users_own=is_users_own,
        )


def _describe(report: ShareableReport) -> str:
    collected = (
        _("collected %(day)s") % {"day": format_iso_day(report.collected_on)}
        if report.collected_on
        else ""
    )
    return ", ".join(filter(None, [report.title, report.performer, collected]))
