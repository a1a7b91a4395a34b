"""Run the published clients against a server, and print what works as a table.

Run `python -m tests.contract.clients [ADDRESS KEY] [--write]` with the key of a
sandbox; without them a demo is used, one is started where none runs. Each client is
installed from its registry into a folder that is deleted afterwards. Every method is
called once with values made over the API. 1 where a client in use can't read an answer,
the server fails, or a call is absent without a reason. A client that can't be
installed, as without a registry, is named and skipped; the page is then not written.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import socket
import subprocess
import sys
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

import django
import httpx

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "portal.settings")
django.setup()

from django.conf import settings  # noqa: E402 - as above

from tests.contract.clients.matrix import (  # noqa: E402 - needs the apps
    CLIENTS,
    PAGE,
    NotInstalled,
    list_faults,
    run_client,
    write_page,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

READY_TIMEOUT_S = 240


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


@contextmanager
def running_demo() -> Iterator[tuple[str, str]]:
    """Yield address and key of the demo that runs, or of one started for the while."""
    found = find_demo()
    if found:
        yield found
        return
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = str(taken.getsockname()[1])
    demo = subprocess.Popen(
        (sys.executable, "manage.py", "demo", "--port", port),
        cwd=settings.BASE_DIR,
        stdout=subprocess.DEVNULL,
    )
    try:
        until = time.monotonic() + READY_TIMEOUT_S
        while not (found := find_demo()):
            if time.monotonic() > until or demo.poll() is not None:
                raise RuntimeError("the demo did not start")
            time.sleep(1)
        yield found
    finally:
        demo.send_signal(signal.SIGINT)
        demo.wait()


def find_demo() -> tuple[str, str] | None:
    """Return address and key of the demo that runs."""
    try:
        notes = json.loads((settings.BASE_DIR / "var/demo.json").read_text())
        answer = httpx.get(f"{notes['address']}/healthz")
    except (OSError, ValueError, httpx.HTTPError):
        return None
    return (notes["address"], notes["api_keys"]["demo"]) if answer.is_success else None


if __name__ == "__main__":
    sys.exit(main())
