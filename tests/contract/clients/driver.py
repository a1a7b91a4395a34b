"""Call every method of a published Python client once, and print an outcome a line.

python driver.py PACKAGE CLASS ADDRESS KEY < values.json, by the interpreter that has
the package.
"""

from __future__ import annotations

import importlib
import inspect
import json
import sys
import urllib.request
from datetime import date, datetime
from typing import Any

SKIPPED = {"with_raw_response"}


def read(value: Any, annotation: str) -> Any:
    """A value as a parameter takes it."""
    if isinstance(value, str) and "datetime" in annotation:
        return datetime.fromisoformat(value)
    if isinstance(value, str) and "dt.date" in annotation:
        return date.fromisoformat(value[:10])
    return value


def main() -> None:
    package, name, address, key = sys.argv[1:]
    values = json.load(sys.stdin)
    library = importlib.import_module(package)
    client = getattr(library, name)(base_url=address, api_key=key)
    for group in (each for each in dir(client) if not each.startswith("_")):
        part = getattr(client, group)
        for each, call in inspect.getmembers(part, inspect.ismethod):
            if each.startswith("_") or each in SKIPPED:
                continue
            method = f"{group}.{each}"
            known = values | values["by_method"].get(method, {})
            arguments = {
                parameter.name: read(known[parameter.name], str(parameter.annotation))
                for parameter in inspect.signature(call).parameters.values()
                if known.get(parameter.name) is not None
            }
            if "file" in inspect.signature(call).parameters:
                arguments["file"] = [("r.pdf", b"%PDF-1.4", "application/pdf")]
            for parameter in inspect.signature(call).parameters.values():
                if parameter.default is parameter.empty:
                    arguments.setdefault(parameter.name, values["user_id"])
            urllib.request.urlopen(f"{address}/-/{method}").close()  # noqa: S310 - an address of ours
            fault = ""
            try:
                answer = call(**arguments)
                if inspect.isgenerator(answer):
                    b"".join(answer)
            except Exception as error:  # noqa: BLE001 - whatever a client raises is noted
                if not getattr(error, "status_code", None):
                    fault = f"{type(error).__name__}: {error}"[:300]
            sys.stdout.write(json.dumps({"method": method, "fault": fault}) + "\n")


main()
