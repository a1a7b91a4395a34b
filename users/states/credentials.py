"""States of a team's credentials at a source."""

from __future__ import annotations

from portal.lib.choices import OpenChoices
from portal.lib.translation import gettext_lazy


class CredentialsState(OpenChoices):
    """What a source last said of a client ID and secret (ours)."""

    WORKING = "working", gettext_lazy("Working")
    REJECTED = "rejected", gettext_lazy("Secret rejected")
    UNANSWERED = "unanswered", gettext_lazy("Not tried yet")
