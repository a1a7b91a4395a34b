"""Somebody else's id does not exist: every URL with one, called by three strangers.

The strangers are another team, a member of no team, and the same team's other
environment. A new URL is swept by existing; a parameter without a sample fails.
"""

from __future__ import annotations

import inspect
import re
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import pytest
from allauth.mfa.models import Authenticator
from django.apps import apps
from django.conf import settings
from django.core.management import call_command
from django.utils import timezone

from accounts.models import (
    ApiKey,
    Invitation,
    ManagementKey,
    MemberSession,
    Membership,
)
from accounts.operations.api_keys.api_keys import create_api_key
from accounts.operations.api_keys.management_keys import create_management_key
from accounts.operations.mails.texts import change_mail_text
from accounts.operations.members.invitations import invite_member
from accounts.operations.members.saved_views import ViewSettings, create_saved_view
from accounts.states import Area, Environment, Role
from accounts.webhooks.operations.replay import start_replay
from accounts.webhooks.queries.log import LogFilters
from exchange.operations.bulk_exports import (
    ExportRequest,
    request_bulk_export,
    run_bulk_export,
)
from exchange.queries.samples import list_resource_parameters
from labs.gateways.results import ReportedSample
from portal.lib.tenancy import TenantOwned, acting_for
from portal.ops.isolation import probing
from portal.ops.isolation.endpoints import (
    ABOVE_TEAMS,
    METHODS,
    PUBLIC,
    TEAM_WIDE,
    Endpoints,
    fill_route_parameters,
    list_endpoints_with_path_parameters,
    list_named_urls,
    list_route_parameters,
)
from portal.ops.isolation.models import IsolationRun
from portal.ops.isolation.probing import (
    WORDS,
    create_isolation_report,
    find_sample_ids,
    list_parameters_with_rows,
)
from reports.operations.critical_limits import (
    CriticalLimitInputs,
    add_critical_limit,
)
from tests.clients import confirm
from tests.factories.accounts import ACTOR, make_member
from tests.factories.annotations import make_annotation
from tests.factories.appointments import make_appointment, make_bookable_order
from tests.factories.calendars import make_site_calendar
from tests.factories.fhir import make_outside_report
from tests.factories.imports import make_import
from tests.factories.inbound import make_lab_document, make_unmatched
from tests.factories.labs import make_lab_account
from tests.factories.phones import make_code, make_phone
from tests.factories.reports import (
    make_alias,
    make_dispute,
    make_document,
    make_parsing_job,
    make_rereading,
)
from tests.factories.results import (
    make_order_awaiting_results,
    make_reported_result,
    make_results,
)
from tests.factories.sharing import make_shared_link
from tests.factories.summaries import record
from tests.factories.timeseries import push_samples
from tests.factories.users import make_user
from tests.factories.webhooks import (
    make_attempted_delivery,
    make_delivery,
    make_endpoint,
)
from tests.labs.operations.catalogue.conftest import update as update_catalogue
from tests.packed import pack_at_once
from tests.statements import count_statements
from users.operations.connect.link_sessions import create_connect_link
from users.operations.erasure import create_erasure_receipt
from users.operations.phones.uploads import receive_upload
from users.operations.sources.devices import DeviceDetails, record_device_details
from users.operations.sources.sources import connect_source
from users.operations.users.export import request_user_export

if TYPE_CHECKING:
    from accounts.models import Tenant

pytestmark = pytest.mark.usefixtures("as_web_role")
SAMPLE_TABLES = re.compile(r"users_(sample|sampleextra|packedday)\b")

DOORS = list_endpoints_with_path_parameters()
API, MANAGEMENT, PAGES = DOORS.api, DOORS.management, DOORS.pages


