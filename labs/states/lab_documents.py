"""Statuses of documents that labs send, and their transitions."""

from __future__ import annotations

from portal.lib.choices import OpenChoices
from portal.lib.database.transitions import Transitions
from portal.lib.translation import gettext_lazy


class LabDocumentStatus(OpenChoices):
    """The status of a lab's document."""

    HELD = "held", gettext_lazy("Being checked")
    AVAILABLE = "available", gettext_lazy("Available")
    REFUSED = "refused", gettext_lazy("Refused")
    WITHDRAWN = "withdrawn", gettext_lazy("Withdrawn by the lab")
    REFERENCE = "reference", gettext_lazy("Kept by the lab")


# Ours: nobody sees a file before it was opened and scanned.
LAB_DOCUMENT_MOVES: Transitions[LabDocumentStatus] = Transitions(
    {
        LabDocumentStatus.HELD: {
            LabDocumentStatus.AVAILABLE,
            LabDocumentStatus.REFUSED,
        },
        LabDocumentStatus.AVAILABLE: set(),
        LabDocumentStatus.REFUSED: set(),
        LabDocumentStatus.WITHDRAWN: set(),
        LabDocumentStatus.REFERENCE: set(),
    }
)


class ResultPdfSource(OpenChoices):
    """Who made a PDF of results."""

    LAB = "lab", gettext_lazy("The lab")
    ASSAY = "assay", gettext_lazy("Assay")


class DocumentFault(OpenChoices):
    """Why a lab's document is refused."""

    EMPTY = "empty", gettext_lazy("The document is empty.")
    UNDECODABLE = "undecodable", gettext_lazy("The message's encoding is damaged.")
    TOO_LARGE = "too_large", gettext_lazy("The document is larger than 10 MB.")
    NOT_PDF = "not_pdf", gettext_lazy("The document is not a PDF.")
    TYPE_MISMATCH = (
        "type_mismatch",
        gettext_lazy("The document is a PDF, but the lab declared another type."),
    )
    ENCRYPTED = "encrypted", gettext_lazy("The PDF needs a password.")
    UNREADABLE = "unreadable", gettext_lazy("The PDF is damaged or incomplete.")
    INFECTED = "infected", gettext_lazy("The malware scanner rejected this PDF.")
