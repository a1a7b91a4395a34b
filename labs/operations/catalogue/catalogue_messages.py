"""Read MFN^M08 and MFN^M10 messages of a lab as rows of its catalogue.

What a message does not say stays as it is stored: prices, order questions, stability,
worst turnaround. Units, ranges and types of a battery's results are those of the lab's
test with the result's code. Source: HL7 v2.5.1, 8.8; docs/reference/hl7-messages.md
lists the fields.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from django.utils.translation import gettext as _

from labs.gateways.hl7.catalogue import (
    MASTER_FILES,
    MINUTES_A_DAY,
    VALUE_TYPES,
)
from labs.gateways.hl7.messages import (
    MalformedMessage,
    parse_hl7_message,
    split_hl7_messages,
)
from labs.gateways.hl7.specimens import SPECIMEN_CODES
from labs.operations.catalogue.catalogue_rows import (
    COLUMNS,
    CatalogueRow,
    CatalogueRows,
    Fault,
)
from labs.states.catalogue import Container, ResultType, SampleType

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from labs.gateways.hl7.messages import Message, Segment

    Entry = dict[str, str]

FILE = "catalog.hl7"
_ACTIVE, _RETIRED = frozenset({"MAD", "MUP", "MAC"}), frozenset({"MDC", "MDL"})
_TYPES = {
    **{text: str(kind) for kind, text in VALUE_TYPES.items()},
    "ST": str(ResultType.COMMENT),
    "FT": str(ResultType.COMMENT),
    "CWE": str(ResultType.CODED_VALUE),
    "CNE": str(ResultType.CODED_VALUE),
}
_SAMPLES = {
    **{code: str(SampleType.SERUM) for code in ("SER", "PLAS", "BLD")},
    **{code: str(kind) for kind, code in SPECIMEN_CODES.items()},
}


class _Refused(Exception):
    def __init__(self, segment: Segment | None, field: int, message: str) -> None:
        super().__init__(message)
        self.segment, self.field, self.message = segment, field, message


def read_catalogue_messages(
    content: bytes, *, stored: Mapping[str, Sequence[Entry]]
) -> CatalogueRows:
    """Read the messages of a file; one record with a fault is left out.

    `stored` are the entries of the catalogue, as build_catalogue_entries returns them.
    A message of another type, or of the wrong master file, has a fault and no row. A
    fault's line counts the file's segments from 1, its column is a field.
    """
    reader = _Reader(stored)
    try:
        messages = split_hl7_messages(content)
    except MalformedMessage as fault:
        return CatalogueRows(
            {name: [] for name in COLUMNS}, [Fault(FILE, _sentence(fault), 1)]
        )
    line = 0
    for raw in messages:
        line = reader.read_message(raw, line)
    return reader.finish()


class _Reader:
    def __init__(self, stored: Mapping[str, Sequence[Entry]]) -> None:
        self.labs = {entry["slug"] for entry in stored["labs"]}
        self.questions = stored["questions"]
        self.markers = {
            (entry["lab"], entry["provider_id"]): entry for entry in stored["markers"]
        }
        self.results: dict[tuple[str, str], dict[str, Entry]] = {}
        for entry in stored["expected_results"]:
            key = entry["lab"], entry["marker"]
            self.results.setdefault(key, {})[entry["provider_id"]] = entry
        self.rows: dict[str, list[CatalogueRow]] = {name: [] for name in COLUMNS}
        self.faults: list[Fault] = []
        self.lines: dict[int, int] = {}

    def read_message(self, raw: bytes, line: int) -> int:
        """Read one message; return the number of its last segment in the file."""
        try:
            message = parse_hl7_message(raw)
        except MalformedMessage as fault:
            self.faults.append(Fault(FILE, _sentence(fault), line + 1, fault.place))
            return line + raw.count(b"\r")
        self.lines = {
            id(segment): line + number
            for number, segment in enumerate(message.segments, 1)
        }
        try:
            lab, event = self._read_header(message)
        except _Refused as refused:
            self._add_fault(refused)
        else:
            for record in _split_records(message):
                try:
                    self._read_record(lab, event, record)
                except _Refused as refused:
                    self._add_fault(refused)
        return line + len(message.segments)

    def finish(self) -> CatalogueRows:
        """Return the rows, with the questions that stored tests ask."""
        self.rows["questions"] = [
            CatalogueRow(FILE, 0, {**_empty("questions"), **entry})
            for entry in self.questions
        ]
        return CatalogueRows(self.rows, self.faults)

    def _read_header(self, message: Message) -> tuple[str, str]:
        header = message.header
        kind, _hat, event = message.kind.partition("^")
        if kind != "MFN" or event not in MASTER_FILES:
            raise _Refused(header, 9, _("the message is neither MFN^M08 nor MFN^M10"))
        lab = header.text(4)
        if lab not in self.labs:
            raise _Refused(header, 4, _("no lab of the catalog has this slug"))
        second = message.segments[1] if len(message.segments) > 1 else None
        if second is None or second.name != "MFI":
            raise _Refused(second or header, 0, _("MFI does not follow the header"))
        if second.text(1) != MASTER_FILES[event][0]:
            text = _("the master file of %(event)s is %(code)s (table 0175)")
            values = {"event": event, "code": MASTER_FILES[event][0]}
            raise _Refused(second, 1, text % values)
        return lab, event

    def _read_record(self, lab: str, event: str, record: Sequence[Segment]) -> None:
        parts: dict[str, Segment] = {}
        for segment in record:
            parts.setdefault(segment.name, segment)
        entry, observation = parts["MFE"], parts.get("OM1")
        code = entry.text(4)
        if not code:
            raise _Refused(entry, 4, _("the test's code is missing"))
        change = entry.text(1)
        if change not in _ACTIVE | _RETIRED:
            raise _Refused(entry, 1, _("the event is not of table 0180"))
        known = self.markers.get((lab, code))
        if change in _RETIRED:
            if known is None:
                raise _Refused(entry, 4, _("no test of the lab has this code"))
            self._add_row("markers", entry, {**known, "retired": "true"}, {})
            return
        if observation is None:
            raise _Refused(entry, 0, _("OM1 does not follow MFE"))
        if observation.text(2) != code:
            raise _Refused(observation, 2, _("OM1-2 and MFE-4 are of different tests"))
        self._add_marker(lab, event, code, parts)
        if event == "M08":
            self._add_single_result(lab, code, parts)
        else:
            self._add_battery(lab, code, parts)

    def _add_marker(
        self, lab: str, event: str, code: str, parts: Mapping[str, Segment]
    ) -> None:
        observation, sample = parts["OM1"], parts.get("OM4")
        known = self.markers.get((lab, code))
        values = dict(known) if known else {**_empty("markers"), "lab": lab}
        values.update(
            provider_id=code,
            name=observation.text(2, 2) or observation.text(8),
            description=observation.text(6) or values["description"],
            is_orderable=_read_flag(observation, 12),
            fasting=_read_fasting(observation) or values["fasting"],
            retired="false",
        )
        if known is None or known["retired"] == "true":
            values["a_la_carte_enabled"] = values["is_orderable"]
        if minutes := observation.text(23):
            values["common_tat_days"] = _read_days(observation, minutes)
        if known is None:
            values["type"] = "biomarker" if event == "M08" else "panel"
        if sample is not None:
            self._read_sample(sample, values)
        elif known is None:
            raise _Refused(observation, 0, _("OM4 with the sample is missing"))
        unit = parts["OM2"].text(2) if "OM2" in parts else ""
        if unit and (known is None or known["unit"]):
            values["unit"] = unit
        places = {
            "name": "OM1-2",
            "description": "OM1-6",
            "common_tat_days": "OM1-23",
            "sample_type": "OM4-6",
            "container": "OM4-3",
            "provider_id": "OM1-2",
            "unit": "OM2-2",
        }
        self.markers.setdefault((lab, code), values)
        self._add_row("markers", observation, values, places)

    def _read_sample(self, sample: Segment, values: Entry) -> None:
        container, code = sample.text(3), sample.text(6)
        if container and Container.known(container) is None:
            raise _Refused(sample, 3, _("the tube is unknown"))
        if code not in _SAMPLES:
            raise _Refused(sample, 6, _("the sample is unknown (table 0487)"))
        values["container"] = container or values["container"]
        before = SampleType.known(values["sample_type"])
        if before is None or SPECIMEN_CODES.get(before) != code:
            values["sample_type"] = _SAMPLES[code]

    def _add_single_result(
        self, lab: str, code: str, parts: Mapping[str, Segment]
    ) -> None:
        observation, numeric = parts["OM1"], parts.get("OM2")
        field = 7 if observation.text(7) else 2
        own = observation.text(field)
        known = self.results.get((lab, code), {}).get(own)
        values = dict(known) if known else _empty("expected_results")
        values.update(lab=lab, marker=code, provider_id=own)
        _read_names(observation, field, 1, values)
        kind = observation.text(3)
        if kind:
            if kind not in _TYPES:
                raise _Refused(observation, 3, _("the type of value is unknown"))
            values["result_type"] = _TYPES[kind]
        if numeric is not None:
            values["unit"] = numeric.text(2) or values["unit"]
            low, high = numeric.text(6, 1, 1), numeric.text(6, 1, 2)
            if low or high:
                values["low"], values["high"] = low, high
        places = {
            **_name_places(f"OM1-{field}"),
            "result_type": "OM1-3",
            "unit": "OM2-2",
            "low": "OM2-6",
            "high": "OM2-6",
        }
        self.results.setdefault((lab, code), {}).setdefault(own, values)
        self._add_row("expected_results", observation, values, places)

    def _add_battery(self, lab: str, code: str, parts: Mapping[str, Segment]) -> None:
        battery = parts.get("OM5")
        if battery is None or not battery.repeats(2):
            raise _Refused(battery or parts["OM1"], 2, _("the battery has no results"))
        for repeat in range(1, battery.repeats(2) + 1):
            own = battery.text(2, repeat=repeat)
            known = self.results.get((lab, code), {}).get(own)
            single = self.results.get((lab, own), {})
            if known is None and len(single) == 1:
                (known,) = single.values()
            if known is None:
                text = _("send the result %(code)s by MFN^M08 first") % {"code": own}
                raise _Refused(battery, 2, text)
            values = {**known, "lab": lab, "marker": code, "provider_id": own}
            _read_names(battery, 2, repeat, values)
            self._add_row("expected_results", battery, values, _name_places("OM5-2"))

    def _add_row(
        self, name: str, segment: Segment, values: Entry, places: Mapping[str, str]
    ) -> None:
        row = CatalogueRow(
            FILE, self.lines[id(segment)], {**_empty(name), **values}, places
        )
        self.rows[name].append(row)

    def _add_fault(self, refused: _Refused) -> None:
        segment = refused.segment
        line = self.lines[id(segment)] if segment else 1
        name = segment.name if segment else ""
        place = f"{name}-{refused.field}" if refused.field else name
        self.faults.append(Fault(FILE, refused.message, line, place))


def _split_records(message: Message) -> Iterator[list[Segment]]:
    record: list[Segment] = []
    for segment in message.segments[2:]:
        if segment.name == "MFE":
            if record:
                yield record
            record = [segment]
        elif record:
            record.append(segment)
    if record:
        yield record


def _read_names(segment: Segment, field: int, repeat: int, values: Entry) -> None:
    """Read the name and LOINC code of a result; one that is missing stays."""
    values["name"] = segment.text(field, 2, repeat=repeat) or values["name"]
    if segment.text(field, 6, repeat=repeat) in {"LN", "LOINC"}:
        values["loinc_code"] = segment.text(field, 4, repeat=repeat)
        values["loinc_name"] = segment.text(field, 5, repeat=repeat)


def _name_places(place: str) -> dict[str, str]:
    columns = ("name", "provider_id", "loinc_code", "loinc_name", "marker")
    return dict.fromkeys(columns, place)


def _read_flag(segment: Segment, field: int) -> str:
    text = segment.text(field)
    if text not in {"", "Y", "N"}:
        raise _Refused(segment, field, _("the value is not Y or N (table 0136)"))
    return "false" if text == "N" else "true"


def _read_fasting(segment: Segment) -> str:
    """Return whether OM1-37 asks for fasting; empty where it says nothing of it."""
    words = segment.text(37).lower()
    if "fasting" not in words:
        return ""
    return "false" if re.search(r"\b(?:no|non|not)\b", words) else "true"


def _read_days(segment: Segment, minutes: str) -> str:
    if not (minutes.isascii() and minutes.isdigit() and len(minutes) < 8):
        raise _Refused(segment, 23, _("the turnaround is not in minutes"))
    return str(-(-int(minutes) // MINUTES_A_DAY))


def _sentence(fault: MalformedMessage) -> str:
    return fault.says.rstrip(".")


def _empty(name: str) -> Entry:
    needed, optional = COLUMNS[name]
    return dict.fromkeys((*needed, *optional), "")
