"""Reads the patient header as printed, dates as YYYY-MM-DD.

What is read here is personal. It goes into the result and nowhere else.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import date
from functools import lru_cache

from reports.parser.columns.titles import read_column_titles
from reports.parser.layout.lines import Cell, Line
from reports.parser.report import Metadata
from reports.parser.text.dates import NUMBER_DATE, parse_first_date
from reports.parser.text.folding import normalize_letters_and_digits
from reports.parser.text.labels import BORN_WITHIN, LABELS, is_day_first_language
from reports.parser.word_lists import read_word_lists

_ANY_LABEL = re.compile(r"(?i)^\W*[A-Za-zÀ-ÿ][\w./&() #'-]{1,34}\s*[:：]")
# A cell that begins with a number, or is long without a sign that ends a label.
_NO_LABEL = re.compile(r"\W*\d|[^:：#-]{41}")
_WHO = ("surname_first", "last", "first", "name", "dob")
# Titles over blocks of a header, which are no text of a label beside or over them.
_HEADING_CELL = re.compile(
    r"(?i)(?:patient|specimen|sample|order(?:ing)?|requisition|physician|provider"
    r"|doctor|practitioner|requester|client|account|facility|practice|clinic|hospital"
    r"|laborator(?:y|ies)|lab|report|result|test|collection|contact|insurance|visit"
    r"|encounter)s?(?:\s*(?:id|no\.?|number|#))?"
    r"(?:\s*(?:/|&|and)?\s*(?:information|details?|info|data|demographics|summary"
    r"|physician|provider|doctor))?\s*:?"
)
_PATIENT_HEADING = re.compile(
    r"(?i)patient(?:\s*(?:information|details?|info|data|demographics))?\s*:?"
)
_BARE_NAME = re.compile(r"[^\W\d_][^\d:/()]{3,49}")
# A person named in a sentence: "Madame EXEMPLE Marie née le 12/08/1964".
_ADDRESSED = re.compile(
    r"(?i)^\W*(?:madame|monsieur|mme|mlle|mr?\.?|frau|herrn?|sig\.?ra|sig\.?)\s+"
    r"(?P<name>\D{3,50}?)[\s,]+(?:n[ée]+\s*(?:\(e\))?\s*le|geb(?:oren|\.)?(?:\s*am)?"
    r"|nat[oa]\s*il)\s*:?\s*(?P<dob>\d.*)"
)
# Over the line with the day of birth: "Mme EXEMPLE Capucine".
_ADDRESS = re.compile(
    r"(?i)(?:madame|monsieur|mme|mlle|mr?s?\.?|ms\.?|frau|herrn?|sig\.?ra|sig\.?)\s+"
    r"(?P<name>[^\d:]{3,50})"
)
# A name before the number or birth day of its patient: "Ann Sample MRN: 004".
_BEFORE_NUMBER = re.compile(
    r"(?P<name>[A-Z][\w'’.-]+(?:,?\s+[A-Z][\w'’.-]*){1,3})[\s·|,]+(?:MRN|DOB)\b"
)
_NO_NAME = re.compile(
    r"(?i)\b(?:names?|patient|client|date|id|sex|age|gender|number|provider|physician"
    r"|doctor|dr|report|results?|laborator\w+|chart|notes?|cent(?:er|re)|hospital"
    r"|clinic|medical|health)\b"
)
_AGE = re.compile(
    r"(?i)\b(?P<years>\d{1,3})\s*(?:y(?:ea)?rs?|y|jahre?|ans|a[ñn]os|anni)\b"
)
_TITLE_OF_ADDRESS = re.compile(
    r"(?i)^(?:mr|mrs|ms|miss|mx|dr|prof|shri|smt|master|baby|baby of|mstr|sr|sra|dra"
    r"|herrn?|frau|m|mme|mlle|madame|monsieur|sig|sig\.?ra|don|do[ñn]a|dott|sn)\.?\s+(?=\S)"
)
_SEX_WORDS = {
    word: sex
    for sex in ("male", "female", "other")
    for word in read_word_lists("words.txt")[f"sex {sex}"]
}
_AGE_AND_SEX = re.compile(
    r"(?i)\b\d{1,3}\s*(?:y|yrs?|years?)?\.?\s*[/,|-]\s*(m|f|male|female)\b"
)
_LAB = re.compile(
    r"(?i)\b(?:laborator(?:y|ies)|labs?|diagnostics?|patholog(?:y|ies)"
    r"|path\s*labs?|labor|laboratorios?|laboratoire|laborat[oó]rio|laboratuvar\w*"
    r"|medlab|healthcare|clinical chemistry|hospitals?|(?:poly)?clinics?"
    r"|medical cent(?:er|re))\b"
)
# What heads a report anywhere and names nobody.
_HEADING = re.compile(
    r"(?i)(?:lab(?:oratory)?|clinical|medical|pathology)?\s*(?:test\s*)?"
    r"(?:results?|reports?)|performing\s*lab(?:oratory)?"
)


_SPANISH = re.compile(
    r"(?i)\b(?:fecha|nombre|edad|apellidos?|muestra|m[ée]dico solicitante)\b"
)
_OLDEST = 120
# A number of letters alone, as one in ten of Assay's own sample IDs is. Shorter ones,
# and the words that stand beside such a label, may be a name or a kind of specimen.
_LETTERS_AS_NUMBER = re.compile(
    r"(?!\w*(?:SPECIMEN|SAMPLE|BARCODE|ACCESSION|REQUISITION|LABORATOR|NUMBER|PATIENT"
    r"|COLLECT|RECEIV|REPORT|PENDING|UNKNOWN|ROUTINE|STANDARD|AVAILABLE|REQUIRED"
    r"|ARTERIAL|CAPILLAR|PERIPHERAL|ABDOMINAL|SYNOVIAL|PERITONEAL|DIAGNOS|PATHOLOG"
    r"|CLINIC|HOSPITAL|MEDICAL|CHEMISTRY|HEMATOLOG|HAEMATOLOG|MICROBIOLOG))[A-Z]{8,20}"
)


def read_report_header(pages: Sequence[Sequence[Line]]) -> Metadata:
    """Read the header of the first pages; a later page only fills what is missing."""
    found: dict[str, str] = {}
    lines = pages[:2]
    for page_lines in lines:
        for key, text in _labelled(page_lines):
            found.setdefault(key, text)
    first, last = _person(found)
    american = _month_first(lines)
    dates = {
        key: parse_first_date(found[key], month_first=american)
        if key in found
        else None
        for key in ("dob", "reported", "collected")
    }
    return Metadata(
        patient_first_name=first,
        patient_last_name=last,
        dob=dates["dob"],
        gender=_sex_of(found, lines),
        lab_name=_lab_name(lines[0]) if lines else None,
        date_reported=dates["reported"],
        date_collected=dates["collected"],
        specimen_number=_read_number(found.get("specimen")),
        possible_dobs=() if dates["dob"] else _both_readings(found.get("dob", "")),
    )


def _both_readings(text: str) -> tuple[str, ...]:
    """A date with the day first and with the month first; empty if it is none."""
    readings = (parse_first_date(text, month_first=one) for one in (False, True))
    return tuple(day for day in readings if day)


def read_patient_on_each_page(
    pages: Mapping[int, Sequence[Line]],
) -> dict[int, Metadata]:
    """Return name and birth date on each page after the first that has them.

    pages: all of a report, by number; the first one's header is read_report_header's.
    """
    if len(pages) == 1:
        return {}
    usual = _month_first(tuple(pages.values()))
    headers: dict[int, Metadata] = {}
    for number, lines in list(pages.items())[1:]:
        # A page of another laboratory may write its dates the other way round.
        own = _month_first([lines])
        american = usual if own is None else own
        found: dict[str, str] = {}
        for key, text in _labelled(lines, keys=_WHO):
            found.setdefault(key, text)
        first, last = _person(found)
        dob = (
            parse_first_date(found["dob"], month_first=american)
            if "dob" in found
            else None
        )
        if first or dob:
            headers[number] = Metadata(first, last, dob)
    return headers


def read_patient_age(
    pages: Sequence[Sequence[Line]], metadata: Metadata
) -> float | None:
    """Return the patient's age in years at the collection; None if it is not given."""
    seen = metadata.date_collected or metadata.date_reported
    if metadata.dob and seen:
        days = date.fromisoformat(seen) - date.fromisoformat(metadata.dob)
        return days.days / 365.25 if days.days >= 0 else None
    for lines in pages[:2]:
        for key, text in _labelled(lines, keys=("sex", "age", "name")):
            if match := _AGE.search(text):
                return float(match["years"])
            if key == "age" and text.isdigit() and int(text) < _OLDEST:
                return float(text)
    return None


