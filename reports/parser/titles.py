"""The words by which tables of results name their columns, and where they stand.

Vocabulary and its recognition on a line; no row is read here.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from itertools import pairwise

from .dates import read_date
from .lines import Cell, Line
from .pages import Word
from .ranges import announced_range


class Role(StrEnum):
    """What a column holds."""

    NAME = "name"
    VALUE = "value"
    UNIT = "unit"
    RANGE = "range"
    LOW = "low"
    HIGH = "high"
    FLAG = "flag"
    METHOD = "method"
    PREVIOUS = "previous"
    SPECIMEN = "specimen"
    OTHER = "other"


_TITLES: dict[Role, str] = {
    Role.NAME: """
        antibiotic|antibiotics|antibiotic name|antimicrobial|antimicrobial agent
        test|tests|test name|test names|name of test|name of the test|test description
        description|description of test|investigation|investigations|investigation name
        investigation s|analyte|analytes|parameter|parameters|parameter name
        test parameter
        test parameters|examination|examinations|examination name|test s|component
        components|biomarker|biomarkers|marker|markers|procedure|service|service name
        assay
        assay name|test performed|tests performed|test requested|item|test item
        tests ordered
        tests result|observation|profile|profile name|particulars|lab test
        laboratory test
        test investigation|test investigations|investigation parameter|determination
        characteristics|test report|name|test name method|test name methodology
        test method|investigation method|test specimen|measurement|clinical test
        analyse|analysen|untersuchung|parameter bezeichnung|messgrosse|bestimmung
        laborwert
        analisis|prueba|examen|estudio|determinacion|parametro|parametros|exame|analise
        analyses|parametre|esame|esami|analisi|tetkik|tetkik adi|test adi|tahlil
        bepaling
        badanie|analyte name|test code name|determinaciones|pruebas|examens
        investigations name|test parameter name|laboratory investigation
    """,
    Role.VALUE: """
        mic|mic value|sensitivity|susceptibility
        result|results|result s|results s|value|values|observed value|observed values
        your value
        your result|your results|test result|test results|result value|results value
        observed result|observed results|obtained value|patient value|patient s value
        patient result|patients result|patient results|current result|current results
        current value|present result|present value|latest result|measured value
        finding|findings
        reading|outcome|observation s|test value|value observed|result obtained
        results obtained|numeric result
        final result|in range|out of range|within range|outside range|in range result
        out of range result|normal result|abnormal result|within normal range|abnormal
        actual result|result unit|result units|results units|result s unit|value unit
        value units
        result and unit|result and units|results and units|outside normal range
        current result and flag|result flag|test values|calculated value|your level
        ergebnis|ergebnisse|wert|messwert|befund|istwert|resultat|resultats|resultado
        resultados|valor|valor obtenido|valor observado|valeur|valeurs|risultato
        risultati
        valore|sonuc|sonuclar|sonuc degeri|uitslag|wynik|your results value
        conventional result
    """,
    Role.UNIT: """
        unit|units|unit s|uom|u o m|unit of measure|unit of measurement
        units of measure|measuring unit
        einheit|einheiten|masseinheit|unidad|unidades|unidade|unidad de medida|unite
        unites
        unita|unita di misura|u m|birim|birimi|eenheid|jednostka|conv unit
        conventional units
    """,
    Role.RANGE: """
        reference range|reference ranges|ref range|ref ranges|range|ranges
        reference interval
        reference intervals|ref interval|ref int|biological reference interval
        biological reference intervals|biological ref interval|bio ref interval
        bio ref intervals
        bio reference interval|bio ref range|biological reference range
        biological ref range
        biological reference|biological references|bio reference|bio ref|bio ref int
        b r i|bri
        biological reference intervel|biological reference value
        biological reference values
        normal range|normal ranges|normal value|normal values|normal limits
        normal interval
        reference value|reference values|reference|references|ref value|ref values|ref
        expected range|expected values|expected value|standard range|healthy range
        optimal range
        desired range|desirable range|target range|normal|normals|limits
        reference limits
        normal reference range|reference normal range|normal ref range|rr|ri
        reference range units
        reference range and units|reference interval units|ref range units
        lab reference range
        reference range unit|units reference range|reference range s
        biological reference range s
        refvalue|refrange|refinterval|ref values|expected|expected result|std range
        standard value|adult reference range|bio interval|biological interval
        biological ref intervals|reference intervals units|unit reference range
        referenzbereich|referenzwerte|referenzwert|referenz|normbereich|normwert
        normwerte
        norm|sollwert|valores de referencia|valor de referencia|rango de referencia
        rango
        intervalo de referencia|referencia|valores normales|rango normal
        limites de referencia
        valeurs de reference|valeur de reference|intervalle de reference|norme|normes
        intervalles de reference|valeurs normales|valori di riferimento
        intervallo di riferimento
        intervalli di riferimento|riferimento|referans araligi|referans degerleri
        referans
        referans deger|referans aralik|normal degerler|referentiewaarden|referentie
        zakres referencyjny|valores referenciais|valores de ref|referencias
    """,
    Role.LOW: "low|lower limit|min|minimum|lower|ref low|low limit|lower ref limit",
    Role.HIGH: "high|upper limit|max|maximum|upper|ref high|high limit|upper ref limit",
    Role.FLAG: """
        flag|flags|h l|hi lo|status|alert|abnormal flag|abn|ind|indicator|result flag
        remark
        remarks|interpretation|h l flag|abnormal flags|markierung|hinweis|l h
        inference|a flag
        bewertung|auff|alerta|anormal|anomalia|observacion|comment|comments|evaluation
        rating
        interp|notes|durum|flag s|sig
    """,
    Role.METHOD: """
        method|methods|methodology|technique|test method|methode|metodo|tecnica
        analysis method
        method used|technology|method name|instrument|analyzer|equipment|yontem
        principle
        methode technique|method instrument|tech
    """,
    Role.PREVIOUS: """
        previous|previous result|previous results|previous value|previous values
        prev result
        prior result|prior results|prior|last result|last value|history|past result
        past results
        previous result date|prev|previous date|trend|previous result and date|vorwert
        vorwerte
        vorbefund|anterior|resultado anterior|anteriores|anteriorite|anteriorites
        precedente
        onceki sonuc|historical result|historical results|delta|previous reading
        old result
        prior value|antecedents|change|last results|previous 1|previous 2
    """,
    Role.SPECIMEN: """
        mat
        specimen|sample|sample type|specimen type|material|probe|probenmaterial|muestra
        tipo de muestra|echantillon|sample specimen|numune|materiale
    """,
    Role.OTHER: """
        lab|date|s no|sr no|sl no|no|sno|srno|code|test code|s l no|loinc|loinc code
        date time|collected|performed
        site|performing lab|accredited|nabl|department|id|laboratory|date reported|nr
        collection date
        serial no|# |verified|result date|reported|analysis date|datum|fecha
        uncertainty|si result|conv factor
        performing|perf lab|date performed|test date|nabl status|price range|si units
        si unit|si reference range
        graph|chart|gauge|visual|distribution|scale|bar
    """,
}
_PHRASES: dict[tuple[str, ...], Role] = {
    tuple(phrase.split()): role
    for role, phrases in _TITLES.items()
    for phrase in (
        part.strip() for line in phrases.split("\n") for part in line.split("|")
    )
    if phrase
}
_LONGEST = max(len(phrase) for phrase in _PHRASES) + 1
# Without blanks, for a picture is read with blanks lost or put in.
_JOINED = {"".join(phrase): role for phrase, role in _PHRASES.items()}
_FILLERS = {"and", "of", "in", "the", "for", "your", "by", "with", "si", "age", "sex"}


@dataclass(frozen=True, slots=True)
class Title:
    """A column's title: what it announces, its words and where they stand."""

    role: Role
    text: str
    x0: float
    x1: float


