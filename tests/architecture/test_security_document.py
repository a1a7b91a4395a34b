"""The security document names each line of the standard once."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

from django.conf import settings

DOCUMENT = (Path(settings.BASE_DIR) / "docs/explanation/security.md").read_text()
# OWASP ASVS 4.0.3: the last line of each section, from chapter 2 on, ...
LAST = {
    2: (12, 3, 3, 6, 7, 3, 6, 7, 3, 4),
    3: (1, 4, 4, 5, 3, 0, 1),
    4: (5, 2, 3),
    5: (5, 8, 10, 3, 4),
    6: (3, 6, 2, 2),
    7: (4, 2, 4, 3),
    8: (4, 3, 8),
    9: (3, 4),
    10: (0, 2, 3),
    11: (8,),
    12: (3, 1, 6, 2, 2, 1),
    13: (5, 6, 2, 2),
    14: (4, 6, 3, 7, 4),
}
# ... without those of level 3, and without what it has withdrawn.
WITHDRAWN = {"4.1.4", "7.3.2", "13.1.2", "13.2.4", "14.3.1"}
LINES = [
    line
    for chapter, sections in LAST.items()
    for section, last in enumerate(sections, 1)
    for number in range(1, last + 1)
    if (line := f"{chapter}.{section}.{number}") not in WITHDRAWN
]


def lines_of(told: str) -> list[str]:
    """The lines of "2.4, 2.5.1-2.5.4": a section stands for all of its lines."""
    found = []
    for part in told.split(", "):
        first, _, last = part.partition("-")
        if last:
            section, _, start = first.rpartition(".")
            end = int(last.rpartition(".")[2])
            found += [f"{section}.{number}" for number in range(int(start), end + 1)]
        elif first.count(".") == 1:
            found += [line for line in LINES if line.rpartition(".")[0] == first]
        else:
            found.append(first)
    return found


def test_every_line_of_level_2_is_accounted_for_once():
    _, _, chapter = DOCUMENT.partition("## OWASP ASVS 4.0.3, level 2")
    told = re.findall(r"^\| ([\d., -]+) \|", chapter, re.MULTILINE)

    named = Counter(line for each in told for line in lines_of(each))

    assert len(LINES) == 222
    assert named == Counter(LINES)
