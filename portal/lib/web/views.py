"""Shared parts of dashboard views: typed request, page or fragment, toasts."""

from __future__ import annotations

import json
import re
from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal, ParamSpec, Protocol, TypeVar
from uuid import UUID

from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import get_script_prefix, get_urlconf, reverse
from django.utils.cache import patch_vary_headers

if TYPE_CHECKING:
    from collections.abc import Callable

    from django_htmx.middleware import HtmxDetails

    from portal.lib.tenancy import TenantRow

P = ParamSpec("P")
R = TypeVar("R")

# Longer ones PostgreSQL, or Python itself, would refuse.
_OFFSET = re.compile("[0-9]{1,9}")
# What the choice between page and fragment depends on, for caches on the way.
_CHOOSERS = ("HX-Request", "HX-Boosted", "HX-History-Restore-Request")


class HasTenant(Protocol):
    """A request in a team and environment."""

    @property
    def tenant(self) -> TenantRow: ...


class HtmxRequest(HttpRequest):
    """A request that django-htmx's middleware has seen."""

    htmx: HtmxDetails


def is_signed_in(request: HttpRequest, **_path: Any) -> bool:
    """Return whether a member has signed in, of whatever team."""
    return request.user.is_authenticated


def allow_larger_request_body(
    max_bytes: int, *, of: Callable[..., bool] = is_signed_in
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Allow larger bodies on a page, for requests that `of` accepts.

    `of` is asked with the request and the path's parameters before any of the body is
    read; what is refused is a 413 (portal.http.body_limits). The outermost decorator.
    """

    def mark(view: Callable[P, R]) -> Callable[P, R]:
        view.accepts_body = (max_bytes, of)  # type: ignore[attr-defined]  # as Django marks views
        return view

    return mark


def build_secure_cookie_name(name: str, *, path: str) -> str:
    """Return a cookie's name, with the prefix that makes browsers hold it to https.

    A cookie for all paths is this host's alone too, so that no other host below the
    same domain can plant it.
    """
    if not settings.HTTPS:
        return name
    return f"__Host-{name}" if path == "/" else f"__Secure-{name}"


@dataclass(frozen=True, slots=True)
class Toast:
    """A note that appears in the corner: `ok` leaves by itself, `bad` stays."""

    title: str
    text: str = ""
    kind: Literal["ok", "bad"] = "ok"

    def on(self, response: HttpResponse) -> HttpResponse:
        """Send it with an answer to an htmx request."""
        response["HX-Trigger"] = json.dumps({"toast": asdict(self)})
        return response


@dataclass(frozen=True, slots=True)
class Pager:
    """Where a page of an offset list stands: `offset` rows skipped, `limit` shown."""

    total: int
    offset: int
    limit: int

    @property
    def first(self) -> int:
        """The number of the first row shown, from 1; 0 when there is none."""
        return self.offset + 1 if self.offset < self.total else 0

    @property
    def last(self) -> int:
        """The number of the last row shown."""
        return min(self.offset + self.limit, self.total)

    @property
    def previous(self) -> int | None:
        """The offset of the page before, or None on the first."""
        return max(self.offset - self.limit, 0) if self.offset else None

    @property
    def next(self) -> int | None:
        """The offset of the page after, or None on the last."""
        return self.offset + self.limit if self.last < self.total else None

    @property
    def steps(self) -> list[PageStep | None]:
        """Links to the first, the near and the last page; None stands for a gap."""
        pages = max(1, -(-self.total // self.limit))
        here = self.offset // self.limit + 1
        shown = sorted({1, here - 1, here, here + 1, pages} & {*range(1, pages + 1)})
        steps: list[PageStep | None] = []
        for before, page in zip([0, *shown], shown, strict=False):
            if page > before + 1:
                steps.append(None)
            steps.append(PageStep(page, (page - 1) * self.limit, page == here))
        return steps


@dataclass(frozen=True, slots=True)
class PageStep:
    """One numbered link of a pager."""

    number: int
    offset: int
    is_here: bool


def parse_list_offset(request: HttpRequest) -> int:
    """Return how many rows the query's `offset` skips; 0 for what is no such number."""
    value = request.GET.get("offset", "")
    return int(value) if _OFFSET.fullmatch(value) else 0


def is_page_fragment_requested(request: HtmxRequest) -> bool:
    """Return whether htmx asks for a part of the page, not for all of it."""
    htmx = request.htmx
    return bool(htmx) and not (htmx.boosted or htmx.history_restore_request)


def render_page(
    request: HtmxRequest,
    template: str,
    *,
    fragment: str | None = None,
    status: int = 200,
    **context: Any,
) -> HttpResponse:
    """Render the page, or only `fragment` of it when htmx asks for a part.

    The fragment is the same template that the page includes, with the same context.
    Source: Ours (design guide, htmx patterns).
    """
    part = fragment is not None and is_page_fragment_requested(request)
    response = render(
        request, fragment if part and fragment else template, context, status=status
    )
    patch_vary_headers(response, _CHOOSERS)
    return response


def redirect_browser(request: HtmxRequest, url: str) -> HttpResponse:
    """Send the browser to `url` after a change, with htmx and without it."""
    if request.htmx:
        return HttpResponse(status=204, headers={"HX-Redirect": url})
    return HttpResponseRedirect(url)


def page_url(request: HasTenant, name: str, **parameters: object) -> str:
    """Return the URL of a dashboard page in the request's team and environment."""
    tenant = request.tenant
    values = tuple(parameters.values())
    if not all(isinstance(value, UUID) for value in values):
        place = {"team_slug": tenant.team.slug, "environment": tenant.environment}
        return reverse(name, kwargs={**place, **parameters})
    url = _build_place_url(
        name,
        tenant.team.slug,
        tenant.environment,
        tuple(parameters),
        get_urlconf(),
        get_script_prefix(),
    )
    for number, value in enumerate(values):
        url = url.replace(_stand_in(number), str(value))
    return url


@lru_cache(maxsize=4096)
def _build_place_url(
    name: str,
    team_slug: str,
    environment: str,
    parameters: tuple[str, ...],
    urlconf: str | None,
    _prefix: str,
) -> str:
    """Build a URL of a team's environment once, with others in place of its IDs.

    A page has a hundred of them, and a list one for each row.
    """
    place = {"team_slug": team_slug, "environment": environment}
    ids = {each: UUID(_stand_in(number)) for number, each in enumerate(parameters)}
    return reverse(name, urlconf, kwargs={**place, **ids})


def _stand_in(number: int) -> str:
    return f"00000000-0000-8000-8000-a55a7000000{number}"
