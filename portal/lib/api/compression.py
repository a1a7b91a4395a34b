"""Gzip on the wire, for answers large enough to gain by it."""

from __future__ import annotations

import gzip
import re
from functools import partial
from typing import TYPE_CHECKING

from django.http import HttpResponse
from django.template.response import SimpleTemplateResponse
from django.utils.cache import patch_vary_headers

from portal.lib.api.json import MEDIA_TYPE

if TYPE_CHECKING:
    from django.http import HttpRequest, HttpResponseBase

# Below it the time to compress is more than the network's.
COMPRESSED_FROM_BYTES = 16 * 1024
# Samples shrink to a tenth at the first level, at a fifth of the sixth's time.
_LEVEL = 1
_GZIP = re.compile(
    r"(?:^|,)\s*(?:gzip|\*)\s*(?:;\s*q\s*=\s*([\d.]+)\s*)?(?=,|$)", re.IGNORECASE
)


def accepts_gzip(request: HttpRequest) -> bool:
    """Return whether the client takes gzip; one that says nothing does not."""
    found = _GZIP.search(request.META.get("HTTP_ACCEPT_ENCODING", ""))
    return found is not None and found[1] not in {"0", "0.0", "0.00", "0.000"}


def build_response_from_gzipped_json(request: HttpRequest, body: bytes) -> HttpResponse:
    """Build a response from gzipped JSON, unpacked where the client needs it."""
    taken = accepts_gzip(request)
    answer = HttpResponse(
        body if taken else gzip.decompress(body), content_type=MEDIA_TYPE
    )
    if taken:
        answer["Content-Encoding"] = "gzip"
    patch_vary_headers(answer, ("Accept-Encoding",))
    return answer


def gzip_large_response(request: HttpRequest, answer: HttpResponseBase) -> None:
    """Gzip an answer in place, if it is large and the client takes that.

    One that is still to be rendered is compressed then. A browser sends no API key by
    itself, so that nobody can make it ask, measure and guess what is in an answer.
    """
    if isinstance(answer, SimpleTemplateResponse) and not answer.is_rendered:
        answer.add_post_render_callback(partial(gzip_large_response, request))
        return
    if (
        not isinstance(answer, HttpResponse)
        or answer.has_header("Content-Encoding")
        or len(answer.content) < COMPRESSED_FROM_BYTES
        or not answer.get("Content-Type", "").startswith(MEDIA_TYPE)
    ):
        return
    patch_vary_headers(answer, ("Accept-Encoding",))
    if accepts_gzip(request):
        answer.content = gzip.compress(answer.content, _LEVEL, mtime=0)
        answer["Content-Encoding"] = "gzip"
