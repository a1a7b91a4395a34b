"""The pages for developers below /api/docs/, and the files that they show."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import date
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

from django.conf import settings
from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from portal.api_docs.error_codes import list_api_error_codes
from portal.api_docs.reference import (
    list_answers_of_operation,
    list_codes_of_operation,
    list_reference_operations,
    search_operations,
)
from portal.lib.api.errors import CONTRACT_TYPES
from portal.lib.database.time_limits import RETRY_AFTER_S
from portal.lib.errors import Unavailable

if TYPE_CHECKING:
    from django.http import HttpRequest

    from portal.api_docs.error_codes import ErrorCode

HERE = Path(__file__).parent
EXAMPLES = {"shell": "curl", "python": "Python"}
ENVIRONMENT = "export ASSAY_URL={address}\nexport ASSAY_KEY=…"
QUERY_MAX_LENGTH = 100


@dataclass(frozen=True, slots=True)
class Change:
    """A change of the API on one day; operations are `METHOD /path`."""

    on: date
    title: str
    text: str = ""
    added: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    deprecated: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()


@require_safe
def show_api_reference(request: HttpRequest) -> HttpResponse:
    """List all calls by task; `q` keeps those that have all its words."""
    query = request.GET.get("q", "").replace("\0", "").strip()[:QUERY_MAX_LENGTH]
    try:
        context = {
            "here": "reference",
            "tasks": search_operations(""),
            "found": search_operations(query),
            "query": query,
        }
    except Unavailable as busy:
        return _ask_again(busy)
    return render(request, "portal/docs/reference.html", context)


@require_safe
def show_api_operation(request: HttpRequest, operation_slug: str) -> HttpResponse:
    """Show one call; an unknown one is 404."""
    try:
        operation = list_reference_operations().get(operation_slug)
        if operation is None:
            raise Http404
        context = {
            "here": "reference",
            "tasks": search_operations(""),
            "operation": operation,
            "answers": list_answers_of_operation(operation_slug),
            "codes": list_codes_of_operation(operation_slug),
        }
    except Unavailable as busy:
        return _ask_again(busy)
    return render(request, "portal/docs/operation.html", context)


def _ask_again(busy: Unavailable) -> HttpResponse:
    return HttpResponse(
        busy.message, status=503, headers={"Retry-After": str(RETRY_AFTER_S)}
    )


@require_safe
def show_api_quick_start(request: HttpRequest) -> HttpResponse:
    """Show how to go from a key to samples read back, in two languages."""
    examples = [
        (slug, name, read_quick_start_example(slug)) for slug, name in EXAMPLES.items()
    ]
    context = {
        "here": "start",
        "examples": examples,
        "environment_code": ENVIRONMENT.format(address=settings.PUBLIC_URL),
        "typed_client_code": read_quick_start_example("typed_client"),
    }
    return render(request, "portal/docs/start.html", context)


@require_safe
def show_api_error_codes(request: HttpRequest) -> HttpResponse:
    """List the error codes; `q` keeps those whose code or sentence contains it."""
    query = request.GET.get("q", "").strip()[:QUERY_MAX_LENGTH]
    found = [each for each in list_api_error_codes() if _fits(each, query.lower())]
    context = {
        "here": "errors",
        "codes": found,
        "query": query,
        "types": sorted(CONTRACT_TYPES),
    }
    return render(request, "portal/docs/errors.html", context)


@require_safe
def show_api_changelog(request: HttpRequest) -> HttpResponse:
    """List what the API gained, changed and lost, newest first."""
    days = [
        (on, list(each)) for on, each in groupby(read_api_changelog(), lambda c: c.on)
    ]
    context = {"here": "changes", "days": days}
    return render(request, "portal/docs/changes.html", context)


@cache
def read_quick_start_example(slug: str) -> str:
    """Return an example of the quick start by its slug."""
    return (HERE / "examples" / f"{slug}.txt").read_text()


@cache
def read_api_changelog() -> tuple[Change, ...]:
    """Return the changes of `changes.json`, newest first."""
    return tuple(
        Change(
            on=date.fromisoformat(change["on"]),
            title=change["title"],
            text=change["text"],
            **{
                name: tuple(change.get(name, ()))
                for name in ("added", "changed", "deprecated", "removed")
            },
        )
        for change in json.loads((HERE / "changes.json").read_text())
    )


def _fits(each: ErrorCode, query: str) -> bool:
    return query in each.code or any(query in s.lower() for s in each.sentences)
