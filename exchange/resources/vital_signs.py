"""Observations of vital signs, from samples and from summaries of days.

Source: FHIR R4 Vital Signs, US Core Vital Signs: LOINC and UCUM codes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any

from accounts.states import Area
from exchange.resources.base import (
    Found,
    Json,
    Query,
    TableSource,
    list_uuids,
    parse_uuid,
)
from exchange.resources.datatypes import (
    LOINC,
    UCUM,
    build_category,
    build_coding,
    build_concept,
    build_meta,
    build_patient_reference,
    build_reference,
    drop_empty,
)
from users.queries.population import summaries, users_with_info
from users.store.dictionaries import find_feeds_by_number, find_origins_by_number
from users.store.samples import get_sample_store
from users.wearables.providers import find_provider
from users.wearables.timeseries import TIMESERIES
from users.wearables.timeseries.readings import FIRST_MOMENT
from users.wearables.timeseries.shapes import build_sample_payloads

if TYPE_CHECKING:
    from accounts.models import Tenant
    from users.models import Summary, User
    from users.store.columns import SampleRow
    from users.wearables.timeseries import TimeseriesResource

VITAL_SIGNS = "vital-signs"
_CATEGORY = build_category(VITAL_SIGNS, "Vital Signs")
_PROFILE = "http://hl7.org/fhir/StructureDefinition/vitalsigns"
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_TICK = timedelta(microseconds=1)
_LAST_MOMENT = datetime(9999, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Vital:
    """A vital sign: its LOINC codes with their names, and its unit in UCUM."""

    codes: tuple[tuple[str, str], ...]
    ucum: str
    unit: str

    @property
    def concept(self) -> Json:
        """Return its CodeableConcept."""
        codings = [build_coding(LOINC, code, name) for code, name in self.codes]
        return build_concept(self.codes[0][1], *codings)

    def measure(self, value: float) -> Json:
        """Return a value in its unit."""
        return {"value": value, "unit": self.unit, "system": UCUM, "code": self.ucum}


_WEIGHT = Vital((("29463-7", "Body weight"),), "kg", "kg")
_BMI = Vital((("39156-5", "Body mass index (BMI) [Ratio]"),), "kg/m2", "kg/m2")
_FAT = Vital((("41982-0", "Percentage of body fat Measured"),), "%", "%")
_HEIGHT = Vital((("8302-2", "Body height"),), "cm", "cm")
_RESTING = Vital((("40443-4", "Heart rate --resting"),), "/min", "beats/minute")
_SYSTOLIC = Vital((("8480-6", "Systolic blood pressure"),), "mm[Hg]", "mmHg")
_DIASTOLIC = Vital((("8462-4", "Diastolic blood pressure"),), "mm[Hg]", "mmHg")
# By timeseries resource. What has no LOINC code of its own meaning is left out, such as
# heart rate variability as RMSSD, for which LOINC has a standard deviation alone.
SAMPLED: dict[str, Vital] = {
    "heartrate": Vital((("8867-4", "Heart rate"),), "/min", "beats/minute"),
    "respiratory_rate": Vital(
        (("9279-1", "Respiratory rate"),), "/min", "breaths/minute"
    ),
    "blood_oxygen": Vital(
        (
            ("59408-5", "Oxygen saturation in Arterial blood by Pulse oximetry"),
            ("2708-6", "Oxygen saturation in Arterial blood"),
        ),
        "%",
        "%",
    ),
    "blood_pressure": Vital(
        (("85354-9", "Blood pressure panel with all children optional"),),
        "mm[Hg]",
        "mmHg",
    ),
    "body_temperature": Vital((("8310-5", "Body temperature"),), "Cel", "°C"),
    "body_weight": _WEIGHT,
    "body_mass_index": _BMI,
    "body_fat": _FAT,
}
# By kind of summary: where its value is in the body.
SUMMARIZED: dict[str, dict[str, Vital]] = {
    "activity": {"heart_rate.resting_bpm": _RESTING},
    "body": {"weight": _WEIGHT, "body_mass_index": _BMI, "fat": _FAT},
    "profile": {"height": _HEIGHT},
}
_BY_SERIES: dict[int, tuple[TimeseriesResource, str | None]] = {
    number: (TIMESERIES[slug], word)
    for slug in SAMPLED
    for number, word in TIMESERIES[slug].series.items()
}


def list_series_of_codes(codes: frozenset[str] | None) -> list[int]:
    """Return the series of samples with one of these LOINC codes; None: all."""
    return [
        number
        for number, (resource, _) in _BY_SERIES.items()
        if codes is None or codes & {code for code, _ in SAMPLED[resource.slug].codes}
    ]


def _build_frame(uuid: Any, vital: Vital, meta: Json) -> Json:
    return {
        "resourceType": "Observation",
        "meta": meta,
        "status": "final",
        "category": _CATEGORY,
        "code": vital.concept,
        "subject": build_patient_reference(uuid),
    }


@dataclass(frozen=True, slots=True)
class SampleSource:
    """Samples of a user in the order of their time; user after user without one."""

    area: Area = Area.USERS
    category: str = VITAL_SIGNS

    def list_after(
        self, query: Query, key: str, limit: int
    ) -> tuple[list[Found], bool]:
        """Return samples behind a key; one user's at a time where several are meant."""
        series = list_series_of_codes(query.codes)
        # When a sample was stored is not kept: none is left out for being unchanged.
        parts = [int(part) for part in key.split("~")] if key else [0]
        users = users_with_info(query.tenant).filter(pk__gte=parts[0]).order_by("pk")
        if query.patients is not None:
            users = users.filter(uuid__in=query.patients)
        found: list[Found] = []
        if not series:
            return [], False
        for user in users.iterator(chunk_size=500):
            user.tenant = query.tenant
            after = None
            if len(parts) == 4 and user.pk == parts[0]:
                after = (_EPOCH + parts[1] * _TICK, parts[2], parts[3])
            rows = get_sample_store().read_range(
                user_id=user.pk,
                series=series,
                start=max(query.start or FIRST_MOMENT, FIRST_MOMENT),
                end=query.end or _LAST_MOMENT,
                feeds=None,
                after=after,
                limit=limit - len(found) + 1,
            )
            found += [
                Found(
                    resource,
                    f"{user.pk}~{(row[0] - _EPOCH) // _TICK}~{row[1]}~{row[2]}",
                )
                for row, resource in zip(rows, build_samples(user, rows), strict=True)
            ]
            if len(found) > limit:
                return found[:limit], True
        return found, False

    def find(self, tenant: Tenant, ids: Sequence[str]) -> list[Json]:
        """Return the samples of these ids."""
        found: list[Json] = []
        for one in ids:
            parts = one.split("-")
            uuid = parse_uuid(parts[1]) if len(parts) == 5 else None
            if parts[0] != "sample" or uuid is None:
                continue
            if not all(part.isascii() and part.isdecimal() for part in parts[2:]):
                continue
            series, feed, ticks = (int(part) for part in parts[2:])
            user = users_with_info(tenant).filter(uuid=uuid).first()
            if user is None or series not in _BY_SERIES or feed > 2**15 - 1:
                continue
            user.tenant = tenant
            try:
                at = _EPOCH + ticks * _TICK
            except OverflowError:
                continue
            rows = get_sample_store().read_range(
                user_id=user.pk,
                series=[series],
                start=at,
                end=at + _TICK,
                feeds=[feed],
                after=None,
                limit=1,
            )
            found += build_samples(user, rows)
        return found


