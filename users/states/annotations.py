"""Kinds of annotations."""

from __future__ import annotations

from portal.lib.choices import OpenChoices
from portal.lib.translation import gettext_lazy


class AnnotationKind(OpenChoices):
    """What an annotation is about (ours)."""

    TRAVEL = "travel", gettext_lazy("Travel")
    DOSE = "dose", gettext_lazy("Dose")
    ILLNESS = "illness", gettext_lazy("Illness")
    NOTE = "note", gettext_lazy("Note")
