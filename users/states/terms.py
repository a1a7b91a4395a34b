"""What the public terms of a source say of uses of its data."""

from __future__ import annotations

from portal.lib.choices import OpenChoices
from portal.lib.translation import gettext_lazy


class SourceUse(OpenChoices):
    """A use that the terms of a source may forbid (ours)."""

    STORING = "storing", gettext_lazy("Keep copies of the data")
    UNATTENDED = "unattended", gettext_lazy("Request data while the user is away")
    SHARING = "sharing", gettext_lazy("Show the data to other people")
    ASSISTANTS = "assistants", gettext_lazy("Pass the data to AI assistants")
    TRAINING = "training", gettext_lazy("Train or test AI with the data")
    CHARGING = "charging", gettext_lazy("Charge users for features that use the data")


class Permission(OpenChoices):
    """Whether the public terms of a source allow a use (ours)."""

    FORBIDDEN = "forbidden", gettext_lazy("Not allowed")
    WITH_CONSENT = "with_consent", gettext_lazy("Only with the user's consent")
    ALLOWED = "allowed", gettext_lazy("Allowed")
    UNKNOWN = "unknown", gettext_lazy("Not stated: ask the source")
