from __future__ import annotations

import re

from users.wearables.payloads import build_source_badge
from users.wearables.providers import KNOWN, PROVIDERS, find_provider

# As contract 3.2, 3.3 and 3.4 list them.
SEEDED = (
    "oura fitbit garmin whoop_v2 strava withings polar wahoo google_fit ultrahuman"
    " dexcom_v3 cronometer peloton zwift eight_sleep hammerhead abbott_libreview"
    " freestyle_libre apple_health_kit health_connect samsung_health omron_ble"
    " contour_ble accuchek_ble manual"
).split()
FULL_SET = set(
    "oura fitbit garmin whoop strava renpho peloton wahoo zwift freestyle_libre"
    " abbott_libreview tandem_source freestyle_libre_ble eight_sleep withings"
    " apple_health_kit manual ihealth google_fit beurer_api beurer_ble omron omron_ble"
    " onetouch_ble accuchek_ble contour_ble dexcom dexcom_v3 hammerhead my_fitness_pal"
    " health_connect samsung_health polar cronometer kardia whoop_v2 ultrahuman"
    " my_fitness_pal_v2 map_my_fitness runkeeper google_health".split()
)
# Beside the contract's, each asked for by name (docs/contract.md, section 0).
ADDED = {"suunto"}
AUTH_TYPES = {"oauth", "team_oauth", "sdk", "password", "email", "app", ""}
SOURCE_TYPES = set(
    "unknown phone watch app multiple_sources fingerprick cuff manual_scan automatic"
    " insulin_pump scale chest_strap ring lab exercise_machine earphone".split()
)
RESOURCES = set(
    "profile activity sleep body workouts workout_stream connection order result"
    " match_review appointment result_table glucose heartrate hrv ige igg blood_oxygen"
    " blood_pressure cholesterol device device_legacy weight fat body_temperature"
    " body_temperature_delta meal water caffeine mindfulness_minutes steps"
    " calories_active distance floors_climbed respiratory_rate vo2_max calories_basal"
    " stress_level menstrual_cycle sleep_cycle electrocardiogram"
    " electrocardiogram_voltage afib_burden heart_rate_alert stand_hour stand_duration"
    " sleep_apnea_alert sleep_breathing_disturbance wheelchair_push"
    " forced_expiratory_volume_1 forced_vital_capacity peak_expiratory_flow_rate"
    " inhaler_usage fall uv_exposure daylight_exposure handwashing"
    " basal_body_temperature heart_rate_recovery_one_minute body_mass_index"
    " lean_body_mass waist_circumference workout_distance workout_swimming_stroke"
    " workout_duration insulin_injection carbohydrates note sleep_stream".split()
)
# Numbers are in stored keys and events: a line here is never changed.
NUMBERS = {
    "oura": 1,
    "fitbit": 2,
    "garmin": 3,
    "whoop_v2": 4,
    "strava": 5,
    "withings": 6,
    "polar": 7,
    "wahoo": 8,
    "google_fit": 9,
    "ultrahuman": 10,
    "dexcom_v3": 11,
    "cronometer": 12,
    "peloton": 13,
    "zwift": 14,
    "eight_sleep": 15,
    "hammerhead": 16,
    "abbott_libreview": 17,
    "freestyle_libre": 18,
    "apple_health_kit": 19,
    "health_connect": 20,
    "samsung_health": 21,
    "omron_ble": 22,
    "contour_ble": 23,
    "accuchek_ble": 24,
    "manual": 25,
    "whoop": 26,
    "renpho": 27,
    "tandem_source": 28,
    "freestyle_libre_ble": 29,
    "ihealth": 30,
    "beurer_api": 31,
    "beurer_ble": 32,
    "omron": 33,
    "onetouch_ble": 34,
    "dexcom": 35,
    "my_fitness_pal": 36,
    "kardia": 37,
    "my_fitness_pal_v2": 38,
    "map_my_fitness": 39,
    "runkeeper": 40,
    "google_health": 41,
    "suunto": 42,
}


def test_the_seeded_and_the_known_slugs_are_the_contracts():
    assert list(PROVIDERS) == [*SEEDED, "google_health", *ADDED]
    assert set(KNOWN) == FULL_SET | ADDED


def test_numbers_never_change():
    assert {slug: provider.id for slug, provider in KNOWN.items()} == NUMBERS


def test_words_are_the_contracts():
    for provider in KNOWN.values():
        assert re.fullmatch(r"[a-z0-9_]{1,50}", provider.slug)
        assert provider.auth_type in AUTH_TYPES
        assert set(provider.source_types) <= SOURCE_TYPES
        assert set(provider.resources) <= RESOURCES
        assert len(set(provider.resources)) == len(provider.resources)
        assert provider.description
    for provider in PROVIDERS.values():
        assert provider.auth_type
        assert provider.resources


def test_a_slug_we_do_not_know_is_named_by_itself(settings):
    settings.PUBLIC_URL = "https://assay.example"

    assert find_provider("newcomer").id == 0
    assert build_source_badge("newcomer") == {
        "name": "newcomer",
        "slug": "newcomer",
        "logo": "https://assay.example/logos/newcomer.svg",
    }
