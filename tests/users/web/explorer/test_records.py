from __future__ import annotations

import pytest

from tests.audit import audited
from tests.factories.samples import put_samples
from tests.factories.summaries import cycle_element, record
from tests.factories.timeseries import push_samples
from tests.factories.users import make_user

pytestmark = pytest.mark.django_db
SAMPLE = "?series=heartrate&at=2026-02-28T10:00:00Z&provider=oura&source_type=unknown"


@pytest.fixture
def user(alice_tenant):
    return make_user(tenant=alice_tenant)


def address(user, query):
    slug = user.tenant.team.slug
    return f"/t/{slug}/{user.tenant.environment}/users/{user.uuid}/record/{query}"


def test_a_sample_is_shown_with_the_events_that_carried_it(
    alice_web, alice_tenant, user
):
    push_samples(user, "heartrate")
    push_samples(user, "heartrate", provider="garmin")

    reply = alice_web.get(address(user, SAMPLE))

    shown = reply.context["record"]
    assert shown.body["source"]["provider"] == "oura"
    assert shown.body["timestamp"] == "2026-02-28T10:00:00+00:00"
    ((record_event, _),) = reply.context["record_events"]
    assert (record_event.provider, record_event.records) == ("oura", 1)
    assert audited(alice_tenant)[-1] == ("read", "heartrate", str(user.uuid))


def test_a_summary_is_shown_as_it_came_and_as_it_is_answered(alice_web, user):
    (summary_id,) = record(user, "sleep").ids

    reply = alice_web.get(address(user, f"?summary={summary_id}"))

    shown = reply.context["record"]
    assert shown.body["id"] == str(summary_id)
    assert shown.raw["bedtime_start"] == "2026-02-28T22:00:00+00:00"
    assert dict(shown.facts)["Version"] == 1
    ((record_event, _),) = reply.context["record_events"]
    assert record_event.event.event_type == "daily.data.sleep.created"


def test_htmx_gets_the_drawer_alone(alice_web, user):
    put_samples(user, "heartrate", ("2026-02-28T10:00", 0, 60))

    reply = alice_web.get(address(user, SAMPLE), HTTP_HX_REQUEST="true")

    assert reply.content.strip().startswith(b'<div class="dialog__head">')


@pytest.mark.parametrize(
    "query",
    [
        "?summary=none",
        "?summary=00000000-0000-4000-8000-000000000000",
        "?series=nothing&at=2026-02-28T10:00:00Z",
        "?series=heartrate&at=then",
        "?series=heartrate&at=0001-01-01T00:00:00%2B14:00",
        SAMPLE.replace("10:00:00", "10:00:01"),
        SAMPLE.replace("oura", "garmin"),
        SAMPLE + "&type=ldl",
    ],
)
def test_what_is_not_there_is_not_made_up(alice_web, user, query):
    put_samples(user, "heartrate", ("2026-02-28T10:00", 0, 60))

    assert alice_web.get(address(user, query)).status_code == 404


def test_without_a_name_there_is_the_explorer(alice_web, user):
    reply = alice_web.get(address(user, ""))

    assert reply.status_code == 302
    assert reply["Location"].endswith(f"/users/{user.uuid}/explorer/")


def test_a_cycle_is_not_opened_here(alice_web, alice_tenant, user):
    (summary_id,) = record(user, "menstrual_cycle", cycle_element()).ids
    before = len(audited(alice_tenant))

    reply = alice_web.get(address(user, f"?summary={summary_id}"))

    assert reply.status_code == 404
    assert len(audited(alice_tenant)) == before


def test_a_record_of_another_user_is_not_there(alice_web, alice_tenant, user):
    (other,) = record(make_user(tenant=alice_tenant), "sleep").ids

    assert alice_web.get(address(user, f"?summary={other}")).status_code == 404


def test_a_stranger_finds_nothing(charlie_web, user):
    put_samples(user, "heartrate", ("2026-02-28T10:00", 0, 60))

    assert charlie_web.get(address(user, SAMPLE)).status_code == 404
