"""Read the rows of catalogue files, and say where in a file a value is wrong."""

from __future__ import annotations

import csv
import io
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from django.utils.translation import gettext as _

from portal.lib.errors import DomainError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

# The columns that each file must have, and those that may be missing or empty.
COLUMNS: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "labs": (
        ("slug", "name", "first_line_address", "city", "zipcode"),
        ("id", "collection_methods", "sample_types"),
    ),
    "questions": (
        ("id", "key", "code", "value", "type"),
        ("required", "constraint", "answers"),
    ),
    "markers": (
        ("lab", "name", "provider_id", "type", "sample_type"),
        (
            *("id", "unit", "price", "container", "stability", "fasting"),
            *("a_la_carte_enabled", "is_orderable", "retired"),
            *("common_tat_days", "worst_case_tat_days", "questions", "description"),
        ),
    ),
    "expected_results": (
        ("name", "provider_id", "result_type"),
        (
            *("id", "marker_id", "lab", "marker"),
            *("loinc_code", "loinc_name", "unit", "low", "high"),
            *("coded_values", "required"),
        ),
    ),
    "service_centers": (
        (
            "lab",
            "site_code",
            "name",
            "first_line",
            "city",
            "state",
            "zip_code",
            "hours",
        ),
        (
            *("second_line", "phone_number", "fax_number", "website"),
            *("latitude", "longitude", "time_zone", "capabilities", "bill_types"),
            *("places", "confirmed_by", "email", "retired"),
        ),
    ),
}
# A folder may lack these files.
_OPTIONAL_FILES = frozenset({"service_centers"})
# HL7 messages among the contents of an update, in place of the files.
MESSAGES = "messages"
FILE_BYTES_MAX = 20 * 1024 * 1024
_CELL_CHARACTERS_MAX = 20_000
# Numbers may begin like a formula.
NUMBERS = frozenset({"price", "low", "high", "id", "latitude", "longitude"})
_UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")
# A text that begins like a formula, behind the marks that our own files put before it.
_FORMULA = re.compile(r"'*[=+\-@\t\r]")
_PHONE_NUMBER = re.compile(r"\+[0-9 ().-]+")


class CellError(ValueError):
    """A value that can't be stored; `column` is where, empty for the whole row."""

    def __init__(self, column: str, message: str) -> None:
        super().__init__(message)
        self.column = column
        self.message = message


@dataclass(frozen=True, slots=True)
class Fault:
    """What is wrong at a place of a file; `line` and `column` empty where it is all.

    `column` is its number and name, or a field of HL7 such as OM1-12.
    """

    file: str
    message: str
    line: int = 0
    column: str = ""

    def __str__(self) -> str:
        line = _("line %(line)d") % {"line": self.line} if self.line else ""
        column = _("column %(column)s") % {"column": self.column} if self.column else ""
        place = ", ".join(part for part in (self.file, line, column) if part)
        return f"{place}: {self.message}."


@dataclass(frozen=True, slots=True)
class CatalogueRow:
    """The values of one row by column, stripped; `places` says where each stands."""

    file: str
    line: int
    values: Mapping[str, str]
    places: Mapping[str, str] = field(default_factory=dict)

    def build_fault(self, error: CellError) -> Fault:
        """Return the fault of one of its values."""
        column = self.places.get(error.column, error.column)
        return Fault(self.file, error.message, self.line, column)


@dataclass(frozen=True, slots=True)
class CatalogueRows:
    """The rows of all files by name, and the faults of what could not be read."""

    rows: Mapping[str, Sequence[CatalogueRow]]
    faults: Sequence[Fault] = ()


def read_catalogue_folder(folder: Path) -> dict[str, bytes]:
    """Read the files of a folder by name, or a file of HL7 messages.

    Raises: OSError; lab_catalogue_invalid, for a file that is too large, unread.
    """
    contents = {}
    if folder.is_file():
        return {MESSAGES: read_catalogue_file(folder)}
    for name in COLUMNS:
        file = folder / f"{name}.csv"
        if name in _OPTIONAL_FILES and not file.exists():
            continue
        contents[name] = read_catalogue_file(file)
    return contents


def read_catalogue_file(file: Path) -> bytes:
    """Read a file. Raises: OSError; lab_catalogue_invalid, unread, if too large."""
    require_file_size(file.name, file.stat().st_size)
    return file.read_bytes()


