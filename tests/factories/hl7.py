"""HL7 messages as laboratories write them; the people are made up."""

from __future__ import annotations

import base64
from typing import Any

HEADER = (
    "MSH|^~\\&|LIS|ACME LAB|ASSAY|North|20260301120000-0500||ORU^R01^ORU_R01"
    "|{control_id}|{processing_id}|2.5.1||||||{character_set}"
)


def make_oru(
    *tests: tuple[str, ...],
    patient: str = "PID|1||77||Example^Ada||19900517|F",
    control_id: str = "C1",
    processing_id: str = "P",
    character_set: str = "UNICODE UTF-8",
) -> bytes:
    """An ORU^R01 of these tests, each the lines from its ORC or OBR on."""
    header = HEADER.format(
        control_id=control_id,
        processing_id=processing_id,
        character_set=character_set,
    )
    lines = [header, patient, *(line for test in tests for line in test)]
    return "".join(f"{line}\r" for line in lines).encode()


def make_test(
    *observations: str,
    code: str = "2345",
    placer: str = "",
    filler: str = "F-1",
    status: str = "F",
) -> tuple[str, ...]:
    """ORC and OBR of one test, then its observations as they are given."""
    return (
        f"ORC|RE|{placer}|{filler}",
        f"OBR|1|{placer}|{filler}|{code}^Test {code}^L|||20260228083000-0500|||||||"
        f"20260228180000-0500||||||||20260301113000-0500|||{status}",
        *observations,
    )


def obx(value: str = "91", **fields: Any) -> str:
    """An OBX of one value; fields by name of what it says."""
    told = {
        "type": "NM",
        "id": "2345-7^Glucose^LN",
        "sub": "",
        "unit": "mg/dL",
        "range": "65-99",
        "flag": "N",
        "status": "F",
        **fields,
    }
    return (
        f"OBX|1|{told['type']}|{told['id']}|{told['sub']}|{value}|{told['unit']}"
        f"|{told['range']}|{told['flag']}|||{told['status']}|||20260228083000-0500"
        "|||||||||Acme Main"
    )


def obx_with_document(content: bytes, **fields: Any) -> str:
    """An OBX of a file, as a PDF in Base64."""
    told = {"type": "ED", "id": "PDF^Lab report^L", "unit": "", "range": "", "flag": ""}
    text = base64.b64encode(content).decode()
    return obx(f"LIS^AP^PDF^Base64^{text}", **{**told, **fields})
