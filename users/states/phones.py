"""Apps that send a phone's data, and the states of what they sent."""

from __future__ import annotations

from portal.lib.choices import OpenChoices
from portal.lib.translation import gettext_lazy


class PhoneApp(OpenChoices):
    """The app that a phone sends with."""

    OPEN_WEARABLES = "open_wearables", gettext_lazy("App with the Open Wearables SDK")
    HEALTH_AUTO_EXPORT = "health_auto_export", gettext_lazy("Health Auto Export")
    HCGATEWAY = "hcgateway", gettext_lazy("HCGateway")
    OTHER = "other", gettext_lazy("Another app")


class UploadOutcome(OpenChoices):
    """What became of an upload."""

    WAITING = "waiting", gettext_lazy("Waiting")
    STORED = "stored", gettext_lazy("Stored")
    FAILED = "failed", gettext_lazy("Failed")


class PieceKind(OpenChoices):
    """Records that mean something only together with others."""

    SLEEP = "sleep", gettext_lazy("Stage of sleep")
    SYSTOLIC = "systolic", gettext_lazy("Systolic blood pressure")
    DIASTOLIC = "diastolic", gettext_lazy("Diastolic blood pressure")
    CYCLE = "cycle", gettext_lazy("Entry of a menstrual cycle")
