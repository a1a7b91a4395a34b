from __future__ import annotations

import csv
import io
from datetime import UTC, datetime
from uuid import uuid4

import pytest
from django.urls import reverse

from accounts.models import Membership
from accounts.states import Role
from tests.audit import audited, changes_of
from tests.factories.results import (
    make_order_awaiting_results,
    make_reported_result,
    make_results,
)
from tests.factories.users import make_user
from tests.outbox import emitted

pytestmark = pytest.mark.django_db
MARCH = datetime(2026, 3, 2, tzinfo=UTC)
NOW = datetime(2026, 3, 10, 12, tzinfo=UTC)


@pytest.fixture(autouse=True)
def _now(time_machine):
    time_machine.move_to(NOW, tick=False)


@pytest.fixture
def user(alice_tenant):
    return make_user(tenant=alice_tenant)


@pytest.fixture
def order(alice_tenant, user):
    order = make_order_awaiting_results(tenant=alice_tenant, user=user)
    send(order, "120")
    return order


@pytest.fixture
def clinician(alice):
    Membership.objects.filter(member=alice).update(roles=[Role.CLINICIAN])


def send(order, text, **given):
    results = (
        make_reported_result("Albumin", text, observed_at=MARCH),
        make_reported_result("=Zinc", "80", observed_at=MARCH),
    )
    return make_results(order=order, results=results, **given)


def place(tenant, name, **ids):
    team = {"team_slug": tenant.team.slug, "environment": tenant.environment}
    return reverse(name, kwargs={**team, **ids})


def test_a_clinician_marks_results_as_reviewed_until_newer_ones_come(
    alice_web, alice_tenant, user, order, clinician
):
    here = place(alice_tenant, "labs:user_results", user_id=user.uuid)
    review = place(alice_tenant, "labs:review_results")
    record = place(alice_tenant, "users:page", user_id=user.uuid)
    sent = len(emitted(alice_tenant))

    def unreviewed():
        page = alice_web.get(here, {"show": "unreviewed"})
        listed = [
            *page.context["off"],
            *(r for g in page.context["groups"] for r in g.rows),
        ]
        return [row.trend.name for row in listed], page.context["seen"]

    def tiles():
        tiles = alice_web.get(record).context["attention"]
        return [(tile.number, tile.unit) for tile in tiles]

    assert unreviewed() == (["Albumin", "=Zinc"], [f"{order.pk}:1"])
    assert tiles() == [("2", "1 out of range")]

    reply = alice_web.post(review, {"seen": [f"{order.pk}:1"], "user": user.uuid})
    again = alice_web.post(review, {"seen": [f"{order.pk}:1"]})

    assert reply.headers["Location"] == here
    assert again.headers["Location"] == place(
        alice_tenant, "labs:results", order_id=order.pk
    )
    assert unreviewed() == ([], [])
    assert tiles() == []
    html = alice_web.get(here).content.decode()
    assert html.count('alice@assay.example<span class="sub">10 Mar') == 2
    page = alice_web.get(again.headers["Location"]).content.decode()
    assert "Reviewed by alice@assay.example" in page
    assert changes_of(alice_tenant, "review_results") == {"version": 1}
    # A correction is unreviewed, and what was seen before it marks nothing.
    send(order, "130")
    alice_web.post(review, {"seen": [f"{order.pk}:1"], "user": user.uuid})
    assert unreviewed() == (["Albumin", "=Zinc"], [f"{order.pk}:2"])
    assert len(emitted(alice_tenant)) == sent + 1  # of the correction itself


def test_what_is_no_version_of_an_own_order_is_refused(
    alice_web, alice_tenant, charlie_tenant, user, order, clinician
):
    other = make_order_awaiting_results(
        tenant=charlie_tenant, user=make_user(tenant=charlie_tenant)
    )
    send(other, "80")
    review = place(alice_tenant, "labs:review_results")
    before = audited(alice_tenant)

    for seen in (
        [],
        [""],
        ["x:1"],
        [f"{order.pk}:x"],
        [f"{order.pk}:999999999999"],
        [f"{order.pk}:7"],
        [f"{other.pk}:1"],
        [f"{order.pk}:1", f"{uuid4()}:1"],
    ):
        assert alice_web.post(review, {"seen": seen}).status_code == 404

    assert audited(alice_tenant) == before


