from __future__ import annotations

import pytest
from django.db import connection

from accounts.declarations.go_live import GoLiveResult
from accounts.states import Role
from labs.models import LabTest, ServiceCenter
from labs.operations import go_live
from labs.operations.go_live import (
    read_critical_results,
    read_gateway,
    read_home_visits,
    read_kit_stock,
    read_lab_accounts,
    read_lab_tests,
    read_physician,
    read_service_centers,
    try_gateway,
)
from labs.operations.inbound.files import create_hl7_drop_folders
from labs.states.accounts import DelegatedFlow, LabAccountStatus
from labs.states.catalogue import LabTestStatus
from tests.factories.accounts import ACTOR, make_member, make_tenant
from tests.factories.labs import (
    make_kit_stock,
    make_lab,
    make_lab_account,
    make_lab_test,
)

pytestmark = pytest.mark.django_db


@pytest.fixture
def tenant(alice_production):
    """A production environment that orders nothing yet."""
    LabTest.objects.for_tenant(alice_production).delete()
    return alice_production


@pytest.fixture
def lab():
    return make_lab(name="Northgate")


@pytest.fixture
def hl7(settings, hl7_dir):
    settings.LAB_GATEWAY = "hl7"
    return hl7_dir


def start_worker():
    with connection.cursor() as cursor:
        cursor.execute("INSERT INTO procrastinate_workers DEFAULT VALUES")


def test_without_a_linked_account_it_is_missing(tenant, lab, charlie_team):
    stranger = make_tenant(team=charlie_team, environment="production")
    make_lab_account(tenant=stranger, lab=lab)

    assert read_lab_accounts(tenant) == GoLiveResult("missing", {"labs": ""})


def test_an_account_in_setup_is_not_active(tenant, lab):
    make_lab_account(tenant=tenant, lab=lab, status=LabAccountStatus.PENDING)

    assert read_lab_accounts(tenant) == GoLiveResult("inactive", {"labs": "Northgate"})


def test_each_lab_with_tests_needs_an_account(tenant, lab):
    make_lab_account(tenant=tenant, lab=lab)
    other = make_lab(name="Southlab")
    make_lab_test(tenant=tenant, lab=lab)

    before = read_lab_accounts(tenant)
    make_lab_test(tenant=tenant, lab=other)

    assert before == GoLiveResult("active", {"labs": "Northgate"})
    assert read_lab_accounts(tenant) == GoLiveResult(
        "some_missing", {"labs": "Southlab"}
    )


def test_a_server_without_a_gateway_needs_one(tenant, settings):
    settings.LAB_GATEWAY = ""

    assert read_gateway(tenant) == GoLiveResult("missing")
    assert try_gateway(tenant, ACTOR) is None


def test_a_gateway_is_tried_with_each_account(tenant, lab, hl7):
    account = make_lab_account(tenant=tenant, lab=lab)
    start_worker()

    before = try_gateway(tenant, ACTOR)
    ((_account, drop),) = create_hl7_drop_folders(tenant=tenant)
    after = try_gateway(tenant, ACTOR)

    assert read_gateway(tenant) is None
    assert before == GoLiveResult("unavailable", {"lab": account.lab.name})
    assert after == GoLiveResult("connected", {"labs": "Northgate"})
    assert [path for path in drop.path.rglob("*") if path.is_file()] == []


def test_a_gateway_without_an_account_is_not_tried(tenant, hl7):
    assert try_gateway(tenant, ACTOR) == GoLiveResult("no_account")


def test_a_gateway_whose_files_nobody_reads_fails(tenant, lab, hl7):
    make_lab_account(tenant=tenant, lab=lab)
    create_hl7_drop_folders(tenant=tenant)

    without = try_gateway(tenant, ACTOR)
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO procrastinate_workers (last_heartbeat)"
            " VALUES (now() - interval '1 minute')"
        )

    assert (without, try_gateway(tenant, ACTOR)) == (
        GoLiveResult("no_worker"),
        GoLiveResult("no_worker"),
    )


@pytest.mark.parametrize(
    ("flows", "expected"),
    [
        ((), GoLiveResult("no_account")),
        ((DelegatedFlow.ORDER_DELEGATED,), GoLiveResult("delegated")),
        ((DelegatedFlow.FULLY_DELEGATED,), GoLiveResult("delegated")),
        (
            (DelegatedFlow.NOT_DELEGATED,),
            GoLiveResult("platform", {"labs": "Northgate"}),
        ),
        (
            (DelegatedFlow.ORDER_DELEGATED, DelegatedFlow.RESULT_DELEGATED),
            GoLiveResult("platform", {"labs": "Northgate"}),
        ),
        (("of_another_release",), GoLiveResult("platform", {"labs": "Northgate"})),
    ],
)
def test_orders_need_a_physician_of_the_team(tenant, lab, flows, expected):
    for flow in flows:
        make_lab_account(tenant=tenant, lab=lab, delegated_flow=flow)

    assert read_physician(tenant) == expected


