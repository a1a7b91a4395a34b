"""The CapabilityStatement: what is served, made of the table of resources."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rest_framework.views import APIView

from exchange.api.r4.views import FhirRenderer, fhir_response, handle_fhir_exception
from exchange.resources.composition import EU_LAB
from exchange.resources.datatypes import build_own_url, drop_empty
from exchange.resources.matching import ID, LAST_UPDATED
from exchange.resources.registry import RESOURCE_TYPES

if TYPE_CHECKING:
    from django.http import HttpResponse
    from rest_framework.request import Request

    from exchange.resources.base import Json, ResourceType

_DATE = "2026-11-27"
_DOCUMENT = "http://hl7.org/fhir/OperationDefinition/Composition-document"


def build_capability_statement() -> Json:
    """Return the CapabilityStatement of this server."""
    return {
        "resourceType": "CapabilityStatement",
        "url": build_own_url("R4/metadata"),
        "status": "active",
        "date": _DATE,
        "kind": "instance",
        "software": {"name": "Assay"},
        "implementation": {"description": "Assay", "url": build_own_url("R4")},
        "fhirVersion": "4.0.1",
        "format": ["json", "application/fhir+json"],
        "rest": [
            {
                "mode": "server",
                "security": {
                    "cors": False,
                    "description": "An API key of a team in the header"
                    " x-service-api-key, or an access token as a bearer.",
                },
                "interaction": [{"code": "transaction"}],
                "resource": [
                    *(_build_resource(each) for each in RESOURCE_TYPES.values()),
                    {"type": "Binary", "interaction": [{"code": "read"}]},
                    {
                        "type": "Composition",
                        "supportedProfile": [f"{EU_LAB}Composition-eu-lab"],
                        "interaction": [{"code": "read"}],
                        "operation": [{"name": "document", "definition": _DOCUMENT}],
                    },
                ],
            }
        ],
    }


def _build_resource(resource: ResourceType) -> Json:
    params = [*resource.params, ID, LAST_UPDATED]
    return drop_empty(
        {
            "type": resource.name,
            "supportedProfile": list(resource.profiles),
            "interaction": [{"code": "read"}, {"code": "search-type"}],
            "versioning": "versioned",
            "readHistory": False,
            "searchInclude": [f"{resource.name}:{one}" for one in resource.references],
            "searchRevInclude": ["Provenance:target"]
            if resource.name in {"Observation", "DiagnosticReport"}
            else [],
            "searchParam": [
                {"name": param.name, "type": str(param.kind)} for param in params
            ],
        }
    )


class MetadataView(APIView):
    """GET /fhir/R4/metadata, for everyone."""

    authentication_classes: list[Any] = []
    permission_classes: list[Any] = []
    renderer_classes = [FhirRenderer]

    def get_exception_handler(self) -> Any:
        return handle_fhir_exception

    def get(self, request: Request) -> HttpResponse:
        return fhir_response(build_capability_statement())
