"""Map each status to the color family, icon and text of its pill."""

from __future__ import annotations

from typing import NamedTuple

from portal.lib.translation import gettext_lazy, pgettext_lazy


class Pill(NamedTuple):
    """How a status looks: its family, its icon, its words."""

    family: str
    icon: str
    words: str


PILLS = {
    # Parsing jobs (contract 7.3)
    "upload_pending": Pill("info", "upload", gettext_lazy("Received")),
    "started": Pill("info", "clock", gettext_lazy("Processing")),
    "pending_review": Pill("rev", "eye", gettext_lazy("Pending review")),
    "completed": Pill("ok", "check", gettext_lazy("Completed")),
    "unreviewed": Pill("mute", "eye", gettext_lazy("Unreviewed")),
    "failed": Pill("bad", "x", gettext_lazy("Failed")),
    # Steps of a new team's checklist
    "step_done": Pill("ok", "check", gettext_lazy("Done")),
    "step_next": Pill("info", "clock", gettext_lazy("Next")),
    "step_open": Pill("mute", "ring", gettext_lazy("Not started")),
    # Imports of files; one that waits has the words of other waiting things
    "reading": Pill("info", "clock", gettext_lazy("Reading")),
    "storing": Pill("info", "clock", gettext_lazy("Storing")),
    # Interpretations (contract 7.4), and the side of the range a value lies on
    "normal": Pill("ok", "check", gettext_lazy("Normal")),
    "abnormal": Pill("warn", "alert", gettext_lazy("Abnormal")),
    "critical": Pill("bad", "alert", gettext_lazy("Critical")),
    "high": Pill("warn", "alert", gettext_lazy("High")),
    "low": Pill("warn", "alert", gettext_lazy("Low")),
    "not_acknowledged": Pill("bad", "clock", gettext_lazy("Not acknowledged")),
    # Results against the days they were expected by
    "in_time": Pill("ok", "check", gettext_lazy("In time")),
    "late": Pill("warn", "clock", gettext_lazy("Late")),
    "overdue_results": Pill("bad", "clock", gettext_lazy("Overdue")),
    # Connections (contract 2.4)
    "connected": Pill("ok", "check", gettext_lazy("Connected")),
    "error": Pill("bad", "alert", gettext_lazy("Error")),
    "paused": Pill("mute", "minus", gettext_lazy("Paused")),
    "overdue": Pill("warn", "clock", gettext_lazy("Silent")),
    # Stages of an order, the first part of its status (contract 6.11)
    "received": Pill("info", "doc", gettext_lazy("Received")),
    "collecting_sample": Pill("info", "drop", gettext_lazy("Collecting sample")),
    "sample_with_lab": Pill("rev", "vial", gettext_lazy("With the lab")),
    "cancelled": Pill("mute", "ban", pgettext_lazy("order", "Cancelled")),
    # What has happened to it last, the last part (contract 6.11)
    "ordered": Pill("info", "doc", gettext_lazy("Ordered")),
    "requisition_created": Pill("info", "doc", gettext_lazy("Requisition ready")),
    "requisition_bypassed": Pill("info", "doc", gettext_lazy("No requisition needed")),
    "awaiting_registration": Pill(
        "info", "clock", gettext_lazy("Awaiting registration")
    ),
    "registered": Pill("info", "check", gettext_lazy("Kit registered")),
    "transit_customer": Pill("info", "truck", gettext_lazy("Kit in transit")),
    "out_for_delivery": Pill("info", "truck", gettext_lazy("Kit out for delivery")),
    "with_customer": Pill("info", "pin", gettext_lazy("Kit delivered")),
    "transit_lab": Pill("info", "truck", gettext_lazy("In transit to lab")),
    "problem_in_transit_customer": Pill(
        "warn", "alert", gettext_lazy("Problem in transit to user")
    ),
    "problem_in_transit_lab": Pill(
        "warn", "alert", gettext_lazy("Problem in transit to lab")
    ),
    "appointment_pending": Pill("warn", "calendar", gettext_lazy("Visit needed")),
    "appointment_scheduled": Pill("info", "calendar", gettext_lazy("Visit booked")),
    "appointment_cancelled": Pill("warn", "calendar", gettext_lazy("Visit cancelled")),
    "redraw_available": Pill("warn", "drop", gettext_lazy("Redraw available")),
    "draw_completed": Pill("rev", "vial", gettext_lazy("Sample drawn")),
    "delivered_to_lab": Pill("rev", "vial", gettext_lazy("With the lab")),
    "lab_processing_blocked": Pill("warn", "alert", gettext_lazy("Blocked at the lab")),
    "partial_results": Pill("rev", "half", gettext_lazy("Partial results")),
    "corrected": Pill("ok", "check", gettext_lazy("Corrected")),
    "sample_error": Pill("bad", "x", gettext_lazy("Sample error")),
    "failure_to_deliver_to_customer": Pill(
        "bad", "x", gettext_lazy("Not delivered to user")
    ),
    "failure_to_deliver_to_lab": Pill("bad", "x", gettext_lazy("Not delivered to lab")),
    "lost": Pill("bad", "x", gettext_lazy("Lost")),
    "do_not_process": Pill("mute", "ban", gettext_lazy("Do not process")),
    # Visits (contract 6.18); one that is pending has the words of other pending things
    "reserved": Pill("info", "clock", gettext_lazy("Reserved")),
    "confirmed": Pill("ok", "check", gettext_lazy("Confirmed")),
    "scheduled": Pill("ok", "calendar", gettext_lazy("Booked")),
    "in_progress": Pill("info", "clock", gettext_lazy("In progress")),
    # What labs sent by themselves
    "unmatched": Pill("warn", "alert", gettext_lazy("Unmatched")),
    "matched": Pill("ok", "check", gettext_lazy("Matched")),
    "rejected": Pill("mute", "ban", gettext_lazy("Rejected")),
    "malformed": Pill("bad", "x", gettext_lazy("Malformed")),
    "refused": Pill("bad", "x", gettext_lazy("Refused by the lab")),
    "dismissed": Pill("mute", "minus", gettext_lazy("Dismissed")),
    # Checks before going live; one that failed or is low has the words of other things
    "ready": Pill("ok", "check", gettext_lazy("Ready")),
    "missing": Pill("bad", "x", gettext_lazy("Missing")),
    "not_tried": Pill("mute", "ring", gettext_lazy("Not tried")),
    "not_needed": Pill("ok", "minus", gettext_lazy("Not needed")),
    # Lab accounts, panels, deliveries, members
    "pending": Pill("warn", "clock", gettext_lazy("Pending")),
    "ready_to_launch": Pill("info", "clock", gettext_lazy("Ready to launch")),
    "active": Pill("ok", "check", gettext_lazy("Active")),
    "suspended": Pill("mute", "ban", gettext_lazy("Suspended")),
    "pending_approval": Pill("warn", "clock", gettext_lazy("Pending approval")),
    "inactive": Pill("mute", "minus", gettext_lazy("Archived")),
    "delivered": Pill("ok", "check", gettext_lazy("Delivered")),
    "waiting": Pill("info", "clock", gettext_lazy("Waiting")),
    "retrying": Pill("warn", "replay", gettext_lazy("Retrying")),
    "held": Pill("mute", "minus", gettext_lazy("Held")),
    "dropped": Pill("mute", "ban", pgettext_lazy("delivery", "Cancelled")),
    "archived": Pill("mute", "minus", gettext_lazy("Archived")),
    "expired": Pill("mute", "clock", gettext_lazy("Expired")),
    # Endpoints and replays
    "healthy": Pill("ok", "check", gettext_lazy("Healthy")),
    "degraded": Pill("warn", "alert", gettext_lazy("Degraded")),
    "failing": Pill("bad", "alert", gettext_lazy("Failing")),
    "disabled": Pill("bad", "ban", gettext_lazy("Disabled")),
    "unused": Pill("mute", "clock", gettext_lazy("Not used yet")),
    "probing": Pill("info", "eye", gettext_lazy("Testing")),
    "running": Pill("info", "replay", gettext_lazy("Sending")),
    "done": Pill("ok", "check", gettext_lazy("Done")),
    "stopped": Pill("bad", "ban", gettext_lazy("Stopped")),
    "switched_off": Pill("mute", "ban", gettext_lazy("Off")),
}


def find_status_pill(value: str) -> Pill:
    """Return the pill of a status; one we do not know keeps its own words, outlined.

    A dotted order status goes by its last part, then by its first, its stage.
    """
    _, _, last = value.rpartition(".")
    first, _, _ = value.partition(".")
    for key in (last, first):
        if known := PILLS.get(key.lower()):
            return known
    return Pill("unknown", "ring", format_wire_value_as_words(value))


def format_wire_value_as_words(value: str) -> str:
    """Return a wire value as words: underscores to spaces, first letter up."""
    text = value.replace("_", " ").strip()
    return text[:1].upper() + text[1:]
