from __future__ import annotations

import csv
import io
from datetime import UTC, date, datetime, timedelta

import orjson
import pytest
from pyarrow.parquet import ParquetFile

from portal.lib.web import parquet_files
from tests.audit import audited
from tests.factories.accounts import ACTOR
from tests.factories.samples import put_samples
from tests.factories.summaries import MOST, cycle_element, night_element, record
from tests.factories.timeseries import push_samples
from tests.factories.users import make_user
from tests.statements import count_statements
from users.models import Cadence, Summary
from users.operations.sources.sources import connect_source
from users.wearables.providers import KNOWN

pytestmark = pytest.mark.django_db
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
GRID = "?show=freshness"


@pytest.fixture(autouse=True)
def _noon(time_machine):
    time_machine.move_to(NOON, tick=False)


@pytest.fixture
def user(alice_tenant):
    return make_user(tenant=alice_tenant, fallback_time_zone="Europe/Berlin")


def address(user, query="", page="explorer/"):
    slug = user.tenant.team.slug
    return f"/t/{slug}/{user.tenant.environment}/users/{user.uuid}/{page}{query}"


def open_page(web, user, query="", page="explorer/"):
    reply = web.get(address(user, query, page))
    assert reply.status_code == 200, reply.status_code
    return reply


def beats(user, *values, day="2026-02-28", **given):
    put_samples(
        user,
        "heartrate",
        *((f"{day}T10:{n:02}", 0, value) for n, value in enumerate(values)),
        **given,
    )


def body_of(reply):
    return b"".join(reply.streaming_content).decode("utf-8-sig")


def test_the_grid_says_how_fresh_everything_is(alice_web, user):
    beats(user, 60, 61)
    beats(user, 62, day="2026-02-25", provider="garmin")
    record(user, "sleep_cycle", night_element())

    reply = open_page(alice_web, user, GRID)

    rows = {(row.slug, row.provider.slug): row for row in reply.context["grid"].rows}
    assert rows.keys() == {
        ("heartrate", "oura"),
        ("heartrate", "garmin"),
        ("sleep_cycle", "oura"),
    }
    ring = rows["heartrate", "oura"]
    assert ring.last == datetime(2026, 2, 28, 10, 1, tzinfo=UTC)
    assert ring.coverage == "1 of 30 days"
    assert rows["heartrate", "garmin"].gaps == "26 Feb to 28 Feb"
    assert rows["sleep_cycle", "oura"].url.startswith("?series=sleep_cycle&")


def test_a_record_of_a_whole_day_is_dated_by_that_day(alice_web, user):
    record(user, "activity")
    beats(user, 60, day="2026-02-27")

    reply = open_page(alice_web, user, GRID)

    days = {row.slug: row.last_day for row in reply.context["grid"].rows}
    [stored] = Summary.objects.for_tenant(user.tenant).filter(user=user)
    assert days == {"activity": stored.calendar_date, "heartrate": None}


def test_what_has_no_chart_is_in_the_grid_all_the_same(alice_web, user):
    record(user, "activity")

    reply = open_page(alice_web, user, GRID)

    (row,) = reply.context["grid"].rows
    assert (row.slug, row.url, reply.context["why"]) == ("activity", "", None)
    assert b'id="h-fresh"' in reply.content


def test_what_is_overdue_is_silent_in_the_grid(alice_web, user):
    beats(user, 60)
    connect_source(user=user, actor=ACTOR, provider="oura")
    heard = NOON - timedelta(days=1)
    Cadence(
        tenant=user.tenant,
        user=user,
        provider="oura",
        resource="heartrate",
        last_at=heard,
        usual_gap=timedelta(hours=2),
        due_at=heard + timedelta(hours=6),
    ).save()

    grid = open_page(alice_web, user, GRID).context["grid"]

    (row,) = grid.rows
    assert (row.is_silent, row.usual, row.dot, grid.silent) == (
        True,
        "every 2 h",
        "bad",
        1,
    )


@pytest.mark.parametrize("number", [1, 20])
def test_the_grid_costs_the_same_however_much_there_is(alice_web, user, number):
    for n, provider in enumerate(list(KNOWN)[:number]):
        put_samples(
            user, "heartrate", (f"2026-02-{n + 1:02}", 0, 60), provider=provider
        )
    open_page(alice_web, user, GRID)

    with count_statements() as sent:
        reply = open_page(alice_web, user, GRID)

    assert len(reply.context["grid"].rows) == number
    tables = ("users_sample", "users_summary", "users_cadence", "users_feed")
    reads = [each for each in sent if any(name in each for name in tables)]
    # Extents, feeds, counts and days; summaries for tree and grid; cadences.
    assert len(reads) == 7


