from __future__ import annotations

from datetime import UTC, date, datetime

import pytest
from django.test import Client

from tests.audit import audited
from tests.factories.accounts import ACTOR
from tests.factories.summaries import cycle_element, night_element, record
from tests.factories.users import make_user
from tests.statements import count_statements
from users.operations.sources.sources import connect_source

pytestmark = pytest.mark.django_db
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


@pytest.fixture(autouse=True)
def _noon(time_machine):
    time_machine.move_to(NOON, tick=False)


@pytest.fixture
def user(alice_tenant):
    return make_user(tenant=alice_tenant)


def address(user, query=""):
    slug = user.tenant.team.slug
    return f"/t/{slug}/{user.tenant.environment}/users/{user.uuid}/summaries/{query}"


def nights(user, number):
    elements = [
        night_element(
            session_start=f"2026-02-{n:02}T22:00:00",
            session_end=f"2026-02-{n + 1:02}T00:00:00",
        )
        for n in range(1, number + 1)
    ]
    return record(user, "sleep_cycle", *elements).ids


def shown(reply):
    return reply.context["night"].row.id


def test_the_page_shows_the_last_night_and_those_before(alice_web, user):
    ids = nights(user, 10)

    reply = alice_web.get(address(user))

    assert reply.status_code == 200
    assert shown(reply) == ids[-1]
    earlier = [night.row.id for night in reply.context["earlier_nights"]]
    assert earlier == list(reversed(ids[2:9]))
    assert reply.context["later_night"] is None


def test_a_night_is_opened_by_its_id(alice_web, user):
    ids = nights(user, 3)

    reply = alice_web.get(address(user, f"?night={ids[1]}"))

    assert shown(reply) == ids[1]
    assert [n.row.id for n in reply.context["earlier_nights"]] == [ids[0]]
    assert reply.context["later_night"].id == ids[2]


@pytest.mark.parametrize("named", ["none", "00000000-0000-4000-8000-000000000000"])
def test_a_night_that_is_not_there_is_not_made_up(alice_web, user, named):
    nights(user, 1)

    reply = alice_web.get(address(user, f"?night={named}"))

    if named == "none":
        assert reply.status_code == 404
    else:
        assert reply.context["night"] is None


def test_a_night_of_another_user_is_not_shown(alice_web, alice_tenant, user):
    (other,) = nights(make_user(tenant=alice_tenant), 1)

    reply = alice_web.get(address(user, f"?night={other}"))

    assert reply.context["night"] is None


@pytest.mark.parametrize(
    ("bounds", "sources", "why"),
    [
        ({}, (), "no_source"),
        ({}, ("oura",), "waiting"),
        ({"ingestion_end": date(2026, 2, 1)}, ("oura",), "outside"),
        ({"ingestion_start": date(2026, 4, 1)}, (), "outside"),
    ],
)
def test_an_empty_page_says_why(alice_web, alice_tenant, bounds, sources, why):
    user = make_user(tenant=alice_tenant, **bounds)
    for source in sources:
        connect_source(user=user, actor=ACTOR, provider=source)

    reply = alice_web.get(address(user))

    assert reply.context["night"] is None
    assert reply.context["why_no_night"] == why


def test_cycles_are_read_only_when_opened_and_that_is_audited(
    alice_web, alice_tenant, user
):
    record(user, "menstrual_cycle", cycle_element(cervical_mucus=[]))
    before = len(audited(alice_tenant))

    closed = alice_web.get(address(user))
    read_closed = audited(alice_tenant)[before:]
    opened = alice_web.get(address(user, "?cycle=now"))
    read_opened = audited(alice_tenant)[before + len(read_closed) :]

    uuid = str(user.uuid)
    assert closed.context["cycle"] is None
    assert b"This cycle" not in closed.content
    assert read_closed == [("read", "user", uuid), ("read", "sleep_cycle", uuid)]
    assert b"This cycle" in opened.content
    assert read_opened == [*read_closed, ("read", "menstrual_cycle", uuid)]


def test_the_present_cycle_is_shown_not_the_predicted_one(alice_web, user):
    present, _ = record(
        user,
        "menstrual_cycle",
        cycle_element(),
        cycle_element(
            period_start="2026-03-02",
            period_end="2026-03-06",
            cycle_end="2026-03-29",
            is_predicted=True,
        ),
    ).ids

    reply = alice_web.get(address(user, "?cycle=now"))

    assert reply.context["cycle"].row.id == present
    assert reply.context["later_cycle"].body["is_predicted"] is True
    assert reply.context["earlier_cycle"] is None


def test_a_cycle_that_only_lies_ahead_is_shown(alice_web, user):
    record(
        user,
        "menstrual_cycle",
        cycle_element(
            period_start="2026-04-02", period_end="2026-04-06", cycle_end="2026-04-29"
        ),
    )

    reply = alice_web.get(address(user, "?cycle=now"))

    assert reply.context["cycle"].start == date(2026, 4, 2)


def test_without_cycles_nothing_is_logged(alice_web, user):
    reply = alice_web.get(address(user, "?cycle=now"))

    assert b"Nothing logged" in reply.content


@pytest.mark.parametrize("number", [1, 2, 20])
def test_the_page_costs_the_same_however_much_there_is(alice_web, user, number):
    nights(user, number)
    for n in range(1, number + 1):
        record(
            user,
            "menstrual_cycle",
            cycle_element(period_start=f"2026-02-{n:02}", period_end="2026-02-25"),
        )
    alice_web.get(address(user, "?cycle=now"))

    with count_statements() as sent:
        alice_web.get(address(user, "?cycle=now"))

    reads = [each for each in sent if "users_summary" in each]
    # Three for nights, three for cycles: the shown one, those before, the one after.
    assert len(reads) == 6


@pytest.mark.parametrize("query", ["", "?cycle=now"])
def test_a_viewer_may_look(alice_team, bob, user, query):
    web = Client()
    web.force_login(bob)

    assert web.get(address(user, query)).status_code == 200


def test_a_stranger_finds_nothing(charlie_web, user):
    nights(user, 1)

    assert charlie_web.get(address(user)).status_code == 404
