"""What a link session may be told, and how and under what a source is connected by it.

Must not be here: which source is connected how (users.operations.linking).
"""

from __future__ import annotations

from enum import StrEnum

from portal.lib.choices import OpenChoices
from portal.lib.translation import gettext_lazy


class LinkReturn(OpenChoices):
    """Where people go after an error, or when they leave (contract 3.6)."""

    REDIRECT = "redirect", gettext_lazy("Redirect to redirect_url")


class PortalContext(OpenChoices):
    """What a portal link is made for (contract 2.2)."""

    LAUNCH = "launch", gettext_lazy("Open at once")
    COMMUNICATIONS = "communications", gettext_lazy("Send by email or SMS")


class Way(StrEnum):
    """How a source can be connected through a link (ours)."""

    SIGN_IN = "sign_in"
    FILE = "file"
    DEMO = "demo"


class Kind(OpenChoices):
    """What a source is to the person who has it, in the order of the page (ours)."""

    WORN = "worn", gettext_lazy("Rings, watches and trackers")
    GLUCOSE = "glucose", gettext_lazy("Glucose sensors and meters")
    BODY = "body", gettext_lazy("Scales and cuffs")
    TRAINING = "training", gettext_lazy("Training machines")
    PHONE = "phone", gettext_lazy("Phones and apps")
    FILES = "files", gettext_lazy("Files")
