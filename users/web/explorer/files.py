"""Downloads of the explorer: CSV or NDJSON, as shown or all records."""

from __future__ import annotations

import csv
from datetime import UTC, datetime, timedelta
from itertools import islice
from typing import TYPE_CHECKING, Any

import orjson
from django.http import StreamingHttpResponse

from portal.lib.tenancy import iterate_as_tenant
from portal.lib.web.csv_files import escape_spreadsheet_formula
from portal.lib.web.parquet_files import write_parquet_file
from users.analysis.explorer import iterate_samples_by_time
from users.web.explorer.series import (
    build_timeseries_request,
    find_overlapping_summaries,
    get_summary_time_range,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from users.models import User
    from users.web.explorer.query import Question
    from users.web.explorer.series import ShownSeries

FORMATS = {
    "csv": "text/csv; charset=utf-8",
    "ndjson": "application/x-ndjson",
    "parquet": "application/vnd.apache.parquet",
}
# Of columns of a Parquet file; all others are texts.
_TYPES = {
    **dict.fromkeys(("timestamp", "start", "end"), "timestamp"),
    **dict.fromkeys(("value", "low", "high"), "double"),
    **dict.fromkeys(("count", "timezone_offset"), "int64"),
}
_SHOWN = (
    *("series", "type", "provider", "start", "end"),
    *("value", "low", "high", "count", "unit"),
)
_EVERY = (
    *("series", "timestamp", "end", "timezone_offset", "type", "value", "unit"),
    *("provider", "source_type", "app_id", "device_id", "workout_id", "sport"),
    *("extra", "id"),
)
_LINES = 1_000
_TICK = timedelta(microseconds=1)
_USUAL = frozenset(
    {"timestamp", "timezone_offset", "type", "unit", "value", "start", "end"}
)


def stream_shown_data_file(
    series: Sequence[ShownSeries], question: Question, form: str
) -> StreamingHttpResponse:
    """Stream the rows of chart and table as a file, by series and time."""
    rows = (_shown_row(shown, row) for shown in series for row in shown.rows)
    return _file(_parts(_SHOWN, rows, form), question, form)


def stream_all_records_file(
    user: User, question: Question, form: str
) -> StreamingHttpResponse:
    """Stream every record of the range as a file, in parts."""
    parts = _parts(_EVERY, _every_row(user, question), form)
    return _file(iterate_as_tenant(user.tenant_id, parts), question, form)


def _shown_row(shown: ShownSeries, row: Any) -> dict[str, Any]:
    return {
        "series": shown.key.slug,
        "type": row.type,
        "provider": row.provider,
        "start": row.start,
        "end": row.end,
        "value": row.value,
        "low": row.low,
        "high": row.high,
        "count": row.count,
        "unit": shown.unit or None,
    }


def _every_row(user: User, question: Question) -> Iterator[dict[str, Any]]:
    for key in question.series:
        if key.timeseries is None:
            for row in find_overlapping_summaries(user, question, key):
                start, end = get_summary_time_range(row, key)
                yield dict.fromkeys(_EVERY) | {
                    "series": key.slug,
                    "timestamp": start,
                    "end": end,
                    "provider": row.provider,
                    "source_type": row.source_type,
                    "app_id": row.app_id,
                    "device_id": row.device_id,
                    "id": row.id,
                }
            continue
        for sample in iterate_samples_by_time(
            user=user, request=build_timeseries_request(question, key)
        ):
            body, source = sample.body, sample.source
            extra = {name: body[name] for name in body.keys() - _USUAL}
            yield dict.fromkeys(_EVERY) | {
                "series": key.slug,
                "timestamp": body["timestamp"],
                "end": body.get("end"),
                "timezone_offset": body["timezone_offset"],
                "type": body["type"],
                "value": body["value"],
                "unit": body["unit"],
                "provider": source["provider"],
                "source_type": source["type"],
                **{
                    name: source[name]
                    for name in ("app_id", "device_id", "workout_id", "sport")
                },
                "extra": extra or None,
            }


def _parts(
    columns: Sequence[str], rows: Iterator[dict[str, Any]], form: str
) -> Iterator[bytes]:
    if form == "parquet":
        types = {name: _TYPES.get(name, "string") for name in columns}
        return write_parquet_file(types, map(_with_text_apart, rows))
    return _ndjson(rows) if form == "ndjson" else _csv(columns, rows)


def _with_text_apart(row: dict[str, Any]) -> dict[str, Any]:
    """Return a row whose value is a number: one that is a text (a note) is extra."""
    value = row.get("value")
    if isinstance(value, str):
        return {**row, "value": None, "extra": {**(row["extra"] or {}), "value": value}}
    return row


def _file(
    parts: Iterator[bytes], question: Question, form: str
) -> StreamingHttpResponse:
    days = [f"{at.astimezone(question.clock):%Y-%m-%d}" for at in _ends(question)]
    names = "-".join(key.slug for key in question.series)
    response = StreamingHttpResponse(parts, content_type=FORMATS[form])
    response["Content-Disposition"] = (
        f'attachment; filename="{names}-{"-to-".join(days)}.{form}"'
    )
    return response


def _ends(question: Question) -> tuple[datetime, datetime]:
    return question.start, max(question.start, question.end - _TICK)


def _ndjson(rows: Iterator[dict[str, Any]]) -> Iterator[bytes]:
    while lines := [orjson.dumps(row) + b"\n" for row in islice(rows, _LINES)]:
        yield b"".join(lines)


def _csv(columns: Sequence[str], rows: Iterator[dict[str, Any]]) -> Iterator[bytes]:
    # Spreadsheets take a CSV without a byte order mark for their own code page.
    lines: list[str] = ["\ufeff"]
    writer = csv.writer(_Lines(lines.append))
    writer.writerow(columns)
    for row in rows:
        writer.writerow(_cell(row[name]) for name in columns)
        if len(lines) >= _LINES:
            yield "".join(lines).encode()
            lines.clear()
    yield "".join(lines).encode()


class _Lines:
    """A target for csv.writer that passes on each line."""

    def __init__(self, write: Callable[[str], object]) -> None:
        self.write = write


def _cell(value: Any) -> str:
    match value:
        case None:
            return ""
        case datetime():
            return value.astimezone(UTC).isoformat().replace("+00:00", "Z")
        case int() | float():
            return f"{value:.10g}"
        case dict():
            return escape_spreadsheet_formula(orjson.dumps(value).decode())
        case _:
            return escape_spreadsheet_formula(str(value))
