"""Command palette search: sections of the documentation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from accounts.declarations.pages import Hit
from portal.docs.search import search_docs

if TYPE_CHECKING:
    from accounts.web.requests import TenantRequest

HITS = 6


def find_docs_sections(request: TenantRequest, text: str) -> list[Hit]:
    """Return the sections with all words of `text`, best first; the same for all."""
    return [
        Hit(words=found.heading, url=found.url, detail=found.page.title)
        for found in search_docs(text)[:HITS]
    ]