def test_the_file_holds_what_the_page_shows(alice_web, alice_tenant, user, order):
    file = place(alice_tenant, "labs:user_results_file", user_id=user.uuid)
    panel = order.lab_test.name

    reply = alice_web.get(file, {"show": "abnormal", "panel": panel})
    every = alice_web.get(file, {"q": "zinc"})
    nothing = alice_web.get(file, {"panel": "Another"})

    (albumin,) = csv.DictReader(io.StringIO(reply.content.decode()))
    assert albumin | {"lab": ""} == {
        "marker": "Albumin",
        "loinc": "",
        "result": "120",
        "unit": "mg/dL",
        "reference_range": "65-99",
        "interpretation": "abnormal",
        "collected_at": "2026-03-02T00:00:00Z",
        "lab": "",
        "panel": panel,
        "order_id": str(order.pk),
        "report_id": "",
        "reviewed_at": "",
        "compared_result": "",
        "compared_at": "",
    }
    (zinc,) = csv.DictReader(io.StringIO(every.content.decode()))
    assert zinc["marker"] == "'=Zinc"
    assert len(nothing.content.decode().splitlines()) == 1
    assert audited(alice_tenant)[-1] == (
        "read",
        "result_trends_file",
        str(user.uuid),
    )


def test_a_row_is_reviewed_where_it_stands(
    alice_web, alice_tenant, user, order, clinician
):
    other = make_order_awaiting_results(tenant=alice_tenant, user=user)
    make_results(
        order=other, results=(make_reported_result("Ferritin", "9", observed_at=MARCH),)
    )
    here = place(alice_tenant, "labs:user_results", user_id=user.uuid)
    review = place(alice_tenant, "labs:review_results")
    shown = {"show": "unreviewed", "q": "a"}
    html = alice_web.get(here, shown).content.decode()
    action = f'{review}?show=unreviewed&amp;q=a"'
    seen = {"seen": [f"{order.pk}:1"], "user": user.uuid}

    assert html.count(f'hx-post="{action}') == html.count(f'action="{action}')
    assert html.count(f'name="seen" value="{order.pk}:1"') == 2  # with that of all

    part = alice_web.post(
        f"{review}?show=unreviewed&q=", seen, headers={"HX-Request": "true"}
    )
    again = alice_web.post(f"{review}?show=unreviewed&q=a", seen)
    refreshed = alice_web.post(review, seen, headers={"HX-Request": "true"})

    text = part.content.decode()
    assert "<html" not in text
    assert text.lstrip().startswith('<div class="stack stack--6" id="user-results">')
    assert [row.trend.name for row in part.context["off"]] == ["Ferritin"]
    # The button that was pressed has gone: the next one takes its focus.
    assert text.count(" autofocus") == 1
    assert "1 order" in part.headers["HX-Trigger"]
    assert again.headers["Location"] == f"{here}?show=unreviewed&q=a"
    assert "HX-Trigger" not in refreshed.headers  # nothing more was marked
    make_results(
        order=order, results=(make_reported_result("Albumin", "80", observed_at=MARCH),)
    )
    outdated = alice_web.post(review, seen, headers={"HX-Request": "true"})
    assert '"kind": "bad"' in outdated.headers["HX-Trigger"]


def test_without_the_right_nobody_is_offered_a_review(
    alice, alice_web, alice_tenant, user, order
):
    Membership.objects.filter(member=alice).update(roles=[Role.LAB_STAFF])
    here = place(alice_tenant, "labs:user_results", user_id=user.uuid)
    sent = len(emitted(alice_tenant))

    page = alice_web.get(here)
    reply = alice_web.post(
        place(alice_tenant, "labs:review_results"),
        {"seen": [f"{order.pk}:1"], "user": user.uuid},
        headers={"HX-Request": "true"},
    )

    assert page.status_code == 200
    assert 'name="seen"' not in page.content.decode()
    assert reply.status_code == 403
    assert alice_web.get(here).context["seen"] == [f"{order.pk}:1"]
    assert "review_results" not in {verb for verb, *_ in audited(alice_tenant)}
    assert len(emitted(alice_tenant)) == sent