@pytest.fixture
def samples(alice_tenant: Tenant) -> dict[str, str]:
    """Alice's own objects in her sandbox, by parameter name."""
    user = make_user(tenant=alice_tenant, client_user_id="alices-user")
    connect_source(user=user, actor=ACTOR, provider="oura")
    record_device_details(user=user, details=DeviceDetails("oura", "ring-1"))
    make_code(user)
    receive_upload(phone=make_phone(user)[0], form="own:oura", content=b"{}")
    (workout_id,) = record(user, "workouts").ids
    (sleep_id,) = record(user, "sleep").ids
    job = make_parsing_job(user=user)
    order = make_order_awaiting_results(tenant=alice_tenant, user=user)
    make_results(
        order=order,
        results=(make_reported_result(text="400", flag="HH"),),
        samples=(ReportedSample("S-1"),),
    )
    make_lab_account(tenant=alice_tenant, lab=order.lab)
    make_unmatched(tenant=alice_tenant, lab=order.lab)
    make_lab_document(order=order)
    make_site_calendar(tenant=alice_tenant)
    key, _ = create_api_key(tenant=alice_tenant, actor=ACTOR, label="hers")
    management_key, _ = create_management_key(
        team=alice_tenant.team, actor=ACTOR, label="hers"
    )
    member = make_member(team=alice_tenant.team)
    sign_in = MemberSession.objects.create(member=member, session_key="hers")
    Authenticator.objects.create(
        user=member, type=Authenticator.Type.WEBAUTHN, data={"name": "Her laptop"}
    )
    invite_member(
        team=alice_tenant.team,
        actor=ACTOR,
        email="dana@assay.example",
        roles=[Role.VIEWER],
    )
    create_saved_view(
        tenant=alice_tenant,
        actor=ACTOR,
        member=member,
        page="users:list",
        query="q=a",
        settings=ViewSettings("Shared", is_shared=True),
    )
    change_mail_text(
        tenant=alice_tenant,
        actor=ACTOR,
        kind="connect_link",
        language="de",
        subject="Hallo",
        body="{link}",
    )
    endpoint = make_endpoint(tenant=alice_tenant)
    delivery = make_delivery(endpoint=endpoint)
    make_attempted_delivery(delivery, status="failed")
    create_erasure_receipt(
        tenant=alice_tenant,
        user_uuid=uuid4(),
        deleted_at=timezone.now(),
        removed={"users.User": 1},
    )
    start_replay(endpoint=endpoint, actor=ACTOR, filters=LogFilters(outcome="failed"))
    create_connect_link(user=user, actor=ACTOR)
    make_shared_link(user=user)
    make_import(user=user)
    make_annotation(user)
    make_outside_report(user=user)
    request_user_export(user=user, actor=ACTOR)
    make_alias(tenant=alice_tenant)
    add_critical_limit(
        tenant=alice_tenant,
        actor=ACTOR,
        inputs=CriticalLimitInputs("potassium", "mmol/L", high=6.0),
    )
    make_rereading(job=job)
    make_document(tenant=alice_tenant)
    export = request_bulk_export(
        tenant=alice_tenant,
        actor=ACTOR,
        areas=frozenset({Area.USERS, Area.PATIENT_DETAILS}),
        request=ExportRequest(request_url="", types=("Patient",)),
    )
    run_bulk_export(tenant=alice_tenant, export_id=export.pk)
    make_appointment(order=make_bookable_order(tenant=alice_tenant, user=user))
    update_catalogue(owner=alice_tenant)
    # Where there may be several rows: the newest may be another's or no such page's.
    return find_sample_ids(alice_tenant) | {
        "workout_id": str(workout_id),
        "sleep_id": str(sleep_id),
        "job_id": str(job.id),
        "review_id": str(make_dispute(user=user).id),
        "order_id": str(order.pk),
        "transaction_id": str(order.transaction_id),
        "lab_test_id": str(order.lab_test_id),
        "api_key_id": str(key.id),
        "management_key_id": str(management_key.pk),
        "member_id": str(member.pk),
        "sign_in_id": str(sign_in.pk),
        "webhook_id": str(make_endpoint(tenant=alice_tenant).uuid),
        "message_id": delivery.event.message_id,
    }


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


