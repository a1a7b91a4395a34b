"""Read and search over HTTP: one pair of views for each resource type.

Source: FHIR R4, 3.1.0 RESTful API.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from typing import TYPE_CHECKING, Any, ClassVar
from urllib.parse import urlencode

from django.http import HttpResponse
from django.utils import timezone
from rest_framework.parsers import FormParser
from rest_framework.response import Response

from accounts.api.views import TenantAPIView
from accounts.operations.audit.entries import record_read
from accounts.states import Area
from exchange.api.r4.inputs import CURSOR, encode_place, read_search
from exchange.queries.laboratory_documents import DocumentIncomplete
from exchange.queries.search import run_search
from exchange.resources.binary import AREAS, ORDER, read_binary
from exchange.resources.datatypes import build_own_url
from exchange.resources.registry import RESOURCE_TYPES
from exchange.resources.subjects import find_user_of_resource
from portal.lib.api.errors import handle_api_exception
from portal.lib.api.json import OrjsonRenderer, dump_json
from portal.lib.api.operation_outcome import (
    FHIR_MEDIA_TYPE,
    build_missing_elements,
    build_operation_outcome,
    build_warning,
)
from portal.lib.errors import DomainError, NotAllowed, NotFound

if TYPE_CHECKING:
    from collections.abc import Iterable
    from uuid import UUID

    from django.http import QueryDict
    from django.http.response import HttpResponseBase
    from rest_framework.request import Request

    from exchange.api.r4.inputs import ReadSearch
    from exchange.queries.search import SearchPage
    from exchange.resources.base import Json, ResourceType

_JSON = frozenset({"json", "application/json", "application/fhir+json", "text/json"})
_ANY = frozenset({"*/*", "application/*"})


class FhirRenderer(OrjsonRenderer):
    """Encodes errors as FHIR's JSON."""

    media_type = FHIR_MEDIA_TYPE
    format = "json"


class NotAcceptable(DomainError):
    """The caller takes no JSON."""


def handle_fhir_exception(exc: Exception, context: dict[str, Any]) -> Response | None:
    """Turn any exception of a view into an OperationOutcome."""
    answer = handle_api_exception(exc, context)
    if answer is None:
        return None
    status = 406 if isinstance(exc, NotAcceptable) else answer.status_code
    body: dict[str, Any] = dict(answer.data)
    if isinstance(exc, DomainError) and exc.field:
        body["expression"] = exc.field
    # As DRF has made it: its headers, such as a challenge, stay.
    answer.status_code = status
    answer.data = build_operation_outcome(status, body)
    if isinstance(exc, DocumentIncomplete):
        answer.status_code = 422
        answer.data = build_missing_elements(
            exc.code, [(one.path, one.sentence) for one in exc.missing]
        )
    return answer


class FhirAPIView(TenantAPIView):
    """A view below /fhir/R4: JSON of FHIR in and out, OperationOutcome for errors."""

    renderer_classes = [FhirRenderer]
    resource: ClassVar[ResourceType]

    def get_exception_handler(self) -> Any:
        return handle_fhir_exception

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        self.require_json(request)

    def require_json(self, request: Request) -> None:
        """Check that the caller takes JSON. Raises: not_acceptable (406)."""
        wanted = request.query_params.get("_format") or request.headers.get(
            "Accept", ""
        )
        kinds = {
            part.partition(";")[0].strip().lower().replace(" ", "+")
            for part in wanted.split(",")
        }
        if wanted and not kinds & (_JSON | _ANY):
            raise NotAcceptable(
                "not_acceptable", "Responses are application/fhir+json.", "Accept"
            )

    def find_readable_areas(self, request: Request) -> frozenset[Area]:
        """Return what the caller may read."""
        grant: Any = request.auth
        return frozenset(one for one in Area if grant.allows(one, write=False))

    def find_readable_types(self, request: Request) -> frozenset[str]:
        """Return the resource types that the caller's token is limited to, or all."""
        grant: Any = request.auth
        limited = grant.fhir_types
        every = frozenset(RESOURCE_TYPES)
        return every if limited is None or "*" in limited else every & limited

    def audit(self, resources: Iterable[Json]) -> None:
        """Record whose health data were read, each user once."""
        listed = list(resources)
        listed += self._find_targets(listed)
        users = {uuid for one in listed if (uuid := find_user_of_resource(one))}
        for uuid in sorted(users):
            self.record_read(uuid)

    def _find_targets(self, resources: list[Json]) -> list[Json]:
        """Return what Provenances are about, as they name no user."""
        wanted: dict[str, set[str]] = defaultdict(set)
        for one in resources:
            for target in one.get("target", []):
                type_, _, id_ = target["reference"].partition("/")
                wanted[type_].add(id_)
        return [
            resource
            for type_, ids in wanted.items()
            for resource in RESOURCE_TYPES[type_].find(
                self.tenant, sorted(ids), set(Area)
            )
        ]

    def record_read(self, user_uuid: UUID) -> None:
        """Record that resources of a user were read."""
        record_read(
            tenant=self.tenant,
            actor=self.actor,
            subject=f"fhir_{self.resource.name.lower()}",
            subject_id=user_uuid,
            user_uuid=user_uuid,
        )


class _SearchAPIView(FhirAPIView):
    """A view that searches a type."""

    def search(self, request: Request, given: QueryDict) -> HttpResponse:
        """Return a page of matches as a Bundle."""
        read = read_search(
            tenant=self.tenant,
            resource=self.resource,
            areas=self.find_readable_areas(request),
            types=self.find_readable_types(request),
            given=[(name, text) for name, texts in given.lists() for text in texts],
            strict=is_strict(request),
        )
        page = run_search(read.search)
        self.audit([*page.matches, *page.included])
        return fhir_response(_build_bundle(self.resource, read, page))


