"""Laboratory results in FHIR as institutions write them, of nobody.

R4 as US Core has it, DSTU2 as Argonaut had it; and an Apple archive with them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import orjson

from reports.models import OutsideReport
from reports.operations.outside_reports import store_outside_reports
from tests.factories.apple_health import wrap
from tests.factories.health_exports import packed
from users.wearables.formats.fhir.lab_reports import read_lab_report
from users.wearables.formats.fhir.values import load_fhir_json

if TYPE_CHECKING:
    from users.models import User

UCUM = "http://unitsofmeasure.org"
LAB = {"coding": [{"code": "laboratory"}]}


def concept(text: str, loinc: str) -> dict[str, Any]:
    """A code in words and LOINC."""
    return {"text": text, "coding": [{"system": "http://loinc.org", "code": loinc}]}


def quantity(value: float, unit: str, **more: Any) -> dict[str, Any]:
    """An amount with its unit in UCUM."""
    return {"value": value, "unit": unit, "system": UCUM, "code": unit, **more}


def observation(id_: str = "k", **changes: Any) -> dict[str, Any]:
    """Potassium of R4; a field of None is left out."""
    fields: dict[str, Any] = {
        "resourceType": "Observation",
        "id": id_,
        "status": "final",
        "category": [LAB],
        "code": concept("Potassium", "2823-3"),
        "effectiveDateTime": "2026-02-03T08:00:00-05:00",
        "valueQuantity": quantity(5.6, "mmol/L"),
        "interpretation": [{"coding": [{"code": "H", "display": "High"}]}],
        "referenceRange": [
            {"low": quantity(3.5, "mmol/L"), "high": quantity(5.1, "mmol/L")}
        ],
    }
    return {name: each for name, each in (fields | changes).items() if each is not None}


def diagnostic_report(*ids: str, **changes: Any) -> dict[str, Any]:
    """A panel of these observations."""
    fields: dict[str, Any] = {
        "resourceType": "DiagnosticReport",
        "id": "panel",
        "status": "final",
        "category": [LAB],
        "code": concept("Metabolic panel", "24323-8"),
        "effectiveDateTime": "2026-02-03",
        "issued": "2026-02-04T10:00:00Z",
        "performer": [{"display": "Riverside Laboratory"}],
        "result": [{"reference": f"Observation/{id_}"} for id_ in ids],
    }
    return {name: each for name, each in (fields | changes).items() if each is not None}


def apple_clinical_archive(
    *resources: dict[str, Any] | bytes,
    kinds: tuple[str, ...] = (),
    source: str = "Riverside Clinic",
    received: str = "2026-02-20 09:00:00 -0500",
) -> bytes:
    """An Apple archive whose clinical records are these, each a file."""
    files: dict[str, str | bytes] = {}
    listed = []
    for number, resource in enumerate(resources):
        kind = kinds[number] if number < len(kinds) else "LabResultRecord"
        name = f"clinical-records/Resource-{number}.json"
        if isinstance(resource, dict):
            resource = orjson.dumps(resource)
        if resource:
            files[f"apple_health_export/{name}"] = resource
        listed.append(
            f'<ClinicalRecord type="HKClinicalTypeIdentifier{kind}" identifier="x"'
            f' sourceName="{source}" sourceURL="https://fhir.example" '
            f'fhirVersion="4.0.1" receivedDate="{received}"'
            f' resourceFilePath="/{name}"/>'
        )
    return packed({"apple_health_export/export.xml": wrap(*listed), **files})


def make_outside_report(*, user: User, **changes: Any) -> OutsideReport:
    """Store an outside report of potassium."""
    resource = load_fhir_json(orjson.dumps(observation(**changes)))
    report = read_lab_report(resource, {}.get) | {
        "source": "Riverside Clinic",
        "fhir_version": "4.0.1",
        "received": "",
    }
    store_outside_reports(user.tenant, user.uuid, "apple_health_kit", [report])
    found: OutsideReport = OutsideReport.objects.for_tenant(user.tenant).get(
        user=user, record_id=report["record_id"], is_current=True
    )
    return found
