"""What a link session may be told, and how and under what a source is connected by it.

Must not be here: which source is connected how (users.operations.linking).
"""

from __future__ import annotations

from enum import StrEnum

from portal.lib.choices import OpenChoices


class LinkReturn(OpenChoices):
    """Where people go after an error, or when they leave (contract 3.6)."""

    REDIRECT = "redirect", "To redirect_url"


class PortalContext(OpenChoices):
    """What a portal link is made for (contract 2.2)."""

    LAUNCH = "launch", "To open at once"
    COMMUNICATIONS = "communications", "To send by mail or text"


class Way(StrEnum):
    """How a source can be connected through a link (ours)."""

    SIGN_IN = "sign_in"
    FILE = "file"
    DEMO = "demo"


class Kind(StrEnum):
    """What a source is to the person who has it, in the order of the page (ours)."""

    WORN = "Rings, watches and trackers"
    GLUCOSE = "Glucose sensors and meters"
    BODY = "Scales and cuffs"
    TRAINING = "Training machines"
    PHONE = "Phones and apps"
    FILES = "Files"