def build_samples(user: User, rows: Sequence[SampleRow]) -> list[Json]:
    """Build the Observation of each sample."""
    feeds = find_feeds_by_number(tenant=user.tenant, numbers={row[2] for row in rows})
    origins = find_origins_by_number(user_id=user.pk, numbers={row[6] for row in rows})
    built: list[Json] = []
    for row in rows:
        ts, series, feed, _, offset, _, origin, _ = row
        resource, _ = _BY_SERIES[series]
        [payload] = build_sample_payloads(resource, [row], resource.series)
        ticks = (ts - _EPOCH) // _TICK
        id_ = f"sample-{user.uuid.hex}-{series}-{feed}-{ticks}"
        built.append(
            drop_empty(
                {
                    **_build_frame(user.uuid, SAMPLED[resource.slug], _SAMPLE_META),
                    "id": id_,
                    **_build_effective(resource, payload, offset),
                    **_build_value(resource, payload),
                    "bodySite": build_concept(
                        (payload.get("sensor_location") or "").replace("_", " ")
                    ),
                    "device": _build_device(
                        feeds[feed].provider, origins[origin].device_id
                    ),
                }
            )
        )
    return built


_SAMPLE_META = {"profile": [_PROFILE]}


def _build_effective(
    resource: TimeseriesResource, payload: dict[str, Any], offset: int | None
) -> Json:
    zone = timezone(timedelta(seconds=offset or 0))
    start = payload["timestamp"].astimezone(zone).isoformat()
    if resource.is_interval and payload["end"] > payload["start"]:
        end = payload["end"].astimezone(zone).isoformat()
        return {"effectivePeriod": {"start": start, "end": end}}
    return {"effectiveDateTime": start}


def _build_value(resource: TimeseriesResource, payload: dict[str, Any]) -> Json:
    if resource.slug == "blood_pressure":
        return {
            "component": [
                {"code": vital.concept, "valueQuantity": vital.measure(payload[name])}
                for name, vital in (("systolic", _SYSTOLIC), ("diastolic", _DIASTOLIC))
            ]
        }
    return {"valueQuantity": SAMPLED[resource.slug].measure(payload["value"])}


def _build_device(provider: str, device_id: object) -> Json:
    name = str(find_provider(provider).name)
    return (
        build_reference("Device", device_id, name) if device_id else {"display": name}
    )


def build_summary_vitals(tenant: Tenant, rows: Sequence[Summary]) -> list[list[Json]]:
    """Build the Observations of each summary's vital signs."""
    return [
        [
            _build_summary_vital(row, path, vital, value)
            for path, vital in SUMMARIZED.get(row.kind, {}).items()
            if (value := _read(row.body, path)) is not None
        ]
        for row in rows
    ]


def _build_summary_vital(row: Summary, path: str, vital: Vital, value: float) -> Json:
    return drop_empty(
        {
            **_build_frame(
                row.user.uuid, vital, build_meta(row.updated_at, row.version, _PROFILE)
            ),
            "id": f"summary-{row.pk.hex}-{path.rpartition('.')[2].replace('_', '-')}",
            "effectiveDateTime": str(row.calendar_date),
            "valueQuantity": vital.measure(value),
            "device": _build_device(row.provider, row.device_id),
        }
    )


def _read(body: dict[str, Any], path: str) -> float | None:
    value: Any = body
    for name in path.split("."):
        value = value.get(name) if isinstance(value, dict) else None
    return value if isinstance(value, (int, float)) else None


SAMPLES = SampleSource()
SUMMARY_VITALS = TableSource(
    area=Area.USERS,
    rows=lambda tenant: summaries(tenant).filter(kind__in=list(SUMMARIZED)),
    build=build_summary_vitals,
    by_ids=lambda rows, ids: rows.filter(pk__in=list_uuids(ids, part=1)),
    category=VITAL_SIGNS,
    patient="user__uuid",
    updated="updated_at",
)
