"""The base of every API view, and the pattern that mounts one.

Fail closed: without an authenticated key nothing runs.
"""

from __future__ import annotations

import re
import time
from contextlib import ExitStack, nullcontext
from typing import TYPE_CHECKING, Any, ClassVar

from django.http import HttpResponse
from django.urls import re_path
from django.utils import translation
from rest_framework.exceptions import NotAuthenticated
from rest_framework.views import APIView

from portal.lib.api.compression import gzip_large_response
from portal.lib.api.errors import find_answer_to_fault, find_error_code
from portal.lib.api.json import BODY_MAX_BYTES, MEDIA_TYPE, dump_json
from portal.lib.api.observers import call_observers
from portal.lib.api.schema import ApiSchema
from portal.lib.errors import NotFound

if TYPE_CHECKING:
    from collections.abc import Mapping
    from contextlib import AbstractContextManager

    from django.db.models import QuerySet
    from django.http import HttpRequest, HttpResponseBase
    from django.urls import URLPattern
    from rest_framework.request import Request

    from portal.lib.actor import Actor

_default_headers: dict[type[APIView], dict[str, str]] = {}


class KeyedAPIView(APIView):
    """A view behind a key, whose header it names: `self.actor` is set.

    `enter` opens what the key opens for the length of the call. No cache on the way may
    keep an answer: most hold health data.
    """

    schema = ApiSchema()
    key_header: ClassVar[str] = "x-service-api-key"
    # What it is about, for keys that are limited to some areas; GET reads, all else
    # writes but for the methods in `reading`. Answers may tell of other areas too.
    area: ClassVar[str] = ""
    area_by_method: ClassVar[Mapping[str, str]] = {}
    also_reads: ClassVar[tuple[str, ...]] = ()
    # Areas that stand in for `area`, where an answer shows what the key may read of it.
    or_areas: ClassVar[tuple[str, ...]] = ()
    # The FHIR resource type it is about, `*` where it decides by type itself.
    fhir_type: ClassVar[str] = ""
    reading: ClassVar[tuple[str, ...]] = ()
    # What the token of the user in the path may call; other tokens and keys may all.
    user_methods: ClassVar[tuple[str, ...]] = ()
    # Of a whole body, asked before more of it is read than anybody may send.
    body_max_bytes: ClassVar[int] = BODY_MAX_BYTES
    actor: Actor

    def dispatch(
        self, request: HttpRequest, *args: Any, **kwargs: Any
    ) -> HttpResponseBase:
        started_at, status, code = time.time(), 500, ""
        try:
            with _in_english(), ExitStack() as self._stack:
                answer = super().dispatch(request, *args, **kwargs)
            answer["Cache-Control"] = "no-store"
            gzip_large_response(request, answer)
            status = answer.status_code
            code = find_error_code(answer) if status >= 400 else ""
            return answer
        except Exception as fault:
            status, code = find_answer_to_fault(fault)
            raise
        finally:
            for observe in call_observers:
                observe(self.request, status, code, started_at)
            # They would hold each other, and bodies, until garbage is looked for.
            self.request.parser_context = {}
            for name in ("response", "head"):
                vars(self).pop(name, None)

    @property
    def default_response_headers(self) -> dict[str, str]:
        """Return DRF's, found once for each class, whose alone they are."""
        if type(self) not in _default_headers:
            _default_headers[type(self)] = super().default_response_headers
        return dict(_default_headers[type(self)])

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        grant: Any = request.auth
        if not grant:
            raise NotAuthenticated
        self.actor = grant.actor
        self._stack.enter_context(self.enter(grant, **kwargs))

    def check_permissions(self, request: Request) -> None:
        # A call that is refused is counted first: a key is not tried out at will.
        super().check_throttles(request)
        super().check_permissions(request)

    def check_throttles(self, request: Request) -> None:
        """Nothing more: DRF asks after the permissions."""

    def enter(self, grant: Any, **path: str) -> AbstractContextManager[None]:
        """Set what the key opens at this path, and name its rows to the database."""
        raise NotImplementedError


def _in_english() -> AbstractContextManager[object]:
    """Give texts in English, as those of the API are, whatever its caller reads.

    Nearly always they are, as its paths pass the middleware of languages by.
    """
    if translation.get_language() == "en":
        return nullcontext()
    return translation.override("en")


def mount_api_view(
    route: str, view: type[APIView], name: str | None = None
) -> URLPattern:
    """Mount a view at a route such as `user/<user_id>`, slash at the end optional.

    `<path:name>` takes slashes too, the one at the end included. Parameters arrive as
    text: a malformed uuid is the view's to answer, with 422 (contract 1.1). A NUL
    matches nothing: PostgreSQL takes no text with it.
    """
    pattern = re.sub(r"<path:(\w+)>", r"(?P<\1>[^\\x00]+)", route)
    pattern = re.sub(r"(?<!\?P)<(\w+)>", r"(?P<\1>[^/\\x00]+)", pattern)
    return re_path(rf"^{pattern}/?$", view.as_view(), name=name)


def get_tenant_row_or_404(rows: QuerySet[Any], *, what: str, **lookup: Any) -> Any:
    """Return the one row of a tenant's `rows`. Raises: not_found."""
    try:
        return rows.get(**lookup)
    except rows.model.DoesNotExist:
        raise NotFound("not_found", f"{what} not found.") from None


def json_response(data: object, status: int = 200) -> HttpResponse:
    """Encode an answer without DRF's renderer, for hot paths."""
    return HttpResponse(dump_json(data), status=status, content_type=MEDIA_TYPE)
