"""Enumerations of wearable data."""

from __future__ import annotations

from django.db.models import IntegerChoices

from portal.lib.choices import OpenChoices
from portal.lib.translation import gettext_lazy


class SourceType(OpenChoices):
    """Kind of device or method that measured (contract 3.3)."""

    UNKNOWN = "unknown", gettext_lazy("Unknown")
    PHONE = "phone", gettext_lazy("Phone")
    WATCH = "watch", gettext_lazy("Watch")
    APP = "app", gettext_lazy("App")  # typed in by hand
    MULTIPLE_SOURCES = "multiple_sources", gettext_lazy("Several sources")  # merged
    FINGERPRICK = "fingerprick", gettext_lazy("Fingerprick")
    CUFF = "cuff", gettext_lazy("Cuff")
    MANUAL_SCAN = "manual_scan", gettext_lazy("Scanned sensor")
    AUTOMATIC = "automatic", gettext_lazy("Automatic sensor")
    INSULIN_PUMP = "insulin_pump", gettext_lazy("Insulin pump")
    SCALE = "scale", gettext_lazy("Scale")
    CHEST_STRAP = "chest_strap", gettext_lazy("Chest strap")
    RING = "ring", gettext_lazy("Ring")
    LAB = "lab", gettext_lazy("Lab")
    EXERCISE_MACHINE = "exercise_machine", gettext_lazy("Exercise machine")
    EARPHONE = "earphone", gettext_lazy("Earphone")


class MenstrualFlow(OpenChoices):
    """Menstrual flow (contract 4.2); the specification names light, medium, heavy."""

    UNSPECIFIED = "unspecified", gettext_lazy("Unspecified")
    NONE = "none", gettext_lazy("None")
    LIGHT = "light", gettext_lazy("Light")
    MEDIUM = "medium", gettext_lazy("Medium")
    HEAVY = "heavy", gettext_lazy("Heavy")


class CervicalMucusQuality(OpenChoices):
    """Contract 4.2."""

    DRY = "dry", gettext_lazy("Dry")
    STICKY = "sticky", gettext_lazy("Sticky")
    CREAMY = "creamy", gettext_lazy("Creamy")
    WATERY = "watery", gettext_lazy("Watery")
    EGG_WHITE = "egg_white", gettext_lazy("Egg white")


class Contraceptive(OpenChoices):
    """Contract 4.2."""

    UNSPECIFIED = "unspecified", gettext_lazy("Unspecified")
    IMPLANT = "implant", gettext_lazy("Implant")
    INJECTION = "injection", gettext_lazy("Injection")
    IUD = "iud", gettext_lazy("Intrauterine device")
    INTRAVAGINAL_RING = "intravaginal_ring", gettext_lazy("Vaginal ring")
    ORAL = "oral", gettext_lazy("Pill")
    PATCH = "patch", gettext_lazy("Patch")


class CycleDeviation(OpenChoices):
    """Contract 4.2."""

    PERSISTENT_INTERMENSTRUAL_BLEEDING = (
        "persistent_intermenstrual_bleeding",
        gettext_lazy("Persistent bleeding between periods"),
    )
    PROLONGED_MENSTRUAL_PERIODS = (
        "prolonged_menstrual_periods",
        gettext_lazy("Prolonged periods"),
    )
    IRREGULAR_MENSTRUAL_CYCLES = (
        "irregular_menstrual_cycles",
        gettext_lazy("Irregular cycles"),
    )
    INFREQUENT_MENSTRUAL_CYCLES = (
        "infrequent_menstrual_cycles",
        gettext_lazy("Infrequent cycles"),
    )


class OvulationTest(OpenChoices):
    """Contract 4.2."""

    NEGATIVE = "negative", gettext_lazy("Negative")
    POSITIVE = "positive", gettext_lazy("Positive")
    LUTEINIZING_HORMONE_SURGE = "luteinizing_hormone_surge", gettext_lazy("LH surge")
    ESTROGEN_SURGE = "estrogen_surge", gettext_lazy("Estrogen surge")
    INDETERMINATE = "indeterminate", gettext_lazy("Indeterminate")


class HomeTest(OpenChoices):
    """Results of home pregnancy and progesterone tests (contract 4.2)."""

    NEGATIVE = "negative", gettext_lazy("Negative")
    POSITIVE = "positive", gettext_lazy("Positive")
    INDETERMINATE = "indeterminate", gettext_lazy("Indeterminate")


class SleepStage(IntegerChoices):
    """Codes of a sleep cycle's stages (contract 4.3), in the order they are drawn.

    Stored codes that are none of these are shown by their number.
    """

    AWAKE = 4, gettext_lazy("Awake")
    REM = 3, gettext_lazy("REM")
    LIGHT = 2, gettext_lazy("Light")  # non-REM
    DEEP = 1, gettext_lazy("Deep")
    UNKNOWN = -1, gettext_lazy("Unknown")  # or unclassified
    MANUAL = 5, gettext_lazy("Manual")  # classified by hand


class SleepType(OpenChoices):
    """Kind of a sleep (contract 4.5)."""

    LONG_SLEEP = "long_sleep", gettext_lazy("Long sleep")
    SHORT_SLEEP = "short_sleep", gettext_lazy("Short sleep")
    ACKNOWLEDGED_NAP = "acknowledged_nap", gettext_lazy("Nap")
    UNKNOWN = "unknown", gettext_lazy("Unknown")


