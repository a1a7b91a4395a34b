from __future__ import annotations

import html
import re
from datetime import timedelta

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.utils import timezone

from accounts.states import Role
from labs.models import ShipmentEvent
from tests.factories.shipments import make_kit
from tests.labs.holdings import holdings
from tests.labs.web.orders.test_order_page import signed_in
from tests.labs.web.shipments.test_courier import url

pytestmark = pytest.mark.django_db
HEAD = "order_id,sample_id,tracking_number,status,occurred_at,note\n"


def at(hours):
    return (timezone.now() - timedelta(hours=hours)).isoformat()


def check(web, tenant, text):
    content = text if isinstance(text, bytes) else text.encode()
    return web.post(
        url(tenant, "shipment_file"),
        {"file": SimpleUploadedFile("events.csv", content)},
    )


def record(web, tenant, text):
    return web.post(url(tenant, "shipment_file"), {"content": text, "record": "1"})


def faults(page):
    return [(row.line, row.fault) for row in page.context["rows"]]


def held(tenant):
    return [*holdings(tenant), ShipmentEvent.objects.for_tenant(tenant).count()]


@pytest.fixture
def web(alice_production):
    return signed_in(alice_production, Role.LAB_STAFF)


@pytest.fixture
def kit(alice_production):
    return make_kit(tenant=alice_production)


def test_a_file_is_checked_then_recorded_once(web, alice_production, kit):
    text = HEAD + (
        f"{kit.pk},,OUT-1,transit_customer,{at(9)},Left\n"
        f",{kit.sample_id},,with_customer,{at(8)},\n"
        f",,OUT-1,transit_lab,{at(7)},\n"
    )
    before = held(alice_production)

    asked = check(web, alice_production, text)
    unchanged = held(alice_production)
    (sent,) = re.findall(r'name="content" value="([^"]*)"', asked.text)
    done = record(web, alice_production, html.unescape(sent))
    once = held(alice_production)
    again = record(web, alice_production, text)

    assert faults(asked) == faults(done) == faults(again) == [(2, ""), (3, ""), (4, "")]
    assert unchanged == before
    assert "Record 3 steps" in asked.text
    rows = ShipmentEvent.objects.for_tenant(alice_production)
    assert list(rows.values_list("status", "reporter", "tracking_number")) == [
        ("transit_customer", "file", "OUT-1"),
        ("with_customer", "file", ""),
        ("transit_lab", "file", "OUT-1"),
    ]
    assert held(alice_production) == once


def test_each_row_names_its_fault_and_the_others_are_recorded(
    web, alice_production, alice_tenant, kit
):
    theirs = make_kit(tenant=alice_tenant)
    text = HEAD + (
        f"{kit.pk},,,transit_customer,{at(9)},\n"
        f"{kit.pk},,,delivered,{at(8)},\n"
        f"{kit.pk},,,with_customer,2026-11-23 10:00,\n"
        f"not-an-id,,,with_customer,{at(8)},\n"
        f"{theirs.pk},,,transit_customer,{at(8)},\n"
        f",,,with_customer,{at(8)},\n"
        f"{kit.pk},,,delivered_to_lab,{at(-2)},\n"
        f"{kit.pk},,,with_customer,0001-01-01T00:00:00+23:59,\n"
        f"{kit.pk},,,with_customer,9999-12-31T23:59:59-23:59,\n"
    )
    page = record(web, alice_production, text)

    assert [(line, fault.split(" ")[0]) for line, fault in faults(page)] == [
        (2, ""),
        (3, "status"),
        (4, "occurred_at"),
        (5, "order_id"),
        (6, "Order"),
        (7, "Order"),
        (8, "Enter"),
        (9, "Enter"),
        (10, "Enter"),
    ]
    assert ShipmentEvent.objects.for_tenant(alice_production).count() == 1
    assert not ShipmentEvent.objects.for_tenant(alice_tenant).exists()


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "Choose a file."),
        (b"\xff\xfe", "UTF-8"),
        (b"order,when\n1,2\n", "The first line must name"),
        (b"status,occurred_at\nlost,now\n", "The first line must name"),
        (HEAD.encode() + b",,,lost,now,\n" * 501, "at most 500 rows"),
        (HEAD.encode() + b"x" * (512 * 1024), "at most 512 KB"),
    ],
    ids=range(6),
)
def test_a_file_that_cannot_be_read_says_why(web, alice_production, content, says):
    before = held(alice_production)

    page = check(web, alice_production, content)

    assert page.status_code == 422
    assert says in page.text
    assert held(alice_production) == before


def test_who_only_reads_imports_nothing(alice_production, kit):
    client = signed_in(alice_production, Role.VIEWER)
    text = HEAD + f"{kit.pk},,,transit_customer,{at(9)},\n"

    assert record(client, alice_production, text).status_code == 403
    assert ShipmentEvent.objects.for_tenant(alice_production).count() == 0
