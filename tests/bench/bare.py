"""Our application with a bare Django view beside it, in one process.

`/bare` passes no middleware and touches no database: the limit that the small view is
measured against (performance.md section 3).
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "portal.settings")

import django

django.setup()

from django.conf import settings
from django.core.handlers.wsgi import WSGIHandler
from django.http import HttpResponse
from django.test import override_settings
from django.urls import path

from portal.urls import urlpatterns as ours

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from django.http import HttpRequest


def bare(request: HttpRequest) -> HttpResponse:
    return HttpResponse(b'{"ok":true}', content_type="application/json")


urlpatterns = [path("bare", bare), *ours]
settings.ROOT_URLCONF = __name__
_ours = WSGIHandler()
with override_settings(MIDDLEWARE=[]):
    _bare = WSGIHandler()


def application(
    environ: dict[str, Any], start_response: Callable[..., Any]
) -> Iterable[bytes]:
    handler = _bare if environ["PATH_INFO"] == "/bare" else _ours
    return handler(environ, start_response)
