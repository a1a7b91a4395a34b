"""Nothing is invented: what a row says is printed where the row says that it stands.

Holds on every page, read well or badly, that of a report or of no sense at all. A
sample runs with the tests; `pytest -m long tests/reports/test_nothing_invented.py` asks
every layout, trait and mixture.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path

import pytest

from reports.parser.documents import read_document_pages
from reports.parser.pages import Page, Word
from reports.parser.parsing import MAX_PAGES, parse_report_pages
from reports.parser.report import ParsedResult, Place, UnreadableReport
from reports.parser.rows.grammar import breaks_value_grammar
from tests.reports.corpus import LAYOUTS, draw_report
from tests.reports.mutations import MUTATIONS, list_sources, make_report
from tests.reports.mutations.mixtures import draw_mixture

# A blank or a sign between them may be printed otherwise than it is given.
_TOKEN = re.compile(r"\d+(?:[.,]\d+)*|[^\W\d_]+")
Pages = Sequence[Page]


def shuffle_texts(page: Page, chance: random.Random) -> Page:
    """Return a page with its texts in each other's places."""
    texts = [word.text for word in page.words]
    chance.shuffle(texts)
    words = zip(page.words, texts, strict=True)
    return Page(1, page.width, page.height, tuple(w._replace(text=t) for w, t in words))


def scatter_words(page: Page, chance: random.Random) -> Page:
    """Return a page with its words anywhere, over one another too."""
    words = []
    for word in page.words:
        x, y = chance.uniform(0, page.width), chance.uniform(0, page.height)
        wide, high = word.x1 - word.x0, word.bottom - word.top
        words.append(word._replace(x0=x, x1=x + wide, top=y, bottom=y + high))
    return Page(1, page.width, page.height, tuple(words))


def repeat_numbers(page: Page, chance: random.Random) -> Page:
    """Return a page on which any number may be any other of the page."""
    numbers = [word.text for word in page.words if word.text[:1].isdigit()]
    words = (
        word._replace(text=chance.choice(numbers)) if word.text[:1].isdigit() else word
        for word in page.words
    )
    return Page(1, page.width, page.height, tuple(words))


SENSELESS = (shuffle_texts, scatter_words, repeat_numbers)


def draw_senseless(seeds: Iterable[int]) -> Iterator[tuple[str, Pages]]:
    for seed in seeds:
        _, page, _ = draw_mixture(seed)
        for change in SENSELESS:
            chance = random.Random(seed)  # noqa: S311 - draws pages, no secrets
            yield f"{change.__name__} {seed}", [change(page, chance)]


def draw_mixtures(seeds: Iterable[int]) -> Iterator[tuple[str, Pages]]:
    for seed in seeds:
        yield f"mixture {seed}", [draw_mixture(seed)[1]]


def draw_mutations(*, every: int) -> Iterator[tuple[str, Pages]]:
    sources = list(list_sources(every=every))
    for mutation in MUTATIONS:
        for name, rows in sources:
            yield f"{mutation.name}, {name}", [make_report(mutation, name, rows)[1]]


def draw_layouts(folder: Path, *, every: int) -> Iterator[tuple[str, Pages]]:
    names = [name for name, layout in sorted(LAYOUTS.items()) if layout.has_text]
    for name in names[::every]:
        report = draw_report(folder, name, kind="text")
        yield name, read_document_pages([report.path], at_most=MAX_PAGES)


def read_ink(page: Page, place: Place) -> str:
    """Return what a page prints at a place, line by line, without blanks."""
    xs, ys = [p.x for p in place.polygon], [p.y for p in place.polygon]
    inside: list[Word] = []
    for word in page.words:
        middle = page.shown((word.x0 + word.x1) / 2, word.middle)
        if min(xs) <= middle.x <= max(xs) and min(ys) <= middle.y <= max(ys):
            inside.append(word)
    ordered = sorted(inside, key=lambda word: (round(word.middle / word.size), word.x0))
    return "".join(word.text for word in ordered)


def find_not_printed(text: str | None, place: Place | None, page: Page) -> list[str]:
    """Return the numbers and words of a text that do not stand at its place."""
    if not text:
        return []
    if place is None:
        return [f"{text} is nowhere"]
    ink = read_ink(page, place)
    return [
        f"{text}: no {one} in {ink}" for one in _TOKEN.findall(text) if one not in ink
    ]


def find_invented(pages: Pages, rows: Sequence[ParsedResult]) -> list[str]:
    """Return what rows say that is not printed where they say, or that two rows say."""
    by_number = {page.number: page for page in pages}
    found: list[str] = []
    for row in rows:
        places = row.provenance
        if places.value is None:
            found.append(f"{row.value} is nowhere")
            continue
        page = by_number[places.value.page]
        found += find_not_printed(row.value, places.value, page)
        found += find_not_printed(row.reference_range, places.reference_range, page)
        if places.units:  # else a heading or the title of the column prints it
            found += find_not_printed(row.units, places.units, page)
        if breaks_value_grammar(row.value):
            found.append(f"{row.value} is no value")
    values = sorted(str(row.provenance.value) for row in rows)
    found += [f"two rows at {a}" for a, b in pairwise(values) if a == b]
    return found


def ask(
    drawn: Iterable[tuple[str, Pages]],
) -> tuple[dict[str, list[str]], Counter[str]]:
    """Return what was invented on which page, and how many pages gave rows."""
    invented: dict[str, list[str]] = {}
    counts: Counter[str] = Counter()
    for name, pages in drawn:
        counts["pages"] += 1
        try:
            rows = parse_report_pages(pages).results
        except UnreadableReport:
            continue
        counts["read"] += 1
        if found := find_invented(pages, rows):
            invented[name] = found
    return invented, counts


def test_nothing_is_invented_on_a_sample_of_all_pages(tmp_path):
    invented, counts = ask(
        [
            *draw_layouts(tmp_path, every=16),
            *draw_mutations(every=64),
            *draw_mixtures(range(31000, 31012)),
            *draw_senseless(range(31000, 31012)),
        ]
    )

    assert invented == {}
    assert counts["pages"] > 140
    assert counts["read"] > 100


def test_a_row_that_says_more_than_its_ink_is_found():
    """The question itself can fail: on a page whose numbers were changed afterwards."""
    _, page, _ = draw_mixture(1000)
    rows = parse_report_pages([page]).results
    other = [word._replace(text=word.text.replace("1", "7")) for word in page.words]
    changed = Page(1, page.width, page.height, tuple(other))

    assert find_invented([page], rows) == []
    assert find_invented([changed], rows) != []
    assert find_invented([page], [*rows, rows[0]]) != []


@pytest.mark.long
def test_nothing_is_invented_on_any_page(tmp_path):
    invented, counts = ask(
        [
            *draw_layouts(tmp_path, every=1),
            *draw_mutations(every=4),
            *draw_mixtures(range(31000, 31200)),
            *draw_senseless(range(31000, 31200)),
        ]
    )

    assert invented == {}
    assert counts["read"] > 1000