def require_file_size(name: str, size: int) -> None:
    """Refuse a file of too many bytes. Raises: lab_catalogue_invalid."""
    if size > FILE_BYTES_MAX:
        megabytes = {"most": FILE_BYTES_MAX // 1024 // 1024}
        fault = Fault(name, _("the file is larger than %(most)d MB") % megabytes)
        raise DomainError("lab_catalogue_invalid", str(fault))


def read_catalogue_rows(contents: Mapping[str, bytes]) -> CatalogueRows:
    """Read the rows of CSV files by name; a file that is missing has none.

    UTF-8 with or without its mark, commas, quotes as of RFC 4180. A file with any other
    form has a fault and no row; a row with a formula or a text that is too long has a
    fault. Source: Ours.
    """
    rows: dict[str, list[CatalogueRow]] = {name: [] for name in COLUMNS}
    faults: list[Fault] = []
    for name, content in contents.items():
        try:
            for row in _read_file(f"{name}.csv", *COLUMNS[name], content):
                if isinstance(row, Fault):
                    faults.append(row)
                else:
                    rows[name].append(row)
        except _Refused as refused:
            rows[name] = []
            faults.append(refused.fault)
    return CatalogueRows(rows, faults)


def mark_formula(text: str) -> str:
    """Return a text as a cell that no spreadsheet takes for a formula."""
    return f"'{text}" if _FORMULA.match(text) else text


def unmark_formula(cell: str) -> str:
    """Return the text of a cell that `mark_formula` wrote; others unchanged."""
    return cell[1:] if cell.startswith("'") and _FORMULA.match(cell) else cell


class _Refused(Exception):
    def __init__(
        self, file: str, message: str, line: int = 0, column: str = ""
    ) -> None:
        super().__init__(message)
        self.fault = Fault(file, message, line, column)


def _read_file(
    file: str, needed: Sequence[str], optional: Sequence[str], content: bytes
) -> Iterator[CatalogueRow | Fault]:
    text = _decode(file, content)
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    lines = _read_lines(file, reader)
    _number, header = next(lines, (1, []))
    header = [name.strip() for name in header]
    _validate_header(file, header, needed, optional)
    places = {name: f"{number} ({name})" for number, name in enumerate(header, 1)}
    for line, cells in lines:
        if not any(cell.strip() for cell in cells):
            continue
        if len(cells) > len(header):
            raise _Refused(
                file, _("more values than columns"), line, str(len(header) + 1)
            )
        values = dict.fromkeys((*needed, *optional), "")
        for name, cell in zip(header, cells, strict=False):
            text = cell.strip()
            if message := _find_cell_fault(name, text):
                yield Fault(file, message, line, places[name])
                break
            values[name] = unmark_formula(text)
        else:
            yield CatalogueRow(file, line, values, places)


def _find_cell_fault(name: str, text: str) -> str:
    """Return what is wrong with a cell before it is parsed; empty if nothing."""
    if len(text) > _CELL_CHARACTERS_MAX:
        return _("the value is too long")
    is_number = name in NUMBERS or _PHONE_NUMBER.fullmatch(text)
    if _FORMULA.match(text) and not (is_number or text.startswith("'")):
        return _("the value begins like a formula: put ' before it")
    return ""


def _read_lines(
    file: str, reader: Iterator[list[str]]
) -> Iterator[tuple[int, list[str]]]:
    """Yield each row with the line it begins on."""
    begins = 1
    while True:
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as fault:
            message = _("the quotes are not closed or not doubled (%(fault)s)")
            raise _Refused(file, message % {"fault": fault}, begins) from None
        yield begins, cells
        begins = reader.line_num + 1  # type: ignore[attr-defined]


def _decode(file: str, content: bytes) -> str:
    require_file_size(file, len(content))
    if content.startswith(_UTF16_MARKS):
        raise _Refused(file, _("the file is UTF-16: save it as UTF-8"), 1)
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as fault:
        before = content[: fault.start]
        line = before.count(b"\n") + 1
        column = fault.start - before.rfind(b"\n")
        message = _("byte %(byte)d of the line is not UTF-8: save the file as UTF-8")
        raise _Refused(file, message % {"byte": column}, line) from None
    if "\0" in text:
        line = text[: text.index("\0")].count("\n") + 1
        raise _Refused(file, _("the line has a NUL character"), line)
    return text


def _validate_header(
    file: str, header: Sequence[str], needed: Sequence[str], optional: Sequence[str]
) -> None:
    if len(header) == 1:
        for separator, name in ((";", _("semicolons")), ("\t", _("tabs"))):
            if separator in header[0]:
                message = _("columns are separated by %(name)s: use commas")
                raise _Refused(file, message % {"name": name}, 1)
    if missing := [name for name in needed if name not in header]:
        message = _("add the missing columns to the header: %(columns)s")
        raise _Refused(file, message % {"columns": ", ".join(missing)}, 1)
    for number, name in enumerate(header, 1):
        place = f"{number} ({name})"
        if name not in needed and name not in optional:
            raise _Refused(file, _("the column is unknown"), 1, place)
        if header.index(name) < number - 1:
            raise _Refused(file, _("the column is there twice"), 1, place)
