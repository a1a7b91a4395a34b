"""Somebody else's id does not exist: every URL with one, called by three strangers.

The strangers are another team, a member of no team, and the same team's other
environment. A new URL is swept by existing; a parameter without a sample fails.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import pytest
from allauth.mfa.models import Authenticator
from django.apps import apps
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver
from django.utils import timezone

from accounts.models import (
    ApiKey,
    Invitation,
    ManagementKey,
    MemberSession,
    Membership,
)
from accounts.operations.api_keys import create_api_key
from accounts.operations.invitations import invite_member
from accounts.operations.management_keys import create_management_key
from accounts.operations.saved_views import ViewWishes, save_view
from accounts.states import Environment, Role
from accounts.webhooks.operations.replay import start_replay
from accounts.webhooks.queries.log import LogFilters
from portal.lib.tenancy import TenantOwned
from tests.clients import ApiClient, ManagementClient
from tests.factories.accounts import (
    ACTOR,
    make_api_key,
    make_management_key,
    make_member,
)
from tests.factories.imports import make_import
from tests.factories.inbound import make_unmatched
from tests.factories.labs import make_lab_account
from tests.factories.reports import (
    make_alias,
    make_dispute,
    make_parsing_job,
    make_rereading,
)
from tests.factories.results import make_ready_order, make_results, reported
from tests.factories.summaries import record
from tests.factories.users import make_user
from tests.factories.webhooks import make_delivery, make_endpoint, make_tried
from users.operations.devices import DeviceDetails, record_device
from users.operations.erasure import write_receipt
from users.operations.link_sessions import create_link_session
from users.operations.sources import connect_source
from users.operations.user_export import ask_export

if TYPE_CHECKING:
    from collections.abc import Iterator

    from accounts.models import Tenant

METHODS = ("get", "post", "put", "patch", "delete")
# Parameters that name nobody's data, and why.
PUBLIC = {
    "slug": "a source's logo",
    "event_type": "a type of the catalogue, the same for all",
    "lab_id": "a lab, the same for all",
    "provider_id": "a lab's code of a marker, the same for all",
    "uidb36": "a one-time link, its own proof",
    "key": "a one-time link, its own proof",
    "token": "a one-time link, its own proof",
    "color": "a style sheet of one colour, the same for all",
}
# Parameters that name what a team has in both of its environments.
TEAM_WIDE = {"member_id", "invitation_id", "management_key_id"}
# URLs that answer a stranger, and why.
OPEN = {
    "api-docs-event": "the catalogue of events, the same for all",
    "logo": "a source's logo",
    "colors": "a style sheet of one colour, the same for all",
    "api-lab-marker": "a marker, the same for all; without a key it is 401",
    "account_reset_password_from_key": "a one-time link, its own proof",
    "invitation_link": "a one-time link, its own proof",
    "mailed_invitation_link": "a one-time link, its own proof",
    "address_link": "a one-time link, its own proof",
    "single_sign_on": "a team's door, before anyone has signed in",
    "single_sign_on_go": "the same",
    "single_sign_on_back": "the same",
}


def patterns(
    resolver: Any = None, prefix: str = ""
) -> Iterator[tuple[str, URLPattern]]:
    """Each URL pattern as (route text, pattern)."""
    for entry in (resolver or get_resolver()).url_patterns:
        route = prefix + str(entry.pattern)
        if isinstance(entry, URLResolver):
            yield from patterns(entry, route)
        else:
            yield route, entry


PARAMETER = re.compile(r"\(\?P<(\w+)>[^)]*\)|<(?:\w+:)?(\w+)>")
# A team is one in both environments: only other teams are strangers to its own id.
OF_THE_TEAM = "v2/team/"
# The operators' admin stands above teams: who may enter is test_operators.
ABOVE_TEAMS = "admin/"
WITH_PARAMETERS = [
    (route, pattern)
    for route, pattern in patterns()
    if PARAMETER.search(route) and not route.startswith(ABOVE_TEAMS)
]
API = [
    r
    for r, pattern in WITH_PARAMETERS
    if r.startswith(("v2/", "v3/", "lab_report/")) and pattern.name not in OPEN
]
MANAGEMENT = [r for r, _ in WITH_PARAMETERS if r.startswith("v1/")]
PAGES = [
    r
    for r, pattern in WITH_PARAMETERS
    if r not in {*API, *MANAGEMENT} and pattern.name not in OPEN
]


@pytest.fixture
def samples(alice_tenant: Tenant) -> dict[str, str]:
    """Alice's own objects in her sandbox, by parameter name."""
    user = make_user(tenant=alice_tenant, client_user_id="alices-user")
    connect_source(user=user, actor=ACTOR, provider="oura")
    device_id = record_device(user=user, details=DeviceDetails("oura", "ring-1"))
    (workout_id,) = record(user, "workouts").ids
    (sleep_id,) = record(user, "sleep").ids
    job = make_parsing_job(user=user)
    order = make_ready_order(tenant=alice_tenant, user=user)
    make_results(order=order, results=(reported(text="400", flag="HH"),))
    alert = order.critical_alerts.get()
    account = make_lab_account(tenant=alice_tenant, lab=order.lab)
    unmatched = make_unmatched(tenant=alice_tenant, lab=order.lab)
    key, _ = create_api_key(tenant=alice_tenant, actor=ACTOR, label="hers")
    management_key, _ = create_management_key(
        team=alice_tenant.team, actor=ACTOR, label="hers"
    )
    member = make_member(team=alice_tenant.team)
    sign_in = MemberSession.objects.create(member=member, session_key="hers")
    passkey = Authenticator.objects.create(
        user=member, type=Authenticator.Type.WEBAUTHN, data={"name": "Her laptop"}
    )
    invitation, _ = invite_member(
        team=alice_tenant.team,
        actor=ACTOR,
        email="dana@assay.example",
        roles=[Role.VIEWER],
    )
    view = save_view(
        tenant=alice_tenant,
        actor=ACTOR,
        member=member,
        page="users:list",
        query="q=a",
        wishes=ViewWishes("Shared", is_shared=True),
    )
    endpoint = make_endpoint(tenant=alice_tenant)
    delivery = make_delivery(endpoint=endpoint)
    make_tried(delivery, status="failed")
    receipt = write_receipt(
        tenant=alice_tenant,
        user_uuid=uuid4(),
        deleted_at=timezone.now(),
        removed={"users.User": 1},
    )
    replay = start_replay(
        endpoint=endpoint, actor=ACTOR, filters=LogFilters(outcome="failed")
    )
    return {
        "team_slug": alice_tenant.team.slug,
        "environment": alice_tenant.environment,
        "region": alice_tenant.team.region,
        "user_id": str(user.uuid),
        "client_user_id": user.client_user_id,
        "provider": "oura",
        "device_id": str(device_id),
        "job_id": str(job.id),
        "page": "1",
        "review_id": str(make_dispute(user=user).id),
        "position": "0",
        "rereading_id": str(make_rereading(job=job).pk),
        "alias_id": str(make_alias(tenant=alice_tenant).pk),
        "api_key_id": str(key.id),
        "management_key_id": str(management_key.pk),
        "member_id": str(member.pk),
        "invitation_id": str(invitation.pk),
        "invite_id": str(invitation.pk),
        "view_id": str(view.pk),
        "order_id": str(order.pk),
        "lab_report_id": str(unmatched.pk),
        "lab_message_id": str(unmatched.message_id),
        "alert_id": str(alert.pk),
        "lab_test_id": str(order.lab_test_id),
        "account_id": str(account.pk),
        "transaction_id": str(order.transaction_id),
        "team_id": str(alice_tenant.team_id),
        "org_id": str(alice_tenant.team.organisation_id),
        "webhook_id": str(make_endpoint(tenant=alice_tenant).uuid),
        "workout_id": str(workout_id),
        "sleep_id": str(sleep_id),
        "resource": "heartrate",
        "endpoint_id": str(endpoint.uuid),
        "message_id": delivery.event.message_id,
        "replay_id": str(replay.uuid),
        "session_id": str(create_link_session(user=user, actor=ACTOR).uuid),
        "import_id": str(make_import(user=user).id),
        "sign_in_id": str(sign_in.pk),
        "pk": str(passkey.pk),
        "receipt_id": str(receipt.pk),
        "export_id": str(ask_export(user=user, actor=ACTOR).pk),
    }


