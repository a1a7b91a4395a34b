"""The OpenAPI document: made once a process, then served as it is.

Making it takes seconds of CPU and anybody may ask for it.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import orjson
from django.conf import settings
from django.http import HttpResponse
from django.views.decorators.http import require_safe
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.renderers import OpenApiYamlRenderer

from portal.lib.api.json import MEDIA_TYPE, dump_json
from portal.lib.database.time_limits import RETRY_AFTER_S
from portal.lib.errors import Unavailable

if TYPE_CHECKING:
    from django.http import HttpRequest

JSON, YAML = "json", "yaml"
_making = threading.Lock()
_made: dict[str, bytes] = {}


@require_safe
def show_openapi_document(request: HttpRequest) -> HttpResponse:
    """Return the OpenAPI document of all API calls, as YAML or JSON.

    The form is that of `?format=json` or `?format=yaml`, else what Accept prefers, else
    YAML. Errors: 503 `busy` with Retry-After while another thread of the process makes
    it, so that those who ask hold no thread.
    """
    try:
        _make()
    except Unavailable as busy:
        return HttpResponse(
            dump_json({"detail": busy.message, "code": busy.code}),
            status=503,
            content_type=MEDIA_TYPE,
            headers={"Retry-After": str(RETRY_AFTER_S)},
        )
    form = _find_form(request)
    types = {JSON: MEDIA_TYPE, YAML: OpenApiYamlRenderer.media_type}
    return HttpResponse(
        _made[form],
        content_type=types[form],
        headers={
            "Content-Disposition": f'inline; filename="assay-api.{form}"',
            "Vary": "Accept",
        },
    )


def load_openapi_document() -> dict[str, Any]:
    """Return the document. Raises: busy while another thread makes it."""
    _make()
    document: dict[str, Any] = orjson.loads(_made[JSON])
    return document


def _make() -> None:
    """Make the document where it is not made. Raises: busy."""
    if _made:
        return
    if not _making.acquire(blocking=False):
        raise Unavailable("busy", "The document is being made. Try again.")
    try:
        if not _made:
            document = build_openapi_document()
            # The library has no types.
            renderer: Any = OpenApiYamlRenderer()
            _made.update({YAML: renderer.render(document), JSON: dump_json(document)})
    finally:
        _making.release()


def build_openapi_document() -> dict[str, Any]:
    """Make the document of this installation: its address and who can be asked."""
    generator: Any = SchemaGenerator
    document: dict[str, Any] = generator().get_schema(public=True)
    document["servers"] = [
        {"url": settings.PUBLIC_URL, "description": "This installation"}
    ]
    document["info"]["contact"] = {
        "name": "Documentation",
        "url": f"{settings.PUBLIC_URL}/docs/",
    }
    return document


def _find_form(request: HttpRequest) -> str:
    form = request.GET.get("format", "").lower()
    if form in (JSON, YAML):
        return form
    wanted = request.get_preferred_type(
        [OpenApiYamlRenderer.media_type, "application/yaml", MEDIA_TYPE]
    )
    return JSON if wanted == MEDIA_TYPE else YAML
