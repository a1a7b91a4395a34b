"""Lists of medicines among results, as a discharge summary has them: a dose with its
unit is no result.
"""

from __future__ import annotations

from collections.abc import Sequence

from reports.parser.folding import fold
from reports.parser.lines import Line, is_of_size
from reports.parser.roles import Role, role_of

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
    """The lines without lists of medicines, from their heading to the next one."""
    left: list[Line] = []
    opened: Line | None = None
    for line in lines:
        if heads_medication(line):
            opened = opened or line
        elif opened is not None and _ends(line, opened):
            opened = None
        if opened is None and not _lists_medicines(line):
            left.append(line)
    return left


def _lists_medicines(line: Line) -> bool:
    """Whether medicines stand behind their label: 'Medication: Ramipril 5 mg 1-0-0'."""
    label, colon, _ = line.text.partition(":")
    words = fold(label).split()
    return (
        bool(colon)
        and len(words) <= _LONGEST_HEADING
        and bool(words)
        and (not _HEADINGS.isdisjoint(words))
    )


def heads_medication(line: Line) -> bool:
    """Whether a line is the heading of a list of medicines, or its titles."""
    if len(line.words) > _LONGEST_TITLES or any(s.isdigit() for s in line.text):
        return False
    words = set(fold(line.text).split())
    short = len(line.words) <= _LONGEST_HEADING and ":" not in line.text
    if short and words & _HEADINGS:
        return True
    roles = {role_of(cell.text) for cell in line.cells}
    return len(words & _TITLES) >= _TITLED_BY and not roles & _RESULTS


def _ends(line: Line, opened: Line) -> bool:
    """Whether another heading stands here, or titles of results."""
    roles = {role_of(cell.text) for cell in line.cells}
    if len(roles & _RESULTS) > 1:
        return True
    alike = is_of_size(line, opened) and line.words[0].bold == opened.words[0].bold
    digits = any(sign.isdigit() for sign in line.text)
    return alike and not digits and len(line.cells) == 1
