"""Open sets of what wearable data says of itself.

Must not be here: what a resource's fields are (users.wearables).
"""

from __future__ import annotations

from django.db.models import IntegerChoices

from portal.lib.choices import OpenChoices


class SourceType(OpenChoices):
    """What kind of thing measured (contract 3.3)."""

    UNKNOWN = "unknown", "Unknown"
    PHONE = "phone", "Phone"
    WATCH = "watch", "Watch"
    APP = "app", "App"  # typed in by hand
    MULTIPLE_SOURCES = "multiple_sources", "Several sources"  # merged
    FINGERPRICK = "fingerprick", "Fingerprick"
    CUFF = "cuff", "Cuff"
    MANUAL_SCAN = "manual_scan", "Scanned sensor"
    AUTOMATIC = "automatic", "Automatic sensor"
    INSULIN_PUMP = "insulin_pump", "Insulin pump"
    SCALE = "scale", "Scale"
    CHEST_STRAP = "chest_strap", "Chest strap"
    RING = "ring", "Ring"
    LAB = "lab", "Lab"
    EXERCISE_MACHINE = "exercise_machine", "Exercise machine"
    EARPHONE = "earphone", "Earphone"


class MenstrualFlow(OpenChoices):
    """Contract 4.2; the specification names light, medium and heavy."""

    UNSPECIFIED = "unspecified", "Unspecified"
    NONE = "none", "None"
    LIGHT = "light", "Light"
    MEDIUM = "medium", "Medium"
    HEAVY = "heavy", "Heavy"


class CervicalMucusQuality(OpenChoices):
    """Contract 4.2."""

    DRY = "dry", "Dry"
    STICKY = "sticky", "Sticky"
    CREAMY = "creamy", "Creamy"
    WATERY = "watery", "Watery"
    EGG_WHITE = "egg_white", "Egg white"


class Contraceptive(OpenChoices):
    """Contract 4.2."""

    UNSPECIFIED = "unspecified", "Unspecified"
    IMPLANT = "implant", "Implant"
    INJECTION = "injection", "Injection"
    IUD = "iud", "Intrauterine device"
    INTRAVAGINAL_RING = "intravaginal_ring", "Vaginal ring"
    ORAL = "oral", "Pill"
    PATCH = "patch", "Patch"


class CycleDeviation(OpenChoices):
    """Contract 4.2."""

    PERSISTENT_INTERMENSTRUAL_BLEEDING = (
        "persistent_intermenstrual_bleeding",
        "Persistent bleeding between periods",
    )
    PROLONGED_MENSTRUAL_PERIODS = "prolonged_menstrual_periods", "Prolonged periods"
    IRREGULAR_MENSTRUAL_CYCLES = "irregular_menstrual_cycles", "Irregular cycles"
    INFREQUENT_MENSTRUAL_CYCLES = "infrequent_menstrual_cycles", "Infrequent cycles"


class OvulationTest(OpenChoices):
    """Contract 4.2."""

    NEGATIVE = "negative", "Negative"
    POSITIVE = "positive", "Positive"
    LUTEINIZING_HORMONE_SURGE = "luteinizing_hormone_surge", "LH surge"
    ESTROGEN_SURGE = "estrogen_surge", "Estrogen surge"
    INDETERMINATE = "indeterminate", "Indeterminate"


class HomeTest(OpenChoices):
    """Results of home pregnancy and progesterone tests (contract 4.2)."""

    NEGATIVE = "negative", "Negative"
    POSITIVE = "positive", "Positive"
    INDETERMINATE = "indeterminate", "Indeterminate"


class SleepStage(IntegerChoices):
    """Codes of a sleep cycle's stages (contract 4.3), in the order they are drawn.

    Stored codes that are none of these are shown by their number.
    """

    AWAKE = 4, "Awake"
    REM = 3, "REM"
    LIGHT = 2, "Light"  # non-REM
    DEEP = 1, "Deep"
    UNKNOWN = -1, "Unknown"  # or unclassified
    MANUAL = 5, "By hand"  # classified by hand


class SleepType(OpenChoices):
    """What a sleep was (contract 4.5)."""

    LONG_SLEEP = "long_sleep", "Long sleep"
    SHORT_SLEEP = "short_sleep", "Short sleep"
    ACKNOWLEDGED_NAP = "acknowledged_nap", "Nap"
    UNKNOWN = "unknown", "Unknown"


