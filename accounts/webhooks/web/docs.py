"""Show the webhook documentation: signatures and the event catalogue.

Open to all, like the API's own.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from django.http import Http404
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from accounts.webhooks.catalogue import load_event_types
from accounts.webhooks.delivery.sending import TIMEOUT_S
from accounts.webhooks.examples import build_example_event
from accounts.webhooks.operations.endpoints import OVERLAP
from accounts.webhooks.schedule import ATTEMPTS_MAX, LADDER_S
from accounts.webhooks.signing import TOLERANCE_S
from portal.lib.translation import gettext_lazy

if TYPE_CHECKING:
    from django.http import HttpRequest, HttpResponse

    from accounts.webhooks.catalogue import EventType

SNIPPETS = Path(__file__).parents[1] / "snippets"
LANGUAGES = {
    "python": "Python",
    "javascript": "JavaScript (Node.js)",
    "ruby": "Ruby",
    "go": "Go",
    "php": "PHP",
    "java": "Java",
}
# Beginnings of event types, in the order of the page.
_GROUPS = {
    "lab_report.": gettext_lazy("Lab reports"),
    "labtest.": gettext_lazy("Lab tests"),
    "daily.": gettext_lazy("User data"),
    "historical.": gettext_lazy("Historical user data"),
    "provider.": gettext_lazy("Sources"),
    "message.": gettext_lazy("Webhook deliveries"),
}
_OTHERS = gettext_lazy("Other")
_HOUR_S, _MINUTE_S = 3600, 60
QUERY_MAX_LENGTH = 100


@dataclass(frozen=True, slots=True)
class Group:
    """Event types that begin alike."""

    title: str
    kinds: list[EventType]


@require_safe
def show_webhook_receiver_guide(request: HttpRequest) -> HttpResponse:
    """Show how to receive webhooks, verify them and respond."""
    return render(
        request,
        "webhooks/docs/receiving.html",
        {
            "here": "webhooks",
            "headers": _describe_headers(),
            "snippets": [
                (slug, name, read_verification_snippet(slug))
                for slug, name in LANGUAGES.items()
            ],
            "waits": [_in_words(seconds) for seconds in LADDER_S],
            "attempts": ATTEMPTS_MAX,
            "timeout_s": int(TIMEOUT_S),
        },
    )


@require_safe
def show_event_type_catalogue(request: HttpRequest) -> HttpResponse:
    """Show the event types; `q` filters them by name and description."""
    search = request.GET.get("q", "").strip()[:QUERY_MAX_LENGTH]
    found = _grouped(search.lower())
    return render(
        request,
        "webhooks/docs/events.html",
        {
            "here": "events",
            "groups": found,
            "query": search,
            "number": sum(len(group.kinds) for group in found),
        },
    )


@require_safe
def show_event_type(request: HttpRequest, event_type: str) -> HttpResponse:
    """Show one event type: when it is sent, an example, its schema."""
    kind = load_event_types().get(event_type)
    if kind is None:
        raise Http404
    example = build_example_event(kind.name)
    return render(
        request,
        "webhooks/docs/event.html",
        {"here": "events", "kind": kind, "example": example},
    )


@cache
def read_verification_snippet(slug: str) -> str:
    """Return sample code that verifies a message, in one of LANGUAGES."""
    return (SNIPPETS / f"{slug}.txt").read_text()


def _grouped(text: str) -> list[Group]:
    groups: dict[str, list[EventType]] = {
        title: [] for title in (*_GROUPS.values(), _OTHERS)
    }
    for name, kind in sorted(load_event_types().items()):
        if text in name or text in kind.when.lower():
            groups[_GROUPS.get(f"{name.partition('.')[0]}.", _OTHERS)].append(kind)
    return [Group(title, kinds) for title, kinds in groups.items() if kinds]


def _in_words(seconds: int) -> str:
    if seconds < _MINUTE_S:
        return _("%(number)d s") % {"number": seconds}
    if seconds < _HOUR_S:
        return _("%(number)d min") % {"number": seconds // _MINUTE_S}
    return _("%(number)d h") % {"number": seconds // _HOUR_S}


def _describe_headers() -> list[tuple[str, str]]:
    """Return the headers of a message, each with its meaning."""
    return [
        ("webhook-id", _("The message, the same on each attempt. Process it once.")),
        (
            "webhook-timestamp",
            _(
                "When this attempt was made, in Unix seconds. Refuse a message that is"
                " off by more than %(minutes)d minutes."
            )
            % {"minutes": TOLERANCE_S // _MINUTE_S},
        ),
        (
            "webhook-signature",
            _(
                "“v1,” and the base64 of an HMAC-SHA256 over webhook-id, a dot,"
                " webhook-timestamp, a dot and the raw body. For %(hours)d hours after"
                " a rotation there are two signatures, separated by a space."
            )
            % {"hours": int(OVERLAP.total_seconds()) // _HOUR_S},
        ),
    ]
