"""How every status looks: one table from its wire value to family, icon and words.

Must not be here: which statuses exist (each app's states.py) or HTML.
"""

from __future__ import annotations

from typing import NamedTuple


class Pill(NamedTuple):
    """How a status looks: its family, its icon, its words."""

    family: str
    icon: str
    words: str


PILLS = {
    # Parsing jobs (contract 7.3)
    "upload_pending": Pill("info", "upload", "Received"),
    "started": Pill("info", "clock", "Processing"),
    "pending_review": Pill("rev", "eye", "Pending review"),
    "completed": Pill("ok", "check", "Completed"),
    "failed": Pill("bad", "x", "Failed"),
    # Imports of files; one that waits has the words of other waiting things
    "reading": Pill("info", "clock", "Reading"),
    "storing": Pill("info", "clock", "Storing"),
    # Interpretations (contract 7.4), and the side of the range a value lies on
    "normal": Pill("ok", "check", "Normal"),
    "abnormal": Pill("warn", "alert", "Abnormal"),
    "critical": Pill("bad", "alert", "Critical"),
    "high": Pill("warn", "alert", "High"),
    "low": Pill("warn", "alert", "Low"),
    "not_acknowledged": Pill("bad", "clock", "Not acknowledged"),
    # Results against the days they were expected by
    "in_time": Pill("ok", "check", "In time"),
    "late": Pill("warn", "clock", "Late"),
    "overdue_results": Pill("bad", "clock", "Overdue"),
    # Connections (contract 2.4)
    "connected": Pill("ok", "check", "Connected"),
    "error": Pill("bad", "alert", "Error"),
    "paused": Pill("mute", "minus", "Paused"),
    "overdue": Pill("warn", "clock", "Silent"),
    # Stages of an order, the first part of its status (contract 6.11)
    "received": Pill("info", "doc", "Received"),
    "collecting_sample": Pill("info", "drop", "Collecting sample"),
    "sample_with_lab": Pill("rev", "vial", "With the lab"),
    "cancelled": Pill("mute", "ban", "Cancelled"),
    # What has happened to it last, the last part (contract 6.11)
    "ordered": Pill("info", "doc", "Ordered"),
    "requisition_created": Pill("info", "doc", "Requisition ready"),
    "requisition_bypassed": Pill("info", "doc", "No requisition needed"),
    "awaiting_registration": Pill("info", "clock", "Awaiting registration"),
    "registered": Pill("info", "check", "Kit registered"),
    "transit_customer": Pill("info", "truck", "Kit on its way"),
    "out_for_delivery": Pill("info", "truck", "Kit out for delivery"),
    "with_customer": Pill("info", "pin", "Kit delivered"),
    "transit_lab": Pill("info", "truck", "On its way to the lab"),
    "problem_in_transit_customer": Pill("warn", "alert", "Problem in transit to user"),
    "problem_in_transit_lab": Pill("warn", "alert", "Problem in transit to lab"),
    "appointment_pending": Pill("warn", "calendar", "Appointment needed"),
    "appointment_scheduled": Pill("info", "calendar", "Appointment booked"),
    "appointment_cancelled": Pill("warn", "calendar", "Appointment cancelled"),
    "redraw_available": Pill("warn", "drop", "Redraw available"),
    "draw_completed": Pill("rev", "vial", "Sample drawn"),
    "delivered_to_lab": Pill("rev", "vial", "With the lab"),
    "lab_processing_blocked": Pill("warn", "alert", "Lab is blocked"),
    "partial_results": Pill("rev", "half", "Partial results"),
    "corrected": Pill("ok", "check", "Corrected"),
    "sample_error": Pill("bad", "x", "Sample error"),
    "failure_to_deliver_to_customer": Pill("bad", "x", "Not delivered to user"),
    "failure_to_deliver_to_lab": Pill("bad", "x", "Not delivered to lab"),
    "lost": Pill("bad", "x", "Lost"),
    "do_not_process": Pill("mute", "ban", "Not to be processed"),
    # Visits (contract 6.18); one that is pending has the words of other pending things
    "reserved": Pill("info", "clock", "Reserved"),
    "confirmed": Pill("ok", "check", "Confirmed"),
    "scheduled": Pill("ok", "calendar", "Booked"),
    "in_progress": Pill("info", "clock", "In progress"),
    # What labs sent by themselves
    "unmatched": Pill("warn", "alert", "Unmatched"),
    "matched": Pill("ok", "check", "Matched"),
    "rejected": Pill("mute", "ban", "Rejected"),
    "malformed": Pill("bad", "x", "Malformed"),
    "refused": Pill("bad", "x", "Refused by the lab"),
    "dismissed": Pill("mute", "minus", "Dismissed"),
    # Lab accounts, panels, deliveries, members
    "pending": Pill("warn", "clock", "Pending"),
    "ready_to_launch": Pill("info", "clock", "Ready to launch"),
    "active": Pill("ok", "check", "Active"),
    "suspended": Pill("mute", "ban", "Suspended"),
    "pending_approval": Pill("warn", "clock", "Waits for approval"),
    "inactive": Pill("mute", "minus", "Archived"),
    "delivered": Pill("ok", "check", "Delivered"),
    "waiting": Pill("info", "clock", "Waiting"),
    "retrying": Pill("warn", "replay", "Retrying"),
    "held": Pill("mute", "minus", "Held"),
    "dropped": Pill("mute", "ban", "Dropped"),
    "archived": Pill("mute", "minus", "Archived"),
    "expired": Pill("mute", "clock", "Expired"),
    # Endpoints and replays
    "healthy": Pill("ok", "check", "Healthy"),
    "degraded": Pill("warn", "alert", "Degraded"),
    "failing": Pill("bad", "alert", "Failing"),
    "disabled": Pill("bad", "ban", "Disabled"),
    "unused": Pill("mute", "clock", "Not used yet"),
    "probing": Pill("info", "eye", "One sent first"),
    "running": Pill("info", "replay", "Sending"),
    "done": Pill("ok", "check", "Done"),
    "stopped": Pill("bad", "ban", "Stopped"),
    "switched_off": Pill("mute", "ban", "Switched off"),
}


def find_pill(value: str) -> Pill:
    """The pill of a status; one we do not know keeps its own words, outlined.

    A dotted order status goes by its last part, then by its first, its stage.
    """
    _, _, last = value.rpartition(".")
    first, _, _ = value.partition(".")
    for key in (last, first):
        if known := PILLS.get(key.lower()):
            return known
    return Pill("unknown", "ring", words(value))


def words(value: str) -> str:
    """A wire value as words: underscores to spaces, first letter up."""
    text = value.replace("_", " ").strip()
    return text[:1].upper() + text[1:]
