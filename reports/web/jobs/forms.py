"""Forms of the report pages: list filters and upload."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django import forms
from django.utils.translation import gettext as _

from portal.lib.translation import gettext_lazy
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


class ReportFilterForm(forms.Form):
    """The list's query string; an invalid value counts as not given."""

    tab = forms.ChoiceField(required=False, choices=[(tab, "") for tab in TABS])
    user = forms.CharField(required=False, max_length=255, strip=False)
    offset = forms.IntegerField(required=False, min_value=0, max_value=_MAX_OFFSET)
    limit = forms.TypedChoiceField(
        required=False, coerce=int, choices=[(size, "") for size in PAGE_SIZES]
    )


@dataclass(frozen=True, slots=True)
class ReportFilters:
    """Validated filters of the list."""

    tab: str
    user: str
    offset: int
    limit: int

    @classmethod
    def read(cls, query: QueryDict) -> ReportFilters:
        """Read a query string."""
        form = ReportFilterForm(query)
        form.is_valid()
        cleaned = form.cleaned_data
        return cls(
            tab=cleaned.get("tab") or "all",
            user=cleaned.get("user", ""),
            offset=cleaned.get("offset") or 0,
            limit=cleaned.get("limit") or DEFAULT_PAGE_SIZE,
        )

    @property
    def statuses(self) -> tuple[str, ...]:
        """The statuses of the tab; none means all."""
        return TABS[self.tab]


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
