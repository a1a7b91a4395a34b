"""States of a day of a source: what is proven of it."""

from __future__ import annotations

from portal.lib.choices import OpenChoices
from portal.lib.translation import gettext_lazy


class DayState(OpenChoices):
    """What is known of one resource of a source on one day (ours)."""

    COMPLETE = "complete", gettext_lazy("Complete")
    FILLED_LATER = "filled_later", gettext_lazy("Complete, filled later")
    SOURCE_HAS_NONE = "source_has_none", gettext_lazy("Source has none")
    MISSING = "missing", gettext_lazy("Missing")
    OPEN = "open", gettext_lazy("Still open")
    RECEIVED = "received", gettext_lazy("Received, not provable")
    NOT_READ = "not_read", gettext_lazy("Not read")
