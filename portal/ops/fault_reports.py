"""Reports of faults to a Sentry that the operator names, without a person's data.

Sent: what was raised and where, the address without its query, the request's id. Not
sent: the words of exceptions, which may quote rows, local variables, bodies, headers,
cookies, breadcrumbs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.core.exceptions import ImproperlyConfigured

from portal.lib.web.request_ids import get_current_request_id

if TYPE_CHECKING:
    from sentry_sdk.types import Event, Hint

# Of an event all else is left out: what a newer library adds is not sent unseen.
_KEPT = {
    *("event_id", "timestamp", "level", "platform", "logger", "transaction", "tags"),
    *("exception", "logentry", "request", "release", "environment", "sdk", "type"),
}


def start_error_reporting(dsn: str) -> None:
    """Start error reports to Sentry. Raises: ImproperlyConfigured: no library."""
    try:
        import sentry_sdk
    except ImportError:
        raise ImproperlyConfigured(
            "SENTRY_DSN is set, but not its library: uv sync --group sentry"
        ) from None
    sentry_sdk.init(dsn=dsn, **build_error_reporting_options())


def build_error_reporting_options() -> dict[str, Any]:
    """Build the library's options; a test passes the same to its own client."""
    return {
        "include_local_variables": False,
        "max_request_body_size": "never",
        "max_breadcrumbs": 0,
        "before_send": remove_health_data_from_error_report,
    }


def remove_health_data_from_error_report(event: Event, _hint: Hint) -> Event:
    """Remove everything that may be health data or a secret from a report."""
    kept: dict[str, Any] = {k: v for k, v in event.items() if k in _KEPT}
    for raised in kept.get("exception", {}).get("values", []):
        raised["value"] = ""
    request = kept.pop("request", {})
    if request:
        kept["request"] = {
            "method": request.get("method"),
            "url": str(request.get("url", "")).partition("?")[0],
        }
    if request_id := get_current_request_id():
        kept["tags"] = {**kept.get("tags", {}), "request_id": request_id}
    return kept  # type: ignore[return-value]  # the same event, with less in it
