"""Operators' page of the lake: what is exported for analysts, and when."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.contrib import admin
from django.template.response import TemplateResponse
from django.utils.translation import gettext as _

from exchange.operations.lake.erasure import is_lake_on
from exchange.queries.lake import (
    count_stale_lake_files,
    list_lake_datasets,
    list_lake_runs,
)
from portal.lib.storage.lake import describe_lake_place
from portal.lib.translation import gettext_lazy

if TYPE_CHECKING:
    from django.http import HttpRequest

DATASET_NAMES = {
    "samples": gettext_lazy("Samples"),
    "summaries": gettext_lazy("Summaries"),
    "results": gettext_lazy("Lab results"),
}
_RUNS_SHOWN = 14


def show_lake(request: HttpRequest) -> TemplateResponse:
    """Show what the lake has of each environment, and its last runs."""
    datasets = list_lake_datasets()
    return TemplateResponse(
        request,
        "admin/lake.html",
        {
            **admin.site.each_context(request),
            "title": _("Lake"),
            "is_on": is_lake_on(),
            "place": describe_lake_place(),
            "datasets": [(DATASET_NAMES[each.dataset], each) for each in datasets],
            "files": sum(each.files for each in datasets),
            "stale": count_stale_lake_files(),
            "runs": list_lake_runs(_RUNS_SHOWN),
        },
    )
