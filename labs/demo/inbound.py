"""Demo lab messages that need review: a misspelled name and a broken file."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from labs.gateways.hl7.acknowledgements import CHARACTER_SET, VERSION
from labs.gateways.hl7.drop import DroppedFile
from labs.gateways.hl7.messages import build_hl7_message, build_hl7_segment
from labs.models import Order
from labs.operations.inbound.processing import process_hl7_file_content

if TYPE_CHECKING:
    from accounts.declarations.demo_data import DemoScene
    from labs.models import Marker

_SEX = {"female": "F", "male": "M"}


def load_demo_lab_messages(scene: DemoScene) -> None:
    """Load results with a misspelled name, and a broken message.

    The same messages each time, so that a second run changes nothing. Nothing without
    an order that waits for results. Source: Ours: a newcomer sees the queue at work.
    """
    people = [person.user_uuid for person in scene.people]
    rows = Order.objects.for_tenant(scene.tenant).filter(
        user__uuid__in=people, status__endswith=".requisition_created"
    )
    order = (
        rows.exclude(patient_details=None)
        .select_related("lab", "lab_account", "lab_test")
        .order_by("created_at", "pk")
        .first()
    )
    if order is None:
        return
    whole = _misspelled_results(order)
    torn = [line for line in whole.split(b"\r") if line[:3] not in {b"ORC", b"OBR"}]
    for name, content in (
        ("results-0417.hl7", whole),
        ("results-0418.hl7", b"\r".join(torn).replace(b"-0417", b"-0418")),
    ):
        process_hl7_file_content(
            tenant=scene.tenant,
            actor=scene.actor,
            lab=order.lab,
            account=order.lab_account,
            dropped=DroppedFile(name, content, hashlib.sha256(content).hexdigest()),
        )


def _misspelled_results(order: Order) -> bytes:
    details = order.patient_details or {}
    last = str(details.get("last_name", ""))
    day = f"{order.created_at:%Y%m%d}"
    segments = [
        build_hl7_segment(
            "MSH",
            {
                3: "LIS",
                4: order.lab.name,
                7: f"{day}180000+0000",
                9: ("ORU", "R01", "ORU_R01"),
                10: f"{day}-0417",
                11: "P",
                12: VERSION,
                18: CHARACTER_SET,
            },
        ),
        build_hl7_segment(
            "PID",
            {
                1: "1",
                5: (f"{last}e", str(details.get("first_name", ""))),
                7: str(details.get("dob", ""))[:10].replace("-", ""),
                8: _SEX.get(str(details.get("gender", "")), "U"),
            },
        ),
    ]
    for number, marker in enumerate(order.placed.markers, start=1):
        segments += _results_of_marker(order, marker, number, day)
    return build_hl7_message(segments)


def _results_of_marker(
    order: Order, marker: Marker, number: int, day: str
) -> list[str]:
    filler = f"L{order.sample_id[2:8]}"
    segments = [
        build_hl7_segment("ORC", {1: "RE", 2: order.sample_id, 3: filler}),
        build_hl7_segment(
            "OBR",
            {
                1: str(number),
                2: order.sample_id,
                3: filler,
                4: (marker.provider_id, marker.name, "L"),
                22: f"{day}180000+0000",
                25: "F",
            },
        ),
    ]
    for line, expected in enumerate(
        marker.expected_results.exclude(low=None).exclude(high=None).order_by("pk"),
        start=1,
    ):
        low, high = expected.low or 0, expected.high or 0
        code = (expected.provider_id, expected.name, "L")
        loinc = (expected.loinc_code, expected.loinc_name, "LN")
        segments.append(
            build_hl7_segment(
                "OBX",
                {
                    1: str(line),
                    2: "NM",
                    3: (*code, *loinc) if expected.loinc_code else code,
                    5: f"{(low + high) / 2:g}",
                    6: expected.unit,
                    7: f"{low:g}-{high:g}",
                    8: "N",
                    11: "F",
                },
            )
        )
    return segments
