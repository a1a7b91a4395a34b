"""URL paths below /fhir/R4/, made of the table of resources."""

from __future__ import annotations

from typing import TYPE_CHECKING

from exchange.api.r4.bulk import (
    GROUP_OF_ALL,
    ExportFileView,
    ExportStatusView,
    PatientExportView,
    SystemExportView,
)
from exchange.api.r4.capability import MetadataView
from exchange.api.r4.documents import CompositionView, DocumentView
from exchange.api.r4.token import SmartConfigurationView, TokenView
from exchange.api.r4.views import BinaryView, build_views
from exchange.resources.registry import RESOURCE_TYPES
from portal.lib.api.views import mount_api_view

if TYPE_CHECKING:
    from collections.abc import Iterator

    from django.urls import URLPattern


def _mount_resources() -> Iterator[URLPattern]:
    for name, resource in RESOURCE_TYPES.items():
        search, posted, read = build_views(resource)
        word = name.lower()
        yield mount_api_view(name, search, f"fhir-{word}-list")
        yield mount_api_view(f"{name}/_search", posted, f"fhir-{word}-search")
        yield mount_api_view(f"{name}/<fhir_{word}_id>", read, f"fhir-{word}")


urlpatterns = [
    mount_api_view("metadata", MetadataView, "fhir-metadata"),
    mount_api_view(
        r".well-known/smart-configuration",
        SmartConfigurationView,
        "fhir-smart-configuration",
    ),
    mount_api_view("auth/token", TokenView, "fhir-token"),
    mount_api_view(r"\$export", SystemExportView, "fhir-export"),
    mount_api_view(r"Patient/\$export", PatientExportView, "fhir-export-patients"),
    mount_api_view(
        rf"Group/{GROUP_OF_ALL}/\$export", PatientExportView, "fhir-export-group"
    ),
    mount_api_view("bulk/<bulk_export_id>", ExportStatusView, "fhir-bulk"),
    mount_api_view(
        "bulk/<bulk_export_id>/<bulk_file_id>", ExportFileView, "fhir-bulk-file"
    ),
    *_mount_resources(),
    mount_api_view(
        "Composition/<fhir_composition_id>", CompositionView, "fhir-composition"
    ),
    mount_api_view(
        r"Composition/<fhir_composition_id>/\$document",
        DocumentView,
        "fhir-document",
    ),
    mount_api_view("Binary/<fhir_binary_id>", BinaryView, "fhir-binary"),
]
