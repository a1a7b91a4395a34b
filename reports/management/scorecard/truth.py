"""What a report really says: the answers a parser is marked against.

Value types, and the reading of them from JSON files beside real reports. Texts are as
printed, with line breaks inside a cell joined by a space. Nothing here scores.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

KINDS = ("text", "screenshot", "scan", "photo")
TRUTH_SUFFIX = ".truth.json"
_REPORT_SUFFIXES = (".pdf", ".png", ".jpg", ".jpeg")


@dataclass(frozen=True, slots=True)
class TrueRow:
    """One result as a careful reader would copy it.

    interpretation is None where the report leaves it open, and is then not scored;
    loinc lists every acceptable code and is empty where none is known. A row marked
    optional may be reported or left out (an earlier result, a pending one). any_range:
    the range is drawn, not written. page counts from 1.
    """

    name: str
    value: str
    unit: str | None = None
    range: str | None = None
    interpretation: str | None = None
    loinc: tuple[str, ...] = ()
    panel: str | None = None
    optional: bool = False
    also: tuple[str, ...] = ()
    any_range: bool = False
    page: int = 1


@dataclass(frozen=True, slots=True)
class TrueReport:
    """A file, or several pictures of its pages in order, and what they say.

    kind is one of KINDS; layout groups reports of one look.
    """

    path: Path
    kind: str
    layout: str
    rows: tuple[TrueRow, ...]
    is_lab_report: bool
    more_pages: tuple[Path, ...] = ()

    @property
    def paths(self) -> tuple[Path, ...]:
        return (self.path, *self.more_pages)

    @property
    def required_rows(self) -> tuple[TrueRow, ...]:
        return tuple(row for row in self.rows if not row.optional)


class InvalidTruth(Exception):
    """A truth file that can't be used; names the file and what is wrong with it."""


def read_folder(folder: Path) -> list[TrueReport]:
    """Every report of a folder that has its truth beside it: `x.pdf`, `x.truth.json`.

    Raises: BadTruth.
    """
    return [_read_truth(path) for path in sorted(folder.glob(f"*{TRUTH_SUFFIX}"))]


def _read_truth(path: Path) -> TrueReport:
    """Raises: BadTruth."""
    stem = path.name.removesuffix(TRUTH_SUFFIX)
    try:
        data: Mapping[str, Any] = orjson.loads(path.read_bytes())
        files = [path.parent / name for name in data.get("files", ())]
        files = files or _beside(path.parent, stem)
        rows = tuple(_row(entry) for entry in data["results"])
    except KeyError as missing:
        raise InvalidTruth(f"{path.name}: {missing} is missing") from missing
    except (TypeError, ValueError, AttributeError) as wrong:
        raise InvalidTruth(f"{path.name}: not a truth file") from wrong
    if not files or not all(file.is_file() for file in files):
        raise InvalidTruth(f"{path.name}: no report beside it")
    kind = data.get("kind") or ("text" if files[0].suffix == ".pdf" else "screenshot")
    if kind not in KINDS:
        raise InvalidTruth(f"{path.name}: kind must be one of {', '.join(KINDS)}")
    return TrueReport(
        path=files[0],
        kind=kind,
        layout=data.get("layout") or stem,
        rows=rows,
        is_lab_report=data.get("is_lab_report", True),
        more_pages=tuple(files[1:]),
    )


def _beside(folder: Path, stem: str) -> list[Path]:
    named = (folder / f"{stem}{suffix}" for suffix in _REPORT_SUFFIXES)
    return [path for path in named if path.is_file()][:1]


def _row(entry: Mapping[str, Any]) -> TrueRow:
    return TrueRow(
        name=entry["test_name"],
        value=entry["value"],
        unit=entry.get("units"),
        range=entry.get("reference_range"),
        interpretation=entry.get("interpretation"),
        loinc=tuple(entry.get("loinc", ())),
        panel=entry.get("source_panel_name"),
        optional=entry.get("optional", False),
        also=tuple(entry.get("also", ())),
    )