@lru_cache(maxsize=8192)
def fold(text: str) -> str:
    """Letters and digits in lower case without accents, others as blanks."""
    plain = text.lower().replace("ß", "ss").replace("ı", "i").replace("ø", "o")
    if not plain.isascii():
        plain = unicodedata.normalize("NFKD", plain)
        plain = "".join(sign for sign in plain if not unicodedata.combining(sign))
    return " ".join(re.sub(r"[^a-z0-9]+", " ", plain).split())


@dataclass(frozen=True, slots=True)
class _Part:
    folded: str
    word: Word


def read_titles(lines: Sequence[Line]) -> tuple[Title, ...]:
    """The column titles that one to three neighbouring lines print; empty if none do.

    The first line is a title line by itself or becomes one with those below: words
    that stand over one another are read as one title.
    """
    if not _may_be_titles(lines):
        return ()
    if len(lines) == 1:
        groups = [list(cell.words) for cell in lines[0].cells]
    else:
        groups = _stack(lines)
    titles: list[Title] = []
    unknown: list[Title] = []
    unread = read = 0
    for group in groups:
        found, left = _read_group(group)
        titles.extend(found)
        read += len(group) - left
        unread += left
        if not found:
            unknown.append(_title(Role.OTHER, " ".join(w.text for w in group), group))
    dates = _read_dates(titles, unknown)
    titles += dates
    unread -= sum(len(title.text.split()) for title in dates)
    titles.sort(key=lambda title: title.x0)
    if not titles:
        return ()
    titles = _settle(_add_unknown(titles, unknown))
    named = sum(len(t.text.split()) for t in titles if t.role is Role.NAME)
    if unread > max(2, 0.34 * (read + unread)) + named:
        return ()
    return tuple(titles) if _is_table(titles, unread) else ()


