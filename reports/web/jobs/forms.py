"""Forms of the report pages: list filters and upload."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, time, timedelta
from typing import TYPE_CHECKING, Any

from django import forms
from django.utils import timezone
from django.utils.translation import gettext as _

from portal.lib.translation import gettext_lazy
from portal.ui.filters import FilterBar, ListFilter, build_choices
from reports.operations.jobs.submission import MAX_BYTES, ReportPart
from reports.states import ParsingJobStatus

if TYPE_CHECKING:
    from collections.abc import Sequence

    from django.core.files.uploadedfile import UploadedFile
    from django.http import QueryDict

PAGE_SIZES = (25, 50, 100, 500)
DEFAULT_PAGE_SIZE = 50
_MAX_OFFSET = 2**63 - 1
# The tabs of the list, and the statuses each holds; the first holds all.
TABS: dict[str, tuple[str, ...]] = {
    "all": (),
    "open": (
        ParsingJobStatus.UPLOAD_PENDING,
        ParsingJobStatus.STARTED,
        ParsingJobStatus.PENDING_REVIEW,
    ),
    "completed": (ParsingJobStatus.COMPLETED,),
    "failed": (ParsingJobStatus.FAILED,),
}

TAB_LABELS = {
    "all": gettext_lazy("All"),
    "open": gettext_lazy("Open"),
    "completed": gettext_lazy("Completed"),
    "failed": gettext_lazy("Failed"),
}


# Days back from today, today among them.
PERIODS = {"today": 1, "7d": 7, "30d": 30, "90d": 90}
PERIOD_WORDS = {
    "today": gettext_lazy("Today"),
    "7d": gettext_lazy("Last 7 days"),
    "30d": gettext_lazy("Last 30 days"),
    "90d": gettext_lazy("Last 90 days"),
}


class ReportFilterForm(forms.Form):
    """The list's query string; an invalid value counts as not given."""

    tab = forms.ChoiceField(required=False, choices=[(tab, "") for tab in TABS])
    user = forms.CharField(required=False, max_length=255, strip=False)
    q = forms.CharField(required=False, max_length=255)
    status = forms.ChoiceField(required=False, choices=ParsingJobStatus.offered)
    uploaded = forms.ChoiceField(required=False, choices=list(PERIOD_WORDS.items()))
    offset = forms.IntegerField(required=False, min_value=0, max_value=_MAX_OFFSET)
    limit = forms.TypedChoiceField(
        required=False, coerce=int, choices=[(size, "") for size in PAGE_SIZES]
    )


@dataclass(frozen=True, slots=True)
class ReportFilters:
    """Validated filters of the list; a status that its tab has not is no filter."""

    tab: str
    user: str
    text: str
    status: str
    uploaded: str
    offset: int
    limit: int

    @classmethod
    def read(cls, query: QueryDict) -> ReportFilters:
        """Read a query string."""
        form = ReportFilterForm(query)
        form.is_valid()
        cleaned = form.cleaned_data
        tab = cleaned.get("tab") or "all"
        status = cleaned.get("status", "")
        return cls(
            tab=tab,
            user=cleaned.get("user", ""),
            text=cleaned.get("q", ""),
            status=status if not TABS[tab] or status in TABS[tab] else "",
            uploaded=cleaned.get("uploaded", ""),
            offset=cleaned.get("offset") or 0,
            limit=cleaned.get("limit") or DEFAULT_PAGE_SIZE,
        )

    @property
    def statuses(self) -> tuple[str, ...]:
        """The status, or those of the tab; none means all."""
        return (self.status,) if self.status else TABS[self.tab]

    @property
    def created_from(self) -> datetime | None:
        """When the chosen period begins, in the reader's zone."""
        if not self.uploaded:
            return None
        first = timezone.localdate() - timedelta(days=PERIODS[self.uploaded] - 1)
        return timezone.make_aware(datetime.combine(first, time()))

    @property
    def bar(self) -> FilterBar:
        """The search field and filters, as they are set."""
        statuses = [
            pair
            for pair in ParsingJobStatus.offered()
            if not TABS[self.tab] or pair[0] in TABS[self.tab]
        ]
        by_status = ListFilter(
            "status", _("Status"), self.status, build_choices(statuses)
        )
        user = ListFilter("user", _("User"), self.user, ())
        return FilterBar(
            (
                *([by_status] if len(statuses) > 1 else []),
                ListFilter(
                    "uploaded",
                    _("Uploaded"),
                    self.uploaded,
                    build_choices(PERIOD_WORDS.items()),
                ),
                *([user] if self.user else []),
            ),
            text=self.text,
            label=_("Search reports"),
            placeholder=_("Report, user or client user ID"),
        )


class FilesInput(forms.ClearableFileInput):
    """A file input that takes several files."""

    allow_multiple_selected = True


class FilesField(forms.FileField):
    """Several files, each checked as one would be."""

    widget = FilesInput

    def clean(self, data: Any, initial: Any = None) -> list[UploadedFile[Any]]:
        """Return the files, in the order they were chosen."""
        files: Sequence[Any] = data or [None]
        return [super(FilesField, self).clean(file, initial) for file in files]


class FilesForm(forms.Form):
    """The files of one report."""

    file = FilesField(
        allow_empty_file=True,  # the operation refuses one, with its own sentence
        error_messages={"required": gettext_lazy("Choose a file.")},
    )

    def clean_file(self) -> list[UploadedFile[Any]]:
        """Refuse files that are too large before reading them into memory."""
        files: list[UploadedFile[Any]] = self.cleaned_data["file"]
        if sum(file.size or 0 for file in files) > MAX_BYTES:
            raise forms.ValidationError(
                _("The file is larger than 10 MB. Nothing was stored."),
                code="file_too_large",
            )
        return files

    def parts(self) -> tuple[ReportPart, ...]:
        """Return the files as the operation takes them."""
        return tuple(
            ReportPart(content=file.read(), content_type=file.content_type or "")
            for file in self.cleaned_data["file"]
        )


class UploadForm(FilesForm):
    """One report: its user, its files, and whether it requires review."""

    user = forms.CharField(
        max_length=255,
        strip=False,
        error_messages={"required": gettext_lazy("Enter the client user ID.")},
        widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false"}),
    )
    # Who uploads by hand can also ask for a look; a system says what it wants.
    needs_human_review = forms.BooleanField(required=False, initial=True)
