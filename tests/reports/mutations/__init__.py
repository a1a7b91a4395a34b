"""Pages with one unseen trait each, made of the rows of pages with truth.

A page is made of words at places, without a file: what a text layer or a picture would
give. `python -m tests.reports.mutations` prints the rows lost by each mutation.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from pathlib import Path

from reports.management.scorecard.truth import TrueReport, TrueRow
from reports.parser.pages import Page, Word
from tests.reports.designs import design_paths

SIZE = 9.0
_LETTER = 0.5 * SIZE
_BLANK = 0.28 * SIZE
_GAP = 16.0
_LEAD = 14.0
_TRUTH = re.compile(r"<script[^>]*id=.truth.[^>]*>(.*?)</script>", re.DOTALL)
_PLAIN_RANGE = re.compile(r"[\d.]+ ?[-–] ?[\d.]+|[<>] ?[\d.]+")
_FEWEST_ROWS = 5
_MOST_ROWS = 24
_HEAD = ("Example Laboratory", "Patient: Alex Example   Sex: F", "Specimen: serum")
_TITLES = {
    "name": "Test",
    "value": "Result",
    "unit": "Unit",
    "range": "Reference range",
    "flag": "Flag",
    "method": "Method",
    "previous": "Previous",
    "gloss": "",
    "other": "Result (SI)",
    "chart": "",
}
# In which a result is given again: the unit, and how many of it are one of the first.
_OTHER_UNITS = {
    "g/dL": ("g/L", 10),
    "mg/dL": ("mg/L", 10),
    "mmol/L": ("mg/dL", 18),
    "ng/mL": ("µg/dL", 0.1),
    "pg/mL": ("ng/dL", 0.1),
}
GLOSSES = {
    "chinese": ("钠测定", "总胆固醇", "血红蛋白", "估計腎小球濾過率"),
    "russian": ("Натрий", "Общий холестерин", "Гемоглобин", "Мочевина"),
    "arabic": ("صوديوم", "كوليسترول", "هيموجلوبين", "يوريا"),
    "latin": ("Natrium", "Cholesterin gesamt", "Blutfarbstoff", "Harnstoff"),
}


@dataclass(frozen=True, slots=True)
class Mutation:
    """One trait of a page: the order of its columns, and what stands in them.

    gloss: a language of GLOSSES, in a column of its own or behind the name. wraps:
    the part that goes on below. joined: parts that stand in one cell with the part
    before. bare: parts that the page does not print.
    """

    name: str
    columns: tuple[str, ...] = ("name", "value", "unit", "range")
    titled: bool = True
    gloss: str | None = None
    wraps: str | None = None
    joined: tuple[str, ...] = ()
    bare: tuple[str, ...] = ()
    brackets: str = ""
    abreast: int = 1
    colon: bool = False


PLAIN = ("name", "value", "unit", "range")
TWICE = ("name", "value", "unit", "other", "range")
GLOSSED = ("name", "gloss", *PLAIN[1:])
MUTATIONS = (
    Mutation("as it is"),
    Mutation("without titles", titled=False),
    Mutation("range before unit", ("name", "value", "range", "unit")),
    Mutation("unit before value", ("name", "unit", "value", "range")),
    Mutation("range before value", ("name", "range", "value", "unit")),
    Mutation("value before name", ("value", "unit", "name", "range")),
    Mutation("flag word before range", ("name", "value", "unit", "flag", "range")),
    Mutation("flag word behind value", ("name", "value", "flag", "unit", "range")),
    Mutation("flag word behind range", (*PLAIN, "flag")),
    Mutation("flag word, untitled", ("name", "value", "flag", "range"), titled=False,
             bare=("unit",)),
    Mutation("method before range", ("name", "value", "unit", "method", "range")),
    Mutation("method behind name", ("name", "method", "value", "unit", "range")),
    Mutation("earlier result last", (*PLAIN, "previous")),
    Mutation("earlier result beside", ("name", "value", "previous", "unit", "range")),
    Mutation("earlier result, untitled", (*PLAIN, "previous"), titled=False),
    *(
        Mutation(f"{gloss} gloss, own column", GLOSSED, gloss=gloss)
        for gloss in GLOSSES
    ),
    *(
        Mutation(f"{gloss} gloss, untitled", GLOSSED, gloss=gloss, titled=False)
        for gloss in GLOSSES
    ),
    Mutation("Chinese gloss before the name", ("gloss", *PLAIN), gloss="chinese"),
    Mutation("unit in the value's cell", joined=("unit",)),
    Mutation("unit in the range's cell", ("name", "value", "range", "unit"),
             joined=("unit",)),
    Mutation("unit behind the name", ("name", "unit", "value", "range"),
             joined=("unit",), brackets="unit"),
    Mutation("second unit behind the value", TWICE, joined=("unit", "other")),
    Mutation("second unit, untitled", TWICE, joined=("unit", "other"), titled=False),
    Mutation("range in round brackets", brackets="range"),
    Mutation("all in one cell", joined=("unit", "range"), brackets="range"),
    Mutation("lines with colons", joined=PLAIN[1:], brackets="range", colon=True,
             titled=False),
    Mutation("no units", ("name", "value", "range"), bare=("unit",)),
    Mutation("no units, untitled", ("name", "value", "range"), bare=("unit",),
             titled=False),
    Mutation("no ranges", ("name", "value", "unit"), bare=("range",)),
    Mutation("no ranges, untitled", ("name", "value", "unit"), bare=("range",),
             titled=False),
    Mutation("range wraps", wraps="range"),
    Mutation("name wraps", wraps="name"),
    Mutation("two tables side by side", abreast=2),
    Mutation("three tables side by side", abreast=3),
    Mutation("three side by side, untitled", abreast=3, titled=False),
    Mutation("chart beside", (*PLAIN, "chart")),
    Mutation("chart beside, untitled", (*PLAIN, "chart"), titled=False),
    Mutation("chart between value and range", (*PLAIN[:3], "chart", "range")),
)  # fmt: skip


def list_sources(*, every: int = 1) -> Iterator[tuple[str, tuple[TrueRow, ...]]]:
    """Return names of pages with truth, and those of their rows that are plain."""
    for path in design_paths()[::every]:
        told = _TRUTH.search(path.read_text(encoding="utf-8"))
        rows = _read_rows(json.loads(told[1]).get("results", ())) if told else ()
        if len(rows) >= _FEWEST_ROWS:
            yield path.stem, rows[:_MOST_ROWS]


def make_report(
    mutation: Mutation, name: str, rows: Sequence[TrueRow]
) -> tuple[TrueReport, Page]:
    """Return a page that shows rows with one trait, and what it says."""
    kept = tuple(
        replace(
            row,
            unit=None if "unit" in mutation.bare else row.unit,
            range=None if "range" in mutation.bare else _bracketed(mutation, row.range),
            interpretation=None,
        )
        for row in rows
        if "unit" not in mutation.bare or not _prints_unit(row.name)
    )
    words, right = _set_page(mutation, kept)
    again = [
        TrueRow(row.name, *_second_reading(row), optional=True)
        for row in kept
        if "other" in mutation.columns and row.unit in _OTHER_UNITS
    ]
    bottom = max(word.bottom for word in words)
    page = Page(1, right + 40, max(842.0, bottom + 40), tuple(words))
    rows = (*kept, *again)
    return TrueReport(Path(name), "text", mutation.name, rows, True), page


def _read_rows(entries: Iterable[dict[str, str]]) -> tuple[TrueRow, ...]:
    found: dict[str, TrueRow] = {}
    for entry in entries:
        unit, spread = entry.get("units"), entry.get("reference_range")
        number = re.fullmatch(r"[\d.]+", entry["value"])
        if number and unit and spread and _PLAIN_RANGE.fullmatch(spread):
            name = entry["test_name"]
            found.setdefault(name, TrueRow(name, entry["value"], unit, spread))
    return tuple(found.values())


def _prints_unit(name: str) -> bool:
    """Whether a name has the unit in it, which is then the row's: 'Neutrophils %'."""
    return "%" in name or "Percent" in name or name.endswith("/L)")


