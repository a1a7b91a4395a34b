"""Pages that mix many traits by chance, as the next unseen report will.

A single trait on a plain page costs little; real reports have several at once. A seed
gives the same page again, so that seeds nobody has looked at measure what is unknown.
"""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from reports.management.scorecard.truth import TrueReport, TrueRow
from reports.parser.pages import Page, Word
from tests.reports.mutations import GLOSSES, list_sources

_ORDERS = (
    *(("name", "value", "unit", "range"),) * 6,
    *(("name", "value", "range", "unit"),) * 3,
    ("name", "unit", "value", "range"),
    ("name", "range", "value", "unit"),
    ("name", "unit", "range", "value"),
    ("name", "range", "unit", "value"),
)
_HEADS = {
    "name": ("Test", "Test name", "Investigation", "Analyte", "Parameter", "Assay",
             "Determination", "What we measured", "Description"),
    "value": ("Result", "Results", "Value", "Your value", "Observed value", "Measured",
              "Patient value", "Reading", "Outcome"),
    "unit": ("Unit", "Units", "UoM", "Measure", "Dimension", "Measured in"),
    "range": ("Reference range", "Normal range", "Ref. interval", "Expected values",
              "Biological ref. interval", "Normal limits", "Healthy span", "Bio Ref"),
    "flag": ("Flag", "Status", "", "H/L", "Remark"),
    "method": ("Method", "Technique", "Principle"),
    "previous": ("Previous", "Last result", "12/03/2024", "Prior"),
    "code": ("Code", "No.", "Lab"),
    "gloss": ("", "Local name"),
    "chart": ("", "Graph"),
    "serial": ("#", "S.No", "Sr."),
}  # fmt: skip
_METHODS = (
    "Photometry",
    "Calculated",
    "ISE indirect",
    "Enzymatic",
    "CLIA",
    "Impedance",
)
_SECTIONS = ("BIOCHEMISTRY", "Clinical chemistry", "HAEMATOLOGY", "Routine panel",
             "Special tests", "Group B")  # fmt: skip
_COMMENTS = (
    "Repeat after fasting if clinically indicated.",
    "Interpret with clinical findings and earlier results.",
    "Values are higher in late pregnancy.",
)
_EXPLAINED = (
    ("Interpretation of total cholesterol", ""),
    ("Desirable", "< 200 mg/dL"),
    ("Borderline high", "200 - 239 mg/dL"),
    ("High", ">= 240 mg/dL"),
)
_PERSON = (
    ("Patient: Alex Example", "Sample ID: 4471203"),
    ("Age / Sex: 44 Y / F", "Collected: 12/05/2024 08:30"),
    ("Referred by: Dr. Example", "Reported: 12/05/2024 17:45"),
)
_FOOT = (
    "This report is for the patient named above. Do not copy it in part.",
    "Page 1 of 1      Phone 0555 010 099",
)


@dataclass(frozen=True, slots=True)
class Look:
    """What one page draws by chance."""

    columns: tuple[str, ...]
    titled: bool
    heads: dict[str, str]
    aligned: dict[str, str]
    size: float
    lead: float
    gap: float
    range_form: str
    flag_form: str
    joined: frozenset[str] = frozenset()
    gloss: str = ""
    sections: bool = False
    method_below: bool = False
    comments: bool = False
    explained: bool = False
    wraps: bool = False
    abreast: int = 1
    upper: bool = False
    bare: frozenset[str] = frozenset()


@dataclass
class _Sheet:
    look: Look
    words: list[Word] = field(default_factory=list)

    def write(self, text: str, x: float, top: float, size: float) -> float:
        for piece in text.split():
            right = x + _width(piece, size)
            self.words.append(Word(piece, x, top, right, top + size, size))
            x = right + 0.28 * size
        return x - 0.28 * size


