from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from random import Random
from zoneinfo import ZoneInfo

import pytest

from portal.lib.errors import Invalid
from tests.factories.samples import put_samples
from tests.factories.users import make_user
from tests.statements import count_statements
from users.analysis.aggregates import AggregateRequest, aggregate_samples
from users.analysis.buckets import Period
from users.analysis.source_priority import Rule
from users.wearables.timeseries import TIMESERIES

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("both_ways")]
BERLIN = ZoneInfo("Europe/Berlin")
DAY = date(2026, 2, 10)


@pytest.fixture
def user(alice_tenant):
    return make_user(tenant=alice_tenant)


def ask(user, slug="steps", start=DAY, end=None, period=Period.DAY, zone=UTC, **more):
    return aggregate_samples(
        user=user,
        request=AggregateRequest(
            resource=TIMESERIES[slug],
            start=start,
            end=end or start,
            period=period,
            zone=zone,
            **more,
        ),
    )


def sums(buckets):
    return [bucket.total for bucket in buckets]


def watch_and_phone(user):
    """At 8 the phone has more, at 9 the watch; at 10 the phone alone."""
    put_samples(
        user,
        "steps",
        *(("2026-02-10T08:00", 60, 100), ("2026-02-10T09:00", 60, 300)),
        provider="fitbit",
        source_type="watch",
    )
    put_samples(
        user,
        "steps",
        *(("2026-02-10T08:00", 60, 400), ("2026-02-10T09:30", 90, 90)),
        provider="apple_health_kit",
        source_type="phone",
    )


def test_of_samples_that_do_not_add_up_every_one_counts(user):
    put_samples(
        user, "heartrate", ("2026-02-10T08:00", 0, 60), ("2026-02-10T09:00", 0, 80)
    )
    put_samples(user, "heartrate", ("2026-02-10T08:00", 0, 100), provider="fitbit")
    put_samples(user, "hrv", ("2026-02-10T08:00", 0, 7))

    first, second = ask(user, "heartrate", end=date(2026, 2, 11))

    assert (first.start, first.end) == (
        datetime(2026, 2, 10, tzinfo=UTC),
        datetime(2026, 2, 11, tzinfo=UTC),
    )
    assert (first.low, first.high, first.mean, first.count) == (60, 100, 80, 3)
    assert first.total is None
    assert first.provider is None
    assert [(each.source.provider, each.samples) for each in first.sources] == [
        ("oura", 2),
        ("fitbit", 1),
    ]
    assert (second.low, second.high, second.mean, second.total) == (None,) * 4
    assert (second.count, second.provider, second.sources) == (0, None, ())


@pytest.mark.parametrize(
    ("rule", "ranking", "total", "counted"),
    [
        (Rule.MAX, (), 400 + 300 + 60, {"fitbit": 300, "apple_health_kit": 460}),
        (Rule.PRIORITY, (), 100 + 300 + 60, {"fitbit": 400, "apple_health_kit": 60}),
        (
            Rule.PRIORITY,
            ("apple_health_kit",),
            400 + 30 + 60,
            {"fitbit": 0, "apple_health_kit": 490},
        ),
        (Rule.MERGE, (), 100 + 300 + 60, {"fitbit": 400, "apple_health_kit": 60}),
        (
            Rule.MERGE,
            ("apple_health_kit",),
            400 + 150 + 90,
            {"fitbit": 150, "apple_health_kit": 490},
        ),
    ],
    ids=["max", "priority", "priority given", "merge", "merge given"],
)
def test_an_overlap_counts_once_by_the_rule(user, rule, ranking, total, counted):
    watch_and_phone(user)

    (bucket,) = ask(user, rule=rule, ranking=ranking)

    assert bucket.total == total
    assert {each.source.provider: each.counted for each in bucket.sources} == counted
    assert {each.source.provider: each.reported for each in bucket.sources} == {
        "fitbit": 400,
        "apple_health_kit": 490,
    }


def test_the_ledger_says_who_won_when_and_what_the_others_say(user):
    watch_and_phone(user)

    (bucket,) = ask(user, rule=Rule.MAX, with_intervals=True)

    assert [
        (
            *(line.start.hour, line.end.hour, line.source.provider, line.value),
            [(source.provider, value) for source, value in line.others],
        )
        for line in bucket.intervals
    ] == [
        (8, 9, "apple_health_kit", 400, [("fitbit", 100)]),
        (9, 10, "fitbit", 300, [("apple_health_kit", 30)]),
        (10, 11, "apple_health_kit", 60, []),
    ]
    assert sum(line.value for line in bucket.intervals) == bucket.total
    assert ask(user, rule=Rule.MAX)[0].intervals == ()