def _second_reading(row: TrueRow) -> tuple[str, str]:
    unit, times = _OTHER_UNITS[row.unit or ""]
    return f"{float(row.value) * times:.1f}", unit


def _bracketed(mutation: Mutation, text: str | None) -> str | None:
    return f"({text})" if text and mutation.brackets == "range" else text


def _cells(mutation: Mutation, row: TrueRow, at: int) -> list[str]:
    """The texts of a row by column; parts that are joined stand in one."""
    low, high = _ends(row.range)
    number = float(row.value)
    level = "High" if number > high else "Low" if number < low else ""
    texts = {
        "name": f"{row.name}:" if mutation.colon else row.name,
        "value": row.value,
        "unit": f"({row.unit})" if mutation.brackets == "unit" else row.unit,
        "range": row.range,
        "flag": level or ("Normal" if at % 2 else ""),
        "method": ("Photometry", "Calculated", "ISE")[at % 3],
        "previous": f"{number * 1.1:.1f}",
        "gloss": GLOSSES[mutation.gloss][at % 4] if mutation.gloss else "",
        "chart": str(10 * at),
        "other": "({} {})".format(*_second_reading(row))
        if row.unit in _OTHER_UNITS
        else "",
    }
    cells: list[str] = []
    for column in mutation.columns:
        text = texts[column] or ""
        if column in mutation.joined:
            cells[-1] = f"{cells[-1]} {text}"
        else:
            cells.append(text)
    return cells


