"""The labels of a report's header in the supported languages.

Patterns only; what stands beside a label is read in header.py.
"""

from __future__ import annotations

import re

from reports.parser.word_lists import read_named_patterns

# A label of a day may go without a sign at its end: 'Prélevé le 22/10/2025'.
_DAY_NEXT = (
    r"|(?=\s\d{1,2}[./-]\d{1,2}[./-]\d{2,4}\b|\s\d{4}[./-]\d{1,2}[./-]\d{1,2}\b"
    r"|\s\d{1,2}\s[^\W\d_]{3,9}\.?,?\s\d{4}\b)"
)
_DAYS = ("dob", "reported", "collected")
# So may the label of a number: 'Specimen No. SP-10023'.
_NUMBER_NEXT = r"|(?<=[.#])(?=\s(?:[A-Z]{1,6}-?)?\d)"
LABELS = {
    key: re.compile(
        rf"(?i)^\W*{pattern}\s*?(?:\s*(?:[:：#]|\.\s*:|-\s|$)"
        rf"{_DAY_NEXT if key in _DAYS else ''}"
        rf"{_NUMBER_NEXT if key == 'specimen' else ''})"
    )
    for key, pattern in read_named_patterns("labels.txt")
}
# The day of birth within a line that began with something else.
BORN_WITHIN = re.compile(
    r"(?i)\b(?:geb\.|geboren(?:\s*am)?|n[ée]e?\s*le|nat[oa]\s*il|dob|d\.o\.b\.)"
    r"\s*:?\s*(?P<dob>\d{1,2}[./ -](?:\d{1,2}|[^\W\d_]{3,9})[./ -]\d{2,4})\b"
)
# Beside these the day of a date stands first.
_CONTINENTAL = re.compile(
    r"(?i)\b(?:geburtsdatum|geschlecht|befund\w*|entnahme\w*|abnahme\w*|naissance|sexe"
    r"|pr[ée]l[èe]v\w*|dossier|paciente|sexo|fecha|nacimiento|coleta|nascimento|sesso"
    r"|nascita|prelievo|paziente|referto|n[ée]e?\s+le|nat[oa]\s+il)\b"
)


def is_day_first_language(text: str) -> bool:
    """Return whether a header's language writes dates with the day first."""
    return bool(_CONTINENTAL.search(text))
