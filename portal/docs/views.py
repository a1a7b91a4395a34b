"""The documentation at /docs/: its front page, each page, and the search."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.http import Http404
from django.shortcuts import render
from django.views.decorators.http import require_safe

from portal.docs.pages import (
    find_neighboring_docs_pages,
    list_docs_pages,
    list_docs_pages_by_kind,
    render_docs_page,
)
from portal.docs.search import search_docs

if TYPE_CHECKING:
    from django.http import HttpRequest, HttpResponse

QUERY_MAX_LENGTH = 100


@require_safe
def show_docs_index(request: HttpRequest) -> HttpResponse:
    """Show all pages by kind."""
    return render(request, "docs/front.html", {"kinds": list_docs_pages_by_kind()})


@require_safe
def show_docs_page(request: HttpRequest, page_slug: str) -> HttpResponse:
    """Show one page; an unknown one is 404."""
    found = list_docs_pages().get(page_slug)
    if found is None:
        raise Http404
    before, after = find_neighboring_docs_pages(found)
    context = {
        "kinds": list_docs_pages_by_kind(),
        "here": found,
        "rendered": render_docs_page(found),
        "before": before,
        "after": after,
    }
    return render(request, "docs/page.html", context)


@require_safe
def show_docs_search_results(request: HttpRequest) -> HttpResponse:
    """Show the sections that contain all words of `q`."""
    query = request.GET.get("q", "").replace("\0", "").strip()[:QUERY_MAX_LENGTH]
    context = {
        "kinds": list_docs_pages_by_kind(),
        "query": query,
        "results": search_docs(query),
    }
    return render(request, "docs/search.html", context)