def test_walk_in_tests_need_service_centers_of_the_lab(tenant, lab):
    make_lab_account(tenant=tenant, lab=lab)
    make_lab_test(tenant=tenant, lab=lab, method="testkit")
    without = read_service_centers(tenant)
    make_lab_test(tenant=tenant, lab=lab)
    missing = read_service_centers(tenant)

    for place, active in enumerate([True, True, False]):
        ServiceCenter(
            lab=lab,
            site_code=f"N{place}",
            name="Downtown",
            first_line="1 Sample Street",
            city="Phoenix",
            state="AZ",
            zip_code="85004",
            latitude=33.4,
            longitude=-112.0,
            time_zone="America/Phoenix",
            capabilities=[],
            bill_types=[],
            is_active=active,
        ).save(force_insert=True)

    assert without == GoLiveResult("no_walk_in")
    assert missing == GoLiveResult("missing", {"count": "0"})
    assert read_service_centers(tenant) == GoLiveResult("imported", {"count": "2"})


def test_tests_collected_at_home_have_no_provider_in_production(tenant, lab):
    make_lab_test(tenant=tenant, lab=lab)
    none = read_home_visits(tenant)
    make_lab_test(tenant=tenant, lab=lab, name="Iron", method="at_home_phlebotomy")

    assert none == GoLiveResult("no_home_visits")
    assert read_home_visits(tenant) == GoLiveResult("missing", {"panels": "Iron"})


def test_kits_are_counted_where_a_panel_uses_them(tenant, lab):
    make_lab_test(tenant=tenant, lab=lab)
    none = read_kit_stock(tenant)
    kit = make_lab_test(tenant=tenant, lab=lab, name="Heart", method="testkit")
    unknown = read_kit_stock(tenant)
    stock = make_kit_stock(panel=kit, count=10, warn_below=10)
    enough = read_kit_stock(tenant)
    stock.count = 9
    stock.save(update_fields=["count"])

    assert none == GoLiveResult("no_kits")
    assert unknown == GoLiveResult("missing", {"panels": "Heart"})
    assert enough == GoLiveResult("enough", {"count": "10"})
    assert read_kit_stock(tenant) == GoLiveResult("low", {"panels": "Heart"})


def test_no_kit_left_is_low_whatever_the_limit(tenant, lab):
    kit = make_lab_test(tenant=tenant, lab=lab, name="Heart", method="testkit")
    make_kit_stock(panel=kit, count=0, warn_below=0)

    assert read_kit_stock(tenant).code == "low"


def test_at_most_some_accounts_are_tried(tenant, lab, hl7, monkeypatch):
    monkeypatch.setattr(go_live, "TRIED_ACCOUNTS", 1)
    first = make_lab_account(tenant=tenant, lab=make_lab(name="A lab"))
    create_hl7_drop_folders(tenant=tenant)
    make_lab_account(tenant=tenant, lab=lab)
    start_worker()

    assert try_gateway(tenant, ACTOR) == GoLiveResult(
        "connected", {"labs": first.lab.name}
    )


def test_a_team_orders_from_approved_panels(tenant):
    without = read_lab_tests(tenant)
    lab = make_lab(tenant=tenant)
    before = read_lab_tests(tenant)
    panel = make_lab_test(
        tenant=tenant, lab=lab, name="Heart", status=LabTestStatus.PENDING_APPROVAL
    )
    waiting = read_lab_tests(tenant)
    panel.status = LabTestStatus.ACTIVE
    panel.save()

    assert without == GoLiveResult("no_catalogue")
    assert before == GoLiveResult("missing")
    assert waiting == GoLiveResult("unapproved", {"panels": "Heart"})
    assert read_lab_tests(tenant) == GoLiveResult("orderable", {"count": "1"})


def test_a_critical_result_needs_a_clinician_and_an_address(tenant, alice_team):
    nobody = read_critical_results(tenant)
    make_member(team=alice_team, roles=(Role.CLINICIAN,))
    without = read_critical_results(tenant)
    tenant.critical_result_notification_email = "duty@north.example"

    assert nobody == GoLiveResult("nobody")
    assert without == GoLiveResult("no_address", {"minutes": "60"})
    assert read_critical_results(tenant) == GoLiveResult("ready", {"count": "1"})