def fill(route: str, samples: dict[str, str]) -> str:
    """Put the samples into a route; a parameter without one is a KeyError."""
    path = PARAMETER.sub(lambda found: samples[found[1] or found[2]], route)
    return "/" + path.replace("^", "").replace("/?$", "").replace("$", "").replace(
        "?", ""
    )


def everything() -> dict[str, list[Any]]:
    """Every tenant row of the database, but for when a key was last used."""
    held = {
        model._meta.label: sorted(map(str, model.unscoped.values()))
        for model in apps.get_models()
        if issubclass(model, TenantOwned) and model is not ApiKey
    }
    held["keys"] = sorted(map(str, ApiKey.unscoped.values("id", "revoked_at")))
    held["memberships"] = sorted(map(str, Membership.objects.values("id", "roles")))
    held["management keys"] = sorted(
        map(str, ManagementKey.objects.values("id", "revoked_at"))
    )
    held["invitations"] = sorted(map(str, Invitation.objects.values()))
    return held


def knock(client: Client, path: str) -> dict[str, int]:
    """The status of each method; a method not served says nothing about the id."""
    statuses = {method: getattr(client, method)(path).status_code for method in METHODS}
    return {method: status for method, status in statuses.items() if status != 405}


def test_the_sweep_sees_the_urls():
    assert len(API) >= 7
    assert len(PAGES) >= 5