def draw_mixture(seed: int) -> tuple[TrueReport, Page, Look]:
    """Return a page of a seed, what it says, and the traits it has."""
    chance = random.Random(seed)  # noqa: S311 - draws pages, no secrets
    name, rows = chance.choice(_sources())
    rows = tuple(chance.sample(rows, min(len(rows), chance.randint(5, 18))))
    look = _draw_look(chance)
    kept = tuple(
        replace(
            row,
            unit=None if "unit" in look.bare else row.unit,
            range=None if "range" in look.bare else _print_range(look, row),
            interpretation=None,
            loinc=(),
        )
        for row in rows
    )
    sheet = _Sheet(look)
    top = _write_head(sheet)
    share = -(-len(kept) // look.abreast)
    left = bottom = 0.0
    left = 30.0
    for n in range(0, len(kept), share):
        low, left = _write_table(sheet, chance, kept[n : n + share], left, top)
        bottom = max(bottom, low)
    if look.explained:
        for first, second in _EXPLAINED:
            sheet.write(first, 30.0, bottom, look.size)
            sheet.write(second, 200.0, bottom, look.size)
            bottom += look.lead
    for text in _FOOT:
        bottom += look.lead
        sheet.write(text, 30.0, bottom, 0.85 * look.size)
    right = max(word.x1 for word in sheet.words) + 30
    page = Page(1, max(right, 595.0), max(842.0, bottom + 40), tuple(sheet.words))
    return TrueReport(Path(f"{name}-{seed}"), "text", "mixture", kept, True), page, look


def _sources() -> list[tuple[str, tuple[TrueRow, ...]]]:
    if not _SOURCES:
        _SOURCES.extend(list_sources())
    return _SOURCES


_SOURCES: list[tuple[str, tuple[TrueRow, ...]]] = []


def _draw_look(chance: random.Random) -> Look:
    columns = list(chance.choice(_ORDERS))
    bare: set[str] = set()
    if chance.random() < 0.12:
        bare.add(chance.choice(("unit", "range")))
    columns = [column for column in columns if column not in bare]
    joined: set[str] = set()
    for part in ("unit", "range"):
        at = columns.index(part) if part in columns else 0
        before = columns[at - 1] if at else ""
        fits = {"unit": ("value", "range"), "range": ("unit",)}[part]
        if before in fits and chance.random() < 0.15:
            joined.add(part)
    flag_form = chance.choice(
        ("none", "none", "column", "glued", "star", "arrow", "word")
    )
    if flag_form in ("column", "word"):
        columns.insert(chance.randint(1, len(columns)), "flag")
    gloss = chance.choice(tuple(GLOSSES)) if chance.random() < 0.12 else ""
    if gloss:
        # In front, a gloss in the same script is a name as good as the name.
        columns.insert(1 if gloss == "latin" else chance.choice((0, 1)), "gloss")
    for part, share in (("method", 0.1), ("previous", 0.12), ("chart", 0.06)):
        if chance.random() < share:
            # What is like a result stands behind it, or nobody could tell them apart.
            least = 1 if part == "method" else columns.index("value") + 1
            columns.insert(chance.randint(least, len(columns)), part)
    for part in ("code", "serial"):
        if chance.random() < 0.07:
            columns.insert(0, part)
    joined = {
        part for part in joined if part in columns and columns[columns.index(part) - 1]
        in ("value", "range", "unit")
    }  # fmt: skip
    size = chance.choice((7.0, 8.0, 9.0, 10.0, 12.0))
    return Look(
        columns=tuple(columns),
        titled=chance.random() < 0.65,
        heads={part: chance.choice(texts) for part, texts in _HEADS.items()},
        aligned={
            part: "left" if part in ("name", "gloss") else
            chance.choice(("left", "left", "right", "middle")) for part in _HEADS
        },
        size=size,
        lead=size * chance.choice((1.25, 1.5, 1.8, 2.3)),
        gap=size * chance.choice((0.7, 1.0, 1.8, 3.0, 5.0)),
        range_form=chance.choice(
            ("plain", "plain", "tight", "round", "square", "long dash", "to", "united",
             "label", "sexes")
        ),
        flag_form=flag_form,
        joined=frozenset(joined),
        gloss=gloss,
        sections=chance.random() < 0.3,
        method_below=chance.random() < 0.15,
        comments=chance.random() < 0.15,
        explained=chance.random() < 0.25,
        wraps=chance.random() < 0.12,
        abreast=chance.choice((1,) * 8 + (2, 3)),
        upper=chance.random() < 0.2,
        bare=frozenset(bare),
    )  # fmt: skip


def _print_range(look: Look, row: TrueRow) -> str:
    text = row.range or ""
    span = re.fullmatch(r"([\d.]+) ?[-–] ?([\d.]+)", text)
    if span is None:
        return f"({text})" if look.range_form == "round" else text
    low, high = span[1], span[2]
    return {
        "tight": f"{low}-{high}",
        "round": f"({low} - {high})",
        "square": f"[{low}-{high}]",
        "long dash": f"{low} – {high}",
        "to": f"{low} to {high}",
        "united": f"{low} - {high} {row.unit}" if "unit" not in look.bare else text,
        "label": f"{low} - {high}",
        "sexes": f"Male: {low} - {high} Female: {float(low) * 0.9:.1f} - {high}",
    }.get(look.range_form, f"{low} - {high}")


def _cells(look: Look, row: TrueRow, at: int) -> list[str]:
    numbers = [float(n) for n in re.findall(r"\d+(?:\.\d+)?", row.range or "")]
    number = float(row.value)
    out = ""
    if len(numbers) > 1 and not numbers[0] <= number <= numbers[1]:
        out = "L" if number < numbers[0] else "H"
    value = row.value
    name = row.name.upper() if look.upper else row.name
    if out:
        value = f"{value} {out}" if look.flag_form == "glued" else value
        value = (
            f"{value} {'↑' if out == 'H' else '↓'}"
            if look.flag_form == "arrow"
            else value
        )
        name = f"* {name}" if look.flag_form == "star" else name
    word = {"H": "High", "L": "Low", "": "Normal"}[out]
    texts = {
        "name": name,
        "value": value,
        "unit": row.unit or "",
        "range": row.range or "",
        "flag": word if look.flag_form == "word" else out,
        "method": _METHODS[at % len(_METHODS)],
        "previous": f"{number * 1.1:.1f}" if at % 4 else "",
        "code": f"{at + 1:02d}{chr(65 + at % 26)}",
        "gloss": GLOSSES[look.gloss][at % 4] if look.gloss else "",
        "chart": str(10 * at),
        "serial": str(at + 1),
    }
    cells: list[str] = []
    for part in look.columns:
        if part in look.joined:
            cells[-1] = f"{cells[-1]} {texts[part]}".strip()
        else:
            cells.append(texts[part])
    return cells


def _write_head(sheet: _Sheet) -> float:
    size, top = sheet.look.size, 36.0
    sheet.write("Example Laboratory", 30.0, top, 1.5 * size)
    top += 2.5 * size
    for first, second in _PERSON:
        sheet.write(first, 30.0, top, size)
        sheet.write(second, 300.0, top, size)
        top += 1.5 * size
    return top + 2 * size


def _write_table(
    sheet: _Sheet,
    chance: random.Random,
    rows: Sequence[TrueRow],
    left: float,
    top: float,
) -> tuple[float, float]:
    look = sheet.look
    parts = [part for part in look.columns if part not in look.joined]
    heads = [look.heads[part] for part in parts]
    if look.titled and look.range_form == "label":
        heads = [
            "" if part == "range" else text
            for part, text in zip(parts, heads, strict=True)
        ]
    table = [_cells(look, row, n) for n, row in enumerate(rows)]
    widths = [
        max(
            _width(cells[n], look.size)
            for cells in ([heads] if look.titled else []) + table
        )
        for n in range(len(parts))
    ]
    for n, part in enumerate(parts):
        if part == "name" and look.wraps:
            widths[n] = min(widths[n], 14 * look.size)
        if part == "range" and look.range_form == "sexes":
            widths[n] = min(widths[n], 12 * look.size)
    edges = [left]
    for width in widths:
        edges.append(edges[-1] + width + look.gap)
    if look.titled:
        for n, head in enumerate(heads):
            _write_cell(sheet, head, edges[n], widths[n], top, look.aligned[parts[n]])
        top += look.lead
    for at, cells in enumerate(table):
        if look.sections and at % 5 == 0:
            sheet.write(
                _SECTIONS[(at // 5) % len(_SECTIONS)], left, top, 1.1 * look.size
            )
            top += look.lead
        depth = 1
        for n, text in enumerate(cells):
            pieces = _wrap(text, widths[n], look.size)
            depth = max(depth, len(pieces))
            for deep, piece in enumerate(pieces):
                level = top + deep * 1.15 * look.size
                _write_cell(
                    sheet, piece, edges[n], widths[n], level, look.aligned[parts[n]]
                )
        top += look.lead + (depth - 1) * 1.15 * look.size
        if look.method_below:
            x = edges[parts.index("name")]
            sheet.write(
                f"Method: {_METHODS[at % len(_METHODS)]}", x, top, 0.8 * look.size
            )
            top += look.lead
        if look.comments and at % 6 == 2:
            sheet.write(_COMMENTS[at % len(_COMMENTS)], left, top, 0.9 * look.size)
            top += look.lead
    return top, edges[-1] + 2 * look.size


def _write_cell(
    sheet: _Sheet, text: str, x: float, width: float, top: float, aligned: str
) -> None:
    size = sheet.look.size
    spare = max(0.0, width - _width(text, size))
    shift = {"left": 0.0, "right": spare, "middle": spare / 2}[aligned]
    sheet.write(text, x + shift, top, size)


def _wrap(text: str, width: float, size: float) -> list[str]:
    lines: list[str] = [""]
    for piece in text.split():
        longer = f"{lines[-1]} {piece}".strip()
        if lines[-1] and _width(longer, size) > width + 0.1:
            lines.append(piece)
        else:
            lines[-1] = longer
    return lines


def _width(text: str, size: float) -> float:
    pieces = text.split()
    blanks = max(0, len(pieces) - 1)
    return 0.5 * size * sum(map(len, pieces)) + 0.28 * size * blanks
