"""The patient header: who and when, as printed; dates as YYYY-MM-DD.

What is read here is personal. It goes into the result and nowhere else.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from .dates import NUMBER_DATE, read_date
from .lines import Line
from .report import Metadata
from .titles import fold, read_titles

_LABELS: dict[str, str] = {
    "name": (
        r"(?:patient(?:'?s)?\s*name|name\s*of\s*patient|patient|full\s*name|name"
        r"|pt\.?\s*name|client\s*name|paciente|nombre|patientin?|nom|nome"
        r"|hasta\s*ad[ıi]|ad[ıi]?\s*soyad[ıi]?)"
    ),
    "dob": (
        r"(?:d\.?\s?o\.?\s?b\.?|date\s*of\s*birth|birth\s*date|dob/age|geburtsdatum"
        r"|fecha\s*de\s*nacimiento|date\s*de\s*naissance|data\s*de\s*nascimento"
        r"|data\s*di\s*nascita|do[ğg]um\s*tarihi|geb\.?(?:\s*am)?)"
    ),
    "sex": (
        r"(?:sex|gender|age\s*[/&,|-]\s*(?:sex|gender)|(?:sex"
        r"|gender)\s*[/&,|-]\s*age|geschlecht|sexo|sexe|sesso|cinsiyet"
        r"|y(?:ea)?rs?\s*/\s*sex|age\s*and\s*(?:sex|gender))"
    ),
    "reported": (
        r"(?:(?:date\s*(?:of\s*)?)?report(?:ed|ing)?(?:\s*(?:on|date|at|time"
        r"|date\s*[&/]?\s*time|date/time))*|date\s*reported|released(?:\s*on)?"
        r"|approved(?:\s*on)?|authori[sz]ed\s*(?:on|date)|befunddatum"
        r"|fecha\s*(?:de\s*)?(?:informe|resultado|emisi[oó]n)"
        r"|date\s*d['’e]?\s*(?:édition|edition|résultat)|rapor\s*tarihi"
        r"|result\s*date|report\s*release\w*)"
    ),
    "collected": (
        r"(?:(?:sample|specimen|date|time)?\s*(?:of\s*)?(?:collect(?:ed|ion)|coll\.?"
        r"|drawn)(?:\s*(?:on|date|at|time|date\s*[&/]?\s*time|date/time|dt))*"
        r"|date\s*collected|entnahme(?:datum)?|fecha\s*(?:de\s*)?(?:toma"
        r"|extracci[oó]n|muestra)|pr[ée]lev[ée](?:ment)?(?:\s*le)?"
        r"|date\s*de\s*pr[ée]l[èe]vement|data\s*(?:da\s*)?coleta"
        r"|numune\s*al[ıi]m\w*(?:\s*tarihi)?|abnahme(?:datum)?)"
    ),
    "specimen": (
        r"(?:specimen\s*(?:id|no\.?|number|#)|sample\s*(?:id|no\.?|number|#)"
        r"|accession\s*(?:no\.?|number|id|#)?|lab\s*(?:id|no\.?|number"
        r"|ref(?:erence)?\.?(?:\s*no\.?)?)|barcode(?:\s*no\.?)?|sin\s*no\.?"
        r"|auftrags(?:nummer|nr\.?)|n[úu]mero\s*de\s*muestra|vial\s*id"
        r"|laborat[oó]rio\s*n[oº])"
    ),
}
_LABEL = {
    key: re.compile(rf"(?i)^\W*{pattern}\s*(?:[:：#]|\.\s*:|-\s|$)")
    for key, pattern in _LABELS.items()
}
_ANY_LABEL = re.compile(r"(?i)^\W*[A-Za-zÀ-ÿ][\w./&() #'-]{1,34}\s*[:：]")
_TITLE_OF_ADDRESS = re.compile(
    r"(?i)^(?:mr|mrs|ms|miss|mx|dr|prof|shri|smt|master|baby|baby of|mstr|sr|sra"
    r"|herr|frau|m|mme|sn)\.?\s+(?=\S)"
)
_SEX_WORDS = {
    "male": "male",
    "m": "male",
    "man": "male",
    "mannlich": "male",
    "masculino": "male",
    "masculin": "male",
    "homme": "male",
    "hombre": "male",
    "maschio": "male",
    "erkek": "male",
    "female": "female",
    "f": "female",
    "woman": "female",
    "weiblich": "female",
    "w": "female",
    "femenino": "female",
    "feminino": "female",
    "feminin": "female",
    "femme": "female",
    "mujer": "female",
    "femmina": "female",
    "kadin": "female",
    "other": "other",
    "divers": "other",
}
_AGE_AND_SEX = re.compile(
    r"(?i)\b\d{1,3}\s*(?:y|yrs?|years?)?\.?\s*[/,|-]\s*(m|f|male|female)\b"
)
_LAB = re.compile(
    r"(?i)\b(?:laborator(?:y|ies)|labs?|diagnostics?|patholog(?:y|ies)"
    r"|path\s*labs?|labor|laboratorios?|laboratoire|laborat[oó]rio|laboratuvar\w*"
    r"|medlab|healthcare|clinical chemistry|hospitals?|medical cent(?:er|re))\b"
)


def read_metadata(pages: Sequence[Sequence[Line]]) -> Metadata:
    """Read the header of the first pages; a later page only fills what is missing."""
    found: dict[str, str] = {}
    lines = pages[:2]
    for page_lines in lines:
        for key, text in _labelled(page_lines):
            found.setdefault(key, text)
    first, last = _split_name(found.get("name"))
    american = _month_first(lines)
    dates = {
        key: read_date(found[key], month_first=american) if key in found else None
        for key in ("dob", "reported", "collected")
    }
    return Metadata(
        patient_first_name=first,
        patient_last_name=last,
        dob=dates["dob"],
        gender=_read_sex(found.get("sex")) or _sex_beside_age(found.get("name")),
        lab_name=_lab_name(lines[0]) if lines else None,
        date_reported=dates["reported"],
        date_collected=dates["collected"],
        specimen_number=_read_number(found.get("specimen")),
    )


def read_headers(pages: Mapping[int, Sequence[Line]]) -> dict[int, Metadata]:
    """Name and birth date on each page, by its number; pages without are left out."""
    american = _month_first(tuple(pages.values()))
    headers: dict[int, Metadata] = {}
    for number, lines in pages.items():
        found: dict[str, str] = {}
        for key, text in _labelled(lines, keys=("name", "dob")):
            found.setdefault(key, text)
        first, last = _split_name(found.get("name"))
        dob = read_date(found["dob"], month_first=american) if "dob" in found else None
        if last or dob:
            headers[number] = Metadata(first, last, dob)
    return headers


def _labelled(
    lines: Sequence[Line], *, keys: Sequence[str] = tuple(_LABELS)
) -> list[tuple[str, str]]:
    """Label and text pairs, the text beside the label or in the cell after it."""
    pairs: list[tuple[str, str]] = []
    for n, line in enumerate(lines[:40]):
        if not any(sign in line.text for sign in ":#：") and len(line.cells) < 2:
            continue
        cells = [cell.text for cell in line.cells]
        for at, cell in enumerate(cells):
            for piece in _pieces(cell):
                for key in keys:
                    match = _LABEL[key].match(piece)
                    if not match:
                        continue
                    text = piece[match.end() :].strip(" :：-#")
                    after = at + 1
                    while not text and after < len(cells):
                        candidate = cells[after].strip(" :：")
                        after += 1
                        if candidate and not _ANY_LABEL.match(candidate + ":x"[:0]):
                            text = candidate
                            break
                        if _ANY_LABEL.match(cells[after - 1]):
                            break
                    if text and n < len(lines):
                        pairs.append((key, text))
                    break
    return pairs


def _pieces(cell: str) -> list[str]:
    """A cell cut before each further label that it holds."""
    cuts = [0]
    for match in re.finditer(r"(?<=\s)(?=[A-Z][\w./& ]{1,24}\s?:)", cell):
        if match.start() > cuts[-1]:
            cuts.append(match.start())
    return [
        cell[a:b].strip() for a, b in zip(cuts, [*cuts[1:], len(cell)], strict=True)
    ]


def _split_name(text: str | None) -> tuple[str | None, str | None]:
    if not text:
        return None, None
    name = re.split(
        r"\s{2,}|[(\[|/;:]|\b(?:age|sex|dob|gender)\b", text, flags=re.IGNORECASE
    )[0]
    name = re.sub(r"[\d].*$", "", name).strip(" .,-")
    while (shorter := _TITLE_OF_ADDRESS.sub("", name)) != name:
        name = shorter
    if not name or len(name) > 60 or not any(sign.isalpha() for sign in name):
        return None, None
    if "," in name:
        last, _, first = name.partition(",")
        return first.strip() or None, last.strip() or None
    first, _, last = name.rpartition(" ")
    return (first, last) if first else (last, None)


def _read_sex(text: str | None) -> str | None:
    if not text:
        return None
    for word in fold(text).split():
        if word in _SEX_WORDS:
            return _SEX_WORDS[word]
    return None


def _sex_beside_age(text: str | None) -> str | None:
    """The sex from 'JOHN SAMPLE (45Y/M)'."""
    match = _AGE_AND_SEX.search(text or "")
    return _read_sex(match[1]) if match else None


def _read_number(text: str | None) -> str | None:
    if not text:
        return None
    first = text.split()[0].strip(".,;")
    return first if any(sign.isdigit() for sign in first) else None


def _month_first(pages: Sequence[Sequence[Line]]) -> bool | None:
    """Whether number dates put the month first; None where no date tells."""
    firsts: list[int] = []
    seconds: list[int] = []
    for lines in pages:
        for line in lines:
            for match in NUMBER_DATE.finditer(line.text):
                firsts.append(int(match[1]))
                seconds.append(int(match[2]))
    if any(n > 12 for n in firsts):
        return False
    if any(n > 12 for n in seconds):
        return True
    return None


def _lab_name(lines: Sequence[Line]) -> str | None:
    """The first line near the top that calls itself a laboratory."""
    for n, line in enumerate(lines[:10]):
        if read_titles(lines[n : n + 1]):
            return None
        for cell in line.cells:
            text = cell.text.strip()
            if _LAB.search(text) and ":" not in text and 1 < len(text.split()) <= 8:
                digits = sum(1 for sign in text if sign.isdigit())
                if digits <= 2:
                    return text
    return None
