"""Our paths and the bare view's."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.http import HttpResponse
from django.urls import path

from portal.urls import urlpatterns as ours

if TYPE_CHECKING:
    from django.http import HttpRequest


def bare(request: HttpRequest) -> HttpResponse:
    return HttpResponse(b'{"ok":true}', content_type="application/json")


urlpatterns = [path("bare", bare), *ours]
