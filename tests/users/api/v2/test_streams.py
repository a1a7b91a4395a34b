from __future__ import annotations

import gzip
from datetime import UTC, date, datetime
from uuid import uuid4

import orjson
import pytest

from tests.audit import audited
from tests.clients import error_lines
from tests.contract.document import check_answer
from tests.factories.accounts import ACTOR
from tests.factories.samples import put_samples
from tests.factories.streams import make_stream, make_workout, stream_body
from tests.factories.summaries import record
from tests.factories.users import make_user
from tests.outbox import emitted_types
from tests.statements import count_statements
from tests.users.holdings import stored_rows
from users.operations.users.users import UserChanges, delete_user, update_user
from users.wearables.streams import CHANNELS

pytestmark = pytest.mark.django_db
NONE = {channel.name: None for channel in CHANNELS}
PATH = "/v2/timeseries/workouts/{workout_id}/stream"


@pytest.fixture(autouse=True)
def _noon(time_machine):
    time_machine.move_to(datetime(2026, 3, 1, 12, tzinfo=UTC), tick=False)


@pytest.fixture
def user(alice_tenant):
    return make_user(tenant=alice_tenant)


@pytest.fixture
def workout(user):
    return make_workout(user)


def path(workout_id):
    return PATH.format(workout_id=workout_id)


def put(api, workout, body):
    return api.put(path(workout.id), orjson.dumps(body), "application/json")


def test_a_stream_is_answered_as_it_was_put(alice_api, workout):
    stored = put(alice_api, workout, stream_body())
    read = alice_api.get(path(workout.id))

    assert (stored.status_code, stored.json()) == (200, {"success": True})
    assert read.status_code == 200
    assert read.json() == NONE | stream_body()
    check_answer(stored, "put", PATH)
    check_answer(read, "get", PATH)


def test_a_stream_goes_gzipped_to_a_client_that_takes_it(alice_api, workout):
    make_stream(workout)

    reply = alice_api.get(path(workout.id), headers={"Accept-Encoding": "gzip"})

    assert reply["Content-Encoding"] == "gzip"
    assert orjson.loads(gzip.decompress(reply.content)) == NONE | stream_body()


def test_a_workout_without_a_stream_has_no_channel(alice_api, workout):
    reply = alice_api.get(path(workout.id))

    assert (reply.status_code, reply.json()) == (200, NONE)


def test_a_read_is_two_statements_and_a_line_of_audit(alice_api, alice_tenant, workout):
    make_stream(workout)
    alice_api.get("/v2/providers")

    with count_statements() as sent:
        alice_api.get(path(workout.id))

    assert len([each for each in sent if "assay.tenant" not in each]) == 2
    assert audited(alice_tenant)[-1] == ("read", "workout_stream", str(workout.id))


@pytest.mark.parametrize("method", ["GET", "PUT"])
def test_what_is_no_workout_is_404(alice_api, user, alice_tenant, method):
    gone = make_user(tenant=alice_tenant)
    theirs = make_workout(gone)
    delete_user(user=gone, actor=ACTOR)
    night = record(user, "sleep").ids[0]
    before = stored_rows(alice_tenant)

    for workout_id in (uuid4(), night, theirs.id):
        reply = alice_api.generic(method, path(workout_id), b"[]", "application/json")
        assert (reply.status_code, reply.json()["code"]) == (404, "not_found")
    assert stored_rows(alice_tenant) == before


@pytest.mark.parametrize("method", ["get", "put"])
def test_a_malformed_id_is_422_at_the_path(alice_api, method):
    reply = getattr(alice_api, method)(path("7"))

    assert error_lines(reply) == [(["path", "workout_id"], "uuid_parsing")]


@pytest.mark.parametrize(
    ("body", "line"),
    [
        (b"{", (["body"], "json_invalid")),
        (b'{"power":[1e999]}', (["body"], "json_invalid")),
        (b"[]", (["body"], "value_error")),
        (b"", (["body"], "value_error")),
        (b'{"time":[1772300000],"power":[]}', (["body", "power"], "value_error")),
        (b'{"heartrate":[1,900]}', (["body", "heartrate", 1], "less_than_equal")),
    ],
    ids=["no json", "infinite", "a list", "nothing", "uneven", "too much"],
)
def test_a_stream_that_cannot_be_read_is_422_and_stores_nothing(
    alice_api, alice_tenant, workout, body, line
):
    before = stored_rows(alice_tenant)

    reply = alice_api.put(path(workout.id), body, "application/json")

    assert error_lines(reply) == [line]
    assert stored_rows(alice_tenant) == before


def test_an_equal_stream_put_again_emits_nothing(alice_api, alice_tenant, workout):
    put(alice_api, workout, stream_body())
    types = emitted_types(alice_tenant)

    reply = put(alice_api, workout, stream_body())

    assert reply.json() == {"success": True}
    assert emitted_types(alice_tenant) == types