def test_the_ledger_of_a_merge_adds_up_to_its_total(user):
    watch_and_phone(user)

    (bucket,) = ask(user, rule=Rule.MERGE, with_intervals=True)

    lines = [
        (f"{line.start:%H:%M}", f"{line.end:%H:%M}", line.source.provider, line.value)
        for line in bucket.intervals
    ]
    assert lines == [
        ("08:00", "10:00", "fitbit", 400),
        ("10:00", "11:00", "apple_health_kit", 60),
    ]


def test_a_merge_is_what_counting_minute_by_minute_gives(user):
    dice = Random(7)  # noqa: S311 - made-up data, no secret
    minutes = {"watch": [0.0] * 1440, "phone": [0.0] * 1440}
    for kind, values in minutes.items():
        samples = {}
        for _ in range(60):
            start, length = dice.randrange(1400), dice.randint(1, 40)
            at = f"2026-02-10T{start // 60:02}:{start % 60:02}"
            samples[at] = (at, length, dice.randint(1, 500))
        for at, length, value in samples.values():
            start = int(at[11:13]) * 60 + int(at[14:])
            for minute in range(start, start + length):
                values[minute] += value / length
        put_samples(user, "steps", *samples.values(), source_type=kind)

    (day,) = ask(user, rule=Rule.MERGE)

    # No sample has 0, so that a minute without any is one nobody measured.
    watch, phone = minutes["watch"], minutes["phone"]
    expected = sum(one or other for one, other in zip(watch, phone, strict=True))
    assert day.total == pytest.approx(expected, abs=1e-4)
    assert {each.source.source_type: each.reported for each in day.sources} == {
        kind: pytest.approx(sum(values), abs=1e-4) for kind, values in minutes.items()
    }


def test_one_provider_is_named_where_it_alone_counted(user):
    watch_and_phone(user)

    buckets = ask(user, rule=Rule.MAX, period=Period.HOUR)

    assert [each.provider for each in buckets[8:12]] == [
        "apple_health_kit",
        "fitbit",
        "apple_health_kit",
        None,
    ]
    assert sums(buckets[7:12]) == [None, 400, 300, 60, None]


@pytest.mark.parametrize("rule", list(Rule), ids=str)
def test_a_sample_over_midnight_is_shared_out_and_counted_where_it_starts(user, rule):
    put_samples(user, "steps", ("2026-02-10T23:45", 60, 80))

    first, second = ask(user, end=date(2026, 2, 11), rule=rule)
    (before,) = ask(user, rule=rule)
    (after,) = ask(user, start=date(2026, 2, 11), rule=rule)

    assert (first.total, first.count, first.high) == (20, 1, 80)
    assert (second.total, second.count, second.high) == (60, 0, None)
    assert (first, second) == (before, after)
    assert second.provider == "oura"


@pytest.mark.parametrize("rule", list(Rule), ids=str)
def test_a_sample_of_days_gives_each_day_its_share_wherever_it_began(user, rule):
    put_samples(user, "steps", ("2026-02-08T12:00", 3 * 24 * 60, 300))

    (bucket,) = ask(user, rule=rule)

    assert (bucket.total, bucket.count, bucket.provider) == (100, 0, "oura")


@pytest.mark.parametrize("rule", list(Rule), ids=str)
@pytest.mark.parametrize(
    ("day", "hours"), [(date(2026, 3, 29), 23), (date(2025, 10, 26), 25)], ids=str
)
def test_a_day_has_the_hours_its_clocks_give_it(user, day, hours, rule):
    first = datetime.combine(day, datetime.min.time(), BERLIN).astimezone(UTC)
    put_samples(
        user,
        "steps",
        *(
            ((first + timedelta(hours=hour)).replace(tzinfo=None).isoformat(), 60, 10)
            for hour in range(-1, 27)
        ),
    )

    (whole,) = ask(user, start=day, zone=BERLIN, rule=rule)
    by_hour = ask(user, start=day, zone=BERLIN, rule=rule, period=Period.HOUR)

    assert (whole.total, whole.count) == (hours * 10, hours)
    assert whole.end - whole.start == timedelta(hours=hours)
    assert sums(by_hour) == [10] * hours