def _ends(spread: str | None) -> tuple[float, float]:
    numbers = [float(n) for n in re.findall(r"\d+(?:\.\d+)?", spread or "")]
    if len(numbers) == 1:
        below = (spread or "").strip("( ").startswith("<")
        return (0.0, numbers[0]) if below else (numbers[0], float("inf"))
    return (numbers[0], numbers[1]) if len(numbers) > 1 else (0.0, float("inf"))


def _set_page(mutation: Mutation, rows: Sequence[TrueRow]) -> tuple[list[Word], float]:
    words: list[Word] = []
    top = 40.0
    for text in _HEAD:
        words += _set_text(text, 30.0, top)
        top += _LEAD
    top += _LEAD
    share = -(-len(rows) // mutation.abreast)
    left = 30.0
    for n, start in enumerate(range(0, len(rows), share)):
        # Tables abreast begin at other heights, as their headings are of other lengths.
        part = rows[start : start + share]
        own, left = _set_table(mutation, part, left, top + n * _LEAD / 2)
        words += own
    return words, left


def _set_table(
    mutation: Mutation, rows: Sequence[TrueRow], left: float, top: float
) -> tuple[list[Word], float]:
    heads = [_TITLES[c] for c in mutation.columns if c not in mutation.joined]
    table = [heads] if mutation.titled else []
    for at, row in enumerate(rows):
        cells = _cells(mutation, row, at)
        if mutation.wraps:
            table += _wrapped(cells, mutation.columns.index(mutation.wraps))
        else:
            table.append(cells)
    edges = [left]
    for column in zip_longest(*table, fillvalue=""):
        edges.append(edges[-1] + _LETTER * max(map(len, column)) + _GAP)
    words = [
        word
        for n, cells in enumerate(table)
        for x, text in zip(edges, cells, strict=False)
        for word in _set_text(text, x, top + n * _LEAD)
    ]
    return words, edges[-1] + _GAP


def _wrapped(cells: list[str], at: int) -> list[list[str]]:
    """A row whose cell goes on below after its first words."""
    head, _, rest = cells[at].partition(" ")
    if not rest:
        return [cells]
    below = ["" if n != at else rest for n in range(len(cells))]
    return [[*cells[:at], head, *cells[at + 1 :]], below]


def _set_text(text: str, x: float, top: float) -> Iterator[Word]:
    for piece in text.split():
        right = x + _LETTER * len(piece)
        yield Word(piece, x, top, right, top + SIZE, SIZE)
        x = right + _BLANK
