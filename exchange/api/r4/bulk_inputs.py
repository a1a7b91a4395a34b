"""Read what a bulk export is asked for (Bulk Data Access 2.0, kick-off request)."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from exchange.models.bulk_export import URL_MAX_LENGTH
from exchange.operations.bulk_exports import ExportRequest
from exchange.resources.matching import SearchInvalid
from exchange.resources.registry import RESOURCE_TYPES

if TYPE_CHECKING:
    from collections.abc import Iterable

_FORMATS = frozenset({"application/fhir+ndjson", "application/ndjson", "ndjson"})


def read_export_request(
    *,
    given: Iterable[tuple[str, str]],
    url: str,
    without: frozenset[str],
    lenient: bool,
) -> ExportRequest:
    """Return what is exported. Raises: SearchInvalid (400).

    What is not supported is refused, unless the caller prefers leniency.
    """
    types: list[str] = []
    since: datetime | None = None
    for name, text in given:
        match name:
            case "_outputFormat":
                if text.replace(" ", "+") not in _FORMATS:
                    raise SearchInvalid(
                        "format_unknown", "Files are application/fhir+ndjson.", name
                    )
            case "_type":
                types += [one for one in text.split(",") if one]
            case "_since":
                since = _read_instant(text)
            case "_format":
                pass
            case _ if not lenient:
                raise SearchInvalid(
                    "parameter_unknown", f"Not supported here: {name[:40]}.", name[:40]
                )
    served = [one for one in RESOURCE_TYPES if one in types and one not in without]
    if (unknown := set(types) - set(served)) and not lenient:
        raise SearchInvalid(
            "type_unknown",
            f"Not exported here: {', '.join(sorted(unknown))[:200]}.",
            "_type",
        )
    if types and not served:
        raise SearchInvalid("type_unknown", "None of the types is exported.", "_type")
    return ExportRequest(
        request_url=url[:URL_MAX_LENGTH],
        types=tuple(served),
        without=without,
        since=since,
    )


def _read_instant(text: str) -> datetime:
    try:
        found = datetime.fromisoformat(text.replace(" ", "+"))
    except ValueError:
        found = None
    if found is None or found.tzinfo is None:
        raise SearchInvalid(
            "instant_invalid", "Use an instant such as 2026-01-31T00:00:00Z.", "_since"
        )
    return found
