"""What a synthetic report really says: the answers a parser is marked against.

Value types only. Texts are as printed, with line breaks inside a cell joined by a
space. Nothing here draws or scores.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


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
class CorpusReport:
    """A generated file beside its truth."""

    path: Path
    kind: str
    layout: str
    rows: tuple[TrueRow, ...]
    is_lab_report: bool

    @property
    def required_rows(self) -> tuple[TrueRow, ...]:
        return tuple(row for row in self.rows if not row.optional)