# Each sweep is one test: making the samples anew for every URL took longer than
# calling it.
@pytest.mark.django_db
def test_an_api_stranger_finds_nothing(samples, charlie_tenant, alice_production):
    stranger, production = (
        ApiClient(make_api_key(tenant=tenant))
        for tenant in (charlie_tenant, alice_production)
    )
    before = everything()

    found = {}
    for route in API:
        path = fill(route, samples)
        strangers = [stranger]
        if not route.startswith(OF_THE_TEAM):
            strangers.append(production)
        answers = [set(knock(client, path).values()) for client in strangers]
        unsigned = set(knock(ApiClient(), path).values())
        if answers != [{404}] * len(strangers) or unsigned != {401}:
            found[path] = (*answers, unsigned)

    assert found == {}
    assert everything() == before


@pytest.mark.django_db
def test_a_management_stranger_finds_nothing(samples, alice_team, charlie_team):
    stranger, hers = (
        ManagementClient(make_management_key(team=team))
        for team in (charlie_team, alice_team)
    )
    before = everything()

    found = {}
    for route in MANAGEMENT:
        path = fill(route, samples)
        answers = [set(knock(stranger, path).values())]
        if "webhook_id" in route:
            elsewhere = fill(route, {**samples, "environment": Environment.PRODUCTION})
            answers.append(set(knock(hers, elsewhere).values()))
        unsigned = set(knock(ManagementClient(), path).values())
        if answers != [{404}] * len(answers) or unsigned != {401}:
            found[path] = (*answers, unsigned)

    assert found == {}
    assert everything() == before


@pytest.mark.django_db
def test_a_dashboard_stranger_finds_nothing(samples, charlie):
    strangers = [Client(), Client()]
    strangers[0].force_login(charlie)
    strangers[1].force_login(make_member(email="loner@assay.example"))
    before = everything()

    found = {}
    for route in PAGES:
        path = fill(route, samples)
        answers = [set(knock(client, path).values()) for client in strangers]
        if answers != [{404}, {404}]:
            found[path] = answers

    assert found == {}
    assert everything() == before


OBJECT_PAGES = [
    route
    for route in PAGES
    if {a or b for a, b in PARAMETER.findall(route)}
    - {"team_slug", "environment"}
    - TEAM_WIDE
]


@pytest.mark.django_db
def test_a_sandbox_object_is_not_in_production(samples, alice, alice_web):
    Membership.objects.filter(member=alice).update(roles=[Role.OWNER, Role.CLINICIAN])
    before = everything()

    found = {}
    for route in OBJECT_PAGES:
        path = fill(route, {**samples, "environment": Environment.PRODUCTION})
        answers = set(knock(alice_web, path).values())
        if answers != {404}:
            found[path] = answers

    assert found == {}
    assert everything() == before


def test_every_parameter_that_is_swept_has_a_sample_or_says_why_not():
    named = {
        a or b for route, _ in WITH_PARAMETERS for a, b in PARAMETER.findall(route)
    }
    known = {
        "team_slug",
        "environment",
        "region",
        "user_id",
        "client_user_id",
        "provider",
        "device_id",
        "job_id",
        "api_key_id",
        "management_key_id",
        "sign_in_id",
        "pk",
        "receipt_id",
        "alias_id",
        "page",
        "position",
        "review_id",
        "rereading_id",
        "export_id",
        "member_id",
        "invitation_id",
        "invite_id",
        "view_id",
        "order_id",
        "alert_id",
        "lab_report_id",
        "lab_message_id",
        "lab_test_id",
        "account_id",
        "transaction_id",
        "team_id",
        "org_id",
        "webhook_id",
        "workout_id",
        "sleep_id",
        "resource",
        "endpoint_id",
        "message_id",
        "replay_id",
        "session_id",
        "import_id",
    }

    assert named - known == set(PUBLIC) & named
