from __future__ import annotations

from datetime import UTC, datetime

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from accounts.states import Role
from tests.audit import audited
from tests.factories.accounts import make_member
from tests.factories.labs import make_lab, make_lab_test, make_marker
from tests.factories.results import (
    make_order_awaiting_results,
    make_reported_result,
    make_results,
)
from tests.factories.users import make_user

pytestmark = pytest.mark.django_db
GLUCOSE = "2345-7"
MARCH = datetime(2026, 3, 2, tzinfo=UTC)
APRIL = datetime(2026, 4, 2, tzinfo=UTC)


def place(tenant, name, **ids):
    team = {"team_slug": tenant.team.slug, "environment": tenant.environment}
    return reverse(f"labs:{name}", kwargs={**team, **ids})


def results_url(order):
    return place(order.tenant, "results", order_id=order.pk)


@pytest.fixture
def user(alice_tenant):
    return make_user(tenant=alice_tenant)


@pytest.fixture
def ordered(alice_tenant, user):
    """An order of two markers, Lipids and Sugar, ready for its results."""
    lab = make_lab()
    markers = tuple(
        make_marker(lab=lab, name=name, provider_id=name)
        for name in ("Lipids", "Sugar")
    )
    panel = make_lab_test(tenant=alice_tenant, lab=lab, markers=markers)
    return make_order_awaiting_results(tenant=alice_tenant, user=user, lab_test=panel)


def rows(page):
    return [
        (group.name, [row.result.name for row in group.rows])
        for group in page.context["groups"]
    ]


def test_results_stand_under_what_they_were_ordered_by(alice_web, ordered):
    make_results(
        order=ordered,
        results=(
            make_reported_result("Glucose", "130", flag="H", ordered_code="Sugar"),
            make_reported_result(
                "LDL", "118", reference_range="<100", ordered_code="Lipids"
            ),
            make_reported_result(
                "HDL", "64", reference_range=">40", ordered_code="Lipids"
            ),
        ),
    )

    page = alice_web.get(results_url(ordered))

    assert rows(page) == [("Sugar", ["Glucose"]), ("Lipids", ["LDL", "HDL"])]
    (sugar, lipids) = page.context["groups"]
    assert sugar.rows[0].pill.status == "high"
    assert "<svg" in lipids.rows[0].bar
    assert page.context["counts"] == [
        ("", "All", 3),
        ("abnormal", "Abnormal", 2),
        ("critical", "Critical", 0),
    ]
    assert audited(ordered.tenant)[-1] == ("read", "results", str(ordered.pk))


@pytest.mark.parametrize(
    ("show", "names"),
    [
        ("abnormal", ["Glucose", "Potassium"]),
        ("critical", ["Potassium"]),
        ("strange", ["Glucose", "Potassium", "Sodium"]),
    ],
)
def test_results_are_narrowed_to_those_out_of_range(alice_web, ordered, show, names):
    make_results(
        order=ordered,
        results=(
            make_reported_result("Glucose", "130", flag="H"),
            make_reported_result(
                "Potassium", "7.1", reference_range="3.5-5.1", flag="HH"
            ),
            make_reported_result("Sodium", "140", reference_range="135-145"),
        ),
    )

    page = alice_web.get(results_url(ordered), {"show": show})

    found = [row.result.name for g in page.context["groups"] for row in g.rows]
    assert found == names


def test_a_corrected_result_shows_what_it_was_and_each_version_its_changes(
    alice_web, ordered
):
    make_results(
        order=ordered,
        results=(make_reported_result("Glucose", "130"), make_reported_result("HDL")),
    )
    make_results(order=ordered, results=(make_reported_result("Glucose", "85"),))

    page = alice_web.get(results_url(ordered))
    before = alice_web.get(results_url(ordered), {"version": "1"})

    shown = [row for g in page.context["groups"] for row in g.rows]
    assert [(row.result.result, row.was) for row in shown] == [
        ("85", "130"),
        ("85", ""),
    ]
    newest, first = page.context["versions"]
    (change,) = newest.changes
    assert (newest.words, first.words, first.is_first) == ("Corrected", "Final", True)
    assert (change.before.result, change.after.result) == ("130", "85")
    old = [row.result.result for g in before.context["groups"] for row in g.rows]
    assert old == ["130", "85"]
    assert "This is version 1 of 2." in before.content.decode()
    assert alice_web.get(results_url(ordered), {"version": "3"}).status_code == 404


def test_what_is_to_come_and_what_is_missing_is_named(alice_web, ordered):
    make_results(
        order=ordered,
        results=(make_reported_result("Glucose", ordered_code="Sugar"),),
        status="partial",
    )

    page = alice_web.get(results_url(ordered))

    assert rows(page) == [("Sugar", ["Glucose"]), ("Lipids", [])]
    assert "More results are expected." in page.content.decode()


def test_a_group_that_came_after_its_days_is_late(alice_web, ordered):
    make_results(
        order=ordered,
        results=(make_reported_result("Glucose", ordered_code="Sugar"),),
        collected_at=MARCH,
        reported_at=datetime(2026, 3, 6, tzinfo=UTC),
    )

    (group,) = alice_web.get(results_url(ordered)).context["groups"]

    assert (str(group.due_by), str(group.came_on)) == ("2026-03-04", "2026-03-06")
    assert (group.state, group.is_late) == ("late", True)


