"""Count the holds of reports: `python -m tests.bench.reports.holds FOLDER`.

FOLDER has reports as PDFs or pictures, as `python -m tests.reports.designs FOLDER`
prints them.
Each report's patient, as read, is compared with the same person as a team may have
written them, where a difference is a false hold, and with every other report's patient,
where agreement is a miss. Text that the pages do not show is counted too: these pages
hide none. A name that is read wrongly shows in no count: the last lines list the names.
"""

from __future__ import annotations

import argparse
from collections import Counter
from pathlib import Path

from portal.lib.person_names import NameAgreement, PersonName, compare_person_names
from reports.parser.hidden_text import find_hidden_text
from reports.parser.parsing import parse_report
from reports.parser.report import Metadata, UnreadableReport


def list_spellings(name: PersonName) -> dict[str, PersonName]:
    """The same person as registered by others."""
    given = name.first.split()
    return {
        "as printed": name,
        "lower case": PersonName(name.first.lower(), name.last.lower()),
        "first given name": PersonName(given[0], name.last),
        "further given name": PersonName(f"{name.first} Maria", name.last),
        "names swapped": PersonName(name.last, name.first),
        "second family name": PersonName(name.first, f"{name.last}-Vorlage"),
        "title": PersonName(f"Dr. {name.first}", name.last),
    }


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.reports.holds")
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    people: dict[str, Metadata] = {}
    hidden = []
    for path in sorted(folder.iterdir()):
        if path.suffix not in {".pdf", ".jpg", ".png"}:
            continue
        try:
            report = parse_report(path)
        except UnreadableReport:
            continue
        people[path.stem] = report.metadata
        if find_hidden_text([path], report):
            hidden.append(path.stem)
    names = {
        stem: PersonName(read.patient_first_name or "", read.patient_last_name or "")
        for stem, read in people.items()
    }
    whole = {stem: one for stem, one in names.items() if one.first and one.last}
    false: Counter[str] = Counter()
    for name in whole.values():
        for way, known in list_spellings(name).items():
            is_alike = compare_person_names(name, known) is NameAgreement.SAME
            false[way] += not is_alike
    pairs = [
        (stem, other)
        for stem in whole
        for other in whole
        if stem != other and whole[stem] != whole[other]
    ]
    missed = [
        pair
        for pair in pairs
        if compare_person_names(whole[pair[0]], whole[pair[1]]) is NameAgreement.SAME
    ]
    print(f"{len(people)} reports, {len(whole)} name a whole person")
    print(f"hidden text found (false): {hidden}")
    print(f"false holds by spelling: {dict(false)}")
    print(f"another person taken for the same: {len(missed)} of {len(pairs)}")
    for stem, other in missed:
        print(f"  {stem}: {whole[stem]} and {other}: {whole[other]}")
    for stem, name in names.items():
        print(f"{stem}\t{name.first}\t{name.last}\t{people[stem].dob}")


if __name__ == "__main__":
    main()
