"""Every read of health data is in the audit: each page and API call that answers a GET.

SILENT names those that show nothing of any user, and why; a new one that says nothing
fails here until it records a read or is named.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from django.db import transaction
from django.template import loader

from accounts.models import AuditEntry, Membership
from accounts.states import Role
from portal.ops.isolation.endpoints import (
    PUBLIC,
    fill_route_parameters,
    list_named_urls,
)
from tests.architecture.test_strangers import samples  # noqa: F401 - a fixture
from tests.fence import forget_requests

if TYPE_CHECKING:
    from collections.abc import Iterable

pytestmark = pytest.mark.usefixtures("as_web_role")

PLACE = "t/<slug:team_slug>/<slug:environment>/"
REASONS = {
    "of the team and its members": (
        "settings/ settings/sign-in/ settings/notifications/ settings/retention/"
        " settings/go-live/ settings/texts/ settings/courier/ settings/results/"
        " settings/mail/ settings/emails/"
        " settings/emails/<str:mail_kind>/<str:mail_language>/"
        " settings/emails/<str:mail_kind>/<str:mail_language>/preview/"
        " profile/ members/ members/invite/ demo-data/"
        " members/<str:member_id>/roles/ members/<str:member_id>/remove/"
        " invitations/<str:invitation_id>/withdraw/ api-keys/"
        " api-keys/<str:api_key_id>/revoke/ views/<str:view_id>/"
        " management-keys/<str:management_key_id>/revoke/ views/<str:view_id>/delete/"
        " api-keys/<str:api_key_id>/ source-priority/"
        " settings/sources/ visits/calendars/ api-own-team api-team-metrics"
        " api-team-physicians api-source-priorities"
    ),
    "catalogue and reference data": (
        "lab-tests/<str:lab_test_id>/convert/"
        " own-catalog/ own-catalog/file/ own-catalog/loinc/"
        " own-catalog/updates/<uuid:update_id>/"
        " own-catalog/updates/<uuid:update_id>/file/"
        " kit-stock/ physicians/ lab-tests/ lab-tests/markers/ lab-tests/new/"
        " lab-accounts/ lab-accounts/add/"
        " lab-tests/<str:lab_test_id>/archive/ lab-accounts/<str:account_id>/edit/"
        " lab-accounts/<str:account_id>/status/ lab-accounts/<str:account_id>/teams/"
        " lab-accounts/<str:account_id>/connection/"
        " reviews/aliases/ reports/critical-limits/ reports/critical-limits/add/"
        " reports/critical-limits/<str:limit_id>/ api-critical-limits api-labs"
        " api-lab-accounts api-lab-test api-lab-test-list"
        " api-lab-test-markers api-lab-tests api-markers api-payor-search"
        " fhir-organization-list fhir-organization fhir-metadata"
        " fhir-smart-configuration"
        " api-phlebotomy-reasons api-psc-reasons api-providers"
        " api-link-bulk-operations"
    ),
    "webhooks; payloads are masked until asked for": (
        "webhooks/ webhooks/new/ webhooks/<str:endpoint_id>/edit/"
        " webhooks/<str:endpoint_id>/delete/ webhooks/<str:endpoint_id>/headers/"
        " webhooks/<str:endpoint_id>/pause/ webhooks/<str:endpoint_id>/test/"
        " webhooks/<str:endpoint_id>/replay/"
        " webhooks/<str:endpoint_id>/replays/<str:replay_id>/"
        " webhooks/<str:endpoint_id>/deliveries/<str:message_id>/"
    ),
    "a form or a question that repeats nothing of what was read": (
        "search/ users/resolve/ users/import/ orders/import/ orders/shipments/"
        " reports/upload/"
        " users/<str:user_id>/annotations/add/"
        " users/<str:user_id>/sources/<str:provider>/disconnect/"
        " orders/<uuid:order_id>/advance/ orders/<uuid:order_id>/cancel/"
        " orders/<uuid:order_id>/visit/enter/"
        " users/<str:user_id>/shared-links/<str:shared_link_id>/revoke/"
        " orders/<uuid:order_id>/labels/ reports/<str:job_id>/amend/"
        " unmatched/<uuid:lab_report_id>/reject/"
        " unmatched/messages/<uuid:lab_message_id>/dismiss/"
        " reviews/<str:review_id>/reject/ reviews/<str:review_id>/waive/"
        " reviews/<str:review_id>/rows/<int:position>/comment/"
        " reviews/<str:review_id>/rows/<int:position>/exclude/"
        " reviews/<str:review_id>/rows/<int:position>/confirm/"
        " api-order-communication"
    ),
    "links to connect sources, whom they are for by the customer's id": (
        "users/<str:user_id>/links/ users/<str:user_id>/links/<str:session_id>/"
        " users/<str:user_id>/links/<str:session_id>/end/"
    ),
    "numbers of messages, nobody's": "unmatched/ reports/documents/",
    "receipts of erased users, numbers alone": ("erasures/ erasures/<str:receipt_id>/"),
    "a comparison of all users, numbers alone": "parity/",
}
SILENT = {name for names in REASONS.values() for name in names.split()}
PAGES = [
    (route.removeprefix(PLACE), route)
    for route, _, _ in list_named_urls()
    if route.startswith(PLACE)
]
API_CALLS = [
    (name.rpartition(":")[2], route)
    for route, name, _ in list_named_urls()
    if route.startswith(("v2/", "v3/", "lab_report/", "fhir/"))
    and not any(f"<{public}>" in route for public in PUBLIC)
]


def count_reads() -> int:
    forget_requests()  # answers in parts that nobody read
    return AuditEntry.unscoped.filter(verb="read").count()


def quiet(client: Any, calls: Iterable[tuple[str, str]], samples: Any) -> set[str]:  # noqa: F811
    """What answers a GET with 200 and writes no read to the audit."""
    found = set()
    for name, route in calls:
        with transaction.atomic():
            before = count_reads()
            status = client.get(fill_route_parameters(route, samples)).status_code
            if status == 200 and count_reads() == before:
                found.add(name)
            transaction.set_rollback(True)
    return found


@pytest.mark.django_db
def test_whatever_shows_health_data_says_so_in_the_audit(
    samples,  # noqa: F811
    alice,
    alice_web,
    alice_api,
    monkeypatch,
):
    roles = [Role.OWNER, Role.CLINICIAN]
    Membership.objects.filter(member=alice).update(roles=roles)
    # Pages are called, not drawn: what they show was read before.
    monkeypatch.setattr(loader, "render_to_string", lambda *_args, **_more: "")

    found = quiet(alice_web, PAGES, samples) | quiet(alice_api, API_CALLS, samples)

    assert sorted(found - SILENT) == []
    assert sorted(SILENT - found) == []
