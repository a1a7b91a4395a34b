"""Command palette search: markers and lab tests of the catalog by name."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlencode

from django.utils.translation import gettext as _

from accounts.declarations.pages import Hit
from labs.queries.catalogue import (
    LabTestFilters,
    find_names_in_catalogue,
    list_lab_tests_page,
)
from portal.lib.web.views import page_url

if TYPE_CHECKING:
    from accounts.web.requests import TenantRequest

HITS = 6


def search_catalogue(request: TenantRequest, text: str) -> list[Hit]:
    """Return markers with `text` in their name or a result's, then lab tests."""
    markers = find_names_in_catalogue(tenant=request.tenant, text=text, limit=HITS)
    hits = [
        Hit(
            words=name,
            url=_list_url(request, "labs:markers", name),
            detail=_("Marker, %(labs)s") % {"labs": ", ".join(labs)},
        )
        for name, labs in markers
    ]
    panels = list_lab_tests_page(
        tenant=request.tenant,
        filters=LabTestFilters(name=text, sort="name"),
        page=1,
        size=HITS,
    ).panels
    hits += [
        Hit(
            words=panel.name,
            url=_list_url(request, "labs:tests", panel.name),
            detail=_("Lab test, %(lab)s") % {"lab": panel.lab.name},
        )
        for panel in panels
    ]
    return hits[:HITS]


def _list_url(request: TenantRequest, page: str, name: str) -> str:
    return f"{page_url(request, page)}?{urlencode({'q': name[:100]})}"