def _read_dates(titles: list[Title], unknown: list[Title]) -> list[Title]:
    """Titles that are dates, over the results of several days: the latest is read."""
    kinds = {title.role for title in titles}
    if Role.VALUE in kinds or not kinds & {Role.RANGE, Role.UNIT}:
        return []
    dated = [
        (day, t)
        for t in unknown
        if (day := _day(t.text)) is not None and not t.text.startswith(":")
    ]
    if not dated:
        return []
    latest = max(day for day, _ in dated)
    for _, title in dated:
        unknown.remove(title)
    return [
        Title(Role.VALUE if day == latest else Role.PREVIOUS, t.text, t.x0, t.x1)
        for day, t in dated
    ]


def is_day(text: str) -> bool:
    """Whether a title is a date, over the results of that day."""
    return _day(text) is not None


def _day(text: str) -> str | None:
    """A date to compare by; where the order is in doubt the day comes first."""
    return read_date(text) or read_date(text, month_first=False)


def _add_unknown(titles: list[Title], unknown: list[Title]) -> list[Title]:
    """Give columns to titles that are not known: a name where one lacks, or other."""
    named = any(title.role is Role.NAME for title in titles)
    values = [title for title in titles if title.role is Role.VALUE]
    if not values:
        return titles
    added = []
    for title in unknown:
        following = next((t for t in titles if t.x0 > title.x0), None)
        role = Role.OTHER
        if not named and following is not None and following.role is Role.VALUE:
            role = Role.NAME
        elif title.x0 < values[0].x0:
            continue
        added.append(Title(role, title.text, title.x0, title.x1))
    if not named and not any(title.role is Role.NAME for title in added):
        first = titles[0]
        if first.role is Role.OTHER and first.x0 < values[0].x0:
            titles = [Title(Role.NAME, "", first.x0, first.x1), *titles[1:]]
    return sorted([*titles, *added], key=lambda title: title.x0)


def _may_be_titles(lines: Sequence[Line]) -> bool:
    """Cheap refusal: of a line of titles, most words are words of titles."""
    if len(lines[0].words) > 26:
        return False
    if any(_is_labelled(line) for line in lines):
        return False
    known = words = 0
    for line in lines:
        words += len(line.words)
        hits = sum(
            1 for word in line.words if _is_title_word(word.text) or _day(word.text)
        )
        if not hits and line is lines[0]:
            return False
        known += hits
    return known > 1 and known >= 0.35 * words


def _is_labelled(line: Line) -> bool:
    """Whether a line says something behind a label: 'Reference range: 70 - 99'."""
    texts = [cell.text for cell in line.cells]
    if any(announced_range(text) for text in texts):
        return True
    return any(
        a.endswith(":") and not b.endswith(":") for a, b in pairwise([*texts, ""])
    )


@lru_cache(maxsize=8192)
def _is_title_word(text: str) -> bool:
    folded = fold(text)
    return folded.partition(" ")[0] in _TITLE_WORDS or folded in _JOINED


_TITLE_WORDS = {word for phrase in _PHRASES for word in phrase}


