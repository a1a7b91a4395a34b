"""Apple Health exports of the real form, of any length; nobody's in truth.

Written as a phone writes them: a document type with its declarations, records sorted by
type, the same steps counted by watch and phone, then correlations, workouts and rings.
"""

from __future__ import annotations

import zipfile
from datetime import UTC, date, datetime, timedelta, timezone
from io import BytesIO
from math import cos, pi
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

LAST_DAY = date(2026, 2, 28)
ZONE = timezone(timedelta(hours=1))
PROLOG = """<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE HealthData [
<!-- HealthKit Export Version: 14 -->
<!ELEMENT HealthData (ExportDate,Me,(Record|Correlation|Workout|ActivitySummary)*)>
<!ATTLIST HealthData
  locale CDATA #REQUIRED
>
<!ELEMENT ExportDate EMPTY>
<!ATTLIST ExportDate
  value CDATA #REQUIRED
>
<!ELEMENT Me EMPTY>
<!ATTLIST Me
  HKCharacteristicTypeIdentifierDateOfBirth         CDATA #REQUIRED
  HKCharacteristicTypeIdentifierBiologicalSex       CDATA #REQUIRED
>
<!ELEMENT Record ((MetadataEntry|HeartRateVariabilityMetadataList)*)>
<!ATTLIST Record
  type          CDATA #REQUIRED
  unit          CDATA #IMPLIED
  value         CDATA #IMPLIED
  sourceName    CDATA #REQUIRED
  sourceVersion CDATA #IMPLIED
  device        CDATA #IMPLIED
  creationDate  CDATA #IMPLIED
  startDate     CDATA #REQUIRED
  endDate       CDATA #REQUIRED
>
]>
"""
ME = (
    ' <ExportDate value="2026-03-01 09:00:00 +0100"/>\n'
    ' <Me HKCharacteristicTypeIdentifierDateOfBirth="1985-04-12"'
    ' HKCharacteristicTypeIdentifierBiologicalSex="HKBiologicalSexFemale"'
    ' HKCharacteristicTypeIdentifierBloodType="HKBloodTypeNotSet"/>\n'
)
_WATCH = (
    'sourceName="Alex\u2019s Apple\u00a0Watch" sourceVersion="11.3"'
    ' device="&lt;&lt;HKDevice: 0x30188e0d0&gt;, name:Apple Watch,'
    " manufacturer:Apple Inc., model:Watch, hardware:Watch7,5, software:11.3,"
    ' creation date:2024-10-01 08:00:00 +0000&gt;"'
)
_PHONE = (
    'sourceName="Alex\u2019s iPhone" sourceVersion="18.3"'
    ' device="&lt;&lt;HKDevice: 0x301884a50&gt;, name:iPhone,'
    " manufacturer:Apple Inc., model:iPhone, hardware:iPhone15,4, software:18.3,"
    ' creation date:2024-09-20 08:00:00 +0000&gt;"'
)
_SCALE = 'sourceName="Weighty" sourceVersion="203"'
_Q = "HKQuantityTypeIdentifier"
_C = "HKCategoryTypeIdentifier"
_STAGES = (("Core", 50), ("Deep", 40), ("Core", 60), ("REM", 25), ("Awake", 5))


def make_export(
    *, days: int = 2, last: date = LAST_DAY, beat_seconds: int = 300
) -> bytes:
    """The XML of an export of so many days, a heart rate each `beat_seconds`."""
    return "".join(
        export_pieces(days=days, last=last, beat_seconds=beat_seconds)
    ).encode()


def make_archive(xml: bytes | None = None, *, name: str = "export.xml") -> bytes:
    """An export as it leaves the phone: an archive with other files beside."""
    packed = BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("apple_health_export/export_cda.xml", "<ClinicalDocument/>")
        archive.writestr(
            f"apple_health_export/{name}", make_export() if xml is None else xml
        )
    return packed.getvalue()


def wrap(*elements: str, prolog: str = PROLOG) -> bytes:
    """An export of these elements alone."""
    body = "\n ".join(elements)
    return f'{prolog}<HealthData locale="en_DE">\n{ME} {body}\n</HealthData>\n'.encode()


