from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from uuid import uuid4

import pytest

from tests.factories.summaries import cycle_element
from users.queries import SummaryRow
from users.wearables.summaries import MENSTRUAL_CYCLE
from users.web.data.cycles import Cycle

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
START = date(2026, 2, 2)


def row(**wanted):
    lists = {field.name: [] for field in MENSTRUAL_CYCLE.record.fields[4:]}
    body = {"is_predicted": False, **lists, **cycle_element(**wanted)}
    return SummaryRow(uuid4(), "garmin", "app", None, None, body, NOON, NOON)


def cycle(*, later=None, today=date(2026, 2, 20), **wanted):
    return Cycle(row(**wanted), later, today)


def day(number):
    return (START + timedelta(days=number - 1)).isoformat()


def temperatures(*values):
    return [
        {"date": day(n), "value": value}
        for n, value in enumerate(values, start=1)
        if value is not None
    ]


def test_a_cycle_counts_its_days():
    shown = cycle()

    assert (shown.length, shown.day_number, shown.is_running) == (28, 19, True)
    assert [each.number for each in shown.days] == list(range(1, 29))
    assert [each.number for each in shown.days if each.is_today] == [19]
    assert not cycle(today=date(2026, 3, 2)).is_running


def test_the_calendar_is_of_whole_weeks():
    shown = cycle(period_start="2026-02-03", cycle_end="2026-03-03")

    weeks = shown.weeks
    assert (weeks[0].date, weeks[-1].date) == (date(2026, 2, 2), date(2026, 3, 8))
    assert shown.months == "February to March"


@pytest.mark.parametrize(
    ("flow", "level", "words"),
    [
        ("none", 0, "none"),
        ("light", 1, "light"),
        ("heavy", 3, "heavy"),
        ("odd_one", 2, "odd one"),
    ],
)
def test_a_flow_has_its_height_and_keeps_its_own_word(flow, level, words):
    shown = cycle(menstrual_flow=[{"date": day(1), "flow": flow}])

    assert (shown.days[0].flow_level, shown.days[0].flow) == (level, words)


def test_three_readings_above_the_six_before_are_a_shift():
    shown = cycle(
        basal_body_temperature=temperatures(
            36.4, 36.3, None, 36.4, 36.5, 36.4, 36.4, 36.7, 36.8, 36.9
        )
    )

    assert shown.shift.since == date(2026, 2, 9)
    assert shown.shift.cover_line == pytest.approx(36.55)
    assert shown.shift.by == pytest.approx(0.4)
    assert ("Temperature", "Up 0.40 °C since 9 Feb") in shown.facts


def test_two_readings_above_are_no_shift():
    shown = cycle(basal_body_temperature=temperatures(*[36.4] * 6, 36.8, 36.8, 36.4))

    assert shown.shift is None


def test_the_fertile_window_follows_the_first_positive_test():
    shown = cycle(
        ovulation_test=[
            {"date": day(10), "test_result": "negative"},
            {"date": day(12), "test_result": "luteinizing_hormone_surge"},
            {"date": day(13), "test_result": "positive"},
        ]
    )

    assert [each.number for each in shown.days if each.is_fertile] == [*range(8, 14)]
    assert [each.number for each in shown.days if each.is_positive] == [12, 13]
    assert ("Ovulation test", "Positive 13 Feb and 14 Feb") in shown.facts
    assert not any(each.is_fertile for each in cycle().days)


def test_a_predicted_period_is_marked_in_the_calendar():
    later = row(
        period_start="2026-03-02",
        period_end="2026-03-06",
        cycle_end="2026-03-29",
        is_predicted=True,
    )

    shown = cycle(later=later, cycle_end="2026-03-01", period_start="2026-02-03")

    assert ("Next period", "2 Mar, predicted") in shown.facts
    assert [each.date for each in shown.weeks if each.is_predicted] == []
    longer = cycle(later=later, cycle_end="2026-03-03")
    assert [each.date.day for each in longer.weeks if each.is_predicted] == [
        2,
        3,
        4,
        5,
        6,
    ]


def test_facts_leave_out_what_is_not_known_and_name_it():
    shown = cycle(
        cervical_mucus=[
            {"date": day(9), "quality": "creamy"},
            {"date": day(11), "quality": "egg_white"},
        ],
        sexual_activity=[{"date": day(12), "protection_used": True}],
        home_pregnancy_test=[{"date": day(27), "test_result": "negative"}],
    )

    assert shown.facts == [
        ("Period", "2 Feb to 6 Feb, 5 days"),
        ("Mucus", "Egg white, 12 Feb, 2 days"),
        ("Pregnancy test", "Negative, 28 Feb"),
        ("Sexual activity", "1 day, 1 with protection"),
    ]
    assert shown.nothing_logged == (
        "Flow, temperature, ovulation test, spotting, contraceptive, progesterone test,"
        " deviations"
    )


def test_the_table_has_the_days_with_something_logged():
    shown = cycle(
        today=date(2026, 5, 1),
        menstrual_flow=[{"date": day(1), "flow": "heavy"}],
        contraceptive=[{"date": day(3), "type": "iud"}],
        intermenstrual_bleeding=[{"date": day(20)}],
    )

    assert [(each.number, each.words) for each in shown.table] == [
        (1, "heavy flow"),
        (3, "contraceptive intrauterine device"),
        (20, "bleeding between periods"),
    ]
