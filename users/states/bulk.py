"""Bulk operations on connections: what they are and how they ended (contract 10)."""

from __future__ import annotations

from portal.lib.choices import OpenChoices
from portal.lib.translation import gettext_lazy


class BulkOperationKind(OpenChoices):
    """What was done to many connections; values of the typed client."""

    IMPORT = "link_bulk_import", gettext_lazy("Connections imported")
    HISTORY = "link_bulk_historical_trigger", gettext_lazy("Past data requested")


class BulkOperationStatus(OpenChoices):
    """Status of a bulk operation; values of the typed client."""

    IN_PROGRESS = "in_progress", gettext_lazy("Running")
    SUCCESS = "success", gettext_lazy("Done")
    FAILURE = "failure", gettext_lazy("Failed")
    ABORTED = "aborted", gettext_lazy("Cut off")