def test_cycles_are_told_of_nowhere_here(alice_web, user):
    record(user, "menstrual_cycle", cycle_element())

    reply = open_page(alice_web, user, "?series=menstrual_cycle")

    assert reply.context["grid"].rows == ()
    assert reply.context["tree"].branches == ()


def test_it_opens_on_the_freshest_resource_and_on_days_that_have_it(alice_web, user):
    beats(user, 60, 61)
    put_samples(user, "steps", ("2026-02-27T10:00", 5, 90), provider="garmin")
    put_samples(user, "body_weight", ("2026-01-05T07:00", 0, 80.5), provider="withings")

    fresh = open_page(alice_web, user).context
    old = open_page(alice_web, user, "?provider=withings").context
    (leaf,) = [
        leaf
        for branch in fresh["tree"].branches
        for leaf in branch.leaves
        if leaf.is_on
    ]

    assert [each.key.slug for each in fresh["series"]] == ["heartrate"]
    assert fresh["question"].span == "23 Feb to 1 Mar 2026"
    assert [each.key.slug for each in old["series"]] == ["body_weight"]
    assert old["question"].span == "30 Dec 2025 to 5 Jan 2026"
    # Hiding the last series does not open it again.
    assert open_page(alice_web, user, leaf.query).context["grid"].rows != ()


def test_workouts_are_bars_as_high_as_they_are_long(alice_web, user):
    record(user, "workouts", MOST["workouts"])

    reply = open_page(alice_web, user)

    (curve,) = reply.context["chart_data"]["curves"]
    ((_, *point),) = curve["points"]
    assert (curve["unit"], point) == ("min", [60.0, 60.0, 60.0, "Evening run, 1 h"])
    chart = str(reply.context["chart"])
    assert chart.count('class="sr-bar"') == 1
    assert "<title>Evening run, 1 h</title>" in chart


@pytest.mark.parametrize(
    ("compare", "span", "then", "change"),
    [
        ("before", "16 Feb to 22 Feb 2026", "50", "+20 %"),
        ("year", "24 Feb to 2 Mar 2025", "40", "+50 %"),
        ("2026-01-05", "5 Jan to 11 Jan 2026", "80", "\N{MINUS SIGN}25 %"),
    ],
)
def test_two_spans_lie_over_each_other(alice_web, user, compare, span, then, change):
    beats(user, 60)
    beats(user, 50, day="2026-02-21")
    beats(user, 40, day="2025-03-01")
    beats(user, 80, day="2026-01-10")

    reply = open_page(alice_web, user, f"?series=heartrate&compare={compare}")

    comparison = reply.context["comparison"]
    other, shown = reply.context["chart_data"]["curves"]
    assert comparison.span == span
    assert (comparison.figures[0].now, comparison.figures[0].then) == ("60", then)
    assert comparison.figures[0].change == change
    # It stands where the same weekday of the shown span does.
    assert other["points"][0][0] == shown["points"][0][0]
    assert str(reply.context["chart"]).count("sr-other") == 1


@pytest.mark.parametrize("compare", ["", "2026-02-23", "yesterday", "0001-01-01"])
def test_what_can_not_be_compared_is_not(alice_web, user, compare):
    beats(user, 60)

    reply = open_page(alice_web, user, f"?series=heartrate&compare={compare}")

    assert reply.context["comparison"] is None


def test_the_tree_counts_what_lies_in_the_time(alice_web, user):
    beats(user, 60, 61)
    beats(user, 60, day="2026-01-05")

    reply = open_page(alice_web, user, "?series=heartrate&days=7")

    ((branch,),) = [each.leaves for each in reply.context["tree"].branches]
    assert (branch.key.slug, branch.count, branch.is_on) == ("heartrate", "2", True)


def test_three_series_share_one_chart_and_a_fourth_is_not_shown(alice_web, user):
    beats(user, 60, 61)
    put_samples(user, "steps", ("2026-02-28T10:00", 5, 90))
    record(user, "sleep_cycle", night_element())
    query = "?series=heartrate&series=steps&series=sleep_cycle&series=hrv"

    reply = open_page(alice_web, user, query)

    names = [each.key.slug for each in reply.context["series"]]
    assert names == ["heartrate", "steps", "sleep_cycle"]
    chart = str(reply.context["chart"])
    assert chart.count('class="sr-line"') == 1
    assert chart.count('class="sr-bar"') == 1
    assert "st-deep" in chart
    assert "Heart rate: Low 60, high 61" in chart
    assert [one["unit"] for one in reply.context["chart_data"]["curves"]] == [
        "bpm",
        "count",
    ]


