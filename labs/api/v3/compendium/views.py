"""Search the compendiums of labs and convert tests over the API (contract 10)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rest_framework.response import Response

from accounts.api.views import TenantAPIView
from accounts.states import Area
from labs.api.v3.catalogue.inputs import normalize_lab_slug
from labs.api.v3.compendium.inputs import (
    CompendiumConvertInputs,
    CompendiumSearchInputs,
    OrderableTestsInputs,
    require_one_source,
    require_search_words,
)
from labs.api.v3.compendium.outputs import (
    CompendiumConversionAnswer,
    CompendiumSearchAnswer,
    OrderableTestsAnswer,
    build_candidates,
    build_compendium_conversion,
    build_compendium_search,
)
from labs.queries.catalogue import get_lab_by_slug, get_lab_test_with_details
from labs.queries.compendium.conversion import convert_tests
from labs.queries.compendium.offered import (
    count_panels_of_markers,
    describe_panel,
    find_tests_by_codes,
)
from labs.queries.compendium.search import search_compendium
from labs.states.compendium import SearchMode
from portal.lib.api.fields import validate_post_body
from portal.lib.api.schema import describe_api_operation

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rest_framework.request import Request

    from labs.models import Lab
    from labs.queries.compendium.comparison import Candidate

_LIMIT = 10
_PER_TEST = 5


class CompendiumAPIView(TenantAPIView):
    """A call that reads the tests of all labs the team sees."""

    area = Area.CATALOGUE
    reading = ("POST",)

    def get_target(self, slug: str) -> Lab:
        """Return the lab to convert to. Raises: lab_not_found (404)."""
        return get_lab_by_slug(
            tenant=self.tenant,
            slug=normalize_lab_slug(slug) or "",
            field="target_lab",
        )

    def count_shares(self, candidates: Iterable[Candidate]) -> dict[int, float]:
        """Return the popularity of candidates by marker id."""
        ids = {one.test.marker.pk for one in candidates}
        return count_panels_of_markers(tenant=self.tenant, marker_ids=ids)


class CompendiumSearchView(CompendiumAPIView):
    """POST /v3/compendium/search."""

    @describe_api_operation(
        "search_compendium",
        "Search the tests of all labs",
        answer=CompendiumSearchAnswer,
        body=CompendiumSearchInputs,
    )
    def post(self, request: Request) -> Response:
        body = validate_post_body(request, CompendiumSearchInputs)
        require_search_words(body)
        mode = SearchMode(str(body["mode"]))
        found = search_compendium(
            tenant=self.tenant,
            text=body.get("query", ""),
            loinc_set_hash=body.get("loinc_set_hash", ""),
            lab_slugs=[normalize_lab_slug(slug) or "" for slug in body.get("labs", ())],
            limit=body.get("limit", _LIMIT),
            crosses=mode == SearchMode.CROSSWALK,
            with_related=body.get("include_related", False),
        )
        canonicals = [
            *found.candidates,
            *(canonical for canonical, _candidate in found.related),
        ]
        ids = {test.marker.pk for one in canonicals for test in one.tests}
        ids |= {one.test.marker.pk for each in found.per_lab.values() for one in each}
        shares = count_panels_of_markers(tenant=self.tenant, marker_ids=ids)
        return Response(build_compendium_search(found, mode=mode, shares=shares))


class CompendiumConvertView(CompendiumAPIView):
    """POST /v3/compendium/convert."""

    @describe_api_operation(
        "convert_compendium",
        "Convert tests to another lab",
        answer=CompendiumConversionAnswer,
        body=CompendiumConvertInputs,
        refuses=(404,),
    )
    def post(self, request: Request) -> Response:
        body = validate_post_body(request, CompendiumConvertInputs)
        require_one_source(body)
        target = self.get_target(body["target_lab"])
        panel = None
        if body.get("lab_test_id"):
            panel = get_lab_test_with_details(
                tenant=self.tenant, lab_test_id=body["lab_test_id"]
            )
            sources = describe_panel(panel)
        else:
            sources = find_tests_by_codes(
                tenant=self.tenant, provider_ids=body["provider_ids"], but=target
            )
        found = convert_tests(
            tenant=self.tenant,
            sources=sources,
            target=target,
            limit=body.get("limit", _PER_TEST),
        )
        shares = self.count_shares(
            one for each in found.tests for one in each.candidates
        )
        return Response(build_compendium_conversion(found, panel=panel, shares=shares))


class OrderableTestsView(CompendiumAPIView):
    """POST /v3/compendium/search_orderable_tests."""

    @describe_api_operation(
        "search_orderable_tests",
        "Find tests of a lab by codes of other labs",
        answer=OrderableTestsAnswer,
        body=OrderableTestsInputs,
        refuses=(404,),
    )
    def post(self, request: Request) -> Response:
        body = validate_post_body(request, OrderableTestsInputs)
        target = self.get_target(body["target_lab"])
        found = convert_tests(
            tenant=self.tenant,
            sources=find_tests_by_codes(
                tenant=self.tenant, provider_ids=body["provider_ids"], but=target
            ),
            target=target,
            limit=body.get("per_provider_limit", _PER_TEST),
        )
        shares = self.count_shares(
            one for each in found.tests for one in each.candidates
        )
        return Response(
            {
                "candidates": {
                    one.provider_id: build_candidates(one, shares)
                    for one in found.tests
                }
            }
        )
