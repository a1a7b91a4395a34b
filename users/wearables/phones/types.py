"""Types of records that phones send, and the resource that each becomes.

HealthKit's are those of its export (formats.apple.types); here are those of Health
Connect and Samsung Health as the Open Wearables SDK names them, and of Health Auto
Export.
"""

from __future__ import annotations

from users.states import SourceType
from users.wearables.formats.apple.types import MEASURES, QUANTITY, Measure

# Source: Open Wearables' Android SDK, HealthConnectManager and SamsungHealthManager.
ANDROID: dict[str, Measure] = {
    "STEP_COUNT": Measure("steps"),
    "DISTANCE": Measure("distance"),
    "FLOORS_CLIMBED": Measure("floors_climbed"),
    "ACTIVE_CALORIES_BURNED": Measure("calories_active"),
    "HEART_RATE": Measure("heartrate"),
    "HEART_RATE_VARIABILITY": Measure("hrv"),
    "OXYGEN_SATURATION": Measure("blood_oxygen"),
    "RESPIRATORY_RATE": Measure("respiratory_rate"),
    "BLOOD_GLUCOSE": Measure("glucose"),
    "BODY_TEMPERATURE": Measure("body_temperature"),
    "WEIGHT": Measure("body_weight"),
    "BODY_FAT": Measure("body_fat"),
    "BMI": Measure("body_mass_index"),
    "LEAN_BODY_MASS": Measure("lean_body_mass"),
    "HYDRATION": Measure("water"),
    "VO2_MAX": Measure("vo2_max"),
}
# Source: the metric names of Health Auto Export's JSON, and samples in public
# repositories of receivers.
HEALTH_AUTO_EXPORT: dict[str, Measure] = {
    "step_count": MEASURES["StepCount"],
    "walking_running_distance": MEASURES["DistanceWalkingRunning"],
    "wheelchair_distance": MEASURES["DistanceWheelchair"],
    "flights_climbed": MEASURES["FlightsClimbed"],
    "active_energy": MEASURES["ActiveEnergyBurned"],
    "basal_energy_burned": MEASURES["BasalEnergyBurned"],
    "apple_stand_time": MEASURES["AppleStandTime"],
    "push_count": MEASURES["PushCount"],
    "vo2_max": MEASURES["VO2Max"],
    "heart_rate": MEASURES["HeartRate"],
    "cardio_recovery": MEASURES["HeartRateRecoveryOneMinute"],
    "atrial_fibrillation_burden": MEASURES["AtrialFibrillationBurden"],
    "respiratory_rate": MEASURES["RespiratoryRate"],
    "blood_oxygen_saturation": MEASURES["OxygenSaturation"],
    "forced_expiratory_volume_1": MEASURES["ForcedExpiratoryVolume1"],
    "forced_vital_capacity": MEASURES["ForcedVitalCapacity"],
    "peak_expiratory_flow_rate": MEASURES["PeakExpiratoryFlowRate"],
    "inhaler_usage": MEASURES["InhalerUsage"],
    "breathing_disturbances": MEASURES["AppleSleepingBreathingDisturbances"],
    "weight_body_mass": MEASURES["BodyMass"],
    "body_fat_percentage": MEASURES["BodyFatPercentage"],
    "body_mass_index": MEASURES["BodyMassIndex"],
    "lean_body_mass": MEASURES["LeanBodyMass"],
    "waist_circumference": MEASURES["WaistCircumference"],
    "body_temperature": MEASURES["BodyTemperature"],
    "apple_sleeping_wrist_temperature": MEASURES["AppleSleepingWristTemperature"],
    "basal_body_temperature": MEASURES["BasalBodyTemperature"],
    "blood_glucose": MEASURES["BloodGlucose"],
    "carbohydrates": MEASURES["DietaryCarbohydrates"],
    "caffeine": MEASURES["DietaryCaffeine"],
    "dietary_caffeine": MEASURES["DietaryCaffeine"],
    "water": MEASURES["DietaryWater"],
    "dietary_water": MEASURES["DietaryWater"],
    "time_in_daylight": MEASURES["TimeInDaylight"],
    "uv_exposure": MEASURES["UVExposure"],
    "number_of_times_fallen": MEASURES["NumberOfTimesFallen"],
    "mindful_minutes": Measure("mindfulness_minutes"),
    "handwashing": Measure("handwashing"),
}
# Values of a day or of the person, which have no series: the summary and its field.
OF_DAYS = {
    "RESTING_HEART_RATE": "resting_bpm",
    f"{QUANTITY}RestingHeartRate": "resting_bpm",
    f"{QUANTITY}WalkingHeartRateAverage": "avg_walking_bpm",
    "resting_heart_rate": "resting_bpm",
    "walking_heart_rate_average": "avg_walking_bpm",
}
HEIGHTS = frozenset({"HEIGHT", f"{QUANTITY}Height", "height"})
# What apps call a unit, where ours is another word for it.
UNITS = {
    "breaths/min": "bpm",
    "kg/m²": "index",
    "kg/m^2": "index",
    "kcal/hr·kg": "index",
    "mmHG": "mmHg",
    "ml/(kg·min)": "mL/kg/min",
    "count/min": "count/min",
    "degrees celsius": "°C",
    "liters": "L",
}
# Kinds of devices as the Open Wearables SDKs name them.
DEVICES = {
    "phone": SourceType.PHONE,
    "watch": SourceType.WATCH,
    "fitness_band": SourceType.WATCH,
    "scale": SourceType.SCALE,
    "ring": SourceType.RING,
    "chest_strap": SourceType.CHEST_STRAP,
}
# Stages of sleep by the words that phones use, as Apple's export calls them.
SLEEP_WORDS = {
    "in_bed": "InBed",
    "inbed": "InBed",
    "sleeping": "Asleep",
    "asleep": "Asleep",
    "unspecified": "Asleep",
    "unknown": "Asleep",
    "awake": "Awake",
    "awake_in_bed": "Awake",
    "out_of_bed": "Awake",
    "light": "AsleepCore",
    "core": "AsleepCore",
    "deep": "AsleepDeep",
    "rem": "AsleepREM",
}
# Stages of Health Connect's SleepSessionRecord, by number.
SLEEP_NUMBERS = {
    1: "Awake",
    2: "Asleep",
    3: "Awake",
    4: "AsleepCore",
    5: "AsleepDeep",
    6: "AsleepREM",
    7: "Awake",
}
# What HealthKit's numbers of a cycle's categories stand for, as its export ends them.
# Source: HealthKit's HKCategoryValues.h, in public copies, read 2026-11-27.
_TESTS = {1: "Negative", 2: "Positive", 3: "Indeterminate"}
CATEGORY_VALUES: dict[str, dict[int, str]] = {
    "MenstrualFlow": {
        1: "Unspecified",
        2: "Light",
        3: "Medium",
        4: "Heavy",
        5: "None",
    },
    "CervicalMucusQuality": {
        1: "Dry",
        2: "Sticky",
        3: "Creamy",
        4: "Watery",
        5: "EggWhite",
    },
    "OvulationTestResult": {
        1: "Negative",
        2: "LuteinizingHormoneSurge",
        3: "Indeterminate",
        4: "EstrogenSurge",
    },
    "PregnancyTestResult": _TESTS,
    "ProgesteroneTestResult": _TESTS,
    "Contraceptive": {
        1: "Unspecified",
        2: "Implant",
        3: "Injection",
        4: "IntrauterineDevice",
        5: "IntravaginalRing",
        6: "Oral",
        7: "Patch",
    },
}
# By the type of a record of Health Connect: the member with its number, and the entry.
CYCLE_NUMBERS: dict[str, tuple[str, dict[int, str]]] = {
    "menstruationflow": (
        "flow",
        {
            0: "MenstrualFlow=Unspecified",
            1: "MenstrualFlow=Light",
            2: "MenstrualFlow=Medium",
            3: "MenstrualFlow=Heavy",
        },
    ),
    "cervicalmucus": (
        "appearance",
        {
            1: "CervicalMucusQuality=Dry",
            2: "CervicalMucusQuality=Sticky",
            3: "CervicalMucusQuality=Creamy",
            4: "CervicalMucusQuality=Watery",
            5: "CervicalMucusQuality=EggWhite",
        },
    ),
    "ovulationtest": (
        "result",
        {
            0: "OvulationTestResult=Indeterminate",
            1: "OvulationTestResult=Positive",
            2: "OvulationTestResult=EstrogenSurge",
            3: "OvulationTestResult=Negative",
        },
    ),
    "sexualactivity": (
        "protectionUsed",
        {1: "SexualActivity=1", 2: "SexualActivity=0"},
    ),
}
