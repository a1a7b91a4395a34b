"""Write the first inputs of the corpus: small files of each form, made here.

Run `python -m tests.fuzz.seeds`. Fictional, and made by the factories of the tests;
what a run of tests.fuzz added is left alone.
"""

from __future__ import annotations

import os
import sys
from typing import Any

from tests.fuzz.__main__ import CORPUS


def make_seeds() -> dict[str, dict[str, bytes]]:
    """Return the inputs by target and name."""
    import orjson

    from labs.operations.catalogue.catalogue_rows import COLUMNS
    from tests.factories import apple_health, health_exports
    from tests.factories.fit import make_fit
    from tests.factories.hl7 import make_oru, make_test, obx
    from tests.factories.phones import make_record, make_stage, make_sync
    from tests.factories.reports import make_pdf, make_picture

    record = apple_health.quantity("HeartRate", 61, "count/min")
    files = {
        name.removeprefix("make_"): getattr(health_exports, name)()
        for name in vars(health_exports)
        # A database is mostly empty pages.
        if name.startswith("make_") and name not in {"make_health_connect", "make_fit"}
    }
    files |= {
        "fit": make_fit(points=3),
        "apple": apple_health.wrap(record, apple_health.beats(0.8, 0.9)),
        "apple_archive": apple_health.make_archive(apple_health.wrap(record)),
    }
    at = "2026-03-08T10:00:00Z"
    workout = {
        "id": "w",
        "type": "running",
        "startDate": at,
        "endDate": "2026-03-08T10:30:00Z",
        "values": [{"type": "distance", "value": 5, "unit": "m"}],
        "route": [{"timestamp": at, "latitude": 1, "longitude": 2, "altitudeM": 3}],
        "samples": [{"timestamp": at, "type": "speed", "value": 1, "unit": "m/s"}],
    }
    category = "HKCategoryTypeIdentifier"
    sync = make_sync(
        records=[
            make_record("HKQuantityTypeIdentifierStepCount", 5, at),
            make_record("HKQuantityTypeIdentifierBloodPressureSystolic", 120, at),
            make_record("HKQuantityTypeIdentifierHeight", 1.8, at, unit="m"),
            make_record(f"{category}MenstrualFlow", 2, at),
            make_record(f"{category}SexualActivity", 0, at, metadata={"a": 1}),
            make_record("BLOOD_GLUCOSE", 5.5, at, unit="mmol/L"),
        ],
        sleep=[make_stage("deep", at, "2026-03-08T11:00:00Z")],
        workouts=[workout],
    )
    space = "2026-03-08 10:00:00 +0100"
    export = {
        "data": {
            "metrics": [
                {
                    "name": name,
                    "units": "count",
                    "data": [{"date": space, "qty": 5, "systolic": 1, "diastolic": 2}],
                }
                for name in ("step_count", "blood_pressure", "sleep_analysis")
            ],
            "workouts": [{"name": "Run", "start": space, "end": space, "duration": 5}],
            "ecg": [
                {
                    "start": space,
                    "samplingFrequency": 512,
                    "voltageMeasurements": [{"voltage": 1, "units": "mcV"}],
                }
            ],
            "heartRateNotifications": [
                {"start": space, "threshold": 120, "heartRate": [{"hr": 130}]}
            ],
        }
    }
    gateway: list[dict[str, Any]] = [
        {"type": "steps", "data": [{"count": 5, "startTime": at, "endTime": at}]},
        {
            "type": "nutrition",
            "data": {"startTime": at, "energy": {"inKilocalories": 5}},
        },
        {
            "type": "menstruationPeriod",
            "data": {"startTime": at, "endTime": at, "startZoneOffset": "+01:00"},
        },
        {
            "type": "sleepSession",
            "data": {
                "startTime": at,
                "endTime": "2026-03-08T11:00:00Z",
                "stages": [{"stage": 5, "startTime": at, "endTime": at}],
            },
        },
    ]
    own = {
        "batches": [
            {"resource": "steps", "data": [{"start": at, "end": at, "value": 60}]},
            {"resource": "menstrual_cycle", "data": [{"period_start": "2026-03-01"}]},
        ]
    }
    phones = {
        "sdk": b"\0" + orjson.dumps(sync),
        "export": b"\1" + orjson.dumps(export),
        "own": b"\3" + orjson.dumps(own),
    } | {f"gateway_{each['type']}": b"\2" + orjson.dumps(each) for each in gateway}
    results = {
        "panel": make_oru(
            make_test(obx("91"), "NTE|1||Of glucose", placer="P-1"),
            make_test(
                obx("POS^Positive^L", type="CWE", id="X^Virus^L"),
                obx("<^5", type="SN", id="2951-2^Sodium^LN", unit="mmol/L"),
                code="B",
            ),
        )
    }
    catalogue = {}
    for number, (name, (needed, others)) in enumerate(COLUMNS.items()):
        header = ",".join([*needed, *others])
        row = ",".join(["1"] * len([*needed, *others]))
        catalogue[name] = bytes([number]) + f"{header}\n{row}\n".encode()
    hl7 = "MSH|^~\\&|A|B|C|D|20260308||MFN^M08^MFN_M08|1|P|2.5.1\r"
    hl7 += "MFI|OMA^Numerical^HL70175||UPD|||NE\rMFE|MAD|1||GLU|CWE\rOM1|1|GLU^G|NM\r"
    catalogue["hl7"] = bytes([len(COLUMNS)]) + hl7.encode()
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n"
    answers = {
        "length": b"\x07" + head + b"Content-Length: 2\r\n\r\nok",
        "chunks": b"\x03"
        + head
        + b"Transfer-Encoding: chunked\r\n\r\n2;a=b\r\nok\r\n0\r\nX: y\r\n\r\n",
        "interim": b"\xff" + b"HTTP/1.1 103 Early\r\nA: b\r\n\r\n" + head + b"\r\nall",
    }
    observation = {
        "resourceType": "Observation",
        "id": "17",
        "status": "final",
        "category": [{"coding": [{"code": "laboratory"}]}],
        "code": {"coding": [{"system": "http://loinc.org", "code": "2345-7"}]},
        "effectiveDateTime": "2026-03-08",
        "valueQuantity": {"value": 91.5, "unit": "mg/dL", "comparator": "<"},
        "referenceRange": [{"low": {"value": 70}, "high": {"value": 99}}],
        "component": [{"valueRatio": {"numerator": {"value": 1}}}],
    }
    report = {
        "resourceType": "DiagnosticReport",
        "id": "1",
        "contained": [{**observation, "id": "a"}],
        "result": [{"reference": "#a"}, {"reference": "Observation/17"}],
    }
    return {
        "files": files,
        "phones": phones,
        "results": results,
        "catalogue": catalogue,
        "answers": answers,
        "reports": {
            "pdf": make_pdf(),
            "png": make_picture("png"),
            "jpeg": make_picture("jpeg"),
        },
        "clinical": {
            "observation": orjson.dumps(observation),
            "report": orjson.dumps(report),
        },
    }


def main() -> int:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "portal.settings")
    import django

    django.setup()
    for target, inputs in make_seeds().items():
        folder = CORPUS / target
        folder.mkdir(parents=True, exist_ok=True)
        for name, content in inputs.items():
            (folder / f"seed-{name}").write_bytes(content)
    return 0


if __name__ == "__main__":
    sys.exit(main())
