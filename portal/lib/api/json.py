"""JSON in and out: orjson behind DRF's renderer, parser and negotiation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import orjson
from django.utils.functional import Promise
from rest_framework.negotiation import BaseContentNegotiation
from rest_framework.parsers import BaseParser
from rest_framework.renderers import BaseRenderer

from portal.lib.api.errors import FieldError, RequestInvalid
from portal.lib.errors import TooLarge

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from rest_framework.request import Request

MEDIA_TYPE = "application/json"
# Ten thousand samples, the most one call may bring, fit in well.
BODY_MAX_BYTES = 10 * 1024 * 1024


def dump_json(data: object) -> bytes:
    """Encode as JSON; UTC datetimes end in `+00:00` (contract 1.5)."""
    return orjson.dumps(data, default=_read_lazy_text)


def _read_lazy_text(value: object) -> str:
    if isinstance(value, Promise):
        return str(value)
    raise TypeError


class OrjsonRenderer(BaseRenderer):
    """Encodes an answer; no data is an empty body."""

    media_type = MEDIA_TYPE
    format = "json"
    charset = None

    def render(
        self,
        data: Any,
        accepted_media_type: str | None = None,
        renderer_context: Mapping[str, Any] | None = None,
    ) -> bytes:
        if isinstance(renderer_context, dict):
            # The answer, which DRF has put into what the answer itself holds.
            renderer_context.pop("response", None)
        return b"" if data is None else dump_json(data)


class OrjsonParser(BaseParser):
    """Decodes a body; a body of zero length is an empty object (contract 1.1).

    Raises: 422 json_invalid; body_too_large (413) over BODY_MAX_BYTES.
    """

    media_type = MEDIA_TYPE

    def parse(
        self,
        stream: Any,
        media_type: str | None = None,
        parser_context: Mapping[str, Any] | None = None,
    ) -> Any:
        body = stream.read(BODY_MAX_BYTES + 1)
        if len(body) > BODY_MAX_BYTES:
            raise TooLarge(
                "body_too_large", "The body is too large. It can have at most 10 MB."
            )
        if not body:
            return {}
        try:
            return orjson.loads(body)
        except orjson.JSONDecodeError:
            raise RequestInvalid(
                [FieldError(("body",), "The body is not valid JSON.", "json_invalid")]
            ) from None


class AlwaysJson(BaseContentNegotiation):
    """Answers JSON whatever Accept says: PDFs and `*/*` must not end in 406."""

    def select_parser(
        self, request: Request, parsers: Iterable[BaseParser]
    ) -> BaseParser | None:
        media_type = (request.content_type or "").partition(";")[0].strip().lower()
        for parser in parsers:
            if parser.media_type == media_type:
                return parser
        return None

    def select_renderer(
        self,
        request: Request,
        renderers: Iterable[BaseRenderer],
        format_suffix: str | None = None,
    ) -> tuple[BaseRenderer, str]:
        renderer = next(iter(renderers))
        return renderer, renderer.media_type or MEDIA_TYPE