@pytest.mark.parametrize(
    ("zone", "first"),
    [
        ("user", "2026-02-28T11:00:00+01:00"),
        ("utc", "2026-02-28T10:00:00+00:00"),
        ("record", "2026-02-28T10:00:00+00:00"),
    ],
)
def test_the_table_shows_the_clock_that_is_asked_for(alice_web, user, zone, first):
    beats(user, 60)

    reply = open_page(alice_web, user, f"?series=heartrate&view=table&zone={zone}")

    ((line,),) = [table.lines for table in reply.context["tables"]]
    assert line.time == first


def test_the_table_of_samples_goes_on_behind_a_cursor(alice_web, user, monkeypatch):
    monkeypatch.setattr("users.web.explorer.table.TABLE_ROWS", 2)
    beats(user, 60, 61, 62)

    first = open_page(alice_web, user, "?series=heartrate&view=table")
    (table,) = first.context["tables"]
    (rest,) = open_page(alice_web, user, table.more).context["tables"]

    assert [line.value for line in table.lines] == ["60", "61"]
    assert [line.value for line in rest.lines] == ["62"]
    assert rest.more == ""


@pytest.mark.parametrize(
    "query",
    [
        "?series=heartrate",
        "?series=heartrate&start=2026-02-28T09:00:00Z&end=2026-02-28T10:01:00Z",
        "?series=heartrate&zone=utc&provider=oura",
        "?series=steps",
        "?series=steps&resolution=hour&zone=utc",
        "?series=sleep_cycle&days=30",
        "?series=heartrate&resolution=day",
    ],
)
def test_the_json_is_what_the_api_answers_to_the_curl(
    alice_web, alice_api, user, query
):
    beats(user, 60, 61)
    put_samples(user, "steps", ("2026-02-28T10:00", 5, 90))
    record(user, "sleep_cycle", night_element())

    reply = open_page(alice_web, user, f"{query}&view=json")

    ((call, answer),) = reply.context["answers"]
    path = call.url[call.url.index("/v2/") :]
    assert orjson.loads(alice_api.get(path).content) == answer
    assert answer not in ({}, {"groups": {}, "next": None, "next_cursor": None})
    assert path in call.curl


def test_events_that_carried_the_samples_are_found(alice_web, user):
    push_samples(user, "heartrate")

    reply = open_page(alice_web, user, "?series=heartrate&view=events")

    ((_, ((record_event, _),)),) = reply.context["events_by_series"]
    assert record_event.event.event_type == "daily.data.heartrate.created"
    assert record_event.records == 1


@pytest.mark.parametrize(
    ("bounds", "sources", "samples", "query", "why"),
    [
        ({}, (), False, "?series=heartrate", "no_source"),
        ({}, ("oura",), False, "?series=heartrate", "waiting"),
        ({"ingestion_end": date(2026, 2, 1)}, ("oura",), False, "", "outside"),
        ({}, ("oura",), True, "?series=heartrate&days=1", "filtered"),
        ({}, ("oura",), True, "?series=heartrate&provider=garmin", "filtered"),
    ],
)
def test_an_empty_page_says_why(
    alice_web, alice_tenant, bounds, sources, samples, query, why
):
    user = make_user(tenant=alice_tenant, **bounds)
    for source in sources:
        connect_source(user=user, actor=ACTOR, provider=source)
    if samples:
        beats(user, 60, day="2026-02-27")

    reply = open_page(alice_web, user, query)

    assert reply.context["why"] == why


@pytest.mark.parametrize(
    ("query", "rows"),
    [
        ("&format=csv", [["heartrate", "60"], ["heartrate", "61"], ["steps", "90"]]),
        (
            "&format=csv&all=1",
            [["heartrate", "60"], ["heartrate", "61"], ["steps", "90"]],
        ),
    ],
)
def test_a_file_holds_what_is_shown(alice_web, alice_tenant, user, query, rows):
    beats(user, 60, 61)
    put_samples(user, "steps", ("2026-02-28T10:00", 5, 90))

    reply = open_page(
        alice_web, user, f"?series=heartrate&series=steps{query}", "explorer/file/"
    )

    lines = list(csv.DictReader(io.StringIO(body_of(reply))))
    assert [[line["series"], line["value"]] for line in lines] == rows
    assert audited(alice_tenant)[-2][1] == "heartrate_file"