def _person(found: Mapping[str, str]) -> tuple[str | None, str | None]:
    """First and last name, by labels of their own where there are any."""
    if "surname_first" in found and "," not in found["surname_first"]:
        first, last = _split_name(found["surname_first"])
        words = f"{first or ''} {last or ''}".split()
        if len(words) > 1 and not _is_half_capital(words):
            return " ".join(words[1:]), words[0]
        return first, last
    whole = found.get("surname_first") or found.get("name")
    if "last" in found:
        return _tidy_name(found.get("first") or whole), _tidy_name(found["last"])
    if "first" in found:
        return _tidy_name(found["first"]), _tidy_name(whole)
    return _split_name(whole)


def _tidy_name(text: str | None) -> str | None:
    first, last = _split_name(text)
    return " ".join(filter(None, (first, last))) or None


def _is_half_capital(words: Sequence[str]) -> bool:
    capital = [_is_capital(word) for word in words]
    return any(capital) and not all(capital)


def _is_capital(word: str) -> bool:
    return word.isupper() and sum(map(str.isalpha, word)) > 1


def _labelled(
    lines: Sequence[Line], *, keys: tuple[str, ...] = tuple(LABELS)
) -> list[tuple[str, str]]:
    """Label and text pairs, the text beside the label or in the cell after it."""
    pairs: list[tuple[str, str]] = []
    items: list[tuple[str, str]] = []
    for n, line in enumerate(lines[:40]):
        below = lines[n + 1 : n + 3]
        items += _unlabelled(line, below)
        if _is_row_of_labels(line):
            pairs += [pair for pair in _texts_below(line, below) if pair[0] in keys]
            continue
        if match := _ADDRESSED.match(line.text):
            pairs += [(key, match[key]) for key in ("name", "dob") if key in keys]
        plain = not any(sign.isdigit() or sign in ":#：" for sign in line.text)
        if plain and len(line.cells) < 2:
            continue
        cells = [cell.text for cell in line.cells]
        for at, cell in enumerate(cells):
            if _NO_LABEL.match(cell):
                continue
            for piece in _pieces(cell):
                label = _label_at(piece, keys)
                if label is None:
                    continue
                key, end = label
                text = piece[end:].strip(" :：-#") or _text_beside(cells[at + 1 :])
                if text:
                    pairs.append((key, text))
    return pairs + [(key, text) for key, text in items if key in keys]


