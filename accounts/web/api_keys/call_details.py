"""One call of the API log: the scopes it needs, and how to make it again."""

from __future__ import annotations

import re
from dataclasses import dataclass
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from django.urls import Resolver404, resolve

from accounts.states import Access, scopes_allow_access
from portal.lib.api.calls import find_path_template, list_areas_needed_by_call

if TYPE_CHECKING:
    from accounts.models import ApiCall, ApiKey

_PARAMETER = re.compile(r"\{(\w+)\}")
_WITH_BODY = frozenset({"POST", "PUT", "PATCH"})
_MULTIPART = "multipart/form-data"


@dataclass(frozen=True, slots=True)
class NeededScope:
    """A scope that a call needs, and whether its key has it today."""

    name: str
    is_granted: bool


@dataclass(frozen=True, slots=True)
class CallDetails:
    """A call as the page opens it.

    `template` is its path with the names of all parameters, "" where today's API has no
    such call; then `scopes` and `curl` are empty too. `phrase` is the words of its
    status (RFC 9110).
    """

    call: ApiCall
    key: ApiKey | None
    phrase: str
    template: str
    scopes: tuple[NeededScope, ...]
    curl: str


def build_api_call_details(call: ApiCall, key: ApiKey | None) -> CallDetails:
    """Build what the page shows of a call. No query."""
    try:
        phrase = HTTPStatus(call.status).phrase
    except ValueError:
        phrase = ""
    try:
        match = resolve(call.path)
    except Resolver404:
        return CallDetails(call, key, phrase, "", (), "")
    # What the log holds are calls of these views alone.
    view: Any = match.func.cls  # type: ignore[attr-defined]
    granted = None if key is None or key.scopes is None else frozenset(key.scopes)
    scopes = tuple(
        NeededScope(
            f"{area}:{Access.WRITE if write else Access.READ}",
            scopes_allow_access(granted, area=area, write=write),
        )
        for area, write in list_areas_needed_by_call(view, call.method)
        if area
    )
    return CallDetails(
        call=call,
        key=key,
        phrase=phrase,
        template=find_path_template(match.route),
        scopes=scopes,
        curl=_render_as_curl(call, view),
    )


def _render_as_curl(call: ApiCall, view: Any) -> str:
    """Write the call for a shell; the key and what the log leaves out are variables."""
    path = _PARAMETER.sub(lambda found: f"${found[1].upper()}", call.path)
    verb = "" if call.method == "GET" else f"-X {call.method} "
    lines = [f'curl {verb}"$ASSAY_URL{path}"', '  -H "x-service-api-key: $ASSAY_KEY"']
    if call.method in _WITH_BODY:
        if _MULTIPART in {parser.media_type for parser in view.parser_classes}:
            lines += ['  -F "file=@report.pdf"', '  -F "user_id=$USER_ID"']
        else:
            lines += ['  -H "content-type: application/json"', "  -d @body.json"]
    return " \\\n".join(lines)