def record(
    type_: str,
    *,
    start: str = "2026-02-28 10:00:00 +0100",
    end: str | None = None,
    value: object = None,
    unit: str = "",
    source: str = _WATCH,
    inside: str = "",
) -> str:
    """One record; `type_` with the prefix of quantities or categories."""
    told = f' unit="{unit}"' if unit else ""
    said = "" if value is None else f' value="{value}"'
    return (
        f'<Record type="{type_}" {source}{told} creationDate="{start}"'
        f' startDate="{start}" endDate="{end or start}"{said}'
        + (f">{inside}</Record>" if inside else "/>")
    )


def quantity(name: str, value: object, unit: str, **told: str) -> str:
    """One record of a quantity."""
    return record(_Q + name, value=value, unit=unit, **told)


def category(name: str, value: object, **told: str) -> str:
    """One record of a category."""
    return record(_C + name, value=value, **told)


def entry(key: str, value: str) -> str:
    """A line of metadata."""
    return f'<MetadataEntry key="{key}" value="{value}"/>'


def phone_quantity(name: str, value: object, unit: str, **told: str) -> str:
    """One record of a quantity that the phone counted."""
    return quantity(name, value, unit, source=_PHONE, **told)


def by_app(name: str, value: object, unit: str, **told: str) -> str:
    """One record of a quantity that another app wrote."""
    return quantity(name, value, unit, source=_SCALE, **told)


def beats(*lengths: float) -> str:
    """The beats of a reading of variability, by their lengths in seconds."""
    at = datetime(2026, 2, 28, 10, tzinfo=UTC)
    inside = ""
    for length in lengths:
        at += timedelta(seconds=length)
        time = f"{at:%-I:%M:%S}.{at.microsecond // 10_000:02} {at:%p}"
        rate = round(60 / length)
        inside += f'<InstantaneousBeatsPerMinute bpm="{rate}" time="{time}"/>'
    listed = "HeartRateVariabilityMetadataList"
    return f"<{listed}>{inside}</{listed}>"


def export_pieces(*, days: int, last: date, beat_seconds: int) -> Iterator[str]:
    """The export piece by piece, for those too long to hold."""
    yield f'{PROLOG}<HealthData locale="en_DE">\n{ME}'
    all_days = [last - timedelta(days=days - 1 - number) for number in range(days)]
    for make in (
        _heart_rates,
        _steps,
        _energy,
        _breaths,
        _weights,
        _noise,
        _stand_hours,
        _nights,
        _pressures,
        _runs,
        _rings,
    ):
        for day in all_days:
            yield from make(day, beat_seconds)
    yield "</HealthData>\n"


def _at(day: date, minutes: float) -> str:
    moment = datetime.combine(day, datetime.min.time(), ZONE)
    return f"{moment + timedelta(minutes=minutes):%Y-%m-%d %H:%M:%S %z}"


def _rate(minutes: float) -> int:
    """Slow by night, fast in the run at half past five."""
    running = 70 if 1050 <= minutes < 1080 else 0
    return round(68 - 12 * cos(2 * pi * minutes / 1440) + minutes % 7) + running


def _heart_rates(day: date, beat_seconds: int) -> Iterator[str]:
    context = entry("HKMetadataKeyHeartRateMotionContext", "1")
    for second in range(0, 86_400, beat_seconds):
        minutes = second / 60
        yield (
            "  "
            + quantity(
                "HeartRate",
                _rate(minutes),
                "count/min",
                start=_at(day, minutes),
                inside=context,
            )
            + "\n"
        )


def _steps(day: date, _: int) -> Iterator[str]:
    for by in (_WATCH, _PHONE):
        for minutes in range(480, 1320, 10):
            yield (
                "  "
                + quantity(
                    "StepCount",
                    40 + minutes % 90,
                    "count",
                    start=_at(day, minutes),
                    end=_at(day, minutes + 9),
                    source=by,
                )
                + "\n"
            )