def _stack(lines: Sequence[Line]) -> list[list[Word]]:
    """Cells of several lines, those over one another joined in reading order."""
    stacks: list[list[Cell]] = []
    for line in lines:
        for cell in line.cells:
            home = None
            for stack in stacks:
                x0, x1 = min(c.x0 for c in stack), max(c.x1 for c in stack)
                shared = min(x1, cell.x1) - max(x0, cell.x0)
                if shared > 0.4 * min(x1 - x0, cell.x1 - cell.x0):
                    home = stack
                    break
            if home is None:
                stacks.append([cell])
            else:
                home.append(cell)
    return [[word for cell in stack for word in cell.words] for stack in stacks]


def _read_group(words: list[Word]) -> tuple[list[Title], int]:
    """Titles in one cell, longest phrase first, and how many words were none."""
    parts = [_Part(piece, word) for word in words for piece in fold(word.text).split()]
    titles: list[Title] = []
    unread: list[_Part] = []
    n = 0
    while n < len(parts):
        for length in range(min(_LONGEST, len(parts) - n), 0, -1):
            phrase = tuple(part.folded for part in parts[n : n + length])
            role = _JOINED.get("".join(phrase))
            if role is not None:
                taken = [part.word for part in parts[n : n + length]]
                titles.append(_title(role, " ".join(phrase), taken))
                n += length
                break
        else:
            unread.append(parts[n])
            n += 1
    strange = {part.word for part in unread if part.folded not in _FILLERS}
    return titles, len(strange)


def is_name_title(text: str) -> bool:
    """Whether a text is a usual title of the column of names."""
    return role_of(text) is Role.NAME


def is_title(text: str) -> bool:
    """Whether a text is a usual title of a column, whatever it holds."""
    return role_of(text) is not None


def role_of(text: str) -> Role | None:
    """What a column of this title holds; None where the text is no usual title."""
    return _JOINED.get(fold(text).replace(" ", ""))


def _title(role: Role, text: str, words: Sequence[Word]) -> Title:
    return Title(role, text, min(w.x0 for w in words), max(w.x1 for w in words))


def _settle(titles: list[Title]) -> list[Title]:
    """Resolve titles that mean different things in different company."""
    roles = {title.role for title in titles}
    settled: list[Title] = []
    bands = roles >= {Role.LOW, Role.HIGH}
    texts = {title.text for title in titles}
    sorted_by_level = texts >= {"low", "normal", "high"} and any(
        t.role is Role.RANGE and t.text != "normal" for t in titles
    )
    for title in titles:
        role = title.role
        if sorted_by_level and title.text in ("low", "normal", "high"):
            settled.append(Title(Role.VALUE, title.text, title.x0, title.x1))
            continue
        if role in (Role.LOW, Role.HIGH) and (Role.RANGE in roles or not bands):
            role = Role.OTHER
        if role is Role.RANGE and title.text in ("normal", "normals"):
            abnormal = any(t.text == "abnormal" for t in titles)
            role = Role.VALUE if abnormal else role
        if (
            role is Role.VALUE
            and title.text == "abnormal"
            and not any(t.text in ("normal", "normals") for t in titles)
        ):
            role = Role.FLAG
        settled.append(Title(role, title.text, title.x0, title.x1))
    return settled


def _is_table(titles: list[Title], unread: int) -> bool:
    """Whether these titles, in this order, head a table of results."""
    roles = [title.role for title in titles]
    kinds = set(roles)
    if Role.VALUE not in kinds:
        return kinds >= {Role.NAME, Role.UNIT, Role.RANGE}
    first = roles.index(Role.VALUE)
    names = [t for t in titles[:first] if t.role is Role.NAME]
    named = any(is_name_title(t.text) for t in names)
    if named and titles[first].x0 - max(t.x1 for t in names) < 6:
        return False
    if any(t.role is Role.NAME and t.text[:1].isdigit() for t in titles):
        return False
    beside = kinds & {Role.UNIT, Role.RANGE, Role.LOW, Role.FLAG, Role.PREVIOUS}
    if named:
        return bool(beside) or Role.METHOD in kinds or unread == 0
    beside.discard(Role.FLAG)
    if Role.METHOD in kinds and unread <= 2 and first > 0:
        return True
    if any(is_name_title(t.text) for t in titles[first:] if t.role is Role.NAME):
        return bool(beside) and unread <= 2
    return bool(beside) and unread <= 8 and first > 0