class SleepState(OpenChoices):
    """Whether a source may still change a sleep (contract 4.5)."""

    TENTATIVE = "tentative", "Tentative"
    CONFIRMED = "confirmed", "Confirmed"


class Sex(OpenChoices):
    """Contract 4.8."""

    FEMALE = "female", "Female"
    MALE = "male", "Male"
    OTHER = "other", "Other"


class EnergyUnit(OpenChoices):
    """Contract 4.8."""

    KCAL = "kcal", "kcal"


class EcgClassification(OpenChoices):
    """What an electrocardiogram was read as (contract 4.8)."""

    SINUS_RHYTHM = "sinus_rhythm", "Sinus rhythm"
    ATRIAL_FIBRILLATION = "atrial_fibrillation", "Atrial fibrillation"
    INCONCLUSIVE = "inconclusive", "Inconclusive"


class EcgInconclusiveCause(OpenChoices):
    """Contract 4.8."""

    HIGH_HEART_RATE = "high_heart_rate", "High heart rate"
    LOW_HEART_RATE = "low_heart_rate", "Low heart rate"
    POOR_READING = "poor_reading", "Poor reading"


class CholesterolKind(OpenChoices):
    """Which cholesterol was measured (contract 5.2)."""

    LDL = "ldl", "LDL"
    HDL = "hdl", "HDL"
    TOTAL = "total", "Total"
    TRIGLYCERIDES = "triglycerides", "Triglycerides"


class HeartRateAlert(OpenChoices):
    """What a watch warned of (contract 5.2)."""

    LOW_HEART_RATE = "low_heart_rate", "Low heart rate"
    HIGH_HEART_RATE = "high_heart_rate", "High heart rate"
    IRREGULAR_RHYTHM = "irregular_rhythm", "Irregular rhythm"


class StandHour(OpenChoices):
    """Whether the user stood in an hour (contract 5.2)."""

    STOOD = "stood", "Stood"
    IDLE = "idle", "Idle"


class BreathingDisturbance(OpenChoices):
    """How a night's breathing disturbances are rated (contract 5.2)."""

    ELEVATED = "elevated", "Elevated"
    NOT_ELEVATED = "not_elevated", "Not elevated"


class InsulinKind(OpenChoices):
    """Contract 5.2."""

    RAPID_ACTING = "rapid_acting", "Rapid-acting"
    LONG_ACTING = "long_acting", "Long-acting"


class DeliveryMode(OpenChoices):
    """How insulin was given (contract 5.2)."""

    BASAL = "basal", "Basal"
    BOLUS = "bolus", "Bolus"


class DeliveryForm(OpenChoices):
    """Over what time insulin was given (contract 5.2)."""

    STANDARD = "standard", "Standard"
    EXTENDED = "extended", "Extended"


class BolusPurpose(OpenChoices):
    """What a bolus was for (contract 5.2)."""

    MEAL = "meal", "Meal"
    CORRECTION = "correction", "Correction"
    MIXED = "mixed", "Mixed"
    UNKNOWN = "unknown", "Unknown"


class SensorLocation(OpenChoices):
    """Where on the body a temperature was taken (contract 5.2)."""

    ARMPIT = "armpit", "Armpit"
    BODY = "body", "Body"
    EAR = "ear", "Ear"
    FINGER = "finger", "Finger"
    GASTROINTESTINAL = "gastrointestinal", "Gastrointestinal"
    MOUTH = "mouth", "Mouth"
    RECTUM = "rectum", "Rectum"
    TOE = "toe", "Toe"
    EARDRUM = "eardrum", "Eardrum"
    TEMPORAL_ARTERY = "temporal_artery", "Temporal artery"
    FOREHEAD = "forehead", "Forehead"
    WRIST = "wrist", "Wrist"


class Intensity(OpenChoices):
    """How hard a stretch of a workout was (contract 5.2)."""

    LOW = "low", "Low"
    MEDIUM = "medium", "Medium"
    HIGH = "high", "High"


class NoteTag(OpenChoices):
    """What a note is about (contract 5.2)."""

    FOOD = "food", "Food"
    EXERCISE = "exercise", "Exercise"
    INSULIN_INJECTION = "insulin_injection", "Insulin injection"
    UNSPECIFIED = "unspecified", "Unspecified"
