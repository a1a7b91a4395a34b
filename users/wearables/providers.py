"""Registry of sources: names, ways to connect and resources.

Reference data in code, not a table.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date

from portal.lib.translation import gettext_lazy

# Resource names of contract 3.4 that a source may give.
_VITALS = ("heartrate", "hrv", "blood_oxygen", "respiratory_rate")
_PHONE_HUB = (
    "profile",
    "activity",
    "sleep",
    "sleep_cycle",
    "body",
    "workouts",
    "workout_stream",
    "menstrual_cycle",
    *_VITALS,
    "glucose",
    "blood_pressure",
    "weight",
    "fat",
    "body_temperature",
    "basal_body_temperature",
    "body_mass_index",
    "lean_body_mass",
    "waist_circumference",
    "water",
    "caffeine",
    "mindfulness_minutes",
    "steps",
    "distance",
    "floors_climbed",
    "calories_active",
    "calories_basal",
    "vo2_max",
    "workout_distance",
    "workout_duration",
    "carbohydrates",
)
_APPLE_ONLY = (
    "electrocardiogram",
    "electrocardiogram_voltage",
    "afib_burden",
    "heart_rate_alert",
    "stand_hour",
    "stand_duration",
    "sleep_apnea_alert",
    "sleep_breathing_disturbance",
    "wheelchair_push",
    "forced_expiratory_volume_1",
    "forced_vital_capacity",
    "peak_expiratory_flow_rate",
    "inhaler_usage",
    "fall",
    "uv_exposure",
    "daylight_exposure",
    "handwashing",
    "heart_rate_recovery_one_minute",
    "workout_swimming_stroke",
    "insulin_injection",
)


@dataclass(frozen=True, slots=True)
class Provider:
    """A source.

    `id` is the wire's `source_id` and part of stored keys: it is never changed and
    never given to another source. `resources` are names of contract 3.4; empty where we
    know of the slug alone. `auth_type` and `source_types` are open sets (3.1, 3.3).
    """

    id: int
    slug: str
    name: str
    auth_type: str
    description: str
    source_types: tuple[str, ...] = ("unknown",)
    resources: tuple[str, ...] = ()


# Contract 3.2, in its order; numbers are ours (contract 8.3).
_ALL = (
    Provider(
        1,
        "oura",
        "Oura",
        "oauth",
        gettext_lazy("Ring for sleep, recovery and activity"),
        ("ring", "app", "multiple_sources"),
        (
            "profile",
            "sleep",
            "sleep_cycle",
            "activity",
            "workouts",
            "heartrate",
            "hrv",
            "steps",
            "calories_active",
            "blood_oxygen",
            "sleep_breathing_disturbance",
            "body_temperature_delta",
            "vo2_max",
            "mindfulness_minutes",
            "note",
        ),
    ),
    Provider(
        2,
        "fitbit",
        "Fitbit",
        "oauth",
        gettext_lazy("Watches, trackers and scales"),
        ("watch", "scale", "app", "multiple_sources"),
        (
            "profile",
            "activity",
            "sleep",
            "sleep_cycle",
            "body",
            "workouts",
            "steps",
            "heartrate",
            "weight",
            "fat",
        ),
    ),
    Provider(
        3,
        "garmin",
        "Garmin",
        "oauth",
        gettext_lazy("Sports watches, scales and blood pressure cuffs"),
        ("watch", "scale", "cuff", "app", "multiple_sources"),
        (
            "activity",
            "sleep",
            "body",
            "workouts",
            "workout_stream",
            "sleep_cycle",
            "stress_level",
            "menstrual_cycle",
            "heartrate",
            "hrv",
            "blood_oxygen",
            "respiratory_rate",
            "steps",
            "distance",
            "calories_active",
            "vo2_max",
            "weight",
            "fat",
            "body_temperature_delta",
            "blood_pressure",
        ),
    ),
    Provider(
        4,
        "whoop_v2",
        "WHOOP",
        "oauth",
        gettext_lazy("Strap for strain, recovery and sleep"),
        ("unknown", "app"),
        ("profile", "sleep", "workouts"),
    ),
    Provider(
        5,
        "strava",
        "Strava",
        "oauth",
        gettext_lazy("Training log for running and cycling"),
        resources=("workouts", "workout_stream"),
    ),
    Provider(
        6,
        "withings",
        "Withings",
        "oauth",
        gettext_lazy("Scales, watches and blood pressure cuffs"),
        ("scale", "watch", "cuff"),
        (
            "body",
            "sleep",
            "sleep_cycle",
            "activity",
            "workouts",
            "blood_pressure",
            "weight",
            "fat",
            "lean_body_mass",
            "heartrate",
            "blood_oxygen",
            "body_temperature",
            "vo2_max",
        ),
    ),
    Provider(
        7,
        "polar",
        "Polar",
        "oauth",
        gettext_lazy("Sports watches"),
        ("watch",),
        ("sleep", "sleep_cycle", "workouts", "activity", "heartrate", "hrv"),
    ),
    Provider(
        8,
        "wahoo",
        "Wahoo",
        "oauth",
        gettext_lazy("Bike computers and trainers"),
        resources=("workouts",),
    ),
    Provider(
        9,
        "google_fit",
        "Google Fit",
        "oauth",
        gettext_lazy("Activity from Google Fit"),
        resources=("activity", "workouts", "steps"),
    ),
    Provider(
        10,
        "ultrahuman",
        "Ultrahuman",
        "oauth",
        gettext_lazy("Ring and glucose monitoring"),
        ("ring",),
        ("sleep", "glucose", "heartrate"),
    ),
    Provider(
        11,
        "dexcom_v3",
        "Dexcom",
        "oauth",
        gettext_lazy("Continuous glucose monitoring"),
        ("automatic",),
        ("glucose", "insulin_injection", "carbohydrates"),
    ),
    Provider(
        12,
        "cronometer",
        "Cronometer",
        "oauth",
        gettext_lazy("Food diary"),
        ("app",),
        ("meal",),
    ),
    Provider(
        13,
        "peloton",
        "Peloton",
        "password",
        gettext_lazy("Exercise bikes and treadmills"),
        ("exercise_machine",),
        ("workouts",),
    ),
    Provider(
        14,
        "zwift",
        "Zwift",
        "password",
        gettext_lazy("Indoor cycling and running"),
        ("exercise_machine",),
        ("workouts",),
    ),
    Provider(
        15,
        "eight_sleep",
        "8Sleep",
        "password",
        gettext_lazy("Mattress cover for sleep"),
        resources=("sleep",),
    ),
    Provider(
        16,
        "hammerhead",
        "Hammerhead",
        "password",
        gettext_lazy("Bike computers"),
        resources=("workouts",),
    ),
    Provider(
        17,
        "abbott_libreview",
        "Abbott LibreView",
        "password",
        gettext_lazy("Glucose sensors via LibreView"),
        ("automatic", "manual_scan"),
        ("glucose", "insulin_injection", "note"),
    ),
    Provider(
        18,
        "freestyle_libre",
        "Freestyle Libre",
        "email",
        gettext_lazy("Glucose sensors via a practice"),
        ("automatic", "manual_scan"),
        ("glucose",),
    ),
    Provider(
        19,
        "apple_health_kit",
        "Apple HealthKit",
        "sdk",
        gettext_lazy("Health data from iPhone and Apple Watch"),
        ("phone", "watch", "app", "multiple_sources", "unknown"),
        (*_PHONE_HUB, *_APPLE_ONLY),
    ),
    Provider(
        20,
        "health_connect",
        "Android Health Connect",
        "sdk",
        gettext_lazy("Health data from Android phones"),
        ("phone", "watch", "app"),
        _PHONE_HUB,
    ),
    Provider(
        21,
        "samsung_health",
        "Samsung Health",
        "sdk",
        gettext_lazy("Health data from Samsung phones and watches"),
        ("phone", "watch"),
        ("activity", "sleep"),
    ),
    Provider(
        22,
        "omron_ble",
        "Omron",
        "sdk",
        gettext_lazy("Blood pressure cuffs via Bluetooth"),
        ("cuff",),
        ("blood_pressure",),
    ),
    Provider(
        23,
        "contour_ble",
        "Contour",
        "sdk",
        gettext_lazy("Glucose meters via Bluetooth"),
        ("fingerprick",),
        ("glucose",),
    ),
    Provider(
        24,
        "accuchek_ble",
        "Accu-Chek",
        "sdk",
        gettext_lazy("Glucose meters via Bluetooth"),
        ("fingerprick",),
        ("glucose",),
    ),
    Provider(
        25,
        "manual",
        "Manual",
        "app",
        gettext_lazy("Data sent with this API"),
        ("app",),
        (*_PHONE_HUB, "meal", "stress_level", "cholesterol", "ige", "igg", "note"),
    ),
    # Of the contract's full set; it can be connected now, and is listed last.
    Provider(
        41,
        "google_health",
        "Google Health",
        "oauth",
        gettext_lazy("Fitbit, Pixel Watch and other sources in Google Health"),
        ("multiple_sources",),
        (
            "activity",
            "sleep",
            "sleep_cycle",
            "workouts",
            "weight",
            "fat",
            "heartrate",
            "hrv",
            "blood_oxygen",
            "steps",
            "distance",
            "calories_active",
        ),
    ),
    # Not of the contract's set: ours, asked for by name.
    Provider(
        42,
        "suunto",
        "Suunto",
        "oauth",
        gettext_lazy("Sports watches and dive computers"),
        ("watch",),
        ("activity", "sleep", "workouts", "heartrate", "hrv", "blood_oxygen"),
    ),
)
# Slugs that clients know and we name, without a way to connect them.
_NAMED_ONLY = (
    (26, "whoop", "WHOOP (first version)"),
    (27, "renpho", "Renpho"),
    (28, "tandem_source", "Tandem Source"),
    (29, "freestyle_libre_ble", "Freestyle Libre (Bluetooth)"),
    (30, "ihealth", "iHealth"),
    (31, "beurer_api", "Beurer"),
    (32, "beurer_ble", "Beurer (Bluetooth)"),
    (33, "omron", "Omron Connect"),
    (34, "onetouch_ble", "OneTouch"),
    (35, "dexcom", "Dexcom (first version)"),
    (36, "my_fitness_pal", "MyFitnessPal"),
    (37, "kardia", "Kardia"),
    (38, "my_fitness_pal_v2", "MyFitnessPal (second version)"),
    (39, "map_my_fitness", "MapMyFitness"),
    (40, "runkeeper", "Runkeeper"),
)

# The sources of GET /v2/providers, by slug.
PROVIDERS = {provider.slug: provider for provider in _ALL}
KNOWN = PROVIDERS | {
    slug: Provider(id, slug, name, "", name) for id, slug, name in _NAMED_ONLY
}

# Sources without an API for everybody, and why; looked up in public references.
WITHOUT_API = {
    "ultrahuman": gettext_lazy(
        "Its API is for apps that Ultrahuman approves. Owners of a ring are reported to"
        " register one themselves; this release does not read it."
    ),
    "eight_sleep": gettext_lazy("Eight Sleep publishes no API."),
}
WITHOUT_API_CHECKED_ON = date(2026, 11, 27)


def find_provider(slug: str) -> Provider:
    """Return the source of a stored slug; unknown ones are named by it, ID 0."""
    return KNOWN.get(slug) or Provider(0, slug, slug, "", slug)