def _is_row_of_labels(line: Line) -> bool:
    """Whether a line has labels or titles of blocks in all its cells, and no text."""
    cells = [cell.text.strip() for cell in line.cells]
    if not all(_is_label(cell) or _HEADING_CELL.fullmatch(cell) for cell in cells):
        return False
    return len(cells) > 1 or bool(_PATIENT_HEADING.fullmatch(cells[0]))


def _is_label(text: str) -> bool:
    """Whether a whole text is one label: 'Date of Birth', 'Specimen ID:'."""
    label = _label_at(text, tuple(LABELS))
    return label is not None and not text[label[1] :].strip(" :：-#.")


def _texts_below(line: Line, below: Sequence[Line]) -> list[tuple[str, str]]:
    """Label and text pairs where the labels are a row and their texts the next one.

    Under the title of a block a name may stand alone: 'Patient details', 'Ann Sample'.
    """
    if not below or _is_row_of_labels(below[0]):
        return []
    pairs = []
    for cell in line.cells:
        title = cell.text.strip()
        label = _label_at(title, tuple(LABELS))
        key = label[0] if label else "name" if _PATIENT_HEADING.match(title) else ""
        text = _text_under(line, cell, below[0])
        is_name = key not in _WHO or key == "dob" or _BARE_NAME.fullmatch(text)
        if key and text and is_name and not _label_at(text, tuple(LABELS)):
            pairs.append((key, text))
    return pairs


def _text_under(line: Line, cell: Cell, below: Line) -> str:
    """The cells of the next line that begin between a cell and the one beside it."""
    after = [other.x0 for other in line.cells if other.x0 > cell.x0]
    end = min(after, default=float("inf"))
    slack = line.size / 2
    found = [c.text for c in below.cells if cell.x0 - slack <= c.x0 < end - slack]
    return found[0].strip() if len(found) == 1 else ""


def _unlabelled(line: Line, below: Sequence[Line]) -> list[tuple[str, str]]:
    """Name and day of birth that stand without labels of their own."""
    found = []
    numbered = "MRN" in line.text or "DOB" in line.text
    match = _BEFORE_NUMBER.match(line.text) if numbered else None
    if match and not _NO_NAME.search(match["name"]):
        found.append(("name", match["name"]))
    if match := BORN_WITHIN.search(line.text):
        found.append(("dob", match["dob"]))
    for cell in line.cells:
        match = _ADDRESS.fullmatch(cell.text.strip())
        if match and any(_names_birth_date(after) for after in below):
            found.append(("name", match["name"]))
    return found


def _names_birth_date(line: Line) -> bool:
    labelled = any(LABELS["dob"].match(cell.text.strip()) for cell in line.cells)
    return labelled or BORN_WITHIN.search(line.text) is not None


@lru_cache(maxsize=16384)
def _label_at(piece: str, keys: tuple[str, ...]) -> tuple[str, int] | None:
    """The first of the labels that a text begins with, and where it ends."""
    for key in keys:
        if match := LABELS[key].match(piece):
            return key, match.end()
    return None


