"""HealthKit's types of records, and the resource that each becomes."""

from __future__ import annotations

from dataclasses import dataclass, field

QUANTITY = "HKQuantityTypeIdentifier"
CATEGORY = "HKCategoryTypeIdentifier"


@dataclass(frozen=True, slots=True)
class Measure:
    """What a record's value becomes: a sample of `slug`.

    `unit` is what the file calls the unit where our own word differs in kind, `scale`
    what a value is multiplied with: HealthKit writes 97 % as 0.97. `keys` are put to
    every sample.
    """

    slug: str
    unit: str = ""
    scale: float = 1
    keys: dict[str, str] = field(default_factory=dict)


# By the identifier without its prefix.
MEASURES: dict[str, Measure] = {
    "StepCount": Measure("steps"),
    "DistanceWalkingRunning": Measure("distance"),
    "DistanceWheelchair": Measure("distance", keys={"sport": "wheelchair"}),
    "FlightsClimbed": Measure("floors_climbed"),
    "ActiveEnergyBurned": Measure("calories_active"),
    "BasalEnergyBurned": Measure("calories_basal"),
    "AppleStandTime": Measure("stand_duration"),
    "PushCount": Measure("wheelchair_push"),
    "VO2Max": Measure("vo2_max"),
    "HeartRate": Measure("heartrate"),
    "HeartRateRecoveryOneMinute": Measure(
        "heart_rate_recovery_one_minute", unit="count/min"
    ),
    "AtrialFibrillationBurden": Measure("afib_burden", scale=100),
    "RespiratoryRate": Measure("respiratory_rate"),
    "OxygenSaturation": Measure("blood_oxygen", scale=100),
    "ForcedExpiratoryVolume1": Measure("forced_expiratory_volume_1"),
    "ForcedVitalCapacity": Measure("forced_vital_capacity"),
    "PeakExpiratoryFlowRate": Measure("peak_expiratory_flow_rate"),
    "InhalerUsage": Measure("inhaler_usage"),
    "AppleSleepingBreathingDisturbances": Measure("sleep_breathing_disturbance"),
    "BodyMass": Measure("body_weight"),
    "BodyFatPercentage": Measure("body_fat", scale=100),
    "BodyMassIndex": Measure("body_mass_index"),
    "LeanBodyMass": Measure("lean_body_mass"),
    "WaistCircumference": Measure("waist_circumference"),
    "BodyTemperature": Measure("body_temperature"),
    "AppleSleepingWristTemperature": Measure(
        "body_temperature", keys={"sensor_location": "wrist"}
    ),
    "BasalBodyTemperature": Measure("basal_body_temperature"),
    "BloodGlucose": Measure("glucose"),
    "DietaryCarbohydrates": Measure("carbohydrates"),
    "DietaryCaffeine": Measure("caffeine"),
    "DietaryWater": Measure("water"),
    "TimeInDaylight": Measure("daylight_exposure"),
    "UVExposure": Measure("uv_exposure"),
    "NumberOfTimesFallen": Measure("fall"),
}
# The insulin that a reason stands for: HealthKit tells no kind (ours: what is given as
# basal acts long but in pumps, which no phone tells from pens).
INSULIN = {
    "1": {"type": "long_acting", "delivery_mode": "basal"},
    "2": {"type": "rapid_acting", "delivery_mode": "bolus"},
}
TEMPERATURE_SENSORS = {
    "1": None,
    "2": "armpit",
    "3": "body",
    "4": "ear",
    "5": "finger",
    "6": "gastrointestinal",
    "7": "mouth",
    "8": "rectum",
    "9": "toe",
    "10": "eardrum",
    "11": "temporal_artery",
    "12": "forehead",
}
# Events, each counted as one.
EVENTS: dict[str, Measure] = {
    "HighHeartRateEvent": Measure("heart_rate_alert", keys={"type": "high_heart_rate"}),
    "LowHeartRateEvent": Measure("heart_rate_alert", keys={"type": "low_heart_rate"}),
    "IrregularHeartRhythmEvent": Measure(
        "heart_rate_alert", keys={"type": "irregular_rhythm"}
    ),
    "SleepApneaEvent": Measure("sleep_apnea_alert"),
    "HandwashingEvent": Measure("handwashing"),
}
# Stand hours, by the end of the category's value.
STAND_HOURS = {"Stood": "stood", "Idle": "idle"}
# Records that are read together with others.
SLEEP = "SleepAnalysis"
MINDFUL = "MindfulSession"
STAND_HOUR = "AppleStandHour"
INSULIN_DELIVERY = "InsulinDelivery"
HEART_RATE = "HeartRate"
VARIABILITY = "HeartRateVariabilitySDNN"
SYSTOLIC = "BloodPressureSystolic"
DIASTOLIC = "BloodPressureDiastolic"
BLOOD_PRESSURE = "HKCorrelationTypeIdentifierBloodPressure"