class SleepState(OpenChoices):
    """Whether a source may still change a sleep (contract 4.5)."""

    TENTATIVE = "tentative", gettext_lazy("Tentative")
    CONFIRMED = "confirmed", gettext_lazy("Confirmed")


class Sex(OpenChoices):
    """Contract 4.8."""

    FEMALE = "female", gettext_lazy("Female")
    MALE = "male", gettext_lazy("Male")
    OTHER = "other", gettext_lazy("Other")


class EnergyUnit(OpenChoices):
    """Contract 4.8."""

    KCAL = "kcal", "kcal"


class EcgClassification(OpenChoices):
    """Result of an electrocardiogram (contract 4.8)."""

    SINUS_RHYTHM = "sinus_rhythm", gettext_lazy("Sinus rhythm")
    ATRIAL_FIBRILLATION = "atrial_fibrillation", gettext_lazy("Atrial fibrillation")
    INCONCLUSIVE = "inconclusive", gettext_lazy("Inconclusive")


class EcgInconclusiveCause(OpenChoices):
    """Contract 4.8."""

    HIGH_HEART_RATE = "high_heart_rate", gettext_lazy("High heart rate")
    LOW_HEART_RATE = "low_heart_rate", gettext_lazy("Low heart rate")
    POOR_READING = "poor_reading", gettext_lazy("Poor reading")


class CholesterolKind(OpenChoices):
    """Which cholesterol was measured (contract 5.2)."""

    LDL = "ldl", gettext_lazy("LDL")
    HDL = "hdl", gettext_lazy("HDL")
    TOTAL = "total", gettext_lazy("Total")
    TRIGLYCERIDES = "triglycerides", gettext_lazy("Triglycerides")


class HeartRateAlert(OpenChoices):
    """Kind of a watch's heart rate warning (contract 5.2)."""

    LOW_HEART_RATE = "low_heart_rate", gettext_lazy("Low heart rate")
    HIGH_HEART_RATE = "high_heart_rate", gettext_lazy("High heart rate")
    IRREGULAR_RHYTHM = "irregular_rhythm", gettext_lazy("Irregular rhythm")


class StandHour(OpenChoices):
    """Whether the user stood in an hour (contract 5.2)."""

    STOOD = "stood", gettext_lazy("Stood")
    IDLE = "idle", gettext_lazy("Idle")


class BreathingDisturbance(OpenChoices):
    """How a night's breathing disturbances are rated (contract 5.2)."""

    ELEVATED = "elevated", gettext_lazy("Elevated")
    NOT_ELEVATED = "not_elevated", gettext_lazy("Not elevated")


class InsulinKind(OpenChoices):
    """Contract 5.2."""

    RAPID_ACTING = "rapid_acting", gettext_lazy("Rapid-acting")
    LONG_ACTING = "long_acting", gettext_lazy("Long-acting")


class DeliveryMode(OpenChoices):
    """How insulin was given (contract 5.2)."""

    BASAL = "basal", gettext_lazy("Basal")
    BOLUS = "bolus", gettext_lazy("Bolus")


class DeliveryForm(OpenChoices):
    """Over what time insulin was given (contract 5.2)."""

    STANDARD = "standard", gettext_lazy("Standard")
    EXTENDED = "extended", gettext_lazy("Extended")


class BolusPurpose(OpenChoices):
    """What a bolus was for (contract 5.2)."""

    MEAL = "meal", gettext_lazy("Meal")
    CORRECTION = "correction", gettext_lazy("Correction")
    MIXED = "mixed", gettext_lazy("Mixed")
    UNKNOWN = "unknown", gettext_lazy("Unknown")


class SensorLocation(OpenChoices):
    """Where on the body a temperature was taken (contract 5.2)."""

    ARMPIT = "armpit", gettext_lazy("Armpit")
    BODY = "body", gettext_lazy("Body")
    EAR = "ear", gettext_lazy("Ear")
    FINGER = "finger", gettext_lazy("Finger")
    GASTROINTESTINAL = "gastrointestinal", gettext_lazy("Gastrointestinal")
    MOUTH = "mouth", gettext_lazy("Mouth")
    RECTUM = "rectum", gettext_lazy("Rectum")
    TOE = "toe", gettext_lazy("Toe")
    EARDRUM = "eardrum", gettext_lazy("Eardrum")
    TEMPORAL_ARTERY = "temporal_artery", gettext_lazy("Temporal artery")
    FOREHEAD = "forehead", gettext_lazy("Forehead")
    WRIST = "wrist", gettext_lazy("Wrist")


class Intensity(OpenChoices):
    """How hard a stretch of a workout was (contract 5.2)."""

    LOW = "low", gettext_lazy("Low")
    MEDIUM = "medium", gettext_lazy("Medium")
    HIGH = "high", gettext_lazy("High")


class NoteTag(OpenChoices):
    """What a note is about (contract 5.2)."""

    FOOD = "food", gettext_lazy("Food")
    EXERCISE = "exercise", gettext_lazy("Exercise")
    INSULIN_INJECTION = "insulin_injection", gettext_lazy("Insulin injection")
    UNSPECIFIED = "unspecified", gettext_lazy("Unspecified")
