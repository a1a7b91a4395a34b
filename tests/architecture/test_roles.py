"""The permission matrix, proven: every dashboard page and management call, every role.

RIGHTS says what pages need, in the words of the matrix; one that is not named there is
held to what its view declares, and one that declares nothing fails. What keys of the
API may do is swept by their scopes. Pages are called, not drawn: what a page shows to
whom is its own tests' affair.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

import pytest
from django.conf import settings
from django.db import transaction

from accounts.models import Membership
from accounts.operations.api_keys.management_keys import create_management_key
from accounts.states import Area, Environment, ManagementRole, Role, roles_allow_access
from portal.ops.isolation.endpoints import (
    PARAMETER,
    fill_route_parameters,
    list_named_urls,
)
from tests.architecture.test_strangers import (  # noqa: F401 - samples is a fixture
    MANAGEMENT,
    SERVED,
    samples,
    served,
)
from tests.clients import ManagementClient
from tests.factories.accounts import ACTOR, make_management_key

if TYPE_CHECKING:
    from collections.abc import Iterator

    from django.test import Client

pytestmark = pytest.mark.usefixtures("as_web_role")

# What a page needs: areas to read, or with a star to write, all of them; after a bar
# what a POST to it needs, where that is another. A dash: every member.
RIGHTS = {
    "-": (
        "home search team:save_view team:view team:delete_view team:profile"
        " team:password team:sign_out_elsewhere team:end_session team:stop_viewing"
        " team:columns team:hide_guide team:use_browser_time_zone"
    ),
    "team": (
        "team:members team:remove team:settings team:notifications"
        " reports:critical_limits reports:mail users:parity"
    ),
    "team*": (
        "demo_data load_demo_data remove_demo_data team:invite team:roles team:resend"
        " team:withdraw team:create_management_key team:revoke_management_key"
        " team:save_team team:save_brand team:save_behaviour team:view_as"
        " reports:add_critical_limit reports:change_critical_limit"
        " reports:revert_critical_limit"
        " reports:save_mail reports:check_mail reports:remove_mail"
    ),
    "team|team*": "team:retention team:go_live team:mail",
    "api_keys": "team:api_keys team:api_key team:api_log users:source_settings",
    "api_keys*": (
        "team:create_key team:public_keys team:rotate_key team:revoke_key"
        " team:change_key"
        " users:source_credentials users:try_source_credentials"
        " users:remove_source_credentials users:change_reconnect_mails"
    ),
    "assistant": "team:assistants",
    "assistant*": "team:switch_assistants",
    "audit": (
        "team:audit team:audit_file team:access_log users:erasures users:receipt"
    ),
    "delete_users*": (
        "users:exports users:export_file users:delete users:deleted users:undo_delete"
    ),
    "webhooks": "webhooks:list webhooks:endpoint webhooks:progress webhooks:delivery",
    "webhooks*": (
        "webhooks:create webhooks:edit webhooks:headers webhooks:send_test"
        " webhooks:pause webhooks:resume webhooks:delete webhooks:secret"
        " webhooks:rotate webhooks:resend webhooks:drop webhooks:replay"
        " webhooks:continue_replay webhooks:cancel_replay"
    ),
    "users": (
        "users:list users:file users:resolve users:page users:source users:summaries"
        " users:explorer users:explorer_file users:record users:workout users:ledger"
        " users:import users:developers users:annotations"
    ),
    "delete_team*": "team:delete_team",
    "users|users*": "users:imports users:team_ranking users:user_ranking",
    "users*": (
        "users:import_users users:refresh users:pause_source users:resume_source"
        " users:disconnect_source users:cancel_import users:confirm_import"
        " users:links users:link users:mail_link users:end_link users:disconnect_phone"
        " users:add_annotation users:edit_annotation users:delete_annotation"
        " users:bulk_users"
    ),
    "orders": (
        "labs:orders labs:order_file labs:order labs:results labs:critical"
        " labs:instructions labs:unmatched"
    ),
    "orders+sign_reports*": "labs:acknowledge labs:review_results",
    "orders+users": (
        "labs:of_user labs:user_results labs:user_results_file labs:beside_life"
        " labs:beside_life_file"
    ),
    "orders+patient_details": (
        "labs:order_patient labs:requisition labs:labels labs:results_file"
        " labs:unmatched_report labs:unmatched_message"
    ),
    "orders*": (
        "labs:cancel_order labs:recreate_order labs:advance_order labs:report_future"
        " labs:reschedule_order labs:note_draw labs:resend_order"
        " labs:resend_results labs:bulk_orders"
    ),
    "orders*+patient_details": (
        "labs:reissue_link labs:unmatched_match labs:unmatched_reject"
        " labs:unmatched_add labs:unmatched_put_back labs:unmatched_reread"
        " labs:unmatched_dismiss"
    ),
    "orders*+patient_details*": (
        "labs:place_order labs:import_order labs:register_kit"
    ),
    "orders+bookings": "labs:visits labs:visit_calendar labs:visit_week",
    "orders+bookings+patient_details": "labs:visit_sheet",
    "orders+bookings*": (
        "labs:book_visit labs:cancel_visit labs:set_visit_time labs:complete_visit"
        " labs:watch_requisition"
    ),
    "catalogue|catalogue*": (
        "labs:kit_stock labs:own_catalogue labs:catalogue_update labs:loinc_proposals"
    ),
    "catalogue": (
        "labs:convert_panel labs:own_catalogue_file labs:catalogue_update_file"
        " labs:tests labs:markers labs:panel_instructions labs:accounts"
        " labs:account_connection"
    ),
    "catalogue*": (
        "labs:new_panel labs:archive labs:unarchive labs:add_account labs:edit_account"
        " labs:account_status labs:account_teams labs:save_account_connection"
        " labs:check_account_connection"
    ),
    "reports": "reports:list reports:page reports:page_image",
    "reports*": "reports:upload reports:decide_hold",
    "orders+reports*": "reports:move reports:upload_document",
    "orders+reports": "reports:documents",
    "orders+reports+patient_details": "reports:document reports:document_image",
    "orders+reports*+patient_details": "reports:decide_document",
    "reports+users": "reports:of_user",
    "sign_reports": "reports:aliases reports:history reports:readings",
    "sign_reports*": (
        "reports:approve reports:reject reports:second_read reports:waive"
        " reports:withdraw reports:settle reports:acknowledge reports:amend"
        " reports:confirm_alias reports:end_alias reports:bulk_reviews"
    ),
}
NAMED = {name: need for need, names in RIGHTS.items() for name in names.split()}
# Pages that no role of a team opens.
OPERATORS = {"components"}
# What a key that manages some teams is refused, as (method, name).
WHOLE = {
    ("patch", "api-organisation"),
    ("post", "api-teams"),
    ("delete", "api-team"),
    ("post", "api-team-undo-delete"),
    ("post", "api-invites"),
    ("get", "api-management-keys"),
    ("post", "api-management-keys"),
    ("patch", "api-management-key"),
    ("delete", "api-management-key"),
    ("patch", "api-organisation-lab-account"),
}


def named_patterns() -> Iterator[tuple[str, str]]:
    """Each URL as (route text, name)."""
    for route, name, _ in list_named_urls():
        yield route, name


TEAM_PAGES = [
    (route, name, view)
    for route, name, view in list_named_urls()
    if route.startswith("t/<") and name not in OPERATORS
]
NEEDED = {
    **{
        name: "+".join(
            f"{area}{'*' if write else ''}"
            for area, write in getattr(view, "needs", ())
        )
        for _, name, view in TEAM_PAGES
    },
    **NAMED,
}


def is_allowed(
    name: str, method: str, role: Role, environment: str = Environment.SANDBOX
) -> bool:
    reading, _, writing = NEEDED[name].partition("|")
    need = writing if writing and method == "post" else reading
    return need == "-" or all(
        roles_allow_access(
            roles=[role],
            area=Area(part.rstrip("*")),
            write=part.endswith("*"),
            environment=environment,
        )
        for part in need.split("+")
    )


def ask(client: Client, method: str, path: str, body: Any = None) -> int:
    """The status of a call whose work is undone, a new session's too."""
    session = client.cookies.get(settings.SESSION_COOKIE_NAME)
    signed_in = session.value if session else None
    with transaction.atomic():
        status = getattr(client, method)(path, body or {}).status_code
        transaction.set_rollback(True)
    if signed_in:
        client.cookies[settings.SESSION_COOKIE_NAME] = signed_in
    return status


