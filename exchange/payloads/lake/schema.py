"""The columns of the lake's files, with their units and time basis.

Version 1. A change that breaks readers is a new version, which has a folder of its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    import pyarrow as pa

VERSION = 1
# Of Parquet, and each one that Iceberg has too. Timestamps are microseconds, UTC.
Kind = Literal["string", "double", "int32", "int64", "timestamp", "date", "boolean"]


@dataclass(frozen=True, slots=True)
class Column:
    """A column; `is_required`: it is null in no row."""

    name: str
    kind: Kind
    text: str
    is_required: bool = False


@dataclass(frozen=True, slots=True)
class Dataset:
    """A kind of files. `month` says which time of a row decides on its month."""

    text: str
    month: str
    order: str
    columns: tuple[Column, ...]


_USER = Column("user_id", "string", "ID of the user, as in the API", True)
_SOURCE = (
    Column("provider", "string", "Slug of the source, such as `oura`", True),
    Column("source_type", "string", "Kind of device, such as `ring`", True),
    Column("app_id", "string", "App that sent it"),
    Column("device_id", "string", "ID of the device"),
)

DATASETS: dict[str, Dataset] = {
    "samples": Dataset(
        "One value of a timeseries.",
        "`timestamp`, in UTC",
        "user, resource and type, source, time",
        (
            _USER,
            Column("resource", "string", "Resource, as in the API's path", True),
            Column("type", "string", "Type, for resources that have types"),
            Column("unit", "string", "Unit of `value`, fixed for each resource", True),
            Column("timestamp", "timestamp", "Time, or start of an interval", True),
            Column(
                "duration", "int32", "Seconds it lasts; 0 for a single moment", True
            ),
            Column(
                "timezone_offset",
                "int32",
                "Offset where it was measured, in seconds east of UTC",
                True,
            ),
            Column("value", "double", "Value, in `unit`", True),
            *_SOURCE,
            Column("workout_id", "string", "ID of the workout it is part of"),
            Column("sport", "string", "Sport of that workout"),
            Column("extra", "string", "Further fields as JSON, for samples with any"),
        ),
    ),
    "summaries": Dataset(
        "One summary of a day, night, workout, meal or cycle.",
        "`calendar_date`, the user's own date",
        "user, kind, start",
        (
            Column("id", "string", "ID of the summary, as in the API", True),
            _USER,
            Column("kind", "string", "Kind, such as `sleep`", True),
            *_SOURCE,
            Column("calendar_date", "date", "The user's date it is found by", True),
            Column("last_date", "date", "Last date it is found by, inclusive", True),
            Column("starts_at", "timestamp", "Start", True),
            Column("ends_at", "timestamp", "End, exclusive"),
            Column("version", "int32", "How often it was stored, from 1", True),
            Column("updated_at", "timestamp", "When it was last stored", True),
            Column("body", "string", "Fields of its kind as JSON, as in the API", True),
        ),
    ),
    "results": Dataset(
        "One result of a lab order, of the current version.",
        "`collected_at`, or `reported_at` where the lab gave none, in UTC",
        "user, time, order, position",
        (
            Column("order_id", "string", "ID of the order", True),
            _USER,
            Column("lab", "string", "Slug of the lab", True),
            Column("version", "int32", "Version of the order's results, from 1", True),
            Column("status", "string", "Status of the version", True),
            Column("position", "int32", "Place in the lab's own order", True),
            Column("collected_at", "timestamp", "When the sample was collected"),
            Column("received_at", "timestamp", "When the lab received it"),
            Column("reported_at", "timestamp", "When the version was reported", True),
            Column("observed_at", "timestamp", "When this result was observed"),
            Column("name", "string", "Name of the result", True),
            Column("slug", "string", "Its slug", True),
            Column("loinc", "string", "LOINC code"),
            Column("provider_id", "string", "The lab's own code"),
            Column("sub_id", "string", "Distinguishes repeated results of one code"),
            Column(
                "type",
                "string",
                "How to read `result`: `numeric`, `range`, `comment`, ...",
                True,
            ),
            Column("result", "string", "The result as reported", True),
            Column("value", "double", "Its number, in `unit`; null for other types"),
            Column("unit", "string", "Unit of `value`, as reported"),
            Column("reference_range", "string", "Reference range, as reported"),
            Column("min_range_value", "double", "Its lower bound, in `unit`"),
            Column("max_range_value", "double", "Its upper bound, in `unit`"),
            Column("is_above_max_range", "boolean", "Whether it is above the range"),
            Column("is_below_min_range", "boolean", "Whether it is below the range"),
            Column(
                "interpretation", "string", "`normal`, `abnormal`, `critical` or null"
            ),
            Column("source_interpretation", "string", "The lab's own flag"),
            Column("is_preliminary", "boolean", "Whether the lab may change it", True),
            Column("performing_laboratory", "string", "Laboratory that measured it"),
        ),
    ),
}


def build_arrow_schema(dataset: str) -> pa.Schema:
    """Return the columns of a dataset as Arrow has them, with their texts."""
    import pyarrow as pa

    kinds = {
        "timestamp": pa.timestamp("us", tz="UTC"),
        "date": pa.date32(),
        "boolean": pa.bool_(),
        "double": pa.float64(),
    }
    return pa.schema(
        [
            pa.field(
                each.name,
                kinds.get(each.kind) or each.kind,
                nullable=not each.is_required,
            )
            for each in DATASETS[dataset].columns
        ],
        metadata={"assay.dataset": dataset, "assay.schema_version": str(VERSION)},
    )


def build_schema_document() -> dict[str, Any]:
    """Return schema.json, which lies beside the files of each environment."""
    return {
        "schema_version": VERSION,
        "time_basis": "Timestamps are microseconds, UTC.",
        "datasets": {
            name: {
                "description": dataset.text,
                "month_of": dataset.month.replace("`", ""),
                "sorted_by": dataset.order,
                "columns": [
                    {
                        "name": each.name,
                        "type": each.kind,
                        "required": each.is_required,
                        "description": each.text.replace("`", ""),
                    }
                    for each in dataset.columns
                ],
            }
            for name, dataset in DATASETS.items()
        },
    }


def build_lake_reference(generated: str) -> str:
    """Return docs/reference/lake.md."""
    lines = [
        *("# Files of the lake", "", generated, ""),
        f"Columns of the Parquet files, schema version {VERSION}. How to switch the"
        " lake on and read it: [lake](../guides/lake.md). Timestamps are microseconds,"
        " UTC. IDs are UUIDs as text. A column that isn't required may be null.",
    ]
    for name, dataset in DATASETS.items():
        lines += ["", f"## `{name}`", "", dataset.text]
        lines[-1] += f" Month: {dataset.month}. Sorted by {dataset.order}."
        lines += ["", "| Column | Type | Required | Content |", "|---|---|---|---|"]
        lines += [
            f"| `{each.name}` | {each.kind} | {'yes' if each.is_required else ''} |"
            f" {each.text} |"
            for each in dataset.columns
        ]
    return "\n".join(lines) + "\n"
