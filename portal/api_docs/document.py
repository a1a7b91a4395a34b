"""The OpenAPI document: made once a process, then served as it is.

Making it takes seconds of CPU and anybody may ask for it.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.http import HttpResponse
from django.views.decorators.http import require_safe
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.renderers import OpenApiYamlRenderer

from portal.lib.api.json import MEDIA_TYPE, dump_json
from portal.lib.database.time_limits import RETRY_AFTER_S

if TYPE_CHECKING:
    from django.http import HttpRequest

_making = threading.Lock()
_made: list[bytes] = []


@require_safe
def show_openapi_document(_request: HttpRequest) -> HttpResponse:
    """Return the OpenAPI document of all API calls, as YAML.

    Depends on nothing that a request says. Errors: 503 `busy` with Retry-After while
    another thread of the process makes it, so that those who ask hold no thread.
    """
    if not _made:
        if not _making.acquire(blocking=False):
            body = {"detail": "The document is being made. Try again.", "code": "busy"}
            return HttpResponse(
                dump_json(body),
                status=503,
                content_type=MEDIA_TYPE,
                headers={"Retry-After": str(RETRY_AFTER_S)},
            )
        try:
            # The library has no types.
            generator: Any = SchemaGenerator
            renderer: Any = OpenApiYamlRenderer()
            document = generator().get_schema(public=True)
            document["servers"] = [{"url": settings.PUBLIC_URL}]
            _made.append(renderer.render(document))
        finally:
            _making.release()
    return HttpResponse(
        _made[0],
        content_type=OpenApiYamlRenderer.media_type,
        headers={"Content-Disposition": 'inline; filename="assay-api.yaml"'},
    )
