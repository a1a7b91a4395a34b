"""The events of the reports app: a parsing job was created or changed."""

from __future__ import annotations

from typing import Any

from accounts.webhooks.catalogue import EventType

_PARSING_JOB: dict[str, Any] = {
    "type": "object",
    "required": [
        "id",
        "status",
        "failure_reason",
        "data",
        "needs_human_review",
        "is_reviewed",
    ],
    "properties": {
        "id": {"type": "string", "format": "uuid"},
        "status": {"type": "string"},
        "failure_reason": {"type": ["string", "null"]},
        "data": {
            "type": ["object", "null"],
            "required": ["metadata", "results", "hold_reasons"],
            "properties": {
                "metadata": {"type": "object"},
                "results": {
                    "type": "array",
                    "items": {
                        "type": "object",
                        "required": ["test_name", "value", "is_reviewed"],
                    },
                },
                "hold_reasons": {"type": "array", "items": {"type": "string"}},
            },
        },
        "needs_human_review": {"type": "boolean"},
        "is_reviewed": {"type": "boolean"},
        "order_id": {"type": ["string", "null"], "format": "uuid"},
        "unread_script": {"type": ["string", "null"]},
    },
}

_DOCUMENT: dict[str, Any] = {
    "type": "object",
    "required": [
        "id",
        "status",
        "reason",
        "source",
        "order_id",
        "job_id",
        "received_at",
        "resolved_at",
    ],
    "properties": {
        "id": {"type": "string", "format": "uuid"},
        "status": {"type": "string"},
        "reason": {"type": ["string", "null"]},
        "source": {"type": "string", "enum": ["mail", "upload"]},
        "order_id": {"type": ["string", "null"], "format": "uuid"},
        "job_id": {"type": ["string", "null"], "format": "uuid"},
        "received_at": {"type": "string", "format": "date-time"},
        "resolved_at": {"type": ["string", "null"], "format": "date-time"},
    },
}

EVENT_TYPES = (
    EventType(
        "lab_report.parsing_job.created",
        "A report was uploaded. The data is the job as returned by the upload.",
        _PARSING_JOB,
    ),
    EventType(
        "lab_report.parsing_job.updated",
        "A job completed, failed, needs review, or was held or released.",
        _PARSING_JOB,
    ),
    EventType(
        "lab_report.unmatched_document.created",
        "A document came, by mail or upload, that matches no order. Its user is the nil"
        " UUID.",
        _DOCUMENT,
    ),
    EventType(
        "lab_report.unmatched_document.updated",
        "An unmatched document was matched, rejected or restored. Its user is that of"
        " the order, else the nil UUID.",
        _DOCUMENT,
    ),
)