def test_every_page_says_what_it_needs():
    assert {name for name, need in NEEDED.items() if not need} == set()
    assert set(NAMED) <= {name for _, name, _ in TEAM_PAGES}


@pytest.fixture
def calls(undrawn, samples, alice_web):  # noqa: F811
    """Every page by each method it serves; refusals are not logged: there are many."""
    # Notes her visit, which else each call would do anew.
    alice_web.get(f"/t/{samples['team_slug']}/sandbox/")
    logging.disable(logging.CRITICAL)
    yield [
        (route, name, method)
        for route, name, view in TEAM_PAGES
        for method in ("get", "post")
        if method in served(view)
    ]
    logging.disable(logging.NOTSET)


@pytest.mark.timeout(300)  # a thousand pages, on whatever else the machine does
@pytest.mark.django_db
def test_each_role_opens_what_the_matrix_says_and_nothing_else(
    samples,  # noqa: F811
    alice,
    alice_web,
    calls,
):
    wrong = []

    for role in Role:
        Membership.objects.filter(member=alice).update(roles=[role])
        for route, name, method in calls:
            status = ask(alice_web, method, fill_route_parameters(route, samples))
            if status >= 500 or (status == 403) == is_allowed(name, method, role):
                wrong.append((role.value, method, name, status))
    # The one role whose rights end at the sandbox.
    Membership.objects.filter(member=alice).update(roles=[Role.DEVELOPER])
    for route, name, method in calls:
        if method == "get" and len(PARAMETER.findall(route)) == 2:
            path = fill_route_parameters(
                route, {**samples, "environment": Environment.PRODUCTION}
            )
            status = ask(alice_web, method, path)
            may = is_allowed(name, method, Role.DEVELOPER, Environment.PRODUCTION)
            if (status in (403, 404)) == may:  # some pages are the sandbox's alone
                wrong.append(("in production", method, name, status))

    assert wrong == [], (
        "a page refuses a role that its rights allow, or lets in one that they don't:"
        " correct `require_right`, or its line in RIGHTS above"
    )