def test_ndjson_has_a_line_for_each_row(alice_web, user):
    beats(user, 60, 61)

    reply = open_page(
        alice_web, user, "?series=heartrate&format=ndjson", "explorer/file/"
    )

    lines = [orjson.loads(line) for line in body_of(reply).splitlines()]
    assert [(line["start"], line["value"], line["provider"]) for line in lines] == [
        ("2026-02-28T10:00:00+00:00", 60.0, "oura"),
        ("2026-02-28T10:01:00+00:00", 61.0, "oura"),
    ]


def test_parquet_has_typed_columns_of_all_records(alice_web, user, monkeypatch):
    monkeypatch.setattr(parquet_files, "_GROUP_ROWS", 1)
    beats(user, 60, 61)

    reply = open_page(
        alice_web, user, "?series=heartrate&format=parquet&all=1", "explorer/file/"
    )

    assert reply["Content-Disposition"].endswith('.parquet"')
    file = ParquetFile(io.BytesIO(b"".join(reply.streaming_content)))
    assert file.num_row_groups == 2
    types = {each.name: str(each.type) for each in file.schema_arrow}
    assert (types["timestamp"], types["value"]) == ("timestamp[us, tz=UTC]", "double")
    rows = file.read().to_pylist()
    assert [(row["timestamp"], row["value"], row["provider"]) for row in rows] == [
        (datetime(2026, 2, 28, 10, 0, tzinfo=UTC), 60.0, "oura"),
        (datetime(2026, 2, 28, 10, 1, tzinfo=UTC), 61.0, "oura"),
    ]


@pytest.mark.parametrize("query", ["?series=heartrate&format=xls", "?format=csv"])
def test_there_is_no_file_of_nothing(alice_web, alice_tenant, user, query):
    before = len(audited(alice_tenant))

    reply = alice_web.get(address(user, query, "explorer/file/"))

    assert (reply.status_code, reply["Location"]) == (302, address(user))
    assert len(audited(alice_tenant)) == before


def test_each_series_that_is_looked_at_is_in_the_audit(alice_web, alice_tenant, user):
    before = len(audited(alice_tenant))

    open_page(alice_web, user, "?series=heartrate&series=sleep_cycle")

    uuid = str(user.uuid)
    assert audited(alice_tenant)[before:] == [
        ("read", "heartrate", uuid),
        ("read", "sleep_cycle", uuid),
    ]


@pytest.mark.parametrize("number", [1, 20])
def test_a_chart_costs_the_same_however_much_there_is(alice_web, user, number):
    for n in range(number):
        put_samples(user, "heartrate", (f"2026-02-28T10:{n:02}", 0, 60))
        put_samples(user, "cholesterol", (f"2026-02-28T10:{n:02}", 0, 1), type_="ldl")
    open_page(alice_web, user, "?series=heartrate")

    with count_statements() as sent:
        open_page(alice_web, user, "?series=heartrate")

    reads = [each for each in sent if "users_sample" in each or "users_summ" in each]
    # Extents, counts, summaries, stretches; branches, samples, and their extras.
    assert len(reads) == 7


def test_moving_and_zooming_are_addresses(alice_web, user):
    beats(user, 60)
    query = "?series=heartrate&start=2026-02-27T00:00:00Z&end=2026-02-28T00:00:00Z"

    moves = open_page(alice_web, user, query).context["moves"]

    def times(move):
        question = open_page(alice_web, user, moves[move]).context["question"]
        return question.start.isoformat()[5:16], question.end - question.start

    assert times("earlier") == ("02-26T00:00", timedelta(days=1))
    assert times("nearer") == ("02-27T06:00", timedelta(hours=12))
    assert times("farther") == ("02-26T12:00", timedelta(days=2))


@pytest.mark.parametrize(
    "query",
    [
        "?series=heartrate&start=now&end=2026",
        "?series=heartrate&start=2026-02-28&end=2026-02-01",
        "?series=heartrate&days=7000&zone=mars&view=3d&resolution=1ms&cursor=x~y",
        "?series=heartrate&start=0001-01-01T00:00:00Z&end=9999-12-31T23:59:59Z",
        "?series=nothing&series=heartrate:none&view=table&cursor=heartrate~AA",
    ],
)
def test_a_question_that_means_nothing_asks_for_the_usual(alice_web, user, query):
    question = open_page(alice_web, user, query).context["question"]

    assert question.end - question.start == timedelta(days=7)


@pytest.mark.parametrize("page", ["explorer/", "explorer/file/?series=hrv&format=csv"])
def test_a_stranger_finds_nothing(charlie_web, user, page):
    assert charlie_web.get(address(user, "", page)).status_code == 404