class SearchView(_SearchAPIView):
    """GET /fhir/R4/{type}."""

    def get(self, request: Request) -> HttpResponse:
        return self.search(request, request.query_params)


class PostedSearchView(_SearchAPIView):
    """POST /fhir/R4/{type}/_search: the same, with its parameters in the body."""

    parser_classes = [FormParser]
    reading = ("POST",)

    def post(self, request: Request) -> HttpResponse:
        given = request.query_params.copy()
        posted: Any = request.data
        for name, texts in posted.lists():
            given.setlist(name, [*given.getlist(name), *texts])
        return self.search(request, given)


class ReadView(FhirAPIView):
    """GET /fhir/R4/{type}/{id}."""

    def get(self, request: Request, **path: str) -> HttpResponseBase:
        [id_] = path.values()
        found = self.resource.find(
            self.tenant, [id_], set(self.find_readable_areas(request))
        )
        if not found:
            raise NotFound("not_found", f"{self.resource.name} not found.")
        [resource] = found
        self.audit(found)
        body = dump_json(resource)
        meta = resource.get("meta", {})
        version = meta.get("versionId") or hashlib.sha256(body).hexdigest()[:16]
        tag = f'W/"{version}"'
        answer = HttpResponse(body, content_type=FHIR_MEDIA_TYPE)
        if _is_known(request.headers.get("If-None-Match", ""), tag):
            answer = HttpResponse(status=304)
        answer["ETag"] = tag
        return answer


class BinaryView(FhirAPIView):
    """GET /fhir/R4/Binary/{id}: the file itself."""

    resource = RESOURCE_TYPES["DocumentReference"]
    fhir_type = "DocumentReference"
    area = Area.ORDERS
    or_areas = (Area.REPORTS,)
    also_reads = (Area.PATIENT_DETAILS,)

    def require_json(self, request: Request) -> None:
        """Accept whatever the caller takes: a file is what it is."""

    def get(self, request: Request, fhir_binary_id: str) -> HttpResponse:
        area = AREAS.get(fhir_binary_id.partition("-")[0], AREAS[ORDER])
        if area not in self.find_readable_areas(request):
            raise NotAllowed("scope_missing", "This key lacks the scope for this call.")
        file = read_binary(tenant=self.tenant, id_=fhir_binary_id)
        self.record_read(file.user_uuid)
        answer = HttpResponse(file.content, content_type=file.content_type)
        answer["Content-Disposition"] = "attachment"
        return answer


def fhir_response(data: object, status: int = 200) -> HttpResponse:
    """Encode an answer as FHIR's JSON."""
    return HttpResponse(dump_json(data), status=status, content_type=FHIR_MEDIA_TYPE)


def build_views(resource: ResourceType) -> tuple[type[Any], type[Any], type[Any]]:
    """Return the views of a type: search, search by POST, read."""
    first, *others = resource.areas
    parts = {
        "resource": resource,
        "fhir_type": resource.name,
        "area": first,
        "or_areas": tuple(others),
        "also_reads": resource.also_reads,
    }
    search, posted, read = (
        type(f"{resource.name}{base.__name__}", (base,), dict(parts))
        for base in (SearchView, PostedSearchView, ReadView)
    )
    return search, posted, read


def is_strict(request: Request) -> bool:
    """Return whether a caller wants what is not known to be refused."""
    preferred = request.headers.get("Prefer", "").replace(" ", "").lower()
    return "handling=strict" in preferred.replace(";", ",").split(",")


def _is_known(header: str, tag: str) -> bool:
    bare = tag.removeprefix("W/")
    given = [one.strip().removeprefix("W/") for one in header.split(",")]
    return "*" in given or bare in given


def _build_bundle(resource: ResourceType, read: ReadSearch, page: SearchPage) -> Json:
    entries = [
        _build_entry(one, mode)
        for mode, listed in (("match", page.matches), ("include", page.included))
        for one in listed
    ]
    if read.ignored:
        names = ", ".join(sorted(set(read.ignored)))
        entries.append(_build_outcome("parameter_ignored", f"Ignored: {names}."))
    if page.left_out:
        names = ", ".join(sorted(page.left_out))
        sentence = f"Your key lacks scopes; results may be missing: {names}."
        entries.append(_build_outcome("scope_missing", sentence, kind="suppressed"))
    links = [{"relation": "self", "url": _build_link(resource, read.used)}]
    bundle: Json = {
        "resourceType": "Bundle",
        "type": "searchset",
        "timestamp": timezone.now().isoformat(),
        "link": links,
    }
    if page.next is not None:
        again = [pair for pair in read.used if pair[0] != CURSOR]
        following = [*again, (CURSOR, encode_place(page.next))]
        links.append({"relation": "next", "url": _build_link(resource, following)})
    elif read.search.place == (0, ""):
        bundle["total"] = len(page.matches)
    if entries:
        bundle["entry"] = entries
    return bundle


def _build_entry(resource: Json, mode: str) -> Json:
    path = f"R4/{resource['resourceType']}/{resource['id']}"
    return {
        "fullUrl": build_own_url(path),
        "resource": resource,
        "search": {"mode": mode},
    }


def _build_outcome(code: str, sentence: str, kind: str = "not-supported") -> Json:
    return {
        "resource": build_warning(code, sentence, kind=kind),
        "search": {"mode": "outcome"},
    }


def _build_link(resource: ResourceType, given: list[tuple[str, str]]) -> str:
    query = f"?{urlencode(given)}" if given else ""
    return build_own_url(f"R4/{resource.name}{query}")