def test_the_value_before_stands_beside_and_says_from_which_unit(
    alice_web, alice_tenant, user, ordered
):
    earlier = make_order_awaiting_results(tenant=alice_tenant, user=user)
    make_results(
        order=earlier,
        results=(
            make_reported_result(
                "Glucose", "5.0", unit="mmol/L", loinc="14749-6", observed_at=MARCH
            ),
        ),
    )
    now = make_reported_result(
        "Glucose", "130", flag="H", loinc=GLUCOSE, observed_at=APRIL
    )
    make_results(order=ordered, results=(now,))

    page = alice_web.get(results_url(ordered))

    ((row,),) = [group.rows for group in page.context["groups"]]
    assert (row.previous.text, row.previous.change) == ("90.08", "+39.9")
    assert row.previous.converted_from == "mmol/L"
    (figure,) = page.context["figures"]
    assert 'aria-label="Glucose from 90.08 to 130 mg/dL, now abnormal"' in figure.chart


def test_an_order_without_results_says_so(alice_web, ordered):
    page = alice_web.get(results_url(ordered))

    assert "No results yet" in page.content.decode()


def test_a_page_takes_as_many_queries_for_many_results_as_for_one(
    alice_web, alice_tenant, user, ordered
):
    def count(order):
        with CaptureQueriesContext(
            connection,
        ) as queries:
            assert alice_web.get(results_url(order)).status_code == 200
        return len(queries)

    make_results(order=ordered, results=(make_reported_result("One"),))
    alice_web.get(results_url(ordered))
    few = count(ordered)
    many = make_order_awaiting_results(tenant=alice_tenant, user=user)
    for text in ("85", "86", "87"):
        named = tuple(make_reported_result(f"Marker {n}", text) for n in range(40))
        make_results(order=many, results=named)

    assert count(many) == few


def test_a_users_markers_are_listed_and_one_is_followed(
    alice_web, alice_tenant, user, ordered
):
    make_results(
        order=ordered,
        results=(
            make_reported_result("Glucose", "90", loinc=GLUCOSE, observed_at=APRIL),
            make_reported_result("Colour", "YELLOW", unit="", reference_range=""),
        ),
    )
    again = make_order_awaiting_results(tenant=alice_tenant, user=user)
    make_results(
        order=again,
        results=(
            make_reported_result("Glucose", "80", loinc=GLUCOSE, observed_at=MARCH),
        ),
    )
    address = place(alice_tenant, "user_results", user_id=user.uuid)

    page = alice_web.get(address)
    followed = alice_web.get(address, {"of": GLUCOSE})

    listed = [
        (group.name, row.trend.name, row.shown.text, len(row.trend.points))
        for group in page.context["groups"]
        for row in group.rows
    ]
    panel = ordered.lab_test.name
    assert listed == [(panel, "Colour", "YELLOW", 1), (panel, "Glucose", "90", 2)]
    points = followed.context["figure"].trend.points
    assert [point.value for point in points] == [80, 90]
    assert alice_web.get(address, {"of": "718-7"}).status_code == 404
    assert audited(alice_tenant)[-1] == ("read", "result_trends", str(user.uuid))


def described(page):
    """What is out of range, then the other markers."""
    others = [row for group in page.context["groups"] for row in group.rows]
    return [
        [
            (
                row.trend.name,
                row.shown.text,
                row.compared and row.compared.result.text,
                row.change,
                row.is_waiting,
            )
            for row in rows
        ]
        for rows in (page.context["off"], others)
    ]


def test_critical_results_come_first_and_two_days_are_compared(
    alice_web, alice_tenant, user, ordered
):
    def result(name, text, at, **fields):
        return make_reported_result(name, text, observed_at=at, **fields)

    critical = {"interpretation": "critical"}
    make_results(
        order=ordered,
        results=(
            result("Albumin", "80", MARCH),
            result("Potassium", "90", MARCH),
            result("Sodium", "70", MARCH),
        ),
    )
    again = make_order_awaiting_results(
        tenant=alice_tenant, user=user, lab_test=ordered.lab_test
    )
    make_results(
        order=again,
        results=(
            result("Albumin", "120", APRIL),
            result("Potassium", "20", APRIL, **critical),
            result("Sodium", "72.5", APRIL),
            result("Zinc", "70", APRIL, unit=""),
        ),
    )
    address = place(alice_tenant, "user_results", user_id=user.uuid)

    newest = alice_web.get(address)
    march = alice_web.get(address, {"day": "2026-03-02", "with": "2026-04-02"})
    narrowed = alice_web.get(address, {"q": "sodi", "lab": ordered.lab.name})
    off = alice_web.get(address, {"show": "critical", "day": "soon", "with": "1"})

    assert described(newest) == [
        [
            ("Potassium", "20", "90", "-70", True),
            ("Albumin", "120", "80", "+40", False),
        ],
        [("Sodium", "72.5", "70", "+2.5", False), ("Zinc", "70", None, "", False)],
    ]
    html = newest.content.decode()
    assert html.count("tr-spark") == 3
    assert html.count("Not acknowledged") == 1
    assert described(march) == [
        [],
        [
            ("Albumin", "80", "120", "-40", False),
            ("Potassium", "90", "20", "+70", False),
            ("Sodium", "70", "72.5", "-2.5", False),
        ],
    ]
    assert described(narrowed)[1] == [("Sodium", "72.5", "70", "+2.5", False)]
    assert [name for name, *_ in described(off)[0]] == ["Potassium"]
    assert [number for *_, number in off.context["counts"]] == [4, 2, 1, 4]
    nothing = alice_web.get(address, {"q": "<i>"})
    assert 'value="<i>"' not in nothing.content.decode()
    assert described(nothing) == [[], []]


@pytest.mark.parametrize(
    ("role", "status"), [(Role.VIEWER, 200), (Role.CLINICIAN, 200)]
)
def test_who_may_read_orders_may_read_results(alice_team, ordered, role, status):
    make_results(order=ordered)
    client = Client()
    client.force_login(make_member(team=alice_team, roles=(role,)))

    assert client.get(results_url(ordered)).status_code == status
