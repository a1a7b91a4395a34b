"""The pages of the documentation: which there are, in which order, and their content.

docs/index.md lists them; a page that it does not list is not served.
"""

from __future__ import annotations

import posixpath
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from django.conf import settings
from django.urls import reverse

from portal.docs.markdown import render_markdown

if TYPE_CHECKING:
    from portal.docs.markdown import Rendered

_KIND = re.compile(r"## (.+)")
_ENTRY = re.compile(r"- \[([^\]]+)\]\(([^)]+\.md)\)(?:: (.+))?")


@dataclass(frozen=True, slots=True)
class Page:
    """A page: its address below /docs/, its title in lists, and its file."""

    slug: str
    title: str
    summary: str
    source: str  # relative to docs/, as the index names it

    @property
    def path(self) -> Path:
        """Return the file of the page."""
        return (find_docs_folder() / self.source).resolve()

    @property
    def url(self) -> str:
        """Return the address of the page."""
        return reverse("docs-page", args=[self.slug])


@dataclass(frozen=True, slots=True)
class Kind:
    """Pages of one kind, such as guides."""

    title: str
    pages: tuple[Page, ...]


def find_docs_folder() -> Path:
    """Return the folder of the documentation."""
    return Path(settings.BASE_DIR) / "docs"


@cache
def list_docs_pages_by_kind() -> tuple[Kind, ...]:
    """Return all pages by kind, in the order of docs/index.md."""
    kinds: list[tuple[str, list[Page]]] = []
    for line in (find_docs_folder() / "index.md").read_text().splitlines():
        if match := _KIND.fullmatch(line):
            kinds.append((match[1], []))
        elif match := _ENTRY.fullmatch(line):
            title, source, summary = match.groups(default="")
            summary = summary[:1].upper() + summary[1:].replace("`", "")
            kinds[-1][1].append(Page(_make_slug(source), title, summary, source))
    return tuple(Kind(title, tuple(pages)) for title, pages in kinds)


@cache
def list_docs_pages() -> dict[str, Page]:
    """Return all pages by slug, in order."""
    return {
        page.slug: page for kind in list_docs_pages_by_kind() for page in kind.pages
    }


def find_neighboring_docs_pages(page: Page) -> tuple[Page | None, Page | None]:
    """Return the pages before and after a page."""
    pages = list(list_docs_pages().values())
    index = pages.index(page)
    return (
        pages[index - 1] if index else None,
        pages[index + 1] if index + 1 < len(pages) else None,
    )


def render_docs_page(page: Page) -> Rendered:
    """Return a page as HTML, rendered again when its file has changed."""
    return _render(page, page.path.stat().st_mtime_ns)


@cache
def _render(page: Page, _changed: int) -> Rendered:
    def resolve(target: str) -> str | None:
        return _resolve_link(page, target)

    return render_markdown(page.path.read_text(), resolve=resolve)


def _make_slug(source: str) -> str:
    return source.removeprefix("../").removesuffix(".md").lower()


def _resolve_link(page: Page, target: str) -> str | None:
    """Return the address of a link of a page; None for files that are not served."""
    if target.startswith(("#", "/")) or "://" in target:
        return target
    path, _, anchor = target.partition("#")
    source = posixpath.normpath(posixpath.join(posixpath.dirname(page.source), path))
    if source == "index.md":
        return reverse("docs")
    found = list_docs_pages().get(_make_slug(source))
    if found is None:
        return None
    return f"{found.url}#{anchor}" if anchor else found.url
