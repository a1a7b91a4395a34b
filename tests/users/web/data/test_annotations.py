from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

import pytest

from tests.audit import audited
from tests.factories.annotations import make_annotation
from tests.factories.results import make_order_awaiting_results, make_results
from tests.factories.samples import put_samples
from tests.factories.users import make_user
from users.models import Annotation

pytestmark = pytest.mark.django_db
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


@pytest.fixture(autouse=True)
def _noon(time_machine):
    time_machine.move_to(NOON, tick=False)


@pytest.fixture
def user(alice_tenant):
    return make_user(tenant=alice_tenant, fallback_time_zone="Europe/Berlin")


def address(user, page="annotations/"):
    slug = user.tenant.team.slug
    return f"/t/{slug}/{user.tenant.environment}/users/{user.uuid}/{page}"


ILLNESS = {"kind": "illness", "first_day": "2026-02-26", "text": "Fever"}


def test_an_annotation_is_written_changed_and_deleted(alice_web, alice_tenant, user):
    form = alice_web.get(address(user, "annotations/add/")).context["form"]
    added = alice_web.post(
        address(user, "annotations/add/"), ILLNESS | {"from": "beside"}
    )
    (listed,) = alice_web.get(address(user)).context["annotations"]
    own = f"annotations/{listed.annotation.uuid}/"
    filled = alice_web.get(address(user, own)).context["form"]
    changed = alice_web.post(
        address(user, own), ILLNESS | {"last_day": "2026-02-28", "text": "Influenza"}
    )
    (after,) = alice_web.get(address(user)).context["annotations"]

    assert form.initial == {"first_day": date(2026, 3, 1)}
    assert added.headers["Location"] == address(user, "beside-life/")
    assert (listed.title, listed.author) == (
        "Illness, 26 Feb 2026: Fever",
        "alice@assay.example",
    )
    assert filled.initial["last_day"] is None
    assert changed.headers["Location"] == address(user)
    assert after.title == "Illness, 26 to 28 Feb 2026: Influenza"
    alice_web.get(address(user, f"{own}delete/"))
    assert Annotation.objects.for_tenant(alice_tenant).count() == 1
    alice_web.post(address(user, f"{own}delete/"))
    assert Annotation.objects.for_tenant(alice_tenant).count() == 0


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"kind": "party"}, "kind"),
        ({"first_day": "26 February"}, "first_day"),
        ({"last_day": "2026-02-25"}, "last_day"),
        ({"first_day": "1969-01-01"}, "first_day"),
        ({"text": " "}, "text"),
        ({"text": "x" * 301}, "text"),
    ],
)
def test_a_form_says_what_is_wrong_and_nothing_is_stored(
    alice_web, alice_tenant, user, given, field
):
    annotation = make_annotation(user)
    before = list(Annotation.objects.for_tenant(alice_tenant).values())

    for page in ("add/", f"{annotation.uuid}/"):
        reply = alice_web.post(address(user, f"annotations/{page}"), ILLNESS | given)
        assert reply.status_code == 422
        assert list(reply.context["form"].errors) == [field]

    assert list(Annotation.objects.for_tenant(alice_tenant).values()) == before


def test_every_chart_of_the_user_shows_it_and_the_reads_are_audited(
    alice_web, alice_tenant, user
):
    make_annotation(user)
    put_samples(user, "heartrate", ("2026-02-28T10:00", 0, 60))
    order = make_order_awaiting_results(tenant=alice_tenant, user=user)
    make_results(order=order, collected_at=NOON - timedelta(days=3))
    put_samples(user, "heartrate", ("2025-02-28T10:00", 0, 60))

    shown = {
        page: alice_web.get(address(user, page)).content.decode()
        for page in ("", "beside-life/", "explorer/", "annotations/")
    }
    earlier = alice_web.get(
        address(user, "explorer/?series=heartrate&start=2025-02-27&end=2025-02-28")
    )

    drawn = {"": "tl-written", "annotations/": "table"}
    for page, text in shown.items():
        assert "Lisbon to New York" in text, page
        assert f'class="{drawn.get(page, "cn-number")}' in text, page
    assert earlier.context["annotations"] == []
    assert (
        shown["beside-life/"].count("Lisbon to New York") == 3
    )  # drawn, named, beside
    reads = [subject for verb, subject, _ in audited(alice_tenant) if verb == "read"]
    assert reads.count("annotations") == 4
