"""Reads of lab reports that more than one face needs; those of deleted users vanish."""

from __future__ import annotations

from .jobs import (
    COUNTED_UP_TO,
    JobFilters,
    count_jobs,
    failed_jobs,
    jobs_by_id,
    jobs_per_day,
    jobs_per_status,
    jobs_to_look_at,
    parsing_job,
    parsing_jobs,
    report_files,
    report_results,
)
from .reviews import (
    IdentityLine,
    QueueFilters,
    RowDiff,
    duplicates_of,
    identity_lines,
    review_diff,
    review_of,
    review_queue,
    review_rows,
    reviews_of_job,
    row_versions,
    rows_in_order_of_need,
)

__all__ = [
    "COUNTED_UP_TO",
    "IdentityLine",
    "JobFilters",
    "QueueFilters",
    "RowDiff",
    "count_jobs",
    "duplicates_of",
    "failed_jobs",
    "identity_lines",
    "jobs_by_id",
    "jobs_per_day",
    "jobs_per_status",
    "jobs_to_look_at",
    "parsing_job",
    "parsing_jobs",
    "report_files",
    "report_results",
    "review_diff",
    "review_of",
    "review_queue",
    "review_rows",
    "reviews_of_job",
    "row_versions",
    "rows_in_order_of_need",
]
