"""Our application with a bare Django view beside it, in one process.

`/bare` passes no middleware and touches no database: the limit that the small view is
measured against (performance.md section 3).
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.core.handlers.wsgi import WSGIHandler
from django.test import override_settings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "portal.settings")
settings.ROOT_URLCONF = "tests.bench.bare_urls"

from portal.server.application import Application  # noqa: E402 - needs the URLs
from portal.wsgi import application as _ours  # noqa: E402 - as above
from portal.wsgi import flush_before_exit as flush_before_exit  # noqa: E402

with override_settings(MIDDLEWARE=[]):
    _bare = WSGIHandler()


def application(
    environ: dict[str, Any], start_response: Callable[..., Any]
) -> Iterable[bytes]:
    handler = _bare if environ["PATH_INFO"] == "/bare" else _ours
    return handler(environ, start_response)


asgi = Application(__name__)
