"""Full-text search over the documentation, section by section."""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from threading import Thread
from typing import TYPE_CHECKING

from django.utils.html import conditional_escape, format_html, format_html_join

from portal.docs.pages import list_docs_pages, render_docs_page

if TYPE_CHECKING:
    from django.utils.safestring import SafeString

    from portal.docs.markdown import Section
    from portal.docs.pages import Page

RESULTS_MAX = 30
# Letters of a section's text that a result shows.
EXCERPT_LENGTH = 200
# The binding texts name everything, so other pages come first.
LAST_PAGES = {"contract", "specification"}
_HEADING_SCORE, _TITLE_SCORE, _START_SCORE, _COUNT_MAX = 10, 5, 2, 3


@dataclass(frozen=True, slots=True)
class Result:
    """A section that contains all words of a query."""

    page: Page
    heading: str
    url: str
    excerpt: SafeString


@dataclass(frozen=True, slots=True)
class _Entry:
    page: Page
    section: Section
    title: str
    heading: str
    text: str


def search_docs(query: str) -> list[Result]:
    """Return the sections that contain all words of a query, best first."""
    words = query.lower().split()
    if not words:
        return []
    scored = [
        (score, index, entry)
        for index, entry in enumerate(_list_entries())
        if (score := _score_entry(entry, words))
    ]
    scored.sort(key=lambda each: (-each[0], each[1]))
    return [_make_result(entry, words) for _, _, entry in scored[:RESULTS_MAX]]


def start_docs_search() -> Thread:
    """Index the documentation beside the first requests; return the thread.

    Else the first search of each process waits for all pages to be rendered.
    """
    thread = Thread(target=_index_ahead, name="docs-search", daemon=True)
    thread.start()
    return thread


def _index_ahead() -> None:
    with suppress(OSError):  # a page that can't be read is the first search's to report
        _list_entries()


def _list_entries() -> tuple[_Entry, ...]:
    pages = list_docs_pages().values()
    return _index(tuple((page, page.path.stat().st_mtime_ns) for page in pages))


@cache
def _index(pages: tuple[tuple[Page, int], ...]) -> tuple[_Entry, ...]:
    return tuple(
        _Entry(
            page,
            section,
            _compact(page.title),
            _compact(section.heading),
            section.text.lower(),
        )
        for page, _ in pages
        for section in render_docs_page(page).sections
    )


def _compact(title: str) -> str:
    """Return a title in small letters without spaces: "backup" finds "Back up"."""
    return title.lower().replace(" ", "")


def _score_entry(entry: _Entry, words: list[str]) -> float:
    """Return how well a section fits; 0 where it lacks a word."""
    score = 0.0
    for word in words:
        in_heading = word in entry.heading
        in_title = word in entry.title
        count = entry.text.count(word)
        if not (in_heading or in_title or count):
            return 0.0
        score += _HEADING_SCORE * in_heading + _TITLE_SCORE * in_title
        score += min(count, _COUNT_MAX)
        whole = re.compile(rf"(?<!\w){re.escape(word)}")
        score += _START_SCORE * bool(
            whole.search(f"{entry.section.heading.lower()} {entry.text}")
        )
    return score / 10 if entry.page.slug in LAST_PAGES else score


def _make_result(entry: _Entry, words: list[str]) -> Result:
    anchor = entry.section.anchor
    return Result(
        page=entry.page,
        heading=entry.section.heading,
        url=f"{entry.page.url}#{anchor}" if anchor else entry.page.url,
        excerpt=_make_excerpt(entry.section.text, words),
    )


def _make_excerpt(text: str, words: list[str]) -> SafeString:
    """Return the text around the first match, with the matches marked."""
    lowered = text.lower()
    first = min((at for word in words if (at := lowered.find(word)) >= 0), default=0)
    start = max(0, first - EXCERPT_LENGTH // 3)
    if start:
        start = text.rfind(" ", 0, start) + 1
    end = start + EXCERPT_LENGTH
    part = text[start:end]
    if end < len(text):
        part = part.rpartition(" ")[0] or part
    pattern = "|".join(re.escape(word) for word in sorted(words, key=len, reverse=True))
    pieces = re.split(f"({pattern})", part, flags=re.IGNORECASE)
    marked = format_html_join(
        "",
        "{}",
        (
            (format_html("<mark>{}</mark>", piece) if index % 2 else piece,)
            for index, piece in enumerate(pieces)
        ),
    )
    return format_html(
        "{}{}{}",
        "… " if start else "",
        conditional_escape(marked),
        " …" if end < len(text) else "",
    )