def test_zones_follow_the_fallback_birth_date_as_it_is_now(alice_api, user, workout):
    make_stream(workout)

    def zones():
        reply = alice_api.get(
            f"/v2/summary/workouts/{user.uuid}", {"start_date": "2026-02-28"}
        )
        return reply.json()["workouts"][0]["hr_zones"]

    without = zones()
    seen = []
    for born in (date(1986, 2, 28), date(2006, 2, 28)):
        changes = UserChanges(fallback_birth_date=born)
        update_user(user=user, actor=ACTOR, changes=changes)
        seen.append(zones())

    assert without is None
    assert seen == [[0, 2, 0, 0, 0], [2, 0, 0, 0, 0]]


def test_zones_say_what_they_rest_on_when_asked(alice_api, user):
    changes = UserChanges(fallback_birth_date=date(1986, 2, 28))
    update_user(user=user, actor=ACTOR, changes=changes)
    make_stream(make_workout(user))
    make_workout(user, external_id="own", hr_zones=[1, 2, 3, 4, 5])
    days = {"start_date": "2026-02-28"}
    address = "/v2/summary/workouts/{user_id}"

    asked = alice_api.get(
        address.format(user_id=user.uuid), {**days, "include": "provenance"}
    )
    plain = alice_api.get(address.format(user_id=user.uuid), days)

    check_answer(asked, "get", address)
    fields = {
        tuple(each["hr_zones"]): each["provenance"]["hr_zones"]
        for each in asked.json()["workouts"]
    }
    assert fields == {
        (0, 2, 0, 0, 0): {"max_heart_rate": 180, "birth_date_source": "manual"},
        (1, 2, 3, 4, 5): None,
    }
    assert all("provenance" not in each for each in plain.json()["workouts"])


def test_zones_of_many_workouts_take_two_statements_more(alice_api, user, alice_tenant):
    changes = UserChanges(fallback_birth_date=date(1986, 2, 28))
    update_user(user=user, actor=ACTOR, changes=changes)
    address = f"/v2/summary/workouts/{user.uuid}"
    days = {"start_date": "2026-02-28"}

    def statements():
        with count_statements() as sent:
            reply = alice_api.get(address, days)
        return len(sent), len(reply.json()["workouts"])

    alice_api.get("/v2/providers")  # the key is looked up once
    counted = [statements()]
    for number in range(1, 4):
        make_stream(make_workout(user, external_id=str(number)))
        counted.append(statements())

    none = counted[0][0]
    assert counted == [(none, 0), (none + 2, 1), (none + 2, 2), (none + 2, 3)]


SLEEP_PATH = "/v2/timeseries/sleep/{sleep_id}/stream"


def test_a_sleep_streams_its_providers_samples_of_the_night(
    alice_api, alice_tenant, user
):
    sleep_id = record(user, "sleep").ids[0]
    night = [("2026-02-28T22:00", 0, 60), ("2026-03-01T05:59", 0, 48)]
    outside = [("2026-02-28T21:59", 0, 70), ("2026-03-01T06:00", 0, 71)]
    put_samples(user, "heartrate", *night, *outside, source_type="ring")
    put_samples(user, "respiratory_rate", ("2026-03-01T01:00", 0, 14.5))
    put_samples(user, "hrv", ("2026-03-01T01:00", 0, 55), provider="fitbit")

    reply = alice_api.get(SLEEP_PATH.format(sleep_id=sleep_id))

    def sample(at, unit, value):
        return {
            "timestamp": at,
            "timezone_offset": 0,
            "type": None,
            "unit": unit,
            "value": value,
        }

    assert reply.status_code == 200
    check_answer(reply, "get", SLEEP_PATH)
    assert reply.json() == {
        "hrv": None,
        "heartrate": [
            sample("2026-02-28T22:00:00+00:00", "bpm", 60),
            sample("2026-03-01T05:59:00+00:00", "bpm", 48),
        ],
        "respiratory_rate": [sample("2026-03-01T01:00:00+00:00", "bpm", 14.5)],
    }
    assert audited(alice_tenant)[-1] == ("read", "sleep_stream", str(sleep_id))


def test_a_sleep_without_samples_has_no_stream(alice_api, user):
    sleep_id = record(user, "sleep").ids[0]

    reply = alice_api.get(SLEEP_PATH.format(sleep_id=sleep_id))

    assert reply.json() == dict.fromkeys(("hrv", "heartrate", "respiratory_rate"))


def test_what_is_no_sleep_is_404(alice_api, user, workout):
    for sleep_id in (uuid4(), workout.id):
        reply = alice_api.get(SLEEP_PATH.format(sleep_id=sleep_id))

        assert (reply.status_code, reply.json()["code"]) == (404, "not_found")
