"""Definition of a summary resource: input, identity, answers and events.

One value of SummaryResource drives input, answers, events and the OpenAPI document.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from uuid import UUID, uuid5

from users.wearables.payloads import EVENT_SOURCE, SOURCE, build_event_source
from users.wearables.readings import (
    FAULTS_MAX,
    ElementsInvalid,
    Fault,
    Refused,
    Schema,
    build_closed_object_schema,
    build_nullable_schema,
    refuse_unstorable_text,
)
from users.wearables.values import Id, Moment, Text

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from datetime import date, datetime

    from users.queries import SummaryRow
    from users.wearables.readings import Context, Record

ELEMENTS_MAX = 500  # Contract 5.4
# Never changed: ids of stored summaries come from it.
_NAMESPACE = UUID("6f1d8a5e-3b0c-5f7e-9d42-0c8e5a7b1f63")
_EXTERNAL_ID = Text()


@dataclass(frozen=True, slots=True)
class Place:
    """The time and identity of a summary.

    It is found by the days from `calendar_date` to `last_date`, both included. `key` is
    its date or start, as the wire has it.
    """

    key: str
    calendar_date: date
    last_date: date
    starts_at: datetime
    ends_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class SummaryReading:
    """A parsed element: its ID, place, fields and source data."""

    id: UUID
    place: Place
    body: dict[str, Any]
    raw: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class SummaryResource:
    """One kind of summary (contract 4).

    `key` is the answer's top-level key, None where the answer is the object itself.
    `place` says where a read element stands; it fills fields that are ours, and refuses
    what no field alone can. `is_span` says that it is found by any of its days, not by
    its calendar_date alone. `source_keys` are those of the source object, `twins` the
    keys beside it that repeat one of them (contract 4.2).
    """

    slug: str
    name: str
    key: str | None
    record: Record
    place: Callable[[dict[str, Any], Context], Place]
    is_span: bool = False
    source_keys: tuple[str, ...] = tuple(SOURCE["properties"])
    twins: tuple[tuple[str, str], ...] = ()

    def event_type(self, *, is_new: bool) -> str:
        """Return the event type of a first or later version."""
        return f"daily.data.{self.slug}.{'created' if is_new else 'updated'}"

    def read(
        self, elements: Sequence[object], context: Context
    ) -> list[SummaryReading]:
        """Parse a batch completely or not at all.

        Raises: ElementsInvalid, with the first FAULTS_MAX faults.
        """
        if not 1 <= len(elements) <= ELEMENTS_MAX:
            few_or_many = f"Send 1 to {ELEMENTS_MAX} elements."
            raise ElementsInvalid([Fault((), few_or_many, "value_error")])
        read: list[SummaryReading] = []
        faults: list[Fault] = []
        for index, element in enumerate(elements):
            try:
                read.append(self._read_one(element, context))
            except Refused as refused:
                faults += refused.located_under(index)
                if len(faults) >= FAULTS_MAX:
                    break
        if faults:
            raise ElementsInvalid(faults[:FAULTS_MAX])
        return read

    def _read_one(self, element: Any, context: Context) -> SummaryReading:
        refuse_unstorable_text(element)
        body = self.record.read(element, context)
        named = element.get("external_id")
        if named is not None:
            try:
                named = _EXTERNAL_ID.read(named, context)
            except Refused as refused:
                raise Refused(refused.located_under("external_id")) from None
        place = self.place(body, context)
        key = f"key:{place.key}" if named is None else f"external_id:{named}"
        return SummaryReading(
            id=derive_summary_id(context.user_uuid, context.provider, self.slug, key),
            place=place,
            body=body,
            raw=element,
        )

    def answer(self, user_uuid: UUID, row: SummaryRow) -> dict[str, Any]:
        """Return the element as answered, with every key of the contract."""
        source = _source(row)
        return {
            "id": row.id,
            "user_id": user_uuid,
            **{
                field.name: row.body.get(field.name, field.default)
                for field in self.record.fields
            },
            **{twin: source[key] for twin, key in self.twins},
            "source": {key: source[key] for key in self.source_keys},
            "created_at": row.created_at,
            "updated_at": row.updated_at,
        }

    def event(self, user_uuid: UUID, row: SummaryRow) -> dict[str, Any]:
        """Return the data of the summary's event, with the source of events (D5)."""
        return {
            **self.answer(user_uuid, row),
            "source": build_event_source(
                row.provider, row.source_type, row.app_id, row.device_id
            ),
        }

    @property
    def schema(self) -> Schema:
        """Return the JSON Schema of `answer`."""
        own = SOURCE["properties"]
        return self._schema({key: own[key] for key in self.source_keys})

    @property
    def event_schema(self) -> Schema:
        """Return the JSON Schema of `event`."""
        return self._schema(EVENT_SOURCE["properties"])

    @property
    def input_schema(self) -> Schema:
        """Return the JSON Schema of an element as sent."""
        schema = self.record.input_schema
        external_id = {
            **build_nullable_schema(_EXTERNAL_ID.schema),
            "description": "Identifies the element at its source;"
            " default: its date or start",
        }
        return {
            **schema,
            "properties": {"external_id": external_id, **schema["properties"]},
        }

    def _schema(self, source: Mapping[str, Any]) -> Schema:
        own = self.record.schema["properties"]
        return build_closed_object_schema(
            {
                "id": Id().schema,
                "user_id": Id().schema,
                **own,
                **{twin: SOURCE["properties"][key] for twin, key in self.twins},
                "source": build_closed_object_schema(source),
                "created_at": Moment().schema,
                "updated_at": Moment().schema,
            }
        )


def derive_summary_id(user_uuid: UUID, provider: str, slug: str, key: str) -> UUID:
    """Return the ID of a summary, the same for every push of it (performance 9)."""
    return uuid5(_NAMESPACE, f"{user_uuid}/{provider}/{slug}/{key}")


def _source(row: SummaryRow) -> dict[str, Any]:
    return {
        "provider": row.provider,
        "type": row.source_type,
        "app_id": row.app_id,
        "device_id": row.device_id,
        "sport": None,
        "workout_id": None,
    }
