"""Reading an upload of a vendor's form: each member by its own form, with a report."""

from __future__ import annotations

from typing import TYPE_CHECKING

import ijson

from users.states.imports import DropReason, ImportRefusal
from users.wearables.formats.refusals import FileRefused
from users.wearables.formats.rows import SampleRow, SkippedRows, StreamRow, SummaryRow
from users.wearables.formats.uploads.forms import Reading, member_kind
from users.wearables.formats.uploads.members import (
    Budget,
    MemberDamaged,
    iterate_upload_members,
)
from users.wearables.formats.vendors import (
    FINISHERS,
    PREPARERS,
    PROVIDERS,
    RECORDINGS,
    find_form,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from users.wearables.formats.rows import Row
    from users.wearables.formats.uploads.forms import Form
    from users.wearables.formats.uploads.members import Member
    from users.wearables.readings import Context

# Alone they refuse the upload with their own sentence; of an archive they are skipped.
_OF_A_MEMBER = {
    ImportRefusal.DAMAGED,
    ImportRefusal.NO_ROWS,
    ImportRefusal.TOO_LARGE,
    ImportRefusal.NOT_ALLOWED_XML,
    ImportRefusal.DATES_AMBIGUOUS,
    ImportRefusal.NOT_READ_YET,
}


class UploadReader:
    """A reader of one file of a vendor, or of an archive of many."""

    def __init__(self, path: Path, context: Context, file_name: str) -> None:
        self.provider = context.provider
        self.bytes_total = path.stat().st_size
        self.bytes_read = 0
        self._path = path
        self._name = file_name
        self._reading = Reading(context, context.provider)

    def rows(self) -> Iterator[Row]:
        """Yield all rows: tables first, recordings after the tables that list them."""
        budget = Budget(self._path.stat().st_size)
        forms = self._find_forms(budget)
        vendor = self._find_provider(forms)
        waiting: list[Row] = []
        for row in self._rows_of(forms, budget):
            if vendor is None:
                waiting.append(row)
                if not isinstance(row, SampleRow | SummaryRow):
                    continue
                # Recordings alone are of whoever made the first.
                vendor = row.origin.provider or self._reading.provider
                self.provider = vendor
                yield from map(self._with_provider, waiting)
                continue
            self.provider = vendor
            yield self._with_provider(row)
        if vendor is None:
            yield from waiting

    def _rows_of(self, forms: dict[str, Form | None], budget: Budget) -> Iterator[Row]:
        is_archive = len(forms) > 1
        unknown = [name for name, form in forms.items() if form is None]
        for name in unknown:
            yield SkippedRows(DropReason.UNKNOWN_FILE, member_kind(name))
        for is_recording in (False, True):
            wanted = {
                name
                for name, form in forms.items()
                if form is not None and (form.format in RECORDINGS) == is_recording
            }
            if not wanted:
                continue
            for member in self._members(budget):
                if member.name in wanted:
                    form = forms[member.name]
                    if form is not None:
                        yield from self._read(member, form, is_archive=is_archive)
        for finish in FINISHERS:
            yield from finish(self._reading)

    def _members(self, budget: Budget) -> Iterator[Member]:
        def count(number: int) -> None:
            self.bytes_read += number

        return iterate_upload_members(self._path, self._name, budget, count)

    def _find_forms(self, budget: Budget) -> dict[str, Form | None]:
        """Return the form of each member by its name."""
        forms: dict[str, Form | None] = {}
        for member in self._members(budget):
            try:
                head = member.head()
            except MemberDamaged:
                forms[member.name] = None
                continue
            forms[member.name] = find_form(head)
            for prepare in PREPARERS:
                prepare(head, self._reading)
        return forms

    @staticmethod
    def _find_provider(forms: dict[str, Form | None]) -> str | None:
        """Return the source of the upload's tables; None if they have none."""
        for form in forms.values():
            if form is not None and PROVIDERS[form.format]:
                return PROVIDERS[form.format]
        return None

    def _read(self, member: Member, form: Form, *, is_archive: bool) -> Iterator[Row]:
        try:
            yield from form.read(member, member.head(), self._reading)
        except MemberDamaged:
            if not is_archive:
                raise FileRefused(ImportRefusal.DAMAGED, form.name) from None
            yield SkippedRows(DropReason.BAD_FILE, member_kind(member.name))
        except (ijson.JSONError, UnicodeDecodeError, ValueError):
            # What was read before the document broke is whole.
            yield SkippedRows(DropReason.SALVAGED, form.name)
        except FileRefused as refused:
            if not is_archive or refused.reason not in _OF_A_MEMBER:
                raise
            yield SkippedRows(DropReason.BAD_FILE, member_kind(member.name))

    def _with_provider(self, row: Row) -> Row:
        """Name a row's source where it is another than the upload's."""
        if isinstance(row, SampleRow | SummaryRow | StreamRow):
            provider = row.origin.provider
            if provider == self.provider:
                return row._replace(origin=row.origin._replace(provider=""))
        return row
