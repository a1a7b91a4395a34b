"""Whether a whole `$export` is valid to its last line, and how fast it comes.

Run `python -m tests.bench.fhir_export URL KEY --schema fhir.schema.json`, with the
address of a running server, an API key, and the published JSON schema of R4
(hl7.org/fhir/R4/fhir.schema.json.zip, unpacked; without it the schema is left out).
Asks for everything, waits, fetches every file, and judges every line by the R4B models
of fhir.resources, by fhirkit, and by the schema. Prints resources by type, the seconds
until the files were there, and lines a second; fails at a fault or a missing line.

The schema names its own version of FHIR (4.0) in a constant that no resource holds; it
is not judged by.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import fhirkit
import httpx
import jsonschema_rs
import orjson

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Judge = Callable[[Any], list[str]]

SHOWN = 20
POLL_S = 1
WAIT_S = 60 * 60


def judge_by_models(resource: Any) -> list[str]:
    """Return what the R4B models of fhir.resources find."""
    type_ = resource["resourceType"]
    model = getattr(import_module(f"fhir.resources.R4B.{type_.lower()}"), type_)
    try:
        model.model_validate(resource)
    except ValueError as fault:
        return [f"fhir.resources: {fault}"]
    return []


def judge_by_definitions(resource: Any) -> list[str]:
    """Return what fhirkit finds."""
    return [f"fhirkit: {issue}" for issue in fhirkit.validate(resource)]


def make_schema_judge(path: Path) -> Judge:
    """Return a judge by the schema, which looks at the one type of a resource.

    The schema itself tries all types in turn, and its faults name none.
    """
    schema = orjson.loads(path.read_bytes())
    definitions = schema["definitions"]
    judges: dict[str, Any] = {}

    def judge(resource: Any) -> list[str]:
        type_ = resource["resourceType"]
        if type_ not in judges:
            one = {"$ref": f"#/definitions/{type_}", "definitions": definitions}
            judges[type_] = jsonschema_rs.validator_for(one)
        return [
            f"schema: {fault.message}" for fault in judges[type_].iter_errors(resource)
        ]

    return judge


def export(client: httpx.Client, url: str) -> tuple[Any, float]:
    """Ask for an export and wait; return its manifest and the seconds it took."""
    started = time.monotonic()
    asked = client.get(f"{url}/fhir/R4/$export", headers={"Prefer": "respond-async"})
    asked.raise_for_status()
    while time.monotonic() - started < WAIT_S:
        state = client.get(asked.headers["Content-Location"])
        state.raise_for_status()
        if state.status_code == httpx.codes.OK:
            return state.json(), time.monotonic() - started
        time.sleep(POLL_S)
    raise SystemExit("the export did not end")


def iterate_lines(client: httpx.Client, output: Any) -> Iterator[Any]:
    """Yield the resources of a file."""
    with client.stream("GET", output["url"]) as answer:
        answer.raise_for_status()
        for line in answer.iter_lines():
            yield orjson.loads(line)


def main() -> int:
    """Judge an export; 1 at a fault."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("url")
    parser.add_argument("key")
    parser.add_argument("--schema", type=Path)
    options = parser.parse_args()
    judges: list[Judge] = [judge_by_models, judge_by_definitions]
    if options.schema:
        judges.append(make_schema_judge(options.schema))
    counts: Counter[str] = Counter()
    faults: list[str] = []
    with httpx.Client(
        headers={"x-service-api-key": options.key}, timeout=60, trust_env=False
    ) as client:
        manifest, seconds = export(client, options.url)
        for output in manifest["output"]:
            number = 0
            for resource in iterate_lines(client, output):
                number += 1
                place = f"{output['type']} {resource.get('id')}"
                faults += [f"{place}: {one}" for j in judges for one in j(resource)]
            counts[output["type"]] += number
            if number != output["count"]:
                faults.append(f"{output['url']}: {number} of {output['count']} lines")
    for type_, number in sorted(counts.items()):
        sys.stdout.write(f"{type_:20} {number:>9,}\n")
    total = sum(counts.values())
    sys.stdout.write(
        f"{total:,} lines in {seconds:.1f} s, {total / seconds:,.0f} a second;"
        f" {len(judges)} judges, {len(faults)} faults\n"
    )
    for fault in faults[:SHOWN]:
        sys.stdout.write(f"{fault[:500]}\n")
    return int(bool(faults))


if __name__ == "__main__":
    sys.exit(main())