@pytest.mark.django_db
def test_who_looks_as_a_role_opens_what_it_opens_and_changes_nothing(
    samples,  # noqa: F811
    alice_web,
    calls,
):
    place = f"/t/{samples['team_slug']}/sandbox"
    alice_web.post(f"{place}/members/view-as/", {"role": Role.DEVELOPER.value})

    wrong = []
    for route, name, method in calls:
        status = ask(alice_web, method, fill_route_parameters(route, samples))
        if method == "get":
            may = is_allowed(name, method, Role.DEVELOPER)
        else:
            may = name in {"team:stop_viewing", "search"}
        if (status == 403) == may:
            wrong.append((method, name, status))

    assert wrong == []


@pytest.mark.django_db
def test_a_key_of_some_teams_does_nothing_to_the_whole_organisation(
    samples,  # noqa: F811
    alice_team,
):
    _, text = create_management_key(
        team=alice_team, actor=ACTOR, label="all", role=ManagementRole.ORG_ADMIN
    )
    whole, bound = (
        ManagementClient(text),
        ManagementClient(make_management_key(team=alice_team)),
    )
    names = dict(named_patterns())
    body = {"email": "dana@assay.example"}
    refused = set()

    for route in MANAGEMENT:
        path = fill_route_parameters(route, samples)
        for method in SERVED[route]:
            statuses = [ask(client, method, path, body) for client in (whole, bound)]
            # Neither kind unmakes an owner, whom the sample is.
            if statuses[0] != 403 == statuses[1]:
                refused.add((method, names[route]))

    assert refused == WHOLE
