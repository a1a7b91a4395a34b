"""Half a year of one person's data for each twin, and what comes after it."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from users.demo.twins.dexcom import DexcomTwin
    from users.demo.twins.garmin import GarminTwin
    from users.demo.twins.google_health import GoogleHealthTwin
    from users.demo.twins.oura import OuraTwin
    from users.demo.twins.polar import PolarTwin
    from users.demo.twins.strava import StravaTwin
    from users.demo.twins.suunto import SuuntoTwin
    from users.demo.twins.whoop import WhoopTwin
    from users.demo.twins.withings import WithingsTwin

FILLED_DAYS = 180
_NIGHT = timedelta(hours=8)
_DAY = timedelta(days=1)


def fill_withings(twin: WithingsTwin, now: datetime) -> None:
    """Add a weighing, a blood pressure and a night for each of the last days."""
    for back, waking in _mornings(now):
        morning = int(waking.timestamp())
        twin.add_measures(
            morning, {1: (72_400 + back * 13 % 900, -3), 6: (21_400 + back % 400, -3)}
        )
        twin.add_measures(
            morning + 300, {9: (74 + back % 9, 0), 10: (118 + back % 11, 0)}
        )
        twin.add_night(
            morning - 8 * 3600,
            morning,
            waking.date().isoformat(),
            total_timeinbed=28_800,
            total_sleep_time=26_100,
            wakeupduration=2700,
            lightsleepduration=13_500,
            deepsleepduration=6300,
            remsleepduration=6300,
            sleep_score=70 + back % 25,
            hr_average=57,
            hr_min=48,
            rr_average=14,
        )


def announce_withings(twin: WithingsTwin, now: datetime) -> None:
    """Add a weighing and announce it."""
    at = int(now.timestamp())
    twin.add_measures(at, {1: (72_000 + at % 1000, -3)})
    twin.announce(1, at, at + 1)


def fill_oura(twin: OuraTwin, now: datetime) -> None:
    """Add a night, a day and a heart rate for each of the last days."""
    for back, waking in _mornings(now):
        twin.add_night(waking - _NIGHT, waking)
        twin.add_day((waking - _DAY).date(), steps=6000 + back * 37 % 5000)
        twin.add_heart_rate(waking, 58 + back % 9)


def announce_oura(twin: OuraTwin, now: datetime) -> None:
    """Add a short workout and announce it."""
    workout_id = twin.add_workout(now - timedelta(minutes=10), minutes=8)
    twin.announce("workout", "create", workout_id)


def fill_whoop(twin: WhoopTwin, now: datetime) -> None:
    """Add a sleep for each of the last days, and a workout for every third."""
    for back, waking in _mornings(now):
        twin.add_sleep(waking - _NIGHT, waking)
        if back % 3 == 0:
            twin.add_workout(waking - 2 * _NIGHT, waking - 2 * _NIGHT + _NIGHT / 8)


def announce_whoop(twin: WhoopTwin, now: datetime) -> None:
    """Add a short workout and announce it, if the push address is known."""
    workout_id = twin.add_workout(
        now - timedelta(minutes=10), now - timedelta(minutes=2)
    )
    if twin.push_url:
        twin.announce("workout.updated", workout_id)


def fill_polar(twin: PolarTwin, now: datetime) -> None:
    """Add a night, a day, heart rates and an exercise for each of the last days."""
    for back, waking in _mornings(now):
        twin.add_night(waking - _NIGHT, waking)
        day = (waking - _DAY).date()
        twin.add_day(day, steps=6000 + back * 37 % 5000)
        twin.add_heart_rates(day, {"08:00:00": 62, "18:30:00": 71 + back % 9})
        twin.add_exercise(waking - 2 * _NIGHT)


def announce_polar(twin: PolarTwin, now: datetime) -> None:
    """Add a short exercise and announce it."""
    exercise_id = twin.add_exercise(now - timedelta(minutes=10), minutes=8)
    twin.announce("EXERCISE", entity_id=exercise_id)


def fill_dexcom(twin: DexcomTwin, now: datetime) -> None:
    """Add four values of the sensor and a meal for each of the last days."""
    for back, waking in _mornings(now):
        for hours in range(0, 16, 4):
            at = waking + timedelta(hours=hours)
            twin.add_glucose(at, 96 + (back * 7 + hours * 5) % 60)
        twin.add_event(waking + timedelta(hours=2))


def announce_dexcom(twin: DexcomTwin, now: datetime) -> None:
    """Add a value as old as the delay; Dexcom announces nothing."""
    twin.add_glucose(now - twin.delay, 110)


def fill_strava(twin: StravaTwin, now: datetime) -> None:
    """Add a run for each of the last days."""
    for back, waking in _mornings(now):
        twin.add_activity(waking + timedelta(hours=1), minutes=30 + back % 30)


def announce_strava(twin: StravaTwin, now: datetime) -> None:
    """Add a short run and announce it."""
    activity = twin.add_activity(now - timedelta(minutes=10), minutes=8)
    twin.announce("create", activity)


def fill_garmin(twin: GarminTwin, now: datetime) -> None:
    """Add a night, a day and an activity for each of the last days."""
    for back, waking in _mornings(now):
        twin.add_night(waking - _NIGHT, waking)
        midnight = waking.replace(hour=0, minute=0)
        twin.add_day(midnight - _DAY, steps=6000 + back * 37 % 5000)
        twin.add_activity(waking - 2 * _NIGHT)


def announce_garmin(twin: GarminTwin, now: datetime) -> None:
    """Add a short activity and announce it, if the push address is known."""
    activity = twin.add_activity(now - timedelta(minutes=10), minutes=8)
    if twin.push_url:
        twin.announce("activities", activity)


def fill_google_health(twin: GoogleHealthTwin, now: datetime) -> None:
    """Add a sleep, steps, a heart rate and a run for each of the last days."""
    for back, waking in _mornings(now):
        twin.add_sleep(waking - _NIGHT, waking)
        twin.add_interval("steps", waking, 60, 900 + back * 37 % 500)
        twin.add_sample(
            "heart-rate", "heartRate", waking, beatsPerMinute=str(58 + back % 9)
        )
        twin.add_exercise(waking - 2 * _NIGHT, minutes=30)


def announce_google_health(twin: GoogleHealthTwin, now: datetime) -> None:
    """Add a short run and announce it, if the push address is known."""
    start = now - timedelta(minutes=10)
    twin.add_exercise(start, minutes=8)
    if twin.push_url:
        twin.announce("exercise", start, now)


def fill_suunto(twin: SuuntoTwin, now: datetime) -> None:
    """Add a night with its recovery, a day and a run for each of the last days."""
    for back, waking in _mornings(now):
        twin.add_sleep(waking - _NIGHT, waking)
        twin.add_recovery(waking, 0.4 + back % 6 / 10)
        twin.add_activity(waking + timedelta(hours=3), HR=62 + back % 30, HRV=44)
        day = (waking - _DAY).date().isoformat()
        twin.days[day] = (6000 + back * 37 % 5000, 10_000_000)
        twin.add_workout(waking - 2 * _NIGHT)


def announce_suunto(twin: SuuntoTwin, now: datetime) -> None:
    """Add a short run and announce it, if the push address is known."""
    workout = twin.add_workout(now - timedelta(minutes=10), minutes=8)
    if twin.push_url:
        twin.announce("WORKOUT", workout)


def _mornings(now: datetime) -> Iterator[tuple[int, datetime]]:
    """Yield how many days ago, and when the person woke, the last first."""
    today = now.replace(hour=0, minute=0, second=0, microsecond=0)
    for back in range(FILLED_DAYS):
        yield back, today - back * _DAY + timedelta(hours=6, minutes=back % 50)
