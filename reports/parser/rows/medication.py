"""Lists of medicines among results, as a discharge summary has them: a dose with its
unit is no result.
"""

from __future__ import annotations

from collections.abc import Sequence

from reports.parser.layout.lines import Line, are_lines_of_same_font_size
from reports.parser.text.folding import normalize_letters_and_digits
from reports.parser.text.roles import Role, find_column_role

_LONGEST_HEADING = 4
_LONGEST_TITLES = 8
_TITLED_BY = 2
_HEADINGS = frozenset(
    [
        *("medication", "medications", "medicines", "prescription", "prescriptions"),
        *("medikation", "medikamente", "medicamentos", "medicacion", "medicaments"),
        *("farmaci", "medicatie", "medicijnen"),
    ]
)
_TITLES = frozenset(
    [
        *("medication", "medicine", "drug", "dose", "dosage", "frequency", "route"),
        *("sig", "quantity", "refills", "strength", "directions", "duration"),
        *("medikament", "dosierung", "wirkstoff", "medicamento", "dosis", "pauta"),
        *("posologie", "dosagem", "posologia", "farmaco", "dosering"),
    ]
)
_RESULTS = {Role.VALUE, Role.UNIT, Role.RANGE}


def drop_medication_lines(lines: Sequence[Line]) -> list[Line]:
    """Return the lines without lists of medicines, from heading to next heading."""
    left: list[Line] = []
    opened: Line | None = None
    for line in lines:
        if is_medication_list_heading(line):
            opened = opened or line
        elif opened is not None and _ends(line, opened):
            opened = None
        if opened is None and not _lists_medicines(line):
            left.append(line)
    return left


def _lists_medicines(line: Line) -> bool:
    """Whether medicines stand behind their label: 'Medication: Ramipril 5 mg 1-0-0'."""
    label, colon, _ = line.text.partition(":")
    words = normalize_letters_and_digits(label).split()
    return (
        bool(colon)
        and len(words) <= _LONGEST_HEADING
        and bool(words)
        and (not _HEADINGS.isdisjoint(words))
    )


def is_medication_list_heading(line: Line) -> bool:
    """Return whether a line is the heading or the titles of a list of medicines."""
    if len(line.words) > _LONGEST_TITLES or any(s.isdigit() for s in line.text):
        return False
    words = set(normalize_letters_and_digits(line.text).split())
    short = len(line.words) <= _LONGEST_HEADING and ":" not in line.text
    if short and words & _HEADINGS:
        return True
    roles = {find_column_role(cell.text) for cell in line.cells}
    return len(words & _TITLES) >= _TITLED_BY and not roles & _RESULTS


def _ends(line: Line, opened: Line) -> bool:
    """Whether another heading stands here, or titles of results."""
    roles = {find_column_role(cell.text) for cell in line.cells}
    if len(roles & _RESULTS) > 1:
        return True
    alike = (
        are_lines_of_same_font_size(line, opened)
        and line.words[0].bold == opened.words[0].bold
    )
    digits = any(sign.isdigit() for sign in line.text)
    return alike and not digits and len(line.cells) == 1