def served(view: Any) -> set[str]:
    """The methods that a view says it serves: all others are 405 to whoever comes in.

    A page says so by `require_http_methods` and its kin, a call by its functions.
    """
    if kind := getattr(view, "view_class", getattr(view, "cls", None)):
        return {method for method in METHODS if hasattr(kind, method)}
    while view is not None:
        held = inspect.getclosurevars(view).nonlocals
        if "request_method_list" in held:
            return {method.lower() for method in held["request_method_list"]}
        view = getattr(view, "__wrapped__", None)
    return set(METHODS)


SERVED: dict[str, set[str]] = {}
for _route, _, _view in list_named_urls():
    SERVED[_route] = SERVED.get(_route, set()) | served(_view)


def test_the_sweep_sees_the_urls():
    assert len(API) >= 7
    assert len(PAGES) >= 5


@pytest.mark.timeout(600)  # thousands of calls, on whatever else the machine does
@pytest.mark.django_db
def test_strangers_and_roles_are_refused_at_every_door(
    samples, alice_tenant, monkeypatch, undrawn
):
    # By one role of seven: test_roles calls as each.
    monkeypatch.setattr(probing, "ROLES", (Role.VIEWER,))
    knock = probing._call_route

    def knock_where_it_is_served(client, route, here, methods):
        items = [method for method in methods if method in SERVED[route]]
        return knock(client, route, here, items)

    monkeypatch.setattr(probing, "_call_route", knock_where_it_is_served)
    probe, sent = probing._probe_as_strangers, []

    def probe_and_listen(*given):
        with count_statements() as statements:
            probe(*given)
        sent.extend(statements)

    monkeypatch.setattr(probing, "_probe_as_strangers", probe_and_listen)
    before = everything()

    run = create_isolation_report(
        tenant=alice_tenant, report_progress=lambda _step: None
    )

    # A door that nothing was tried at lacks a row in `samples`.
    assert (run.open, run.skipped) == ([], [])
    assert run.endpoints == len({*API, *MANAGEMENT, *PAGES})
    assert run.refusals.keys() == {"api", "management", "pages", "roles"}
    assert run.rows > 20
    assert everything() == before
    # Rows of samples name a user alone: no call comes as far as to ask for them.
    assert len(sent) > 1000
    assert [each for each in sent if SAMPLE_TABLES.search(each)] == []


@pytest.mark.django_db
def test_sql_of_another_team_meets_no_sample_in_a_row_or_a_packed_day(
    alice_tenant, charlie_tenant, both_ways
):
    user = make_user(tenant=alice_tenant)
    push_samples(user, "heartrate")
    with acting_for(alice_tenant):
        rows = probing._count_of_users("users_sample", [user.pk])
        days = probing._count_of_users("users_packedday", [user.pk])
    found = probing.Findings("alice-health", "sandbox", ())

    probing._probe_tables(found, charlie_tenant.team, alice_tenant)

    assert (rows + days, found.open) == (1, [])
    assert days or both_ways == "rows"
    assert found.rows > 1
    assert {"users_packedday", "users_sample", "users_sampleextra"} <= set(
        probing.list_tables_with_row_security(by="user_id")
    )


def test_the_store_alone_names_the_tables_of_samples():
    """Its functions take a user's key, which callers have from behind the fence."""
    naming = {
        path.relative_to(settings.BASE_DIR).as_posix()
        for app in settings.APPS
        for path in (settings.BASE_DIR / app.partition(".")[0]).rglob("*.py")
        if SAMPLE_TABLES.search(path.read_text())
    }

    assert {
        path for path in naming if not path.startswith(("users/store/", "users/migr"))
    } == {"users/models/data/sample.py"}


@pytest.mark.django_db
def test_what_is_not_refused_is_told(samples, alice_tenant, monkeypatch, capsys):
    monkeypatch.setattr(
        probing,
        "list_endpoints_with_path_parameters",
        lambda: Endpoints(["v2/providers/?$"], [], []),
    )
    monkeypatch.setattr(probing, "ROLES", ())

    with pytest.raises(SystemExit) as ended:
        call_command("isolation_report", team=alice_tenant.team.slug)

    assert ended.value.code == 1
    run = IsolationRun.objects.get()
    assert [tuple(line) for line in run.open] == [
        ("a key of another team", "get", "v2/providers/?$", 200),
        ("a key of the other environment", "get", "v2/providers/?$", 200),
    ]
    assert capsys.readouterr().out.count("NOT REFUSED") == 2


