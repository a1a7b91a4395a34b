"""Run the published clients against a server, and print what works as a table.

Run `python -m tests.contract.clients [ADDRESS KEY] [--write]` with the key of a
sandbox; without them a demo is used, one is started where none runs. Each client is
installed from its registry into a folder that is deleted afterwards. Every method is
called once with values made over the API. 1 where a client in use can't read an answer,
the server fails, or a path is unknown. A client that can't be
installed, as without a registry, is named and skipped; the page is then not written.
"""

from __future__ import annotations

import argparse
import os
import sys

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "portal.settings")
django.setup()

from tests.contract.clients.matrix import (  # noqa: E402 - needs the apps
    CLIENTS,
    PAGE,
    NotInstalled,
    list_faults,
    run_client,
    write_page,
)
from tests.contract.demo import running_demo  # noqa: E402 - as above


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("address", nargs="?")
    parser.add_argument("key", nargs="?")
    parser.add_argument("--write", action="store_true", help=f"write {PAGE.name}")
    options = parser.parse_args()
    if options.address:
        return run(options.address, options.key, is_written=options.write)
    with running_demo() as (address, key):
        return run(address, key, is_written=options.write)


def run(address: str, key: str, *, is_written: bool) -> int:
    """Run all clients against a server, and return the exit code."""
    runs = {}
    for client in CLIENTS:
        try:
            runs[client] = run_client(client, address, key)
        except NotInstalled as error:
            print(f"{client.name}: skipped, not installed ({error})", flush=True)  # noqa: T201
        else:
            print(f"{client.name}: {len(runs[client])} methods", flush=True)  # noqa: T201
    if len(runs) < len(CLIENTS):
        print("Registries of npm and PyPI are needed for those skipped.")  # noqa: T201
    elif is_written:
        PAGE.write_text(write_page(runs))
    else:
        print(write_page(runs))  # noqa: T201
    faults = list_faults(runs)
    for fault in faults:
        print(fault)  # noqa: T201
    return 1 if faults or (is_written and len(runs) < len(CLIENTS)) else 0


if __name__ == "__main__":
    sys.exit(main())