def _energy(day: date, _: int) -> Iterator[str]:
    for minutes in range(480, 1320, 10):
        yield (
            "  "
            + quantity(
                "ActiveEnergyBurned",
                1.5 + minutes % 8,
                "kcal",
                start=_at(day, minutes),
                end=_at(day, minutes + 10),
            )
            + "\n"
        )


def _breaths(day: date, _: int) -> Iterator[str]:
    for minutes in range(0, 360, 60):
        yield (
            "  "
            + quantity("OxygenSaturation", 0.97, "%", start=_at(day, minutes))
            + "\n"
        )
        yield (
            "  "
            + quantity("RespiratoryRate", 14.5, "count/min", start=_at(day, minutes))
            + "\n"
        )


def _weights(day: date, _: int) -> Iterator[str]:
    yield "  " + by_app("BodyMass", 143.3, "lb", start=_at(day, 420)) + "\n"


def _noise(day: date, _: int) -> Iterator[str]:
    yield (
        "  "
        + quantity("EnvironmentalAudioExposure", 61.2, "dBASPL", start=_at(day, 600))
        + "\n"
    )


def _stand_hours(day: date, _: int) -> Iterator[str]:
    for hour in range(8, 20):
        yield (
            "  "
            + category(
                "AppleStandHour",
                "HKCategoryValueAppleStandHourStood",
                start=_at(day, hour * 60),
                end=_at(day, hour * 60 + 60),
            )
            + "\n"
        )


def _nights(day: date, _: int) -> Iterator[str]:
    minutes = 0
    for cycle in range(2):
        for stage, length in _STAGES:
            word = "Awake" if stage == "Awake" else f"Asleep{stage}"
            yield (
                "  "
                + category(
                    "SleepAnalysis",
                    f"HKCategoryValueSleepAnalysis{word}",
                    start=_at(day, minutes),
                    end=_at(day, minutes + length),
                    inside=entry("HKTimeZone", "Europe/Berlin") if not cycle else "",
                )
                + "\n"
            )
            minutes += length


def _pressures(day: date, _: int) -> Iterator[str]:
    parts = [
        quantity(f"BloodPressure{name}", value, "mmHg", start=_at(day, 425))
        for name, value in (("Systolic", 118), ("Diastolic", 76))
    ]
    yield "  " + "\n  ".join(parts) + "\n"
    yield (
        f'  <Correlation type="HKCorrelationTypeIdentifierBloodPressure" {_SCALE}'
        f' startDate="{_at(day, 425)}" endDate="{_at(day, 425)}">'
        f"{''.join(parts)}</Correlation>\n"
    )


def _runs(day: date, _: int) -> Iterator[str]:
    start, end = _at(day, 1050), _at(day, 1080)
    yield (
        '  <Workout workoutActivityType="HKWorkoutActivityTypeRunning" duration="30"'
        f' durationUnit="min" {_WATCH} startDate="{start}" endDate="{end}">\n'
        f"   {entry('HKTimeZone', 'Europe/Berlin')}\n"
        f"   {entry('HKElevationAscended', '3150 cm')}\n"
        f'   <WorkoutStatistics type="{_Q}HeartRate" startDate="{start}"'
        f' endDate="{end}" average="141.2" minimum="118" maximum="156"'
        ' unit="count/min"/>\n'
        f'   <WorkoutStatistics type="{_Q}DistanceWalkingRunning"'
        f' startDate="{start}" endDate="{end}" sum="5.21" unit="km"/>\n'
        f'   <WorkoutStatistics type="{_Q}ActiveEnergyBurned"'
        f' startDate="{start}" endDate="{end}" sum="342.4" unit="kcal"/>\n'
        "  </Workout>\n"
    )


def _rings(day: date, _: int) -> Iterator[str]:
    yield (
        f'  <ActivitySummary dateComponents="{day}" activeEnergyBurned="512.4"'
        ' activeEnergyBurnedGoal="600" activeEnergyBurnedUnit="kcal"'
        ' appleExerciseTime="32" appleStandHours="12"/>\n'
    )