@pytest.mark.long
@pytest.mark.django_db
def test_the_command_finds_nothing_open_where_all_days_are_packed(
    alice_tenant, monkeypatch, request, capsys
):
    pack_at_once(monkeypatch)
    user = make_user(tenant=alice_tenant)
    push_samples(user, "heartrate")
    request.getfixturevalue("samples")
    with acting_for(alice_tenant):
        assert probing._count_of_users("users_sample", [user.pk]) == 0
        assert probing._count_of_users("users_packedday", [user.pk]) == 1

    call_command("isolation_report", team=alice_tenant.team.slug)

    run = IsolationRun.objects.get()
    assert (run.open, run.skipped) == ([], [])
    assert f"{run.endpoints} endpoints" in capsys.readouterr().out


@pytest.mark.django_db
def test_roles_are_refused_where_the_team_has_no_row_of_a_kind(
    alice_tenant, monkeypatch
):
    """As on a server that does not use all: an ID of no row has the form of one."""
    pages = [each for each in list_named_urls() if "<uuid:feed_id>" in each[0]]
    monkeypatch.setattr(probing, "list_named_urls", lambda: pages)
    monkeypatch.setattr(
        probing,
        "list_endpoints_with_path_parameters",
        lambda: Endpoints([], [], []),
    )

    run = create_isolation_report(
        tenant=alice_tenant, report_progress=lambda _step: None
    )

    assert run.open == []
    assert run.refusals["roles"] >= 2 * len(pages) > 0


@pytest.mark.django_db
def test_a_team_is_no_stranger_to_itself_in_its_other_environment(
    alice_tenant, monkeypatch
):
    """Where a team has no order it is the one Organization that it has."""
    [route] = [each for each in API if "<fhir_organization_id>" in each]
    monkeypatch.setattr(
        probing,
        "list_endpoints_with_path_parameters",
        lambda: Endpoints([route], [], []),
    )
    monkeypatch.setattr(probing, "ROLES", ())
    production = alice_tenant.team.tenants.get(environment=Environment.PRODUCTION)

    run = create_isolation_report(tenant=production, report_progress=lambda _step: None)

    assert (run.open, run.refusals) == ([], {"api": 2})


OBJECT_PAGES = [
    route
    for route in PAGES
    # A provider or a kind of mail alone is a word of the catalogue, no object.
    if list_route_parameters(route)
    - {"team_slug", "environment", "provider", "mail_kind", "mail_language"}
    - TEAM_WIDE
]


@pytest.mark.django_db
def test_a_sandbox_object_is_not_in_production(samples, alice, alice_web, undrawn):
    Membership.objects.filter(member=alice).update(roles=[Role.OWNER, Role.CLINICIAN])
    confirm(alice_web)
    before = everything()

    found = {}
    for route in OBJECT_PAGES:
        path = fill_route_parameters(
            route, {**samples, "environment": Environment.PRODUCTION}
        )
        answers = {
            getattr(alice_web, method)(path).status_code
            for method in SERVED[route] & set(METHODS)
        }
        if answers != {404}:
            found[path] = answers

    assert found == {}
    assert everything() == before


def test_every_parameter_that_is_swept_has_a_row_or_says_why_not():
    named = {
        name
        for route, _, _ in list_named_urls()
        if not route.startswith(ABOVE_TEAMS)
        for name in list_route_parameters(route)
    }
    of_tables = list_parameters_with_rows()
    known = {*of_tables, *WORDS}
    known |= set(list_resource_parameters())
    known |= {"team_slug", "environment", "region", "team_id", "org_id"}

    assert named - known == set(PUBLIC) & named, (
        "declare in the rules of the model that the parameter names a row of"
        " `route_parameters` (portal.lib.table_rules)"
    )
    assert len(of_tables) == len(set(of_tables)), "a parameter of two tables"
