"""Laboratory reports as documents: Composition, and its operation `$document`.

R4 defines `$document` for Composition, which is therefore where clients ask; its id is
that of the DiagnosticReport. Nothing is stored: each call makes a document of what is
served. Source: FHIR R4, Composition, Generate a Document; HL7 Europe Laboratory Report.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from accounts.states import Area
from exchange.api.r4.views import FhirAPIView, fhir_response, is_strict
from exchange.queries.laboratory_documents import build_laboratory_document
from exchange.queries.ordered_people import complete_patient, find_ordered_person
from exchange.resources.matching import SearchInvalid
from exchange.resources.registry import RESOURCE_TYPES
from portal.lib.errors import NotAllowed, NotFound

if TYPE_CHECKING:
    from django.http import HttpResponse
    from rest_framework.request import Request

    from exchange.resources.base import Json

_KNOWN = frozenset({"_format", "_pretty", "persist"})


class _DocumentAPIView(FhirAPIView):
    """A view of a report's document, which has the user's details in it."""

    resource = RESOURCE_TYPES["DiagnosticReport"]
    fhir_type = "*"
    area = Area.ORDERS
    or_areas = (Area.REPORTS,)
    also_reads = (Area.USERS, Area.PATIENT_DETAILS)

    def build_document(self, request: Request, id_: str) -> Json:
        """Return the document of a report, and record the read.

        Raises: not_found; scope_missing, where a token may not read a type that is in
        it; DocumentIncomplete.
        """
        found = self.resource.find(
            self.tenant, [id_], set(self.find_readable_areas(request))
        )
        if not found:
            raise NotFound("not_found", "DiagnosticReport not found.")
        ordered = find_ordered_person(self.tenant, [id_])
        document = build_laboratory_document(
            tenant=self.tenant,
            report=found[0],
            reduce=partial(complete_patient, ordered),
        )
        types = {one["resource"]["resourceType"] for one in document["entry"]}
        if types & set(RESOURCE_TYPES) - self.find_readable_types(request):
            raise NotAllowed("scope_missing", "This key lacks the scope for this call.")
        self.audit(found)
        return document


class CompositionView(_DocumentAPIView):
    """GET /fhir/R4/Composition/{id}."""

    def get(self, request: Request, fhir_composition_id: str) -> HttpResponse:
        document = self.build_document(request, fhir_composition_id)
        return fhir_response(document["entry"][0]["resource"])


class DocumentView(_DocumentAPIView):
    """GET and POST /fhir/R4/Composition/{id}/$document."""

    reading = ("POST",)

    def get(self, request: Request, fhir_composition_id: str) -> HttpResponse:
        given = request.query_params
        if given.get("persist", "false") != "false":
            raise SearchInvalid(
                "parameter_unknown", "Documents are not stored here.", "persist"
            )
        unknown = sorted(set(given) - _KNOWN)
        if unknown and is_strict(request):
            raise SearchInvalid(
                "parameter_unknown", f"Not supported here: {unknown[0]}.", unknown[0]
            )
        return fhir_response(self.build_document(request, fhir_composition_id))

    def post(self, request: Request, fhir_composition_id: str) -> HttpResponse:
        return self.get(request, fhir_composition_id)
