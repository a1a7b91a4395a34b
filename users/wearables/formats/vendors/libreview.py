"""LibreView glucose exports (CSV): FreeStyle Libre sensors, meters and their notes.

Times are the phone's wall clock without a zone, in the order of its locale; the unit is
in the header. Columns: English headers of public exports of 2019, 2020 and 2025
(digests e0657652c54cc434, 0fe4520e07523933 and 30001f9a4ea8c1bc of
tests/bench/health_files.csv), and the German header that public code reads (all read
2026-11-24). SivertSolum/Glukoscillator, docs/libreview-format.md, says the orders of
dates. No public export was found in which a value is LO or HI: the words are ours.
"""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING

from users.states import SourceType
from users.states.imports import DropReason, ImportFormat, ImportRefusal
from users.wearables.formats.refusals import FileRefused
from users.wearables.formats.rows import Origin, Row, SkippedRows
from users.wearables.formats.uploads.forms import (
    Cells,
    Form,
    iterate_cells,
    make_note,
    make_sample,
)
from users.wearables.formats.uploads.values import (
    decide_date_order,
    parse_local_time,
    parse_number,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from users.wearables.formats.uploads.forms import Reading
    from users.wearables.formats.uploads.heads import Head
    from users.wearables.formats.uploads.members import Member

_TIME = ("device timestamp", "meter timestamp", "gerätezeitstempel")
_COLUMNS = ("|".join(_TIME), "record type|aufzeichnungstyp")
_GLUCOSE = re.compile(
    r"(historic glucose|glukosewert-verlauf|scan glucose|glukose-scan|strip glucose"
    r"|glukose-teststreifen) ?\(?(mg/dl|mmol/l)\)?"
)
_SOURCES = {
    "historic glucose": SourceType.AUTOMATIC,
    "glukosewert-verlauf": SourceType.AUTOMATIC,
    "scan glucose": SourceType.MANUAL_SCAN,
    "glukose-scan": SourceType.MANUAL_SCAN,
    "strip glucose": SourceType.FINGERPRICK,
    "glukose-teststreifen": SourceType.FINGERPRICK,
}
_UNITS = {"mg/dl": "mg/dL", "mmol/l": "mmol/L"}
# Columns of insulin: their header, its kind and why it was given.
_INSULIN = (
    ("rapid-acting insulin (units)", "rapid_acting", "bolus"),
    ("schnellwirkendes insulin (einheiten)", "rapid_acting", "bolus"),
    ("long-acting insulin (units)", "long_acting", "basal"),
    ("long-acting insulin value (units)", "long_acting", "basal"),
    ("depotinsulin (einheiten)", "long_acting", "basal"),
)
_CARBS = ("carbohydrates (grams)", "kohlenhydrate (gramm)")
_NOTES = ("notes", "notizen")
_WORDS = {"lo": "below", "low": "below", "hi": "above", "high": "above"}
_DATES_MAX = 5000
_BY_HAND = Origin(str(SourceType.APP))


def _read(member: Member, head: Head, _reading: Reading) -> Iterator[Row]:
    order = find_date_order(member, head, _COLUMNS, _TIME)
    for cells in iterate_cells(member, head, _COLUMNS):
        if isinstance(cells, SkippedRows):
            yield cells
            continue
        found = list(_rows_of(cells, parse_local_time(cells.first(*_TIME), order)))
        yield from found or [SkippedRows(DropReason.NO_VALUE, "empty row")]


def _rows_of(cells: Cells, at: str | None) -> Iterator[Row]:
    for name, cell in cells.items():
        column = _GLUCOSE.fullmatch(name) if cell.strip() else None
        if column is not None:
            origin = Origin(str(_SOURCES[column[1]]))
            yield from read_glucose_cell(cell, _UNITS[column[2]], origin, at)
    for name, type_, mode in _INSULIN:
        if cells.first(name):
            yield make_sample(
                "insulin_injection",
                _BY_HAND,
                parse_number(cells.first(name), comma="decimal"),
                at,
                type=type_,
                delivery_mode=mode,
            )
    if cells.first(*_CARBS):
        grams = parse_number(cells.first(*_CARBS), comma="decimal")
        yield make_sample("carbohydrates", _BY_HAND, grams, at)
    if cells.first(*_NOTES):
        yield make_note(cells.first(*_NOTES), _BY_HAND, at)
    for name, cell in cells.items():
        if name.startswith(("ketone", "keton")) and cell.strip():
            yield SkippedRows(DropReason.UNKNOWN_KIND, "ketone")


def read_glucose_cell(
    cell: str, unit: str, origin: Origin, at: str | None
) -> Iterator[Row]:
    """Yield a glucose value, or a note where the sensor said Low or High.

    A word has no value to store, and what it says is too much to lose. Source: Ours.
    """
    word = cell.strip().lower()
    side = _WORDS.get(word)
    if side is None:
        value = parse_number(cell, comma="decimal")
        yield make_sample("glucose", origin, value, at, unit=unit)
        return
    yield make_note(f"Glucose {side} the range of the sensor", origin, at)
    yield SkippedRows(DropReason.OUT_OF_RANGE, f"glucose {word}")


def find_date_order(
    member: Member, head: Head, columns: tuple[str, ...], names: tuple[str, ...]
) -> str:
    """Return the order of a file's dates. Raises: FileRefused (dates_ambiguous)."""
    rows = (
        cells.first(*names)
        for cells in iterate_cells(member, head, columns)
        if isinstance(cells, Cells)
    )
    order = decide_date_order(islice((text for text in rows if text), _DATES_MAX))
    if order is None:
        raise FileRefused(ImportRefusal.DATES_AMBIGUOUS)
    return order


FORMS = (Form("LibreView glucose", ImportFormat.LIBREVIEW, _read, columns=_COLUMNS),)
PROVIDER = "abbott_libreview"
