"""Public requisition link: no sign-in, no session."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.utils.cache import add_never_cache_headers
from django.views.decorators.http import require_GET

from labs.operations.documents.order_documents import open_requisition_link
from labs.web.documents.views import build_pdf_response
from portal.lib.errors import DomainError, NotFound

if TYPE_CHECKING:
    from django.http import HttpRequest


@require_GET
def download_requisition_by_link(request: HttpRequest) -> HttpResponse:
    """Return the requisition; 404 for an unknown link, 410 for an expired one."""
    try:
        document = open_requisition_link(
            token=request.GET.get("token", ""),
            address=request.META.get("REMOTE_ADDR") or None,
        )
    except NotFound:
        raise Http404 from None
    except DomainError:
        response = render(request, "labs/requisition_link_ended.html", status=410)
    else:
        response = build_pdf_response(document)
    # Whoever has the address can read it: no cache, index or next site gets it.
    add_never_cache_headers(response)
    response["Referrer-Policy"] = "no-referrer"
    response["X-Robots-Tag"] = "noindex"
    return response
