from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from users.analysis.source_priority import (
    Cells,
    Span,
    Stretch,
    Tally,
    merge_close_intervals,
)

H = 3600
HOURS = [hour * H for hour in range(25)]
WATCH, PHONE = 1, 2
RANK = {WATCH: 0, PHONE: 1}


def cells(samples, cuts=()):
    """Samples are (feed, start, end, value), in hours."""
    made = Cells(HOURS, cuts)
    for feed, start, end, value in samples:
        made.add_span(feed, Span(start * H, end * H, value))
    return made


def chosen(samples, *, by_most, cuts=()):
    return [
        (each.start / H, each.end / H, each.feed, each.won.total, each.others)
        for each in cells(samples, cuts).choose_sources(rank=RANK, by_most=by_most)
    ]


def test_in_each_hour_the_source_with_the_most_wins():
    samples = [
        *((WATCH, 8, 9, 100), (PHONE, 8, 9, 400)),
        *((WATCH, 9, 10, 300), (PHONE, 9, 10, 50)),
        (PHONE, 10, 11, 7),
    ]

    assert chosen(samples, by_most=True) == [
        (8, 9, PHONE, 400, {WATCH: 100}),
        (9, 10, WATCH, 300, {PHONE: 50}),
        (10, 11, PHONE, 7, {}),
    ]


def test_of_equals_the_one_of_the_higher_rank_wins():
    samples = [(PHONE, 8, 9, 100), (WATCH, 8, 9, 100)]

    assert chosen(samples, by_most=True) == [(8, 9, WATCH, 100, {PHONE: 100})]


def test_by_priority_the_highest_rank_that_has_any_wins():
    samples = [(WATCH, 8, 9, 0), (PHONE, 8, 9, 400), (PHONE, 9, 10, 50)]

    assert chosen(samples, by_most=False) == [
        (8, 9, WATCH, 0, {PHONE: 400}),
        (9, 10, PHONE, 50, {}),
    ]


def test_a_sample_over_an_edge_is_shared_out_by_time_and_counted_where_it_starts():
    stretches = list(
        cells([(WATCH, 8.75, 9.5, 30)]).choose_sources(rank=RANK, by_most=True)
    )

    assert [(each.start / H, each.won.total) for each in stretches] == [
        (8, 10),
        (9, 20),
    ]
    assert [each.won.count for each in stretches] == [1, 0]
    assert [(each.won.low, each.won.high) for each in stretches] == [
        (30, 30),
        (None, None),
    ]


def test_a_sample_of_more_than_three_hours_makes_one_of_them():
    watch = ((WATCH, 8, 9, 500), (WATCH, 9, 10, 0), (WATCH, 10, 11, 300))

    long = chosen([(PHONE, 8, 12, 900), *watch], by_most=True)
    short = chosen([(PHONE, 8, 11, 900), *watch], by_most=True)

    assert long == [(8, 12, PHONE, 900, {WATCH: 800})]
    assert short == [
        (8, 9, WATCH, 500, {PHONE: 300}),
        (9, 10, PHONE, 300, {WATCH: 0}),
        (10, 11, WATCH, 300, {PHONE: 300}),
    ]


def test_a_long_sample_joins_no_hours_over_a_cut():
    samples = [(PHONE, 8, 12, 400), (WATCH, 8, 9, 300), (WATCH, 11, 12, 50)]

    assert chosen(samples, by_most=True, cuts={10}) == [
        (8, 10, WATCH, 300, {PHONE: 200}),
        (10, 12, PHONE, 200, {WATCH: 50}),
    ]


def test_what_reaches_in_from_before_gives_its_share_alone():
    (stretch,) = cells([(WATCH, -0.5, 0.5, 60)]).choose_sources(rank=RANK, by_most=True)

    assert (stretch.won.total, stretch.won.count) == (30, 0)


def test_what_reaches_out_of_the_end_gives_its_share_alone():
    (stretch,) = cells([(WATCH, 23.5, 24.5, 60)]).choose_sources(
        rank=RANK, by_most=True
    )

    assert (stretch.won.total, stretch.won.count) == (30, 1)


def test_stretches_of_one_source_are_one_line_until_another_or_a_pause():
    def stretch(start, end, feed):
        return Stretch(start * H, end * H, feed, Tally(total=10), {3: 1.0})

    lines = merge_close_intervals(
        [
            stretch(1, 2, WATCH),
            stretch(0, 1, WATCH),
            stretch(2, 3, PHONE),
            *(stretch(3, 4, WATCH), stretch(4.5, 5, WATCH), stretch(6, 7, WATCH)),
        ]
    )

    assert [
        (each.start / H, each.end / H, each.feed, each.won.total) for each in lines
    ] == [(0, 2, WATCH, 20), (2, 3, PHONE, 10), (3, 5, WATCH, 20), (6, 7, WATCH, 10)]
    assert lines[0].others == {3: 2.0}


MINUTES = st.integers(0, 24 * 60 - 1)
SAMPLE = st.tuples(
    st.sampled_from([WATCH, PHONE]), MINUTES, st.integers(1, 300), st.integers(0, 500)
).map(lambda s: (s[0], s[1] / 60, min(s[1] + s[2], 24 * 60) / 60, s[3]))


@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.lists(SAMPLE, max_size=25))
def test_whatever_the_samples_the_rules_keep_their_promises(samples):
    fields = {
        feed: sum(value for f, _, _, value in samples if f == feed) for feed in RANK
    }
    by_most = sum(each[3] for each in chosen(samples, by_most=True))
    by_rank = sum(each[3] for each in chosen(samples, by_most=False))

    # Nothing is made up, the most is the most, and the first is believed whole.
    assert by_rank <= by_most + 1e-6
    assert by_most <= sum(fields.values()) + 1e-6
    assert max(fields.values()) <= by_most + 1e-6
    assert fields[WATCH] - 1e-6 <= by_rank