def _text_beside(cells: Sequence[str]) -> str:
    """The first text in the cells behind a label, up to the next label."""
    for cell in cells:
        text = cell.strip(" :：")
        if _is_label(cell.strip()) or _HEADING_CELL.fullmatch(text):
            break
        if text and not _ANY_LABEL.match(text):
            return text
        if _ANY_LABEL.match(cell):
            break
    return ""


def _pieces(cell: str) -> list[str]:
    """A cell cut before each further label that it holds."""
    if ":" not in cell:
        return [cell.strip()]
    cuts = [0]
    for match in re.finditer(
        r"(?<=\s)(?=[A-Z][\w./& ]{1,24}\s?(?:(?<!\d):|:(?!\d\d\b)))", cell
    ):
        before = cell[cuts[-1] : match.start()].rstrip()
        # "F. Nacimiento:", "DoB / Age:" and "Lab No:" are one label each.
        is_whole = re.search(r"[^\W\d_]{4}|\d", before) and before[-1] not in "/&,-"
        label = _label_at(cell[cuts[-1] :], tuple(LABELS))
        # "Date of Birth:" and "Specimen ID:" are one label, though they hold others.
        is_inside = label is not None and cuts[-1] + label[1] > match.start()
        if match.start() > cuts[-1] and is_whole and not is_inside:
            cuts.append(match.start())
    return [
        cell[a:b].strip() for a, b in zip(cuts, [*cuts[1:], len(cell)], strict=True)
    ]


def _split_name(text: str | None) -> tuple[str | None, str | None]:
    if not text:
        return None, None
    name = re.split(
        r"\s{2,}|[(\[|/;:]|\b(?:age|sex|dob|gender|geb|n[ée]e?\s*le|nat[oa]\s*il)\b",
        text,
        flags=re.IGNORECASE,
    )[0]
    name = re.sub(r"[\d].*$", "", name).strip(" .,-")
    while (shorter := _TITLE_OF_ADDRESS.sub("", name)) != name:
        name = shorter
    if not name or len(name) > 60 or not any(sign.isalpha() for sign in name):
        return None, None
    if "," in name:
        last, _, first = name.partition(",")
        return first.strip() or None, last.strip() or None
    words = name.split()
    if _is_half_capital(words):
        capital = [word for word in words if _is_capital(word)]
        others = [word for word in words if word not in capital]
        return " ".join(others), " ".join(capital)
    first, _, last = name.rpartition(" ")
    return (first, last) if first else (last, None)


def _read_sex(text: str | None) -> str | None:
    if not text:
        return None
    for word in normalize_letters_and_digits(text).split():
        if word in _SEX_WORDS:
            return _SEX_WORDS[word]
    return None


def _sex_of(found: Mapping[str, str], pages: Sequence[Sequence[Line]]) -> str | None:
    """The sex; in Spanish a lone M may be a woman's (mujer) as well as a man's."""
    text = found.get("sex")
    if text and normalize_letters_and_digits(text).split()[:1] == ["m"]:
        first_lines = " ".join(line.text for lines in pages for line in lines[:40])
        if _SPANISH.search(first_lines):
            return None
    return _read_sex(text) or _sex_beside_age(found.get("name"))


def _sex_beside_age(text: str | None) -> str | None:
    """The sex from 'JOHN SAMPLE (45Y/M)'."""
    match = _AGE_AND_SEX.search(text or "")
    return _read_sex(match[1]) if match else None


def _read_number(text: str | None) -> str | None:
    if not text:
        return None
    first = text.split()[0].strip(".,;")
    is_number = any(sign.isdigit() for sign in first)
    return first if is_number or _LETTERS_AS_NUMBER.fullmatch(text.strip()) else None


def _month_first(pages: Sequence[Sequence[Line]]) -> bool | None:
    """Return whether dates put the month first; None if no date shows it."""
    firsts: list[int] = []
    seconds: list[int] = []
    for lines in pages:
        for line in lines:
            for match in NUMBER_DATE.finditer(line.text):
                first, second = int(match["a"]), int(match["b"])
                if min(first, second) <= 12 and max(first, second) <= 31:
                    firsts.append(first)
                    seconds.append(second)
    if any(n > 12 for n in firsts):
        return False
    if any(n > 12 for n in seconds):
        return True
    texts = (line.text for lines in pages for line in lines[:40])
    return False if any(map(is_day_first_language, texts)) else None


def _lab_name(lines: Sequence[Line]) -> str | None:
    """The first line near the top that calls itself a laboratory."""
    for n, line in enumerate(lines[:10]):
        if read_column_titles(lines[n : n + 1]):
            return None
        for cell in line.cells:
            text = cell.text.strip()
            if _LAB.search(text) and ":" not in text and 1 < len(text.split()) <= 8:
                digits = sum(1 for sign in text if sign.isdigit())
                if digits <= 2 and not _HEADING.fullmatch(text):
                    return text
    return None
