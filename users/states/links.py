"""Options of a link session, and the ways and sections of its sources."""

from __future__ import annotations

from enum import StrEnum

from portal.lib.choices import OpenChoices
from portal.lib.translation import gettext_lazy


class LinkReturn(OpenChoices):
    """Redirect after an error or on leaving (contract 3.6)."""

    REDIRECT = "redirect", gettext_lazy("Redirect to redirect_url")


class PortalContext(OpenChoices):
    """Purpose of a portal link (contract 2.2)."""

    LAUNCH = "launch", gettext_lazy("Open at once")
    COMMUNICATIONS = "communications", gettext_lazy("Send by email or SMS")


class Way(StrEnum):
    """Way to connect a source through a link (ours)."""

    SIGN_IN = "sign_in"
    FILE = "file"
    DEMO = "demo"


class Kind(OpenChoices):
    """Section of the connect page, in order (ours)."""

    WORN = "worn", gettext_lazy("Rings, watches and trackers")
    GLUCOSE = "glucose", gettext_lazy("Glucose sensors and meters")
    BODY = "body", gettext_lazy("Scales and cuffs")
    TRAINING = "training", gettext_lazy("Training machines")
    PHONE = "phone", gettext_lazy("Phones and apps")
    FILES = "files", gettext_lazy("Files")
