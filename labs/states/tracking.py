"""Choices of an order's tracking (contract 6.20)."""

from __future__ import annotations

from portal.lib.choices import OpenChoices
from portal.lib.translation import gettext_lazy


class MarkerProgress(OpenChoices):
    """How far the results of a marker are."""

    PENDING = "pending", gettext_lazy("Pending")
    INCOMPLETE = "incomplete", gettext_lazy("Incomplete")
    RESULTED = "resulted", gettext_lazy("Resulted")


class InferredFrom(OpenChoices):
    """What the time of collection is inferred from."""

    LAB_ARRIVAL = "lab_arrival", gettext_lazy("Arrival at the lab")
    LAB_ACCESSIONING = "lab_accessioning", gettext_lazy("Receipt by the lab")
    SCHEDULED_APPOINTMENT = "scheduled_appointment", gettext_lazy("Visit")
    DISPATCH_DATE = "dispatch_date", gettext_lazy("Dispatch of the kit")


class UpdateSource(OpenChoices):
    """Who changed an estimate."""

    LAB = "lab", gettext_lazy("Lab")
    PATIENT = "patient", gettext_lazy("Patient")
    PLATFORM = "platform", gettext_lazy("Assay")
