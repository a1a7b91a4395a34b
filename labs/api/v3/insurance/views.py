"""Insurance in the API: insurers, diagnoses and users' insurance.

Contract 2.6, 6.21.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from django.utils.http import http_date
from rest_framework.response import Response

from accounts.api.views import TenantAPIView
from accounts.operations.audit.entries import record_read
from accounts.states import Area
from labs.api.v3.insurance.inputs import (
    DiagnosisCodesInputs,
    DiagnosisQuery,
    InsuranceInputs,
    LatestInsuranceQuery,
    PayorInputs,
    PayorQuery,
    PayorSearchInputs,
    parse_insurance_request,
    parse_payor_request,
)
from labs.api.v3.insurance.outputs import (
    Diagnoses,
    DiagnosisCheckAnswer,
    FoundPayors,
    InsuranceAnswer,
    PayorAnswer,
    Payors,
    build_diagnosis_search_result,
    build_diagnosis_validation,
    build_insurance,
    build_payor,
    build_payor_search_result,
)
from labs.operations.catalogue.diagnoses import (
    search_diagnoses,
    validate_diagnosis_codes,
)
from labs.operations.insurance import create_payor, search_payors, store_insurance
from labs.queries.insurance import find_latest_insurance
from portal.lib.api.fields import (
    parse_path_uuid,
    validate_post_body,
    validate_query_string,
)
from portal.lib.api.schema import describe_api_operation
from portal.lib.errors import NotFound
from users.queries import user_overview

if TYPE_CHECKING:
    from rest_framework.request import Request

    from users.models import User

_DEPRECATED = datetime(2026, 11, 1, tzinfo=UTC)
_SUNSET = datetime(2027, 11, 1, tzinfo=UTC)


class PayorSearchView(TenantAPIView):
    """/v3/insurance/search/payor."""

    area = Area.ORDERS
    reading = ("POST",)

    @describe_api_operation(
        "search_payors", "Search insurers", answer=Payors, query=PayorQuery
    )
    def get(self, request: Request) -> Response:
        query = validate_query_string(request, PayorQuery)
        found = search_payors(
            tenant=self.tenant,
            name=query.get("insurance_name", ""),
            provider=query.get("provider", ""),
            provider_payor_id=query.get("provider_payor_id", ""),
        )
        return Response([build_payor(payor) for payor in found])

    @describe_api_operation(
        "legacy_search_payors",
        "Search insurers (deprecated: use GET)",
        answer=FoundPayors,
        body=PayorSearchInputs,
    )
    def post(self, request: Request) -> Response:
        body = validate_post_body(request, PayorSearchInputs)
        found = search_payors(
            tenant=self.tenant,
            name=body.get("insurance_name", ""),
            provider=body.get("provider", ""),
            provider_payor_id=body.get("provider_id", ""),
        )
        # RFC 9745, RFC 8594 and RFC 8288.
        headers = {
            "Deprecation": f"@{int(_DEPRECATED.timestamp())}",
            "Sunset": http_date(_SUNSET.timestamp()),
            "Link": '</v3/insurance/search/payor>; rel="successor-version"',
        }
        return Response(
            [build_payor_search_result(payor) for payor in found], headers=headers
        )


class DiagnosisSearchView(TenantAPIView):
    """GET /v3/insurance/search/diagnosis."""

    area = Area.ORDERS

    @describe_api_operation(
        "search_diagnoses",
        "Search diagnoses by code or description",
        answer=Diagnoses,
        query=DiagnosisQuery,
    )
    def get(self, request: Request) -> Response:
        query = validate_query_string(request, DiagnosisQuery)
        found = search_diagnoses(query["diagnosis_query"])
        return Response(
            [build_diagnosis_search_result(diagnosis) for diagnosis in found]
        )


class DiagnosisCheckView(TenantAPIView):
    """POST /v3/insurance/validate_icd_codes."""

    area = Area.ORDERS
    reading = ("POST",)

    @describe_api_operation(
        "validate_icd_codes",
        "Validate diagnosis codes",
        answer=DiagnosisCheckAnswer,
        body=DiagnosisCodesInputs,
    )
    def post(self, request: Request) -> Response:
        codes = validate_post_body(request, DiagnosisCodesInputs)["codes"]
        return Response(build_diagnosis_validation(validate_diagnosis_codes(codes)))


class PayorsView(TenantAPIView):
    """POST /v3/payor."""

    area = Area.ORDERS

    @describe_api_operation(
        "create_payor",
        "Create an insurer for the team",
        answer=PayorAnswer,
        body=PayorInputs,
    )
    def post(self, request: Request) -> Response:
        payor_request = parse_payor_request(validate_post_body(request, PayorInputs))
        payor = create_payor(
            tenant=self.tenant, actor=self.actor, request=payor_request
        )
        return Response(build_payor(payor))


class InsuranceAPIView(TenantAPIView):
    """Base of views about a user's insurance."""

    area = Area.PATIENT_DETAILS

    def get_user(self, user_id: str) -> User:
        """Return the path's live user. Raises: 422 at the path; not_found."""
        user_uuid = parse_path_uuid(user_id, "user_id")
        return user_overview(tenant=self.tenant, user_id=user_uuid).user


class UserInsuranceView(InsuranceAPIView):
    """POST /v2/user/{user_id}/insurance."""

    @describe_api_operation(
        "record_user_insurance",
        "Create or replace a user's insurance",
        answer=InsuranceAnswer,
        body=InsuranceInputs,
        refuses=(404,),
    )
    def post(self, request: Request, user_id: str) -> Response:
        user = self.get_user(user_id)
        insurance_request = parse_insurance_request(
            validate_post_body(request, InsuranceInputs)
        )
        insurance = store_insurance(
            user=user, actor=self.actor, request=insurance_request
        )
        return Response(build_insurance(insurance))


class LatestInsuranceView(InsuranceAPIView):
    """GET /v2/user/{user_id}/insurance/latest."""

    @describe_api_operation(
        "get_latest_user_insurance",
        "Get a user's insurance",
        answer=InsuranceAnswer,
        query=LatestInsuranceQuery,
        refuses=(404,),
    )
    def get(self, request: Request, user_id: str) -> Response:
        user = self.get_user(user_id)
        query = validate_query_string(request, LatestInsuranceQuery)
        insurance = find_latest_insurance(user=user, is_primary=query.get("is_primary"))
        if insurance is None:
            raise NotFound("insurance_missing", "This user has no insurance.")
        record_read(
            tenant=self.tenant,
            actor=self.actor,
            subject="insurance",
            subject_id=user.uuid,
            user_uuid=user.uuid,
        )
        return Response(build_insurance(insurance))
