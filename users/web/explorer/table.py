"""The explorer's table: the rows of the chart, or pages of samples."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone
from typing import TYPE_CHECKING
from urllib.parse import urlencode

from portal.lib.api.errors import RequestInvalid
from users.analysis.explorer import Resolution, get_sample_table_page
from users.payloads.samples import decode_sample_cursor, encode_sample_cursor
from users.wearables.providers import find_provider
from users.web.explorer.query import ZoneChoice
from users.web.explorer.series import build_timeseries_request, format_number

if TYPE_CHECKING:
    from collections.abc import Sequence

    from users.analysis.explorer import Sample
    from users.models import User
    from users.wearables.providers import Provider
    from users.web.explorer.query import Question
    from users.web.explorer.series import Row, ShownSeries

# Ours: some screens of rows; what a chart draws is at most ten times as many.
TABLE_ROWS = 200
# Ours: what stands below a chart for those without script.
FIRST_ROWS = 50
_DRAWN = 10 * TABLE_ROWS
_TICK = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True)
class Line:
    """A row as text; `query` opens its record or its range."""

    time: str
    query: str
    until: str = ""
    type: str = ""
    provider: Provider | None = None
    offset: int | None = None
    value: str = ""
    low: str = ""
    high: str = ""
    count: int = 1
    words: str = ""


@dataclass(frozen=True, slots=True)
class Table:
    """The rows of one series; `more` is the query string of the next page."""

    shown: ShownSeries
    lines: Sequence[Line]
    samples: bool = False
    spans: bool = False
    more: str = ""


def build_series_table(user: User, question: Question, shown: ShownSeries) -> Table:
    """Build the rows of a series; single samples in pages of TABLE_ROWS."""
    if shown.view is None:
        lines = [_span_line(question, row) for row in shown.rows]
        return Table(shown, lines, spans=True)
    if not (shown.is_samples or question.resolution == Resolution.RAW):
        rows = shown.rows[:_DRAWN]
        return Table(shown, [_bucket_line(question, row) for row in rows])
    named, _, text = question.cursor.partition("~")
    try:
        after = decode_sample_cursor(text if named == shown.key.slug else None)
    except RequestInvalid:
        after = None
    samples, last = get_sample_table_page(
        user=user,
        request=build_timeseries_request(question, shown.key),
        after=after,
        limit=TABLE_ROWS,
    )
    cursor = encode_sample_cursor(last)
    return Table(
        shown,
        [_sample_line(question, shown, each) for each in samples],
        samples=True,
        more=question.query(cursor=f"{shown.key.slug}~{cursor}") if cursor else "",
    )


def build_first_rows(question: Question, shown: ShownSeries) -> Table:
    """Build the first rows of a chart's series, which are read already."""
    is_spans = shown.view is None
    build = _span_line if is_spans else _bucket_line
    lines = [build(question, row) for row in shown.rows[:FIRST_ROWS]]
    return Table(shown, lines, spans=is_spans)


def build_sample_query_string(slug: str, sample: Sample) -> str:
    """Return the query string of a sample's record."""
    named = {
        "series": slug,
        "at": format_time_in_utc(sample.body["timestamp"]),
        "type": sample.body["type"],
        "provider": sample.source["provider"],
        "source_type": sample.source["type"],
    }
    return "?" + urlencode({name: value for name, value in named.items() if value})


def format_time_in_utc(at: datetime) -> str:
    """Format a time in UTC."""
    return at.astimezone(UTC).isoformat().replace("+00:00", "Z")


def _sample_line(question: Question, shown: ShownSeries, sample: Sample) -> Line:
    body = sample.body
    offset = body["timezone_offset"]
    at = body["timestamp"]
    # Where it was recorded, each by its own clock: people travel.
    if question.zone == ZoneChoice.RECORD:
        at = at.astimezone(timezone(timedelta(seconds=offset)))
    else:
        at = at.astimezone(question.clock)
    value = body["value"]
    return Line(
        time=at.isoformat(timespec="seconds"),
        query=build_sample_query_string(shown.key.slug, sample),
        type=body["type"] or "",
        provider=find_provider(sample.source["provider"]),
        offset=offset,
        value=format_number(value) if isinstance(value, int | float) else str(value),
    )


def _bucket_line(question: Question, row: Row) -> Line:
    end = row.end or row.start + _TICK
    return Line(
        time=_clock(question, row.start),
        query=question.query(
            start=format_time_in_utc(row.start), end=format_time_in_utc(end), view=""
        ),
        until=_clock(question, end),
        type=row.type or "",
        provider=find_provider(row.provider) if row.provider else None,
        value=format_number(row.value),
        low=format_number(row.low),
        high=format_number(row.high),
        count=row.count,
    )


def _span_line(question: Question, row: Row) -> Line:
    return Line(
        time=_clock(question, row.start),
        query=f"?summary={row.summary_id}",
        until=_clock(question, row.end or row.start),
        provider=find_provider(row.provider or ""),
        words=row.words,
    )


def _clock(question: Question, at: datetime) -> str:
    return at.astimezone(question.clock).isoformat(timespec="minutes")
