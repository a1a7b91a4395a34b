"""Whether a whole `$export` is valid to its last line, and how fast it comes.

Run `python -m tests.bench.fhir_export URL KEY`, with the address of a running server
and an API key. Asks for everything, waits, fetches every file, and judges every line by
the R4B models of fhir.resources, by fhirkit, and by the published JSON schema of R4.
Prints resources by type, the seconds until the files were there, and lines a second;
fails at a fault or a missing line.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from typing import TYPE_CHECKING, Any

import httpx
import orjson

from tests.fhir_judges import find_faults

if TYPE_CHECKING:
    from collections.abc import Iterator

SHOWN = 20
POLL_S = 1
WAIT_S = 60 * 60


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
    options = parser.parse_args()
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
                faults += [f"{place}: {one}" for one in find_faults(resource)]
            counts[output["type"]] += number
            if number != output["count"]:
                faults.append(f"{output['url']}: {number} of {output['count']} lines")
    for type_, number in sorted(counts.items()):
        sys.stdout.write(f"{type_:20} {number:>9,}\n")
    total = sum(counts.values())
    sys.stdout.write(
        f"{total:,} lines in {seconds:.1f} s, {total / seconds:,.0f} a second;"
        f" {len(faults)} faults\n"
    )
    for fault in faults[:SHOWN]:
        sys.stdout.write(f"{fault[:500]}\n")
    return int(bool(faults))


if __name__ == "__main__":
    sys.exit(main())