def test_weeks_start_on_monday_in_the_zone(user):
    put_samples(
        user,
        "steps",
        # Sunday 23:30 and Monday 00:30 in Berlin.
        *(("2026-02-15T22:30", 10, 1), ("2026-02-15T23:30", 10, 2)),
    )

    buckets = ask(
        user, end=date(2026, 2, 18), zone=BERLIN, period=Period.WEEK, rule=Rule.MAX
    )

    assert sums(buckets) == [1, 2]
    assert buckets[1].start == datetime(2026, 2, 15, 23, tzinfo=UTC)


def test_points_add_up_hour_by_hour_too(user):
    put_samples(
        user, "water", ("2026-02-10T08:10", 0, 200), ("2026-02-10T08:50", 0, 300)
    )
    put_samples(user, "water", ("2026-02-10T08:20", 0, 400), provider="fitbit")

    totals = [sums(ask(user, "water", rule=rule)) for rule in Rule]

    assert totals == [[500], [500], [500]]


def test_each_type_has_buckets_of_its_own(user):
    put_samples(user, "cholesterol", ("2026-02-10T08:00", 0, 3), type_="ldl")
    put_samples(user, "cholesterol", ("2026-02-10T08:00", 0, 1), type_="hdl")

    both = ask(user, "cholesterol")
    one = ask(user, "cholesterol", type="hdl")
    none = ask(user, "cholesterol", start=date(2026, 2, 11))
    nothing = ask(user, "cholesterol", start=date(2026, 2, 11), type="hdl")

    assert sorted((each.type, each.mean) for each in both) == [("hdl", 1), ("ldl", 3)]
    assert [(each.type, each.mean) for each in one] == [("hdl", 1)]
    assert none == []
    assert [(each.type, each.count) for each in nothing] == [("hdl", 0)]


def test_open_types_are_told_apart_and_an_unknown_one_has_nothing(user):
    put_samples(user, "ige", ("2026-02-10T08:00", 0, 3), type_="birch")

    assert [(each.type, each.mean) for each in ask(user, "ige")] == [("birch", 3)]
    assert ask(user, "ige", type="oak") == []


def test_a_provider_is_asked_alone(user):
    watch_and_phone(user)

    (bucket,) = ask(user, rule=Rule.MAX, provider="fitbit")
    (nobody,) = ask(user, rule=Rule.MAX, provider="whoop")

    assert (bucket.total, bucket.provider) == (400, "fitbit")
    assert (nobody.total, nobody.count) == (None, 0)


def test_nobody_elses_samples_are_added_up(user, charlie_tenant):
    put_samples(make_user(tenant=user.tenant), "steps", ("2026-02-10T08:00", 1, 5))
    put_samples(make_user(tenant=charlie_tenant), "steps", ("2026-02-10T08:00", 1, 7))

    assert sums(ask(user, rule=Rule.MAX)) == [None]


@pytest.mark.parametrize(
    ("most", "more"),
    [
        (31, {"period": Period.HOUR}),
        (366, {"period": Period.DAY}),
        (731, {"period": Period.WEEK}),
        (92, {"period": Period.DAY, "rule": Rule.MERGE}),
        (31, {"period": Period.DAY, "with_intervals": True}),
    ],
    ids=["hours", "days", "weeks", "merged", "ledger"],
)
def test_a_range_has_its_most_days(user, most, more):
    ask(user, end=DAY + timedelta(days=most - 1), **more)

    with pytest.raises(Invalid) as refused:
        ask(user, end=DAY + timedelta(days=most), **more)
    assert refused.value.code == "range_too_long"


@pytest.mark.parametrize(
    ("slug", "rule", "queries"),
    [("heartrate", Rule.MAX, 3), ("steps", Rule.MAX, 3), ("steps", Rule.MERGE, 4)],
    ids=["mean", "max", "merge"],
)
def test_the_queries_are_as_many_however_many_the_samples(user, slug, rule, queries):
    counted = []
    for day in (10, 11, 12):
        put_samples(user, slug, (f"2026-02-{day}T08:00", 1, 5), provider="oura")
        put_samples(user, slug, (f"2026-02-{day}T08:00", 1, 5), provider="fitbit")
        with count_statements() as sent:
            ask(user, slug, end=date(2026, 2, 12), rule=rule)
        counted.append(len(sent))

    assert counted == [queries] * 3
