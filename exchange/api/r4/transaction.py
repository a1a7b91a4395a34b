"""POST /fhir/R4: a transaction Bundle of laboratory results (FHIR R4, 3.1.0.11)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rest_framework.parsers import BaseParser

from accounts.states import Area
from exchange.api.r4.views import FhirAPIView, fhir_response
from exchange.operations.incoming.bundles import BundleInvalid
from exchange.operations.incoming.storing import store_transaction
from exchange.resources.datatypes import build_own_url
from exchange.resources.registry import RESOURCE_TYPES
from portal.lib.api.json import BODY_MAX_BYTES
from portal.lib.api.operation_outcome import FHIR_MEDIA_TYPE, build_warning
from portal.lib.errors import TooLarge
from users.wearables.formats.fhir.values import load_fhir_json

if TYPE_CHECKING:
    from collections.abc import Mapping

    from django.http import HttpResponse
    from rest_framework.request import Request

    from exchange.operations.incoming.storing import StoredBundle
    from exchange.resources.base import Json


class FhirParser(BaseParser):
    """Decodes a resource with the digits of its numbers.

    Raises: json_invalid (400); body_too_large (413).
    """

    media_type = FHIR_MEDIA_TYPE

    def parse(
        self,
        stream: Any,
        media_type: str | None = None,
        parser_context: Mapping[str, Any] | None = None,
    ) -> Any:
        body = stream.read(BODY_MAX_BYTES + 1)
        if len(body) > BODY_MAX_BYTES:
            raise TooLarge("body_too_large", "A Bundle can have at most 10 MB.")
        try:
            return load_fhir_json(body)
        except ValueError:
            raise BundleInvalid(
                "json_invalid", "The body is not a JSON object.", "Bundle"
            ) from None


class FhirJsonParser(FhirParser):
    """Decodes a resource that is sent as application/json."""

    media_type = "application/json"


class TransactionView(FhirAPIView):
    """POST /fhir/R4: all entries are stored, or none."""

    resource = RESOURCE_TYPES["DiagnosticReport"]
    parser_classes = [FhirParser, FhirJsonParser]
    area = Area.ORDERS
    or_areas = (Area.REPORTS,)

    def post(self, request: Request) -> HttpResponse:
        grant: Any = request.auth
        bundle: Any = request.data
        stored = store_transaction(
            tenant=self.tenant,
            actor=self.actor,
            writes=frozenset(one for one in Area if grant.allows(one, write=True)),
            bundle=bundle,
        )
        return fhir_response(
            {
                "resourceType": "Bundle",
                "type": "transaction-response",
                "entry": [
                    {"response": _build_response(stored, index)}
                    for index in range(len(stored.types))
                ],
            }
        )


def _build_response(stored: StoredBundle, index: int) -> Json:
    """Return what became of an entry, in the order of the request."""
    type_, resource = stored.types[index], stored.resources.get(index)
    if resource is None:
        # Kept with its report, and read there.
        note = build_warning("kept_with_report", f"{type_} is kept with its report.")
        return {"status": "200 OK", "outcome": note}
    path = f"R4/{type_}/{resource['id']}"
    is_new = type_ != "Patient" and index not in stored.unchanged
    response: Json = {
        "status": "201 Created" if is_new else "200 OK",
        "location": build_own_url(path),
    }
    if version := resource.get("meta", {}).get("versionId"):
        response["location"] += f"/_history/{version}"
        response["etag"] = f'W/"{version}"'
        response["lastModified"] = resource["meta"]["lastUpdated"]
    return response
