"""Dexcom Clarity exports (CSV): sensor glucose, calibrations, insulin and meals.

Times are wall clock without a zone; Low and High stand for values outside of 40 to 400
mg/dL. Columns and the rows that head the file: the export in brinnaebent/cgmquantify,
test_/test_file.csv (read 2026-11-24); the column of mmol/L as public parsers have it.
No export with insulin was found: Fast-Acting and Long-Acting are not confirmed, another
word is skipped and counted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from users.states import SourceType
from users.states.imports import DropReason, ImportFormat
from users.wearables.formats.rows import Origin, Row, SkippedRows
from users.wearables.formats.uploads.forms import (
    Cells,
    Form,
    iterate_cells,
    make_sample,
)
from users.wearables.formats.uploads.values import parse_local_time, parse_number
from users.wearables.formats.vendors.libreview import (
    find_date_order,
    read_glucose_cell,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from users.wearables.formats.uploads.forms import Reading
    from users.wearables.formats.uploads.heads import Head
    from users.wearables.formats.uploads.members import Member

_TIME = ("timestamp (yyyy-mm-ddthh:mm:ss)",)
_GLUCOSE = {"glucose value (mg/dl)": "mg/dL", "glucose value (mmol/l)": "mmol/L"}
_COLUMNS = (*_TIME, "event type", "|".join(_GLUCOSE))
_SENSOR = Origin(str(SourceType.AUTOMATIC))
_METER = Origin(str(SourceType.FINGERPRICK))
_BY_HAND = Origin(str(SourceType.APP))
_INSULIN = {"fast-acting": "rapid_acting", "long-acting": "long_acting"}
# Rows that head the file: who it is of, its devices and its alerts.
_ABOUT = {
    *("firstname", "lastname", "dateofbirth", "patientidentifier"),
    *("device", "alert"),
}


def _read(member: Member, head: Head, _reading: Reading) -> Iterator[Row]:
    order = find_date_order(member, head, _COLUMNS, _TIME)
    for cells in iterate_cells(member, head, _COLUMNS):
        if isinstance(cells, SkippedRows):
            yield cells
            continue
        yield from _rows_of(cells, parse_local_time(cells.first(*_TIME), order))


def _rows_of(cells: Cells, at: str | None) -> Iterator[Row]:
    event = cells.first("event type").lower()
    if event in {"egv", "calibration"}:
        origin = _SENSOR if event == "egv" else _METER
        for name, unit in _GLUCOSE.items():
            if cells.first(name):
                yield from read_glucose_cell(cells.first(name), unit, origin, at)
    elif event == "insulin":
        kind = cells.first("event subtype").lower()
        if kind not in _INSULIN:
            yield SkippedRows(DropReason.UNKNOWN_KIND, f"insulin {kind}"[:60])
            return
        units = parse_number(cells.first("insulin value (u)"), comma="decimal")
        type_ = _INSULIN[kind]
        yield make_sample("insulin_injection", _BY_HAND, units, at, type=type_)
    elif event == "carbs":
        grams = parse_number(cells.first("carb value (grams)"), comma="decimal")
        yield make_sample("carbohydrates", _BY_HAND, grams, at)
    elif event in _ABOUT:
        yield SkippedRows(DropReason.CALIBRATION, event)
    else:
        yield SkippedRows(DropReason.UNKNOWN_KIND, event[:60])


FORMS = (Form("Dexcom Clarity", ImportFormat.CLARITY, _read, columns=_COLUMNS),)
PROVIDER = "dexcom_v3"
