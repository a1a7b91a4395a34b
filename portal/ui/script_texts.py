"""The texts that the scripts under static/js show, translated with the page.

base.html writes them as JSON into #texts; static/js/texts.js fills in `{name}`.
"""

from __future__ import annotations

from portal.lib.translation import gettext_lazy

# What a script shows after a request failed, by HTTP status: title, then help.
FAILURE_TEXTS: dict[str, tuple[str, str]] = {
    "401": (
        gettext_lazy("You are signed out"),
        gettext_lazy("Sign in again to continue."),
    ),
    "403": (
        gettext_lazy("Your role can't do this"),
        gettext_lazy("Ask a team admin for access."),
    ),
    "404": (
        gettext_lazy("No longer available"),
        gettext_lazy("Reload the page to see what changed."),
    ),
    "409": (
        gettext_lazy("Someone else changed this"),
        gettext_lazy("Reload the page to see their changes."),
    ),
    "413": (
        gettext_lazy("File too large"),
        gettext_lazy("Nothing was stored. Choose a smaller file."),
    ),
    "429": (
        gettext_lazy("Too many requests"),
        gettext_lazy("Wait a moment, then try again."),
    ),
    "other": (
        gettext_lazy("The request failed"),
        gettext_lazy("Nothing was changed. Check your connection and try again."),
    ),
}

SCRIPT_TEXTS: dict[str, str] = {
    "box_position": gettext_lazy(
        "Left {left}%, top {top}%, right {right}%, bottom {bottom}%"
    ),
    "busy": gettext_lazy("Working…"),
    "chart_point": gettext_lazy("{name}: {value} {unit}"),
    "chart_point_range": gettext_lazy("{name}: {value} {unit} ({low} to {high})"),
    "chart_selection": gettext_lazy("{start} to {end} selected"),
    "copied": gettext_lazy("Copied"),
    "copy_blocked": gettext_lazy("Your browser blocked copying"),
    "copy_blocked_help": gettext_lazy("Select the text and copy it manually."),
    "count_characters": gettext_lazy("{used} of {limit} characters"),
    "count_results": gettext_lazy("Results: {number}"),
    "draw_row": gettext_lazy(
        "Draw the row on the page. Arrow keys move the box, Shift and arrow keys"
        " resize it, Page Up and Page Down change the page. Enter saves, Escape"
        " cancels."
    ),
    "draw_value": gettext_lazy(
        "Draw the value of {name} on the page. Arrow keys move the box, Shift and"
        " arrow keys resize it, Page Up and Page Down change the page. Enter saves,"
        " Escape cancels."
    ),
    "page_number": gettext_lazy("Page {number}"),
    "passkey_known": gettext_lazy(
        "This device already has a passkey for your account."
    ),
    "passkey_refused": gettext_lazy(
        "The passkey was not accepted, or the request timed out. Try again."
    ),
    "reading_area": gettext_lazy("Reading this area."),
    "row_not_saved": gettext_lazy("{name}: not saved."),
    "row_undone": gettext_lazy("Undone: {name} is {status} again."),
    "nothing_to_undo": gettext_lazy("There is nothing to undo here."),
    "row_saved": gettext_lazy("{name}: {status}."),
    "time_left": gettext_lazy("{time} left"),
    "upload_progress": gettext_lazy("Sending, {percent}%"),
    "upload_sent": gettext_lazy("Sent. Checking the file."),
}


def list_translated_javascript_texts() -> dict[str, str]:
    """Return every text of the scripts by key, in the language of the page."""
    texts = {key: str(text) for key, text in SCRIPT_TEXTS.items()}
    for status, (title, text) in FAILURE_TEXTS.items():
        texts[f"failure_{status}"] = str(title)
        texts[f"failure_{status}_help"] = str(text)
    return texts
